package report

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/clusterd/clusterd/internal/cli/demo/sample"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/quality/eval"
	"github.com/clusterd/clusterd/internal/testutil/golden"
)

// now returns a time later than all event times of the feed.
func now() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// feed returns a made-up feed: its documents with their kind as label, and the truth of what
// was made from what.
func feed(t testing.TB, n int) (docs []eval.Document, truth *eval.Truth) {
	t.Helper()
	g := sample.New(1, now().Add(-24*time.Hour))
	var clusters strings.Builder
	for range n {
		a := g.Next()
		origin := a.ID
		if a.Origin != "" {
			origin = a.Origin
		}
		fmt.Fprintf(&clusters, "%s\t%s\n", a.ID, "made from "+origin)
		docs = append(docs, eval.Document{
			ID: a.ID, Title: a.Title, Content: a.Content,
			PublishedAt: a.PublishedAt, Label: string(a.Kind),
		})
	}
	truth, err := eval.ReadTruth(strings.NewReader(clusters.String()), nil)
	if err != nil {
		t.Fatal(err)
	}
	return docs, truth
}

func variant(t testing.TB, name string, settings ...string) eval.Variant {
	t.Helper()
	v := eval.Variant{Name: name, Config: config.Default()}
	for _, s := range settings {
		key, value, _ := strings.Cut(s, "=")
		if err := v.Config.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

// All that is measured of a made-up feed, but for times and memory.
func TestWriteTable(t *testing.T) {
	docs, truth := feed(t, 800)
	r, err := eval.Evaluate(t.Context(), docs, []eval.Variant{
		variant(t, "minhash", "fingerprint.method=minhash"),
		variant(t, "exact", "fingerprint.method=exact"),
		variant(t, "expiring", "fingerprint.method=minhash", "cluster.similarity=.9",
			"cluster.window=5m"),
	}, eval.Options{
		Truth: truth, At: []float64{.8}, Labels: true, Positive: "copy", Sizes: []int{2, 5},
		Within: time.Hour, Parts: 4,
		Curves: true, Threads: 2, Now: now(),
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Runs {
		run := &r.Runs[i]
		run.Cost.PerSecond, run.Cost.CentreBytes, run.Cost.Printing, run.Cost.Assigning = 0, 0, 0, 0
		for k := range run.Curve.Points {
			run.Curve.Points[k].PerSecond = 0
		}
	}
	var table bytes.Buffer
	if err := (Report{r}).WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/feed.txt", table.Bytes())
}

// The report is a page of its own: every plot drawn and explained, nothing fetched, nothing run, no
// text of a document, and no name taken for markup.
func TestHTML(t *testing.T) {
	docs, truth := feed(t, 300)
	const name = `<script>alert("x")</script>&amp;`
	r, err := eval.Evaluate(t.Context(), docs, []eval.Variant{
		variant(t, name, "fingerprint.method=minhash"), variant(t, "exact", "fingerprint.method=exact"),
	}, eval.Options{Truth: truth, At: []float64{.5}, Labels: true, Positive: "spam", Sizes: []int{
		2,
		3,
	}, Parts: 30, Curves: true, Threads: 1, Now: now()})
	if err != nil {
		t.Fatal(err)
	}
	page, err := Report{r}.HTML(Caption{Name: name, Version: "v1", Machine: "a machine", Made: now()})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range docs {
		if d.Title != "" && bytes.Contains(page, []byte(d.Title)) ||
			len(d.Content) > 20 && bytes.Contains(page, []byte(d.Content[:20])) {
			t.Fatalf("the text of a document is in the report: %s", d.Content)
		}
	}
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	counts := make(map[string]int)
	ids := make(map[string]bool)
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		counts[n.Data]++
		for _, a := range n.Attr {
			switch a.Key {
			case "src", "xlink:href", "srcset", "data":
				t.Errorf("%s fetches %s", n.Data, a.Val)
			case "href":
				if !strings.HasPrefix(a.Val, "#") {
					t.Errorf("%s leads to %s", n.Data, a.Val)
				}
			case "id":
				if ids[a.Val] {
					t.Errorf("id %s occurs twice", a.Val)
				}
				ids[a.Val] = true
			}
		}
		if n.Data == "svg" {
			checkPlot(t, n)
		}
	}
	// Two plots of all, three of spam, two of minhash, and of exact, which has one threshold, the
	// distances.
	if counts["svg"] != 8 || counts["figure"] != 8 ||
		counts["script"]+counts["link"]+counts["img"]+counts["image"]+counts["iframe"] != 0 {
		t.Errorf("elements: %v", counts)
	}
	for _, leftOver := range []string{
		"NaN", "+Inf", "http-equiv=\"refresh\"", "url(",
		"@import",
	} {
		if bytes.Contains(page, []byte(leftOver)) {
			t.Errorf("%s is in the report", leftOver)
		}
	}
}

// checkPlot wants a title and a description, something drawn, and no colour but the page's.
func checkPlot(t *testing.T, svg *html.Node) {
	t.Helper()
	drawn := make(map[string]int)
	for n := range svg.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		drawn[n.Data]++
		checkSize(t, n)
		if (n.Data == "title" || n.Data == "desc") &&
			(n.FirstChild == nil || strings.TrimSpace(n.FirstChild.Data) == "") {
			t.Errorf("%s is empty", n.Data)
		}
		for _, a := range n.Attr {
			if a.Key == "style" && strings.Contains(a.Val, "#") {
				t.Errorf("%s has a colour of its own: %s", n.Data, a.Val)
			}
		}
	}
	if drawn["title"] != 1 || drawn["desc"] != 1 || drawn["path"] < 5 || drawn["text"] < 5 {
		t.Errorf("drawn: %v", drawn)
	}
}

var textSize = regexp.MustCompile(`font-size:([\d.]+)px`)

// checkSize wants a plot as wide as its box on a telephone of 360 pixels, in which the page, the
// box and its border leave 322, and no text in it of less than 11.
func checkSize(t *testing.T, n *html.Node) {
	t.Helper()
	for _, a := range n.Attr {
		if a.Key == "viewbox" || a.Key == "viewBox" {
			if !strings.HasPrefix(a.Val, "0 0 320 ") {
				t.Errorf("the plot has the size %s", a.Val)
			}
		}
		if n.Data != "text" || a.Key != "style" {
			continue
		}
		found := textSize.FindStringSubmatch(a.Val)
		if found == nil {
			t.Fatalf("text without a size: %s", a.Val)
		}
		if size, err := strconv.ParseFloat(found[1], 64); err != nil || size < 11 {
			t.Errorf("text of %s pixels", found[1])
		}
	}
}

func TestBriefNames(t *testing.T) {
	for name, want := range map[string]string{
		"minhash": "minhash",
		"minhash,cluster.similarity=.8,cluster.window=1h": "minhash,similarity=.8,window=1h",
		"simhash,fingerprint.idf=/a/b.c":                  "simhash,idf=/a/b.c",
		"simhash,fingerprint.hash=sdbm-raw,fingerprint.weight=tf,a.b=c": "" +
			"simhash,hash=sdbm-raw,weight=tf,b=c",
	} {
		if got := brief(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
