package simhash

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/go-ego/gse"

	"github.com/clusterd/clusterd/internal/text"
)

func write(t *testing.T, content string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "idf.tsv")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRead(t *testing.T) {
	table, err := ReadIDF(write(t, "# a comment\n\n台风\t2.5\r\nnew york\t0\nrain\t7.03125\n"))
	if err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]int32{
		"台风": 2.5 * oneIDF, "new york": 1, "rain": 7*oneIDF + 1, "absent": 7*oneIDF + 1, "": 7*oneIDF + 1,
	} {
		if got := table.Of([]byte(word)); got != want {
			t.Errorf("%q: %d, want %d", word, got, want)
		}
	}
	if table.Len() != 3 {
		t.Errorf("%d words, want 3", table.Len())
	}
	if path := filepath.Join(t.TempDir(), "absent"); !isNotExist(ReadIDF(path)) ||
		!isNotExist(LoadIDF(path)) {
		t.Error("a file that is not there is read")
	}
}

func isNotExist(_ *IDF, err error) bool { return errors.Is(err, os.ErrNotExist) }

func TestReadRefuses(t *testing.T) {
	for _, test := range []struct{ content, want string }{
		{"", "it has no words"},
		{"# words: 0\n", "it has no words"},
		{"台风\t1\nrain 2\n", `line 2: "rain 2": want a word, '\t' and its rarity`},
		{"\t1\n", `line 1: "\t1": want a word`},
		{"台\xff\t1\n", `line 1: "台\xff\t1": want a word`},
		{"rain\t\n", `line 1: "rain\t": want a rarity of 0 to 30`},
		{"rain\tmuch\n", `want a rarity of 0 to 30`},
		{"rain\tNaN\n", `want a rarity of 0 to 30`},
		{"rain\t-0.1\n", `want a rarity of 0 to 30`},
		{"rain\t30.1\n", `want a rarity of 0 to 30`},
		{"rain\t1\nsnow\t1\nrain\t2\n", `line 3: "rain\t2": the word was there before`},
	} {
		path := write(t, test.content)
		table, err := ReadIDF(path)
		if err == nil || !strings.HasPrefix(err.Error(), path+": ") ||
			!strings.Contains(err.Error(), test.want) || table != nil {
			t.Errorf("%.50q: error %v, want %s", test.content, err, test.want)
		}
	}
}

func TestIdentity(t *testing.T) {
	identity := func(content string) string {
		t.Helper()
		table, err := ReadIDF(write(t, content))
		if err != nil {
			t.Fatal(err)
		}
		return table.Identity()
	}
	const content = "台风\t2\nrain\t7\n"
	one := identity(content)
	if one != "4aba98a8" {
		t.Errorf("%q is %s", content, one)
	}
	for _, same := range []string{"rain\t7\n台风\t2\n", "# comment\n台风\t2.01\nrain\t6.99\n"} {
		if got := identity(same); got != one {
			t.Errorf("%q is %s, want %s", same, got, one)
		}
	}
	for _, other := range []string{
		"台风\t2\n", "台风\t2\nrain\t8\n", "台风\t7\nrain\t2\n",
		"台\t2\nrain\t7\n",
	} {
		if got := identity(other); got == one {
			t.Errorf("%q is %s too", other, got)
		}
	}
}

func TestBuiltIn(t *testing.T) {
	table, err := LoadIDF("")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := table.Len(), len(strings.Split(gse.ZhIdf, "\n")); got != want {
		t.Errorf("%d words of %d lines", got, want)
	}
	if got := table.Identity(); got != "3c7cbe95" {
		t.Errorf("it is %s: fingerprints made before are no longer valid", got)
	}
	if of, in := table.Of([]byte("的")), table.Of([]byte("台风")); of >= in ||
		in >= table.Of([]byte("typhoon")) {
		t.Errorf("rarity %d of the most frequent word, %d of another, %d of one that is not there",
			of, in, table.Of([]byte("typhoon")))
	}
}

func learn(articles ...string) *IDFLearner {
	l := NewIDFLearner()
	for _, a := range articles {
		var tokens []text.Token
		for word := range strings.FieldsSeq(a) {
			tokens = append(tokens, text.Token{Word: []byte(word), Count: 1})
		}
		l.Add(tokens)
	}
	return l
}

func TestLearner(t *testing.T) {
	l := learn("台风 登陆 rain", "台风 rain snow", "登陆 台风", "台风 once", "")
	var b bytes.Buffer
	words, err := l.Write(&b)
	if err != nil || words != 3 || l.Articles() != 5 {
		t.Errorf("%d words of %d articles, error %v; want 3 of 5", words, l.Articles(), err)
	}
	// ln(1 + 5/4), ln(1 + 5/2)
	want := "# rarity of 3 words in 5 articles\n台风\t0.8109\nrain\t1.2528\n登陆\t1.2528\n"
	if b.String() != want {
		t.Errorf("it writes\n%swant\n%s", b.String(), want)
	}
	table, err := ReadIDF(write(t, b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := table.Of([]byte("台风")), int32(math.Round(.8109*oneIDF)); got != want {
		t.Errorf("read again, the rarity is %d, want %d", got, want)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestWriteFails(t *testing.T) {
	if _, err := learn("a b", "a b").Write(failing{}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("error %v, want that of the writer", err)
	}
}

// What is written can be read, whatever the words.
func FuzzWriteRead(f *testing.F) {
	f.Add("台风 rain", "rain 台风 snow")
	f.Add("# #x", "# #x")
	f.Fuzz(func(t *testing.T, a, b string) {
		l := learn(strings.ToValidUTF8(a, ""), strings.ToValidUTF8(b, ""), a)
		for word := range l.in {
			// Tokens hold a letter or a number, and none of what divides words.
			if strings.HasPrefix(word, "#") {
				delete(l.in, word)
			}
		}
		var out bytes.Buffer
		words, err := l.Write(&out)
		if err != nil {
			t.Fatal(err)
		}
		table, err := parse(out.String(), '\t')
		if words == 0 {
			return
		}
		if err != nil || table.Len() != words {
			t.Fatalf("%d words are read as %v, error %v", words, table, err)
		}
	})
}

// BenchmarkBuiltIn measures how long loading takes and what stays in memory.
func BenchmarkBuiltIn(b *testing.B) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var t *IDF
	for b.Loop() {
		var err error
		if t, err = parse(gse.ZhIdf, ' '); err != nil {
			b.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "heap-MB")
	runtime.KeepAlive(t)
}
