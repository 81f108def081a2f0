package charset

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

const (
	chinese     = "台风今晨在东部沿海登陆，铁路部门停运了三十多趟列车。港口的渔船已经回港避风，学校停课一天。"
	traditional = "颱風今晨在東部沿海登陸，鐵路部門停駛了三十多班列車。港口的漁船已經回港避風，學校停課一天。"
	english     = "The lighthouse keeper retires after forty years; the harbour office has not " +
		"found anybody to follow her."
	japanese = "台風は今朝、東の海岸に上陸し、列車は運転を見合わせています。漁船は港に戻りました。"
	korean   = "태풍이 오늘 아침 동해안에 상륙하여 열차 운행이 중단되었습니다. 어선들은 항구로 돌아왔습니다."
	german   = "Die Fähre verläßt den Hafen für längere Überfahrten nur noch am Samstag; " +
		"ärgerlich für Pendler."
)

func get(t testing.TB, name string) *Encoding {
	t.Helper()
	e, err := Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// encode writes text in an encoding of which all its characters are.
func encode(t testing.TB, name, text string) []byte {
	t.Helper()
	e := get(t, name).decoding
	if e == nil {
		return []byte(text)
	}
	b, err := e.NewEncoder().Bytes([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return b
}

func TestGet(t *testing.T) {
	for name, want := range map[string]string{
		"auto": "auto", "UTF-8": "utf-8", " utf8 ": "utf-8", "gbk": "gb18030", "GB2312": "gb18030",
		"gb18030": "gb18030", "big5": "big5",
		"Big5-HKSCS": "big5", "utf-16": "utf-16", "utf-16le": "utf-16le", "UTF-16BE": "utf-16be",
		"shift_jis": "shift_jis", "sjis": "shift_jis",
		"euc-kr": "euc-kr", "ks_c_5601-1987": "euc-kr", "latin1": "windows-1252",
		"iso-8859-1": "windows-1252", "koi8-r": "koi8-r",
	} {
		if e, err := Get(name); err != nil || e.String() != want {
			t.Errorf("%q is %v, %v, want %s", name, e, err, want)
		} else if again, err := Get(e.String()); err != nil || again.String() != want {
			t.Errorf("%s gives %v, %v, and not itself", want, again, err)
		}
	}
	// Some names of the standard stand for what must not be read.
	for _, name := range []string{
		"", "utf-7", "gbk2", "hz-gb-2312", "iso-2022-kr", "replacement",
		"x-user-defined",
	} {
		if e, err := Get(name); err == nil || !strings.Contains(err.Error(), Common) {
			t.Errorf("%q gives %v, %v, want an error that lists what there is", name, e, err)
		}
	}
}

// What is named is read by its name, and what is not is told by its bytes, with and without a byte
// order mark.
func TestText(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		told       bool // by auto
	}{
		{"utf-8", chinese + english + japanese + korean, true},
		{"gb18030", chinese, true},
		{"gb18030", english + "😀" + chinese, true},
		{"gbk", chinese + english, true},
		{"big5", traditional, true},
		{"utf-16le", chinese + english, true},
		{"utf-16be", chinese + english, true},
		{"utf-16le", english, true},
		{"utf-16be", english, true},
		{"utf-16le", "中文也可以" + chinese, true}, // the first character is two bytes of ASCII
		{"utf-16be", traditional + "😀", true},
		{"shift_jis", japanese, false},
		{"euc-jp", japanese, false},
		{"euc-kr", korean, false},
		{"windows-1252", german, false},
		{"iso-2022-jp", japanese, false},
	} {
		b := encode(t, tt.name, tt.text)
		names := []string{tt.name}
		if tt.told {
			names = append(names, Auto)
		}
		for _, name := range names {
			got := get(t, name).Text(b)
			if string(got.UTF8) != tt.text || got.Invalid || got.From != get(t, tt.name).String() {
				t.Errorf("%s as %s: %q from %s, invalid %t", tt.name, name, got.UTF8, got.From, got.Invalid)
			}
		}
	}
}

func TestByteOrderMarks(t *testing.T) {
	utf32 := func(b []byte, little bool) (out []byte) {
		for _, r := range string(b) {
			unit := []byte{0, byte(r >> 16), byte(r >> 8), byte(r)}
			if little {
				unit = []byte{byte(r), byte(r >> 8), byte(r >> 16), 0}
			}
			out = append(out, unit...)
		}
		return out
	}
	text := chinese + english
	for _, tt := range []struct {
		mark string
		b    []byte
		from string
	}{
		{"\xef\xbb\xbf", []byte(text), "utf-8"},
		{"\xef\xbb\xbf\xef\xbb\xbf", []byte(text), "utf-8"},
		{"\xff\xfe", encode(t, "utf-16le", text), "utf-16le"},
		{"\xfe\xff", encode(t, "utf-16be", text), "utf-16be"},
		{"\xff\xfe\xff\xfe", encode(t, "utf-16le", text), "utf-16le"},
		{"\xff\xfe\x00\x00", utf32([]byte(text), true), "utf-32le"},
		{"\x00\x00\xfe\xff", utf32([]byte(text), false), "utf-32be"},
	} {
		b := append([]byte(tt.mark), tt.b...)
		for _, name := range []string{Auto, UTF8, "gb18030", "utf-16", "utf-16be"} {
			if got := get(t, name).Text(b); string(got.UTF8) != text || got.From != tt.from || got.Invalid {
				t.Errorf("%q as %s: %q from %s, invalid %t", tt.mark, name, got.UTF8, got.From, got.Invalid)
			}
		}
	}
	// GB 18030 has a mark of its own, which is a character like any other.
	if got := get(t, Auto).Text(encode(t, "gb18030", "\ufeff"+chinese)); string(got.UTF8) != chinese ||
		got.From != "gb18030" {
		t.Errorf("%q from %s", got.UTF8, got.From)
	}
	for _, only := range []string{"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"} {
		if got := get(t, Auto).Text([]byte(only)); len(got.UTF8) != 0 || got.Invalid {
			t.Errorf("%q: %q, invalid %t", only, got.UTF8, got.Invalid)
		}
	}
}

// Odd bytes, and what auto makes of them.
func TestAutoOnOddBytes(t *testing.T) {
	gbk := func(s string) string { return string(encode(t, "gbk", s)) }
	utf16 := func(s string) string { return string(encode(t, "utf-16le", s)) }
	for name, tt := range map[string]struct {
		bytes, from, text string
		invalid           bool
	}{
		"empty":                          {"", UTF8, "", false},
		"ASCII":                          {english, UTF8, english, false},
		"a NUL":                          {"tide\x00tables", UTF8, "tide\x00tables", false},
		"NULs alone":                     {"\x00\x00\x00\x00", UTF8, "\x00\x00\x00\x00", false},
		"a NUL after each second letter": {"ab\x00cd\x00ef\x00", UTF8, "ab\x00cd\x00ef\x00", false},
		"a character cut at the end": {chinese[:len(chinese)-4], UTF8, chinese[:len(chinese)-6] +
			"\uFFFD", true},
		"a character cut at the beginning": {chinese[1:], UTF8, "\uFFFD" + chinese[3:], true},
		"one character, cut":               {"\xe5\x8f", UTF8, "\uFFFD", true},
		"a piece within English":           {"caf\xc3 au lait", UTF8, "caf\uFFFD au lait", true},
		"a byte of Windows-1252":           {"it\x92s late", UTF8, "it\uFFFDs late", true},
		"German in Windows-1252":           {string(encode(t, "windows-1252", german)), UTF8, "", true},
		"CESU-8": {"tide \xed\xa0\xbd\xed\xb8\x80 \xed\xa0\xbd\xed\xb8\x81 " +
			"tables", UTF8, "tide \uFFFD \uFFFD tables", true},
		"modified UTF-8": {
			"tide\xc0\x80tables\xc0\x80", UTF8, "tide\uFFFDtables\uFFFD", true,
		},
		"overlong": {
			"\xe0\x80\xaf\xe0\x80\xaf\xe0\x80\xaf", UTF8, "\uFFFD", true,
		},
		"Chinese and a byte of 0xFF": {"\xff" + chinese, UTF8, "\uFFFD" + chinese, true},
		"Chinese with every tenth broken": {
			strings.ReplaceAll(chinese, "，", "\x80\xff"), UTF8, strings.ReplaceAll(chinese, "，", "\uFFFD"),
			true,
		},
		"JSON of GBK": {
			gbk(`{"title":"顶楼上","n":1}`), "gb18030", `{"title":"顶楼上","n":1}`, false,
		},
		"GBK, cut":                     {gbk(chinese)[:21], "gb18030", "台风今晨在东部沿海登\uFFFD", true},
		"GBK with a second byte of \\": {gbk(`"誠實的歷史，台风今晨登陆"`), "gb18030", `"誠實的歷史，台风今晨登陆"`, false},
		"GBK beside a byte of 0xFF":    {gbk(chinese) + "\xff", "gb18030", chinese + "\uFFFD", true},
		"blanks, and damage": {"台风" + strings.Repeat(" ", 1000) + "\xff", UTF8, "台风" +
			strings.Repeat(" ", 1000) + "\uFFFD", true},
		"digits, and damage": {strings.Repeat("1 2 3 4 ", 100) + "\xff" +
			strings.Repeat(" 5 6 7", 100), UTF8, strings.Repeat("1 2 3 4 ", 100) + "\uFFFD" +
			strings.Repeat(" 5 6 7", 100), true},
		"UTF-16, half a character": {utf16(english) + "x", "utf-16le", english + "\uFFFD", true},
		"UTF-16, half a pair": {
			utf16(english) + "\x3d\xd8", "utf-16le", english + "\uFFFD", true,
		},
		"UTF-16 of one letter": {"a\x00", UTF8, "a\x00", false},
		"JSON of UTF-16":       {utf16(`{"a":1}`), "utf-16le", `{"a":1}`, false},
	} {
		got := get(t, Auto).Text([]byte(tt.bytes))
		if got.From != tt.from || got.Invalid != tt.invalid || tt.text+tt.bytes != "" && tt.text != "" &&
			string(got.UTF8) != tt.text {
			t.Errorf("%s: from %s, invalid %t, %q\nwant from %s, invalid %t, %q", name, got.From,
				got.Invalid, got.UTF8, tt.from, tt.invalid, tt.text)
		}
	}
}

// Every encoding that can be named gives back what was written in it.
func TestRoundTrips(t *testing.T) {
	for _, name := range []string{
		"gb18030", "big5", "shift_jis", "euc-jp", "euc-kr", "iso-2022-jp", "utf-16le", "utf-16be",
		"windows-1250", "windows-1251", "windows-1252",
		"windows-1253", "windows-1254", "windows-1255", "windows-1256", "windows-1257", "windows-1258",
		"windows-874", "iso-8859-2", "iso-8859-5", "iso-8859-7",
		"iso-8859-15", "koi8-r", "koi8-u", "ibm866", "macintosh",
	} {
		e := get(t, name)
		for _, text := range []string{
			english, german, chinese, traditional, japanese, korean,
			"Паром уходит в шесть", "Το πλοίο φεύγει στις έξι",
		} {
			b, err := e.decoding.NewEncoder().Bytes([]byte(text))
			if err != nil {
				continue // it has not all of these characters
			}
			if got := e.Text(b); string(got.UTF8) != text || got.From != name || got.Invalid {
				t.Errorf("%s: %q from %s, invalid %t", name, got.UTF8, got.From, got.Invalid)
			}
			if got, err := io.ReadAll(e.Reader(bytes.NewReader(b))); err != nil || string(got) != text {
				t.Errorf("%s: the reader gives %q, %v", name, got, err)
			}
		}
	}
}

// Valid UTF-8 stays what it is, and whatever the bytes are, what comes out is valid.
func FuzzText(f *testing.F) {
	for _, text := range []string{english, chinese, traditional, japanese, korean, german, "\ufeff" +
		english, "a\x00b"} {
		f.Add([]byte(text))
		for _, name := range []string{
			"gb18030", "big5", "utf-16le", "utf-16be", "shift_jis",
			"windows-1252",
		} {
			if b, err := get(f, name).decoding.NewEncoder().Bytes([]byte(text)); err == nil {
				f.Add(b)
				f.Add(b[1 : len(b)-1])
			}
		}
	}
	f.Add([]byte("\xed\xa0\xbd\xed\xb8\x80"))
	encodings := []*Encoding{
		get(f, Auto), get(f, UTF8), get(f, "utf-16"), get(f, "gb18030"), get(f, "big5"),
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, e := range encodings {
			before := bytes.Clone(b)
			got := e.Text(b)
			if !utf8.Valid(got.UTF8) || bytes.HasPrefix(got.UTF8, utf8Mark) {
				t.Errorf("%s: %q is not valid, or begins with a mark", e, got.UTF8)
			}
			if !bytes.Equal(b, before) {
				t.Errorf("%s: the bytes were written to", e)
			}
			if len(got.UTF8) > 3*len(b) {
				t.Errorf("%s: %d bytes of %d", e, len(got.UTF8), len(b))
			}
			again := e.Text(b)
			if again.From != got.From || !bytes.Equal(again.UTF8, got.UTF8) || again.Invalid != got.Invalid {
				t.Errorf("%s: once %s, once %s", e, got.From, again.From)
			}
			if e.name == Auto && plain(b) && (got.From != UTF8 || got.Invalid ||
				!bytes.Equal(got.UTF8, trimMarks(b))) {
				t.Errorf("valid UTF-8 became %q from %s", got.UTF8, got.From)
			}
			// A file of these bytes alone is read as a record of them is, but that damage in UTF-8 is left
			// to the line.
			whole, err := io.ReadAll(iotest.OneByteReader(e.Reader(bytes.NewReader(b))))
			if got.From == UTF8 {
				whole = bytes.ToValidUTF8(trimMarks(whole), replacement)
			}
			if err != nil || !bytes.Equal(trimMarks(whole), got.UTF8) {
				t.Errorf("%s: the reader gives %q, %v, and not %q", e, whole, err, got.UTF8)
			}
		}
	})
}

// Telling an encoding looks at a bounded part of a record.
func TestDetectionLooksAtASample(t *testing.T) {
	for _, name := range []string{"gb18030", "utf-16be"} {
		long := encode(t, name, strings.Repeat("a", 3*sampled)+strings.Repeat(chinese, 5000))
		if got := get(t, Auto).Text(long); got.From != name || got.Invalid {
			t.Errorf("%s: from %s, invalid %t", name, got.From, got.Invalid)
		}
	}
}

// What is made of damaged UTF-8: another encoding once in some thousand times, and mostly where
// next to nothing but damage is left.
func TestDamagedUTF8(t *testing.T) {
	r, auto := rand.New(rand.NewPCG(7, 1)), get(t, Auto)
	const rounds = 4000
	for name, text := range map[string]string{
		"chinese": chinese, "english": english + " “Café”",
		"german": german, "korean": korean,
	} {
		mistaken := 0
		for range rounds {
			b := []byte(`{"id":"17","content":"` + text + `"}`)
			for range 1 + r.IntN(3) {
				b[r.IntN(len(b))] ^= 1 << r.IntN(8)
			}
			if from := r.IntN(4 * len(b)); from < len(b)/2 {
				b = b[from:]
			}
			if auto.Text(b).From != UTF8 {
				mistaken++
			}
		}
		if mistaken > rounds/400 {
			t.Errorf("%s: %d of %d were taken for another encoding", name, mistaken, rounds)
		}
	}
}

func BenchmarkText(b *testing.B) {
	auto := get(b, Auto)
	for name, text := range map[string][]byte{
		"utf-8":   []byte(strings.Repeat(chinese, 20)),
		"ascii":   []byte(strings.Repeat(english, 20)),
		"gb18030": encode(b, "gb18030", strings.Repeat(chinese, 20)),
		"utf-16":  encode(b, "utf-16le", strings.Repeat(chinese, 20)),
		"damaged": []byte(strings.Repeat(chinese, 20) + "\xff"),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				auto.Text(text)
			}
		})
	}
}
