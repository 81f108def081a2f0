package charset

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// A file is of one encoding, which may show late, and in the middle of a buffer.
func TestReader(t *testing.T) {
	line := english + "\n"
	for _, ascii := range []int{
		0, 1, sampled - 1, sampled, sampled + 1, 2 * sampled, 2*sampled + 1,
		5*sampled - 1,
	} {
		before := strings.Repeat(line, ascii/len(line)+1)[:ascii]
		for name, text := range map[string]string{
			"utf-8": chinese, "gb18030": chinese,
			"big5": traditional,
		} {
			text = before + strings.Repeat(text+"\n", 3000)
			for way, wrap := range map[string]func(io.Reader) io.Reader{
				"whole": func(r io.Reader) io.Reader { return r }, "halves": iotest.HalfReader,
				"with the error": iotest.DataErrReader,
			} {
				r := get(t, Auto).Reader(wrap(bytes.NewReader(encode(t, name, text))))
				got, err := io.ReadAll(r)
				if err != nil || string(got) != text || r.From() != name {
					t.Errorf("%d bytes of ASCII, %s, %s: from %s, the same %t, %v", ascii, name, way, r.From(),
						string(got) == text, err)
				}
			}
		}
	}
}

// What comes after the bytes that tell does not change the encoding, and damage is left where it
// is.
func TestReaderStaysWithItsEncoding(t *testing.T) {
	many := strings.Repeat(chinese+"\n", 3000)
	gbk := encode(t, "gb18030", many)
	r := get(t, Auto).Reader(io.MultiReader(strings.NewReader(many), bytes.NewReader(gbk)))
	if got, err := io.ReadAll(r); err != nil || r.From() != UTF8 || string(got) != many+string(gbk) {
		t.Errorf("from %s, %v", r.From(), err)
	}
	r = get(t, Auto).Reader(io.MultiReader(bytes.NewReader(gbk), strings.NewReader(english)))
	if got, err := io.ReadAll(r); err != nil || r.From() != "gb18030" || string(got) != many+english {
		t.Errorf("from %s, %v", r.From(), err)
	}
}

func TestReaderFails(t *testing.T) {
	broken := errors.New("broken")
	for _, before := range []string{"", "\xff\xfe", english, chinese} {
		for _, name := range []string{Auto, UTF8, "big5"} {
			_, err := io.ReadAll(get(t, name).Reader(io.MultiReader(strings.NewReader(before),
				iotest.ErrReader(broken))))
			if !errors.Is(err, broken) {
				t.Errorf("%s after %q: %v", name, before, err)
			}
		}
	}
}
