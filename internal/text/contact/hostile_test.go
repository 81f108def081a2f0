package contact

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// hostileTexts are texts of about size bytes, each of which is made to be slow or large.
func hostileTexts(size int) map[string][]byte {
	texts := make(map[string][]byte)
	for _, part := range []string{
		"a.", "1 ", "11 ", "@@@@", "@a ", "@微", "微", "微信", "加v", "号", "一", "1一", "http://",
		"http://a.b/", "http://a.b/ ",
		"a@", "a@b.c", "a@b.com ", "a.zz/", "a.com ", "a.com/", "a点", "a[.]", "www. ", "a . ",
		"a dot ", "a(dot)", "1.",
		"111.", "1,", "1,111", "12-", "+1", "+", "++", "a1b2", "a_", "a-", "wx-", "wx a-", "qq:",
		"qq号", "text to ", "%", "a%",
		"a+b", "t.me/a ", "youtube.com/watch?v=a&", "bit.ly/%25", "bit.ly/?a=", "1234567 ",
		"12345678901", "/watch?v=",
		"watch?v=", "rp 1", "$1", "\xe7", "\xff",
	} {
		texts[part] = []byte(strings.Repeat(part, size/len(part)))
	}
	for name, format := range map[string]string{
		"sites": "http://slots%07d.com/ ", "names": "alexis%07d ", "numbers": "139%08d ",
		"pages":      "bit.ly/%d&%[1]d ",
		"parameters": "&p%07d", "codes": "邀请码a%07d",
	} {
		var b strings.Builder
		b.WriteString(map[string]string{"parameters": "bit.ly/?"}[name])
		for i := 0; b.Len() < size; i++ {
			fmt.Fprintf(&b, format, i)
		}
		texts[name] = []byte(b.String())
	}
	return texts
}

// A text of a mebibyte takes well under half a second, whatever is in it. Here it is an eighth of
// that, and may take as much as quadratic time would not do with. Memory is that of what counts.
func TestHostile(t *testing.T) {
	f, m := finderOf(t), maskOf(t, Masks...)
	const size, most = 1 << 17, 2 * time.Second
	for name, text := range hostileTexts(size) {
		start := time.Now()
		for range f.All(text) {
		}
		allocations := testing.AllocsPerRun(1, func() { f.Values(text) })
		if rest := m.Apply(text); len(rest) > size {
			t.Errorf("%q: masked it has %d bytes", name, len(rest))
		}
		took := time.Since(start)
		t.Logf("%-20q %v, %.0f allocations", name, took, allocations)
		if took > most {
			t.Errorf("%q takes %v", name, took)
		}
		if allocations > size/8 {
			t.Errorf("%q takes %.0f allocations", name, allocations)
		}
	}
}
