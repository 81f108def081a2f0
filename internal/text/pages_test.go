package text_test

import (
	"bytes"
	"html/template"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/cli/demo/sample"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/text"
)

// A page is an article as one site has it: with the site's menus and adverts, other articles'
// headlines and readers' comments around it.
type page struct {
	article    int
	site, html string
}

type headline struct {
	Title, Lead string
	Number      int
}

// pages puts each of the first n articles of a made-up feed on every site of testdata/pages. What
// a site puts around an article is of its own, and other for every article.
func pages(t testing.TB, n int) []page {
	t.Helper()
	sites := template.Must(template.ParseGlob("testdata/pages/*.html")).Templates()
	slices.SortFunc(sites,
		func(a, b *template.Template) int { return strings.Compare(a.Name(), b.Name()) })
	feed := sample.New(1, time.Date(2024, 5, 1, 8, 0, 0, 0, time.UTC))
	var articles []sample.Article
	var comments []string
	var related []headline
	for len(articles) < n || len(comments) < 20 || len(related) < 200 {
		switch a := feed.Next(); {
		case a.Kind == sample.Comment:
			comments = append(comments, a.Content)
		case a.Kind == sample.Original && len(articles) < n:
			articles = append(articles, a)
		case a.Kind == sample.Original:
			lead, _, _ := strings.Cut(a.Content, "\n")
			related = append(related, headline{a.Title, lead, 1000 + len(related)})
		}
	}
	var made []page
	for i, s := range articles {
		for j, site := range sites {
			var b bytes.Buffer
			from, remark := (i*37+j*11)%(len(related)-8), (i*5+j*3)%(len(comments)-3)
			if err := site.Execute(&b, map[string]any{
				"Title": s.Title, "Paragraphs": strings.Split(s.Content, "\n"), "Source": s.Source,
				"Date": s.PublishedAt.Format(time.DateTime), "Number": 7*i + j,
				"Related": related[from : from+8], "Comments": comments[remark : remark+3],
			}); err != nil {
				t.Fatal(err)
			}
			made = append(made, page{i, site.Name(), b.String()})
		}
	}
	return made
}

// What a site puts around an article hides that it is the same as another site's. Without it
// copies are near again, and no two articles become so. Tables that serve as layout are beyond the
// extractor: of such a page everything stays, and copies are rarely near.
func TestArticlesOfPagesAreNear(t *testing.T) {
	check.OneGoroutine(t)
	made := pages(t, 20)
	for extract, want := range map[string]map[bool]struct{ min, max float64 }{
		// By whether one of the two pages is laid out in tables: the share of the copies on two sites
		// that are near.
		"all":     {false: {0, 0.05}},
		"article": {false: {0.9, 1}, true: {0, 0.2}},
	} {
		shingles := shinglesOf(t, extract, made)
		copies, found := make(map[bool]float64), make(map[bool]float64)
		for i, a := range made {
			for j, b := range made[:i] {
				near := resemblance(shingles[i], shingles[j]) >= 0.8
				if a.article != b.article {
					if near {
						t.Errorf("extract %s: two articles on %s and %s are near", extract, a.site, b.site)
					}
					continue
				}
				tables := a.site == "table.html" || b.site == "table.html"
				copies[tables]++
				if near {
					found[tables]++
				}
			}
		}
		for tables, want := range want {
			if share := found[tables] / copies[tables]; !(share >= want.min && share <= want.max) {
				t.Errorf("extract %s, tables %v: %.2f of the copies are near, want %v to %v", extract,
					tables, share, want.min, want.max)
			}
		}
	}
}

// shinglesOf returns the runs of 5 bytes of each page's text, in order and each once.
func shinglesOf(t *testing.T, extract string, made []page) [][]uint64 {
	t.Helper()
	cleaner, err := text.NewCleaner(text.CleanOptions{Extract: extract})
	if err != nil {
		t.Fatal(err)
	}
	all := make([][]uint64, len(made))
	for i, p := range made {
		var run uint64
		for at, b := range bytes.Join(bytes.Fields(cleaner.AppendClean(nil, "", p.html)), nil) {
			if run = run<<8&(1<<40-1) | uint64(b); at >= 4 {
				all[i] = append(all[i], run)
			}
		}
		slices.Sort(all[i])
		all[i] = slices.Compact(all[i])
	}
	return all
}

// resemblance returns Jaccard's similarity of two sets in order: the share that is in both.
func resemblance(a, b []uint64) float64 {
	size, common := len(a)+len(b), 0
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			a, b, common = a[1:], b[1:], common+1
		}
	}
	return float64(common) / float64(size-common)
}

func BenchmarkPages(b *testing.B) {
	made := pages(b, 20)
	for _, extract := range []string{"all", "article"} {
		b.Run(extract, func(b *testing.B) {
			cleaner, err := text.NewCleaner(text.CleanOptions{Extract: extract})
			if err != nil {
				b.Fatal(err)
			}
			size := 0
			for _, p := range made {
				size += len(p.html)
			}
			b.SetBytes(int64(size / len(made)))
			var buf []byte
			for i := 0; b.Loop(); i++ {
				buf = cleaner.AppendClean(buf[:0], "", made[i%len(made)].html)
			}
		})
	}
}
