package text

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestExcerpt(t *testing.T) {
	for in, want := range map[string]string{
		"": "", " \n ": "", "one": "one", " a \t\n b　c ": "a b c",
		"0123456789": "0123456789", "0123456789A": "0123456789", "012345678 A": "012345678",
		"01234567 9A": "01234567 9", "一二三四五六七八九十百": "一二三四五六七八九十",
		"a &amp; b": "a & b",
		"<p>one</p><script>x()</script><b>t</b>wo": "one two",
		"1 < 2":                           "1 < 2",
		strings.Repeat(" ", 1000) + "far": "far",
	} {
		if got := Excerpt(in, 10); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// However long a text is, no more than its beginning is looked at, up to a whole character.
func TestExcerptOfALongText(t *testing.T) {
	blank := strings.Repeat(" ", maxExcerptSource-4)
	for in, want := range map[string]string{
		blank + "文文": "文", blank + "abcdef": "abcd", blank + "    x": "",
		strings.Repeat("文", maxExcerptSource): strings.Repeat("文", 120),
	} {
		if got := Excerpt(in, 120); got != want || !utf8.ValidString(got) {
			t.Errorf("%d bytes: %q, want %q", len(in), got, want)
		}
	}
}

func BenchmarkExcerpt(b *testing.B) {
	for name, s := range map[string]string{
		"comment": "great offer, call 555-0100 now 加微信 abc123, it is the best of this year",
		"long":    strings.Repeat("港口大桥今天正式通车，居民沿着河岸庆祝。", 100),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Excerpt(s, 120)
			}
		})
	}
}
