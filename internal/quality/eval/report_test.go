package eval

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
)

// The report is a page of its own: every plot drawn and explained, nothing fetched, nothing run, no text of a document, and
// no name taken for markup.
func TestHTML(t *testing.T) {
	_, docs, truth := feed(t, 300)
	const name = `<script>alert("x")</script>&amp;`
	r, err := Evaluate(t.Context(), docs, []Variant{
		variant(t, name, "fingerprint.method=minhash"), variant(t, "exact", "fingerprint.method=exact"),
	}, Options{Truth: truth, At: []float64{.5}, Labels: true, Positive: "spam", Sizes: []int{2, 3}, Curves: true, Threads: 1, Now: now()})
	if err != nil {
		t.Fatal(err)
	}
	page, err := r.HTML(Caption{Name: name, Version: "v1", Machine: "a machine", Made: now()})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range docs {
		if d.Title != "" && bytes.Contains(page, []byte(d.Title)) || len(d.Content) > 20 && bytes.Contains(page, []byte(d.Content[:20])) {
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
	// Two plots of all, two of spam, two of minhash, and of exact, which has one threshold, the distances.
	if counts["svg"] != 7 || counts["figure"] != 7 || counts["script"]+counts["link"]+counts["img"]+counts["image"]+counts["iframe"] != 0 {
		t.Errorf("elements: %v", counts)
	}
	for _, leftOver := range []string{"#010203", "NaN", "+Inf", "http-equiv=\"refresh\"", "url(", "@import"} {
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
		if (n.Data == "title" || n.Data == "desc") && (n.FirstChild == nil || strings.TrimSpace(n.FirstChild.Data) == "") {
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

func TestBriefNames(t *testing.T) {
	for name, want := range map[string]string{
		"minhash": "minhash",
		"minhash,cluster.similarity=.8,cluster.window=1h":               "minhash,similarity=.8,window=1h",
		"simhash,fingerprint.idf=/a/b.c":                                "simhash,idf=/a/b.c",
		"simhash,fingerprint.hash=sdbm-raw,fingerprint.weight=tf,a.b=c": "simhash,hash=sdbm-raw,weight=tf,b…",
	} {
		if got := brief(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestPlainDurations(t *testing.T) {
	for d, want := range map[time.Duration]string{
		24 * time.Hour: "24h", 90 * time.Minute: "1h30m", time.Minute: "1m", time.Second: "1s", 10 * time.Second: "10s", time.Hour + time.Second: "1h0m1s",
	} {
		if got := plain(d); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
