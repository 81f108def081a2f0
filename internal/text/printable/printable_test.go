package printable

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", ""},
		{"Harbour bridge opens", "Harbour bridge opens"},
		{`C:\new "quoted" 'x'`, `C:\new "quoted" 'x'`},
		{"台风登陆，列车停运　第二段", "台风登陆，列车停运　第二段"},
		{"颱風 𠀀 葛\U000E0100城", "颱風 𠀀 葛\U000E0100城"},
		{"👩\u200d👩\u200d👧 👍🏽 ❤️ 🇨🇳", "👩\u200d👩\u200d👧 👍🏽 ❤️ 🇨🇳"},
		{"می\u200cخواهم עברית عربي हिन्दी", "می\u200cخواهم עברית عربي हिन्दी"},
		{"a\u00a0b\u3000c\u2003d", "a\u00a0b\u3000c\u2003d"},
		{"e\u0301", "e\u0301"},
		{"\ufffd", "\ufffd"},

		{"\x1b[2J\x1b]0;title\a", `\x1b[2J\x1b]0;title\a`},
		{"a\nb\rc\td\be\x00", `a\nb\rc\td\be\x00`},
		{"\x7f", `\x7f`},
		{"\u009b2J\u009d0;x\u009c\u0085", `\u009b2J\u009d0;x\u009c\u0085`},
		{"a\u2028b\u2029c", `a\u2028b\u2029c`},
		{"\u202a\u202b\u202c\u202d\u202etxt.exe", `\u202a\u202b\u202c\u202d\u202etxt.exe`},
		{"\u2066\u2067\u2068\u2069", `\u2066\u2067\u2068\u2069`},
		{"\u200e\u200f\u061c", `\u200e\u200f\u061c`},
		{"\u200b\u2060\u2064\ufeff\u00ad\u206a\u180e", `\u200b\u2060\u2064\ufeff\u00ad\u206a\u180e`},
		{"\U000E0001\U000E0041\U000E007F", `\U000e0001\U000e0041\U000e007f`},
		{"\xff\xc3(\xe4\xb8", `\xff\xc3(\xe4\xb8`},
		{"\x9b2J", `\x9b2J`},
		{"\xed\xa0\x80", `\xed\xa0\x80`},
		{"\xc0\x9b", `\xc0\x9b`},
	} {
		if got := Text(test.text); got != test.want {
			t.Errorf("%q: %s, want %s", test.text, got, test.want)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("\x1b台\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		got := Text(s)
		if !utf8.ValidString(got) ||
			strings.ContainsFunc(strings.ReplaceAll(got, "\ufffd", ""), isUnsafe) {
			t.Errorf("%q: %q", s, got)
		}
		if Text(got) != got {
			t.Errorf("%q: twice gives %q", s, Text(got))
		}
	})
}

// What is written is the same JSON, and nothing else is in it, however it is cut into writes.
func TestJSON(t *testing.T) {
	want := map[string]string{
		"title": "台风 \u202egnp.exe \u009b2J \x7f \u200b \U000E0041 👩\u200d👩\u200d👧",
		"id":    "a\x1b\u2028",
	}
	var plain bytes.Buffer
	e := json.NewEncoder(&plain)
	e.SetEscapeHTML(false)
	e.SetIndent("", "\t")
	if err := e.Encode(want); err != nil {
		t.Fatal(err)
	}
	for size := 1; size < 9; size++ {
		var out bytes.Buffer
		w := JSON(&out)
		for rest := plain.Bytes(); len(rest) > 0; {
			n := min(size, len(rest))
			if written, err := w.Write(rest[:n]); written != n || err != nil {
				t.Fatal(written, err)
			}
			rest = rest[n:]
		}
		var got map[string]string
		if err := json.Unmarshal(out.Bytes(), &got); err != nil || got["title"] != want["title"] ||
			got["id"] != want["id"] {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
		for line := range strings.SplitSeq(out.String(), "\n") {
			if strings.ContainsFunc(strings.ReplaceAll(line, "\t", ""), isUnsafe) {
				t.Errorf("in writes of %d bytes: %q", size, line)
			}
		}
		if !strings.Contains(out.String(), `\u202e`) || !strings.Contains(out.String(), `\udb40\udc41`) ||
			!strings.Contains(out.String(), "台风") {
			t.Errorf("in writes of %d bytes: %s", size, out.String())
		}
	}
}
