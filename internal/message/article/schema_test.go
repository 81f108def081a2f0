package article_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/testutil/schematest"
)

// What the schema of articles takes is an article of which no field is ignored for its type or its
// length, and nothing else is.
func TestArticleSchemaIsTheDecoders(t *testing.T) {
	random := rand.New(rand.NewPCG(15, 4))
	values := []string{
		"", `"text"`, `""`, `7`, `-1.5e3`, `null`, `true`, `{}`, `["a"]`, `"2026-05-01T10:00:00Z"`,
	}
	long := `"` + strings.Repeat("i", article.MaxIDBytes+1) + `"`
	decoder := jsonDecoder(defaultFields(), maxBytes, "auto")
	taken := 0
	for range 5000 {
		members := []string{`"other":{"a":[1]}`}
		for _, field := range []string{"id", "title", "content", "published_at", "source"} {
			value := values[random.IntN(len(values))]
			if field == "id" && random.IntN(9) == 0 {
				value = long
			}
			if value != "" {
				members = append(members, fmt.Sprintf("%q:%s", field, value))
			}
		}
		value := []byte("{" + strings.Join(members, ",") + "}")
		a, rejection := decoder.Decode(nil, value, here())
		whole := rejection == nil
		if whole && a.Notes != nil {
			for _, f := range a.Notes.Fallbacks {
				whole = whole && f.Reason == "format"
			}
		}
		if err := schematest.Check("article", value); (err == nil) != whole {
			t.Fatalf("%s\ndecoded as %+v, %v\nby the schema: %v", value, a, rejection, err)
		}
		if whole {
			taken++
		}
	}
	if taken < 100 {
		t.Errorf("%d articles: the test shows little", taken)
	}
}

// Whatever is in them, results and clusters are as their schemas say.
func TestEncodingIsAsItsSchema(t *testing.T) {
	id, published := "articles/0/7", here().String()
	r := joined()
	r.Publisher, r.Copied = "a <b>", article.Copied(`{"a.b":{"c":[1]},"d":null}`)
	r.Signals = &article.Signals{
		Publishers: article.NewPublishers(article.MaxPublishers + 1), Recent: 2,
		FirstSeen: *r.PublishedAt, LastSeen: *r.PublishedAt,
	}
	r.Representative.Excerpt = "an excerpt"
	r.StoryID, r.StorySimilarity = id, 312_345
	if err := schematest.Check("result", r.JSON()); err != nil {
		t.Error(err)
	}
	if err := schematest.Check("result", r.AppendJSON(nil, 0)); err != nil {
		t.Error(err)
	}
	r = article.Result{
		ArticleID: published, Status: article.Unclustered, Source: here(), Pipeline: "p",
		Publisher: "p",
	}
	if err := schematest.Check("result", r.JSON()); err != nil {
		t.Error(err)
	}
	r = joined()
	r.Distance, r.Matched, r.Contact = nil, article.ByContact, "name:alexis17"
	if err := schematest.Check("result", r.JSON()); err != nil {
		t.Error(err)
	}
	c := founded()
	c.ClusterID, c.Seq, c.Sketch = id, 7, []byte{0, 255}
	c.Contacts, c.ByContact = []string{"name:a"}, 1
	c.Signals = &article.ClusterSignals{Recent: 1, State: []byte{1}}
	c.Signals.Publishers = article.NewPublishers(3)
	c.StoryID, c.StorySimilarity = "articles/1/2", article.MaxSimilarity
	if err := schematest.Check("cluster", c.JSON()); err != nil {
		t.Error(err)
	}
	s := article.Story{StoryID: id, Headline: article.Headline{ClusterID: id, ArticleID: "a"}}
	for range 2 {
		if err := schematest.Check("story", s.AppendJSON(nil)); err != nil {
			t.Error(err)
		}
		s.Headline.Title, s.Headline.Publisher = "a <b>", "p"
		s.Clusters, s.Articles, s.Recent = 3, 70, 9
		s.Publishers = article.NewPublishers(article.MaxPublishers + 1)
		s.Terms, s.MergedInto, s.SplitFrom = []string{"bridge", "大桥"}, "articles/0/5", "articles/0/6"
	}
}
