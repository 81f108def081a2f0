package files

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/message/article"
)

// describe returns a line for each entry: where it is, and the article or why it is none. The last
// is the error, if there is one.
func describe(t *testing.T, c config.Input, files ...File) (all []string) {
	t.Helper()
	r := newReader(t, c, files)
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			return append(all, err.Error())
		}
		a, rejection := r.Article(e)
		what := fmt.Sprintf("%s/%s/%s", a.ID, a.Title, a.Content)
		if !a.PublishedAt.IsZero() {
			what += "/" + a.PublishedAt.UTC().Format("2006-01-02")
		}
		if rejection != nil {
			what = rejection.Error()
		}
		all = append(all, fmt.Sprintf("%d: %s", e.Line, what))
	}
}

func TestKinds(t *testing.T) {
	for name, tt := range map[string]struct {
		kind   Kind
		format string // json without one
		in     string
		want   []string
	}{
		"csv": {
			kind: CSV,
			in: "\ufeffid,title,content,published_at\r\na,T,\"one, \"\"two\"\"\nthree\",2026-05-01\r\n\r\n" +
				"b,,x,1767225600",
			want: []string{"2: a/T/one, \"two\"\nthree/2026-05-01", "5: b//x/2026-01-01"},
		},
		"csv with bad rows": {
			kind: CSV, format: "text", // a row is a row in any format
			in: "id,content\na\nb,x\"y\nc,\"x\"y\nd,1,2\ne,fine\nf,\"open\ng,lost\n",
			want: []string{
				"2: bad_row: line 2: the row has 1 cells, and the first row has 2",
				`3: bad_row: line 3, column 4: bare " in non-quoted-field`,
				`4: bad_row: line 4, column 5: extraneous or missing " in quoted-field`,
				"5: bad_row: line 5: the row has 3 cells, and the first row has 2",
				"6: e//fine",
				`7: bad_row: line 8, column 8: extraneous or missing " in quoted-field`,
			},
		},
		"csv without a row": {kind: CSV, in: "id,content\n"},
		"csv of nothing":    {kind: CSV},
		"csv without such columns": {
			kind: CSV, in: "a,b\n1,2\n",
			want: []string{`2: empty: there is no field "title" and no field "content" with a value; ` +
				`there is "a", "b"`},
		},
		"csv with a broken head": {
			kind: CSV, in: "id,\"content\"x\na,b\n",
			want: []string{`reading f: line 1, column 12: extraneous or missing " in quoted-field`},
		},
		"csv without a head": {
			kind: CSV, in: "a," + strings.Repeat("x", 300) + "\nb,c\n",
			want: []string{"reading f: line 1: column 2: its name has 300 bytes, and at most 256 are " +
				"allowed: does the first line name the columns?"},
		},
		"csv with a large row": {
			kind: CSV, in: "id,content\na," + strings.Repeat("x", 2000) + "\nb,c\nc,\"" +
				strings.Repeat("x\n", 2000),
			want: []string{
				"2: too_large: line 2: the row that begins here is larger than input.max_bytes, 1024 " +
					"bytes; is a quote not closed?",
				"3: b//c",
				"4: too_large: line 4: the row that begins here is larger than input.max_bytes, 1024 " +
					"bytes; is a quote not closed?",
			},
		},
		"tsv": {
			kind: TSV, in: "content\tid\nfirst, and\ta\n\"two\tcells\"\tb\n",
			want: []string{"2: a//first, and", "3: b//two\tcells"},
		},
		"array": {
			in: "\ufeff \n[{\"id\":\"a\",\"content\":\"x],\\\\\"},\n\n  {\"id\": \"b\"," +
				"\n \"content\": \"[\\\"\"} ]\n" +
				"[]\n[{\"content\":\"c\"}]\n",
			want: []string{`2: a//x],\`, `4: b//["`, "7: articles/0/2//c"},
		},
		"array with bad elements": {
			in: `[1,,{"content":1},{"a":[}],{"content":"x"},]`,
			want: []string{
				"1: bad_json: the value is JSON, but a number, not an object",
				"1: empty: the value is empty",
				`1: bad_field: field "content" is a number; it must be a string`,
				"1: bad_json: the value is not valid JSON",
				"1: articles/0/4//x",
				"1: empty: the value is empty",
			},
		},
		"array with more behind it": {
			in: "[{\"content\":\"x\"}]\n{\"content\":\"y\"}\n[{}]",
			want: []string{
				"1: articles/0/0//x",
				"2: bad_json: the array has ended, and what follows is no other one",
			},
		},
		"array that is cut": {
			in: "[{\"content\":\"x\"},\n{\"content\":\"y",
			want: []string{
				"1: articles/0/0//x",
				"2: bad_json: the file ends within the array that begins on line 1",
			},
		},
		"array that is cut between": {
			in: "[{\"content\":\"x\"},\n",
			want: []string{
				"1: articles/0/0//x",
				"2: bad_json: the file ends within the array that begins on line 1",
			},
		},
		"array with a large element": {
			in: `["` + strings.Repeat("x", 5000) + `",` + strings.Repeat("[", 200) +
				strings.Repeat("]", 200) + `,{"content":"y"}]`,
			want: []string{
				"1: too_large: the value is larger than input.max_bytes, 1024 bytes",
				"1: too_deep: the JSON is nested more than 64 levels deep",
				"1: articles/0/2//y",
			},
		},
		"array of texts":   {format: "text", in: "[a\n", want: []string{"1: articles/0/0//[a"}},
		"text":             {kind: Text, in: "[one]\ntwo\n", want: []string{"1: f//[one]\ntwo\n"}},
		"text without any": {kind: Text, want: []string{"1: empty: the value is empty"}},
		"text of many lines": {
			kind: Text, format: "text", in: "a\nb\n",
			want: []string{"1: articles/0/0//a", "2: articles/0/1//b"},
		},
		"text too large": {
			kind: Text, in: strings.Repeat("x", 2000),
			want: []string{"1: too_large: the value is larger than input.max_bytes, 1024 bytes"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := config.Default().Input
			c.MaxBytes = 1024
			if tt.format != "" {
				c.Format = tt.format
			}
			got := describe(t, c, File{Name: "f", Kind: tt.kind, Lines: strings.NewReader(tt.in)})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Columns of dotted names are those of input.fields, and bytes that are no character are noted.
func TestColumns(t *testing.T) {
	c := config.Default().Input
	c.Fields.ID, c.Fields.Content = "meta.id", "meta.text.body"
	c.Encoding = "utf-8"
	r := newReader(t, c, []File{{Name: "f", Kind: CSV, Lines: strings.NewReader(
		"meta.id,x,meta.text.body,meta.id,meta,title\n1,2,\x01\xff\\,4,5,t\n")}})
	e, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	a, rejection := r.Article(e)
	const want = `{"meta":{"id":"1","text":{"body":"\u0001` + "\xff" + `\\"}},"x":"2","title":"t"}`
	if rejection != nil || a.ID != "1" || a.Notes == nil || !a.Notes.Invalid ||
		string(e.Value) != want {
		t.Errorf("%+v, %v, %q", a, rejection, e.Value)
	}
}

// packed returns content as each packer makes it, by the ending of the name.
func packed(t *testing.T, content []byte) map[string][]byte {
	t.Helper()
	var gz, zst bytes.Buffer
	z, err := zstd.NewWriter(&zst)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []io.WriteCloser{gzip.NewWriter(&gz), z} {
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return map[string][]byte{"": content, ".gz": gz.Bytes(), ".zst": zst.Bytes()}
}

// The same articles are read whatever kind of file they are in, and however it is packed.
func TestKindsAreTheSame(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	text := func() string {
		var b strings.Builder
		for range 1 + random.IntN(20) {
			b.WriteString([]string{"a", "桥", `"`, `""`, ",", "\t", "\n", `\`, "[", "{", "]", "}", " x"}[random.IntN(13)])
		}
		return b.String()
	}
	for range 20 {
		var lines, array bytes.Buffer
		var rows [][]string
		var all []map[string]string
		for i := range 1 + random.IntN(8) {
			row := []string{fmt.Sprint("id", i), text(), text(), text()}
			one := map[string]string{"id": row[0], "title": row[1], "content": row[2], "source": row[3]}
			rows, all = append(rows, row), append(all, one)
			line, _ := json.Marshal(one)
			lines.Write(append(line, '\n'))
		}
		for i, one := range all {
			line, _ := json.MarshalIndent(one, "", strings.Repeat(" ", i))
			array.WriteString([]string{"[", ",\n"}[min(i, 1)] + string(line))
		}
		array.WriteString("\n]\n")
		contents := map[string][]byte{"n.jsonl": lines.Bytes(), "n.json": array.Bytes()}
		for name, comma := range map[string]rune{"n.csv": ',', "n.tsv": '\t'} {
			var b bytes.Buffer
			w := csv.NewWriter(&b)
			w.Comma = comma
			_ = w.WriteAll(append([][]string{{"id", "title", "content", "source"}}, rows...)) // to memory
			contents[name] = b.Bytes()
		}
		dir := t.TempDir()
		for name, content := range contents {
			for ending, content := range packed(t, content) {
				path := filepath.Join(dir, name+ending)
				if err := os.WriteFile(path, content, 0o600); err != nil {
					t.Fatal(err)
				}
				var got []map[string]string
				for _, a := range readAll(t, path) {
					got = append(got, map[string]string{
						"id": a.ID, "title": a.Title, "content": a.Content, "source": a.Source,
					})
				}
				if diff := cmp.Diff(all, got); diff != "" {
					t.Fatalf("%s: %s\n%q", path, diff, contents[name])
				}
			}
		}
	}
}

// readAll returns the articles of files, all of which must be some.
func readAll(t *testing.T, names ...string) (all []article.Article) {
	t.Helper()
	opened, closeAll, err := Open(nil, names, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll()
	r := newReader(t, config.Default().Input, opened)
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		a, rejection := r.Article(e)
		if rejection != nil {
			t.Fatalf("%s:%d: %v", e.File, e.Line, rejection)
		}
		all = append(all, a)
	}
}

func TestBzip2(t *testing.T) {
	all := readAll(t, filepath.Join("testdata", "news.jsonl.bz2"))
	if len(all) != 2 || all[0].Content != `港口大桥 "opens"` || all[1].ID != "b" {
		t.Errorf("%+v", all)
	}
}

// A file that is packed wrongly, or to be larger than memory, is named with the line.
func TestPackedBadly(t *testing.T) {
	good := []byte("{\"content\":\"x\"}\n{\"content\":\"" + strings.Repeat("yz", 4096) + "\"}\n")
	all := packed(t, good)
	// a frame with a window of 256 MiB, and an empty block
	wide := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 18 << 3, 1, 0, 0}
	for name, tt := range map[string]struct {
		content []byte
		want    string
	}{
		"a.gz":  {all[".gz"][:len(all[".gz"])-9], "a.gz: line 1: unexpected EOF"},
		"b.zst": {all[".zst"][:len(all[".zst"])-9], "b.zst: line "},
		"c.bz2": {good, "c.bz2: line 1: bzip2 data invalid: bad magic value"},
		"d.zst": {good, "d.zst: line 1: invalid input: magic number mismatch"},
		"e.gz":  {nil, "e.gz: line 1: unexpected EOF"},
		"f.zst": {wide, "f.zst: line 1: zstd: the window is larger than 128 MiB"},
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, tt.content, 0o600); err != nil {
			t.Fatal(err)
		}
		opened, closeAll, err := Open(nil, []string{path}, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		got := describe(t, config.Default().Input, opened...)
		closeAll()
		if len(got) == 0 || !strings.Contains(got[len(got)-1], tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// What unpacks to very much is held no more than any line.
func TestBomb(t *testing.T) {
	var bomb bytes.Buffer
	w, err := zstd.NewWriter(&bomb)
	if err != nil {
		t.Fatal(err)
	}
	zeros := bytes.Repeat([]byte("0"), 1<<20)
	for range 64 {
		_, _ = w.Write(zeros) // to memory
	}
	_ = w.Close()
	for _, name := range []string{"b.jsonl.zst", "b.csv.zst", "b.txt.zst"} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, bomb.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		opened, closeAll, err := Open(nil, []string{path}, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		got := describe(t, config.Default().Input, opened...)
		closeAll()
		if len(got) != 1 || !strings.Contains(got[0], "larger than input.max_bytes") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestExpand(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{
		"b/2.txt", "b/1.csv", "b/.hidden/x.txt", "b/.x.txt", "a/z/y.txt", "c.txt",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("id,content\n"+name+",x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"b/3.csv": "1.csv", "b/loop": "."} {
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir("empty", 0o700); err != nil {
		t.Fatal(err)
	}
	got, err := Expand([]string{"c.txt", "-", ".", "nowhere"})
	want := []string{
		"c.txt", "-", "a/z/y.txt", "b/1.csv", "b/2.txt", "b/3.csv", "c.txt", "nowhere",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := Expand([]string{"empty"}); err == nil ||
		!strings.Contains(err.Error(), "empty: there is no file in this folder") {
		t.Error(err)
	}
	if all := readAll(t, "b/1.csv", "c.txt"); len(all) != 2 || all[0].ID != "b/1.csv" ||
		all[1].ID != "c.txt" || !strings.HasPrefix(all[1].Content, "id,") {
		t.Errorf("%+v", all)
	}
}
