package diff_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/cli/demo/sample"
	"github.com/clusterd/clusterd/internal/testutil/golden"
	"github.com/clusterd/clusterd/internal/text"
	"github.com/clusterd/clusterd/internal/text/diff"
)

func newComparer(t testing.TB) *diff.Comparer {
	t.Helper()
	c, err := diff.New(text.CleanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// joined returns what the passages have of A and of B.
func joined(passages []diff.Passage) (a, b string) {
	for _, p := range passages {
		if p.Kind != diff.OnlyB {
			a += p.Text
		}
		if p.Kind != diff.OnlyA {
			b += p.Text
		}
	}
	return a, b
}

// shown returns a passage in a line.
func shown(passages []diff.Passage) string {
	var b strings.Builder
	for _, p := range passages {
		fmt.Fprintf(&b, "%s%q ", map[diff.Kind]string{
			diff.Same: "=", diff.OnlyA: "-",
			diff.OnlyB: "+",
		}[p.Kind], p.Text)
	}
	return strings.TrimSpace(b.String())
}

func TestPassages(t *testing.T) {
	c := newComparer(t)
	for name, tt := range map[string]struct{ a, b, want string }{
		"nothing":  {"", "", ``},
		"the same": {"港口大桥今天通车。", "港口大桥今天通车。", `="港口大桥今天通车。"`},
		"a Chinese character": {
			"港口大桥今天建成通车，居民庆祝。", "港口大桥昨天建成通车，居民庆祝。", `="港口大桥" -"今" +"昨" ="天建成通车，居民庆祝。"`,
		},
		"a whole word": {
			"the bridge opened today at noon", "the bridge closed today at noon",
			`="the bridge " -"opened" +"closed" =" today at noon"`,
		},
		"something in front": {
			"the bridge is open", "News: the bridge is open", `+"News: " ="the bridge is open"`,
		},
		"something cut": {
			"the bridge is open. More tomorrow.", "the bridge is open.",
			`="the bridge is open." -" More tomorrow."`,
		},
		"case, width and traditional": {"Bridge 港口大桥 １２", "bridge 港口大橋 12", `="Bridge 港口大桥 １２"`},
		"spaces and line breaks": {
			"the bridge\n\nis open", "the bridge is open", `="the bridge\n\nis open"`,
		},
		"mark-up": {
			"<p>The <b>bridge</b> is open</p>", "The bridge is closed",
			`="the bridge is " -"open" +"closed"`,
		},
		"matches by chance": {
			"one two of three four", "five six of seven eight",
			`-"one two of three four" +"five six of seven eight"`,
		},
		"nothing in common": {"港口", "bridge", `-"港口" +"bridge"`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.Passages("", tt.a, "", tt.b)
			if err != nil || shown(got) != tt.want {
				t.Errorf("%s, %v; want %s", shown(got), err, tt.want)
			}
		})
	}
}

// Of made-up articles and what was made of them.
func TestPassagesOfMadeUpArticles(t *testing.T) {
	c, feed, originals := newComparer(t), sample.New(1,
		time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)), make(map[string]sample.Article)
	var b strings.Builder
	for compared := make(map[sample.Kind]int); len(compared) < 5; {
		a := feed.Next()
		originals[a.ID] = a
		origin, made := originals[a.Origin]
		if compared[a.Kind]++; !made || a.Kind == sample.Spam || compared[a.Kind] > 1 {
			delete(compared, sample.Original)
			delete(compared, sample.Comment)
			delete(compared, sample.Spam)
			continue
		}
		passages, err := c.Passages(origin.Title, origin.Content, a.Title, a.Content)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "== %s\n", a.Kind)
		for _, p := range passages {
			fmt.Fprintf(&b, "%s: %q\n", p.Kind, p.Text)
		}
	}
	golden.Check(t, "testdata/passages.txt", []byte(b.String()))
}

func TestNewErrors(t *testing.T) {
	if _, err := diff.New(text.CleanOptions{HTML: "sometimes"}); err == nil ||
		!strings.Contains(err.Error(), `html mode "sometimes"`) {
		t.Errorf("error %v", err)
	}
}

// Joined, passages are the texts, as far as clusterd tells them apart; and they alternate.
func FuzzPassages(f *testing.F) {
	c := newComparer(f)
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a)+len(b) > 2000 {
			return
		}
		passages, err := c.Passages("", a, "", b)
		if err != nil {
			t.Fatal(err)
		}
		gotA, gotB := joined(passages)
		if !utf8.ValidString(gotA + gotB) {
			t.Errorf("%q and %q: invalid UTF-8 in %s", a, b, shown(passages))
		}
		again, err := c.Passages("", a, "", a)
		if err != nil {
			t.Fatal(err)
		}
		if wantA, _ := joined(again); gotA != wantA {
			t.Errorf("A is %q, but %q beside itself", gotA, wantA)
		}
		for _, p := range again {
			if p.Kind != diff.Same {
				t.Errorf("%q beside itself: %s", a, shown(again))
			}
		}
		for i, p := range passages {
			if p.Text == "" || i > 0 && passages[i-1].Kind == p.Kind {
				t.Errorf("%q and %q: %s", a, b, shown(passages))
			}
		}
		if strings.ContainsFunc(gotB, unicode.IsLetter) && len(passages) == 0 {
			t.Errorf("%q and %q: no passages", a, b)
		}
	})
}

// Of a whole page the article alone is compared where the methods are told to take it.
func TestPassagesOfAPage(t *testing.T) {
	report := strings.Repeat("The new bridge over the northern harbour opened to traffic this "+
		"morning, after four years of work. ", 8)
	page := "<!doctype html><html><body><nav><ul><li><a href=x>Home</a><li><a " +
		"href=y>Weather</a></ul></nav>" +
		"<article><h1>Harbour bridge opens</h1><p>" + report +
		"</p></article><footer>Imprint</footer></body></html>"
	for extract, whole := range map[string]bool{"all": true, "article": false} {
		c, err := diff.New(text.CleanOptions{Extract: extract})
		if err != nil {
			t.Fatal(err)
		}
		passages, err := c.Passages("", page, "", report)
		if err != nil {
			t.Fatal(err)
		}
		menu := false
		for _, p := range passages {
			menu = menu || strings.Contains(p.Text, "weather")
		}
		if menu != whole {
			t.Errorf("%s: the menu is compared: %t; %v", extract, menu, passages)
		}
	}
}
