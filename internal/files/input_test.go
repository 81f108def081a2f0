package files

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/text/encoding/simplifiedchinese"

	"github.com/clusterd/clusterd/internal/config"
)

func page(text string) *io.SectionReader {
	return io.NewSectionReader(strings.NewReader(text), 0, int64(len(text)))
}

func newReader(t *testing.T, c config.Input, files []File) *Reader {
	t.Helper()
	r, err := NewReader(c, files)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Files are read one after the other; offsets go on, and lines start again.
func TestReader(t *testing.T) {
	c := config.Default().Input
	c.MaxBytes = 1024
	r := newReader(t, c, []File{
		{Name: "a.jsonl", Lines: strings.NewReader(`{"id":"a","title":"T","content":"C"}` + "\n\n" +
			`{"id":1}`)},
		{Name: "none.jsonl", Lines: strings.NewReader("")},
		{Name: "b.html", Document: page("<p>Harbour bridge opens</p>")},
		{Name: "c.html", Document: page(" ")},
		{Name: "d.docx", Document: page("no archive")},
		{Name: "e.xml", Document: page("<p>" + strings.Repeat("x", 2000) + "</p>")},
		{Name: "f.jsonl", Lines: strings.NewReader(`{"content":"last"}` + "\r\n")},
	})
	want := []string{
		"a.jsonl:1 0 a/T/C",
		"a.jsonl:2 1 empty",
		"a.jsonl:3 2 empty",
		"b.html:1 3 b.html//<p>Harbour bridge opens</p>",
		"c.html:1 4 empty",
		"d.docx:1 5 bad_document",
		"e.xml:1 6 too_large",
		"f.jsonl:1 7 articles/0/7//last",
	}
	var got []string
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		a, rejection := r.Article(e)
		what := fmt.Sprintf("%s/%s/%s", a.ID, a.Title, a.Content)
		if rejection != nil {
			what = string(rejection.Class)
		}
		got = append(got, fmt.Sprintf("%s:%d %d %s", e.File, e.Line, e.Offset, what))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("behind the end: %v", err)
	}
}

func TestReaderFails(t *testing.T) {
	broken := errors.New("broken")
	r := newReader(t, config.Default().Input,
		[]File{{Name: "news.jsonl", Lines: iotest.ErrReader(broken)}})
	if _, err := r.Next(); !errors.Is(err, broken) || !strings.Contains(err.Error(), "news.jsonl") {
		t.Errorf("error = %v, want one that names the file", err)
	}
}

// A file is of one encoding, which its lines are told of; a document says its own.
func TestReaderEncodings(t *testing.T) {
	gbk := func(text string) string {
		b, err := simplifiedchinese.GBK.NewEncoder().String(text)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	const line = `{"content":"台风今晨登陆，铁路部门停运了三十多趟列车"}` + "\n"
	r := newReader(t, config.Default().Input, []File{
		{Name: "a.jsonl", Lines: strings.NewReader(`{"content":"plain"}` + "\n" +
			gbk(line+`{"content":"顶"}`))},
		{Name: "b.html", Document: page(gbk("<p>台风今晨登陆，铁路部门停运了三十多趟列车</p>"))},
		{Name: "c.jsonl", Lines: strings.NewReader("\ufeff" + line + "\ufeff" + line +
			"{\"content\":\"\xff\"}")},
	})
	var got []string
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		a, rejection := r.Article(e)
		if rejection != nil {
			t.Errorf("%s:%d: %v", e.File, e.Line, rejection)
		}
		note := ""
		if a.Notes != nil {
			note = fmt.Sprint(" ", a.Notes.Encoding, " ", a.Notes.Invalid)
		}
		got = append(got, a.Content+note)
	}
	const text = "台风今晨登陆，铁路部门停运了三十多趟列车"
	want := []string{
		"plain gb18030 false", text + " gb18030 false", "顶 gb18030 false",
		"<p>" + text + "</p>", text, text, "\uFFFD  true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
