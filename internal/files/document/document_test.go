package document

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"

	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/text/charset"
)

const enough = 1 << 20

// parts are the names and contents of what a zip archive holds, one after the other.
type parts []string

func read(name, file string, maxBytes int) (Document, error) {
	auto, err := charset.Get(charset.Auto)
	if err != nil {
		return Document{}, err
	}
	return Read(name, strings.NewReader(file), int64(len(file)), maxBytes, auto)
}

const (
	declaration = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>`
	officeType  = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
)

func TestRead(t *testing.T) {
	gbk, err := simplifiedchinese.GBK.NewEncoder().String(`<meta charset="gbk"><p>台风</p>`)
	if err != nil {
		t.Fatal(err)
	}
	gbkXML, err := simplifiedchinese.GBK.NewEncoder().String(
		`<?xml version="1.0" encoding='GB2312'?><a>台风</a>`)
	if err != nil {
		t.Fatal(err)
	}
	bare, err := simplifiedchinese.GBK.NewEncoder().String(strings.Repeat("<p>台风登陆，列车停运。</p>", 9))
	if err != nil {
		t.Fatal(err)
	}
	utf16, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String("<p>台风</p>")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, file     string
		title, content string
	}{
		{"a.HTML", "\n<p>台风</p>\n", "", "<p>台风</p>"},
		{"gbk.htm", gbk, "", `<meta charset="gbk"><p>台风</p>`},
		{"bare.htm", bare, "", strings.Repeat("<p>台风登陆，列车停运。</p>", 9)},
		{"latin.html", "<p>Le caf\xe9 d'\xe0 c\xf4t\xe9</p>", "", "<p>Le café d'à côté</p>"},
		{"utf16.html", utf16, "", "<p>台风</p>"},
		{
			"bytes.html", "<p>台风" + strings.Repeat(" ", 1024) + "\xff", "",
			"<p>台风" + strings.Repeat(" ", 1024) + "\uFFFD",
		},
		{"a.xml", declaration + "<a>台风</a>", "", declaration + "<a>台风</a>"},
		{"gbk.xml", gbkXML, "", `<?xml version="1.0" encoding='GB2312'?><a>台风</a>`},

		{
			"a.docx", pack(t,
				docx(`<w:p><w:pPr><w:tabs><w:tab/></w:tabs></w:pPr><w:r><w:t>港口</w:t></w:r><w:r><w:t xml:space="preserve">大桥 A&amp;B</w:t></w:r></w:p>`+
					`<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t></w:r></w:p><w:tbl><w:tr><w:tc><w:p><w:r><w:t>1</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>2</w:t></w:r></w:p></w:tc></w:tr></w:tbl>`)),
			"港口大桥 A&B", "a\tb\nc\n1\n2",
		},
		{
			"changes.docx",
			pack(t, docx(
				`<w:p><w:r><w:t>kept</w:t></w:r></w:p><w:p><w:del><w:r><w:delText>deleted</w:delText></w:r></w:del><w:ins><w:r><w:t>inserted</w:t></w:r></w:ins>`+
					`<w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom><w:r><w:instrText>PAGE</w:instrText></w:r></w:p>`)),
			"kept", "inserted",
		},
		{
			"box.docx", pack(t,
				docx(`<w:p><w:r><w:t>x</w:t></w:r></w:p><mc:AlternateContent><mc:Choice><w:p><w:r><w:t>box</w:t></w:r></w:p></mc:Choice><mc:Fallback><w:p><w:r><w:t>box</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent>`)),
			"x", "box",
		},
		{
			"a.pptx", pack(t,
				pptx(`<a:p><a:r><a:t>second</a:t></a:r><a:fld type="slidenum"><a:t>2</a:t></a:fld></a:p>`,
					`<a:p><a:r><a:t>fir</a:t></a:r><a:r><a:t>st</a:t></a:r></a:p><a:p/>`)),
			"first", "second",
		},
		{
			"a.odt", pack(t,
				odt(`<text:tracked-changes><text:p>gone</text:p></text:tracked-changes><text:h>港口<text:span>大桥</text:span></text:h><text:p>a<text:s text:c="2"/>b<text:tab/>c<text:line-break/>d`+
					`<text:note><text:note-body><text:p>note</text:p></text:note-body></text:note>
e</text:p>`)),
			"港口大桥", "a b\tc\nd e",
		},
		{
			"a.epub", pack(t,
				epub(declaration+
					`<html><head><title>x</title></head><body><p>second</p><script>y</script></body></html>`,
					`<html><body><h1>fi<i>rst</i></h1></body></html>`)),
			"first", "x\n\n\n\nsecond",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !Is(c.name) {
				t.Error("is not known for a document")
			}
			got, err := read(c.name, c.file, enough)
			if want := (Document{c.title, c.content}); err != nil || got != want {
				t.Errorf("got %q, %v\nwant %q", got, err, want)
			}
		})
	}
}

// encoded returns an archive with all its parts in an encoding of 16 bits.
func encoded(t testing.TB, all parts, e encoding.Encoding, from, to string) parts {
	t.Helper()
	out := slices.Clone(all)
	for i := 1; i < len(out); i += 2 {
		s, err := e.NewEncoder().String(strings.Replace(out[i], from, to, 1))
		if err != nil {
			t.Fatal(err)
		}
		out[i] = s
	}
	return out
}

// The parts of an archive are read in the encoding that they name.
func TestEncodingsOfParts(t *testing.T) {
	little, big := unicode.UTF16(unicode.LittleEndian,
		unicode.UseBOM), unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	for _, e := range []struct {
		name     string
		encoding encoding.Encoding
		to       string
	}{
		{"UTF-16, little endian", little, "UTF-16"},
		{"UTF-16, big endian", big, "UTF-16"},
		{"UTF-16 that is called UTF-8", little, "UTF-8"},
		{
			"UTF-16 without byte order mark", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM),
			"UTF-16LE",
		},
		{
			"big endian without byte order mark", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM),
			"UTF-16",
		},
		{"UTF-8 with byte order mark", unicode.UTF8BOM, "UTF-8"},
		{"UTF-8 that is called UTF-16", unicode.UTF8, "UTF-16"},
		{"GB 18030", simplifiedchinese.GB18030, "GB18030"},
		{"Big5", traditionalchinese.Big5, "Big5"},
	} {
		for name, all := range map[string]parts{
			"a.docx": docx("<w:p><w:r><w:t>台風</w:t></w:r></w:p>"), "a.odt": odt("<text:p>台風</text:p>"),
			"a.pptx": pptx("<a:p><a:t>台風</a:t></a:p>"),
			"a.epub": epub(declaration + "<html><body><p>台風</p></body></html>"),
		} {
			got, err := read(name, pack(t, encoded(t, all, e.encoding, "UTF-8", e.to)), enough)
			if err != nil || got.Title != "台風" {
				t.Errorf("%s, %s: got %q, %v", e.name, name, got, err)
			}
		}
		s, err := e.encoding.NewEncoder().String(`<?xml version="1.0" encoding="` + e.to + `"?><a>台風</a>`)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := read("a.xml", s, enough); err != nil ||
			!strings.HasSuffix(got.Content, "<a>台風</a>") {
			t.Errorf("%s, a.xml: got %q, %v", e.name, got, err)
		}
	}
	_, err := read("a.docx", pack(t, encoded(t, docx("<w:p/>"), unicode.UTF8, "UTF-8", "klingon")),
		enough)
	if err == nil || !strings.Contains(err.Error(),
		`part "_rels/.rels": unknown character encoding "klingon"`) {
		t.Errorf("an unknown encoding: %v", err)
	}
}

func TestIs(t *testing.T) {
	for _, name := range []string{
		"a.jsonl", "a.json", "a.txt", "a.gz", "a.html.gz", "docx", "-", "",
		"a.doc", "a.pdf", "b.docx/a",
	} {
		if Is(name) {
			t.Errorf("%s is taken for a document", name)
		}
	}
}

func TestBroken(t *testing.T) {
	good := pack(t, docx(`<w:p><w:r><w:t>`+strings.Repeat("text ", 1000)+`</w:t></w:r></w:p>`))
	var stored bytes.Buffer
	z := zip.NewWriter(&stored)
	w, err := z.CreateHeader(&zip.FileHeader{Name: "content.xml", Method: zip.Store})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, "<text:p>a sentence</text:p>"); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, file, want string }{
		{"a.docx", "PK", "zip archive"},
		{"a.docx", "", "zip archive"},
		{"cut.docx", good[:len(good)/2], "zip archive"},
		{
			"flipped.docx", strings.ReplaceAll(good, "word/document.xml", "word/doculent.xml"),
			`"word/document.xml"`,
		},
		{
			"flipped.odt", strings.Replace(stored.String(), "sentence", "centence", 1),
			`part "content.xml": zip: checksum error`,
		},
		{"odt.docx", pack(t, odt("<text:p>x</text:p>")), `"_rels/.rels" is missing`},
		{"no.docx", pack(t, parts{"_rels/.rels", relationshipsXML()}), "main part is missing"},
		{"a.odt", pack(t, parts{"mimetype", "x"}), `"content.xml" is missing`},
		{
			"a.pptx", pack(t, append(parts{"ppt/none", ""}, pptx("x")[:2]...)),
			`"ppt/presentation.xml" is missing`,
		},
		{"a.epub", pack(t, epub()[:2]), `"OEBPS/book.opf" is missing`},
		{"a.xml", `<?xml version="1.0" encoding="klingon"?><a>x</a>`, `"klingon"`},
		{"a.pdf", "%PDF", `unknown kind of document: ".pdf"`},
	} {
		got, err := read(c.name, c.file, enough)
		if err == nil || errors.Is(err, ErrTooLarge) || errors.Is(err, ErrEmpty) ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %.40q, error %v, want one with %s", c.name, got, err, c.want)
		}
	}
}

func TestEmpty(t *testing.T) {
	for name, file := range map[string]string{
		"a.html": " \n", "b.html": "", "a.xml": "", "a.docx": pack(t, docx("<w:p/>")),
		"a.odt":  pack(t, odt("")),
		"a.pptx": pack(t, pptx()), "a.epub": pack(t, epub("<p> </p>")),
	} {
		if got, err := read(name, file, enough); !errors.Is(err, ErrEmpty) {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

// Neither much text nor what only unpacks to much gets through, and text that just fits does.
func TestTooLarge(t *testing.T) {
	check.OneGoroutine(t)
	const limit = 10_000
	long := strings.Repeat("x", limit-1)
	for _, c := range []struct{ name, file string }{
		{"a.html", "%s"},
		{"a.xml", "%s"},
		{"a.docx", "<w:p><w:t>%s</w:t></w:p>"},
		{"a.odt", "<text:p>%s</text:p>"},
	} {
		file := func(text string) string {
			s := strings.Replace(c.file, "%s", text, 1)
			switch c.name {
			case "a.docx":
				return pack(t, docx(s))
			case "a.odt":
				return pack(t, odt(s))
			}
			return s
		}
		if _, err := read(c.name, file(long), limit); err != nil {
			t.Errorf("%s: %d bytes with a limit of %d: %v", c.name, len(long), limit, err)
		}
		if _, err := read(c.name, file(long+"xx"), limit); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %d bytes with a limit of %d: %v", c.name, len(long)+2, limit, err)
		}
	}
	same := pptx("<a:p><a:t>x</a:t></a:p>")
	for i := range same {
		same[i] = strings.Replace(same[i], "</p:sldIdLst>",
			strings.Repeat(`<p:sldId r:id="rId1"/>`, 5000)+"</p:sldIdLst>", 1)
	}
	for name, file := range map[string]string{
		"elements.docx":  pack(t, docx(strings.Repeat("<w:p><w:r></w:r>", minUnpacked/10))),
		"tag.docx":       pack(t, docx("<w:p "+strings.Repeat(`a="" `, minToken)+">")),
		"deep.odt":       pack(t, odt(strings.Repeat("<text:p>", minUnpacked/4))),
		"one slide.pptx": pack(t, same),
		"markup.epub":    pack(t, epub(strings.Repeat("<p></p>", minUnpacked/4))),
		"replaced.html":  strings.Repeat("<p>台", 1000) + strings.Repeat("x\xff", 1990),
		"relations.docx": pack(t, parts{
			"_rels/.rels",
			relationshipsXML() + strings.Repeat(" ", 4*minUnpacked),
		}),
		"whitespace.epub": pack(t, epub(strings.Repeat(" ", 4*minUnpacked))),
	} {
		if _, err := read(name, file, limit); !errors.Is(err, ErrTooLarge) && !errors.Is(err, errRatio) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// deep returns a small document that unpacks to as much markup as a limit of 4 MiB of text allows.
func deep(t testing.TB) string {
	return pack(t, docx(strings.Repeat("<w:p>", 60<<20/len("<w:p>"))))
}

// usual returns a document of that many bytes, more or less, with text that compresses as text
// does.
func usual(t testing.TB, size int) string {
	random := rand.New(rand.NewPCG(1, 1))
	var body strings.Builder
	for body.Len() < 4*size {
		fmt.Fprintf(&body, "<w:p><w:r><w:rPr><w:b/></w:rPr><w:t>%x</w:t></w:r></w:p>", random.Uint64())
	}
	return pack(t, docx(body.String()))
}

// However large the text of a document may be, a small file takes little time: what is unpacked
// goes with its own size.
func TestUnpackedGoesWithTheSizeOfTheFile(t *testing.T) {
	const limit = 4 << 20
	file := deep(t)
	if _, err := read("a.docx", file, limit); !errors.Is(err, errRatio) {
		t.Errorf("%d bytes: %v", len(file), err)
	}
	const paragraph = "<w:p><w:r><w:t>The same again.</w:t></w:r></w:p>"
	repeated := pack(t, docx(strings.Repeat(paragraph, 10_000)))
	if _, err := read("a.docx", repeated, limit); err != nil {
		t.Errorf("one paragraph, 10,000 times, in %d bytes: %v", len(repeated), err)
	}
}

// BenchmarkRead reads two files of the same size.
func BenchmarkRead(b *testing.B) {
	hostile := deep(b)
	for name, file := range map[string]string{"nested": hostile, "usual": usual(b, len(hostile))} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, _ = read("a.docx", file, 4<<20)
			}
		})
	}
}

// Whatever a file holds, it gives text within the limit or an error. What is fuzzed is one part of
// each kind of archive, since a fuzzer finds no checksums, and the archive itself.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`<w:p><w:r><w:t>a</w:t><w:tab/></w:r></w:p>`))
	f.Add([]byte(`<a:p><a:t><![CDATA[x]]></a:t></a:p></a:p><mc:Fallback>`))
	f.Add([]byte(`<text:p>x<text:note><text:p>y</text:note></text:p>`))
	f.Add([]byte(`<Relationship Id="rId1" Type="x/officeDocument" Target="../../_rels/.rels"/>`))
	f.Add([]byte("<?xml version='1.0' encoding=\"gbk\"?>\xff"))
	f.Add([]byte("\xff\xfe<\x00p"))
	f.Add([]byte(pack(f, docx("<w:p><w:t>x</w:t></w:p>"))))
	const limit = 1000
	f.Fuzz(func(t *testing.T, b []byte) {
		s := string(b)
		for name, file := range map[string]string{
			"a.html": s, "a.xml": s, "raw.docx": s, "raw.epub": s,
			"a.docx": pack(t, docx(s)), "rels.docx": pack(t, parts{"_rels/.rels", s}),
			"utf16.docx": pack(t, encoded(t, docx(strings.ToValidUTF8(s, "?")),
				unicode.UTF16(unicode.BigEndian, unicode.UseBOM), "UTF-8", "UTF-16")),
			"a.pptx": pack(t, pptx(s, s)), "a.odp": pack(t, odt(s)), "a.epub": pack(t, epub(s)),
			"opf.epub": pack(t, parts{"META-INF/container.xml", `<rootfile full-path="a"/>`, "a", s}),
		} {
			got, err := read(name, file, limit)
			if err == nil && (len(got.Title)+len(got.Content) == 0 ||
				len(got.Title)+len(got.Content) > limit) {
				t.Errorf("%s: got %q", name, got)
			}
		}
	})
}
