package article_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/testutil/check"
)

// randomResult has each of its parts or not, and anything in them that can be written.
func randomResult(g generator) article.Result {
	r := article.Result{
		ArticleID: g.text(5), Status: article.Status(g.text(3)),
		Size: g.Int() - g.Int(), Source: article.Address{
			Topic: g.text(3), Partition: g.IntN(100) - 1,
			Offset: g.Int64() - g.Int64(),
		}, Pipeline: g.text(6),
	}
	if g.IntN(3) > 0 {
		r.ClusterID = new(g.text(5))
	}
	if g.IntN(3) > 0 {
		r.Distance = new([]float64{
			float64(g.IntN(65)), float64(g.IntN(128)) / 128,
			1 - float64(g.IntN(100))/float64(1+g.IntN(50_000)+100),
		}[g.IntN(3)])
	}
	if g.IntN(3) > 0 {
		r.Representative = &article.Representative{ID: g.text(5), Title: g.text(50)}
	}
	for range g.IntN(3) {
		r.Labels = append(r.Labels, g.text(3))
		r.TrialLabels = append(r.TrialLabels, g.text(3))
	}
	if g.IntN(3) > 0 {
		r.Fingerprint = new(article.Fingerprint(g.Uint64() >> g.IntN(64)))
	}
	if g.IntN(3) > 0 {
		r.PublishedAt = new(randomTime(g))
	}
	randomCarried(g, &r)
	return r
}

// randomCarried sets what a result carries of its input, and the signals, or not.
func randomCarried(g generator, r *article.Result) {
	if g.IntN(3) > 0 {
		r.Publisher = g.text(5)
	}
	if g.IntN(3) > 0 {
		r.Copied = article.Copied([]string{`{"a":1}`, `{"b.c":[{"<&>":null}," "],"d":"é"}`}[g.IntN(2)])
	}
	if g.IntN(3) > 0 {
		r.Signals = &article.Signals{
			Publishers: article.NewPublishers(g.IntN(66)), Recent: g.IntN(1000),
			FirstSeen: randomTime(g), LastSeen: randomTime(g),
		}
	}
	r.StoryID, r.StorySimilarity = g.text(3), randomSimilarity(g)
	if r.Representative != nil && g.IntN(2) > 0 {
		r.Representative.Excerpt = g.text(50)
	}
}

func randomCluster(g generator) article.Cluster {
	id := article.Address{Topic: "t", Partition: g.IntN(3), Offset: g.Int64() >> g.IntN(64)}.String()
	if g.IntN(20) == 0 {
		id = g.text(5)
	}
	var sketch []byte
	for range g.IntN(2) * g.IntN(300) {
		sketch = append(sketch, byte(g.Uint64()))
	}
	var labels []byte
	if g.IntN(2) > 0 {
		labels = article.AppendLabels(nil, []article.Label{{Name: g.text(5), At: randomTime(g)}})
	}
	c := article.Cluster{
		Labels: labels, KeptMS: g.Int64() >> g.IntN(64),
		Sketch: sketch, ClusterID: id, Seq: g.Uint64() >> g.IntN(64),
		Fingerprint: article.Fingerprint(g.Uint64() >> g.IntN(64)),
		Size:        g.Int()>>g.IntN(64) - g.IntN(2), FirstSeen: randomTime(g), LastSeen: randomTime(g),
		Representative: article.Representative{ID: g.text(5), Title: g.text(50)}, Pipeline: g.text(6),
		StoryID: g.text(3), StorySimilarity: randomSimilarity(g),
	}
	if g.IntN(2) > 0 {
		c.Signals = &article.ClusterSignals{
			Publishers: article.NewPublishers(g.IntN(66)), Recent: g.IntN(1000), State: []byte(g.text(50)),
		}
	}
	return c
}

// randomTime is in the years 1 to 9999, of any precision, in UTC or any other zone.
func randomTime(g generator) time.Time {
	t := time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC).AddDate(g.IntN(9998), 0,
		g.IntN(360)).Add(time.Duration(g.IntN(86400)) * time.Second)
	switch g.IntN(4) {
	case 0:
		t = t.Add(time.Duration(g.IntN(1000)) * time.Millisecond)
	case 1:
		t = t.Add(time.Duration(g.IntN(1e9)))
	case 2:
		t = t.In(time.FixedZone("", (g.IntN(23*60*2)-23*60)*60))
	}
	return t
}

func TestJSONIsAsPlain(t *testing.T) {
	check.OneGoroutine(t)
	g := generator{rand.New(rand.NewPCG(5, 2))}
	for range 2000 {
		r, c := randomResult(g), randomCluster(g)
		if got, want := r.AppendJSON([]byte("before "), article.AllParts), append([]byte("before "),
			plainJSON(r)...); !bytes.Equal(got, want) || !bytes.Equal(r.JSON(), plainJSON(r)) {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
		if got, want := c.AppendJSON([]byte("before ")), append([]byte("before "),
			plainJSON(c)...); !bytes.Equal(got, want) || !bytes.Equal(c.JSON(), plainJSON(c)) {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	}
	for r := range rune(0x3000) {
		c := article.Cluster{Pipeline: string(r) + string([]byte{byte(r)})}
		if got, want := c.JSON(), plainJSON(c); !bytes.Equal(got, want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// A result without some of its parts is as if they had been removed.
func TestJSONOfParts(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(5, 3))}
	names := []string{"representative", "fingerprint", "published_at", "source", "pipeline"}
	for range 500 {
		r := randomResult(g)
		var kept []string
		gone := make(map[string]bool)
		for _, name := range names {
			if gone[name] = g.IntN(2) == 0; !gone[name] {
				kept = append(kept, name)
			}
		}
		if all := article.PartsOf(kept) == article.AllParts; all != (len(kept) == len(names)) {
			t.Fatalf("%q are all parts: %t", kept, all)
		}
		var want bytes.Buffer
		separator := byte('{')
		gjson.ParseBytes(plainJSON(r)).ForEach(func(key, part gjson.Result) bool {
			if !gone[key.Str] {
				want.WriteByte(separator)
				want.WriteString(key.Raw + ":" + part.Raw)
				separator = ','
			}
			return true
		})
		want.WriteByte('}')
		if got := r.AppendJSON(nil, article.PartsOf(kept)); !bytes.Equal(got, want.Bytes()) {
			t.Fatalf("got  %s\nwant %s", got, want.Bytes())
		}
	}
}

// Beyond the year 9999 there is no time in JSON. The plain way says the same.
func TestJSONPanicsBeyondTheYear9999(t *testing.T) {
	defer func() {
		if r := recover(); r == nil || !strings.HasPrefix(fmt.Sprint(r), "article: ") {
			t.Errorf("recovered %v, want a panic of the package", r)
		}
	}()
	article.Cluster{FirstSeen: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}.JSON()
}
