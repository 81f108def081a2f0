package article_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/testutil/check"
)

// Each similarity is read as it was written, as a number that JSON can have.
func TestSimilarity(t *testing.T) {
	for s := article.Similarity(0); s <= article.MaxSimilarity; s += 7 {
		text := s.AppendTo(nil)
		var again article.Similarity
		if err := json.Unmarshal(text, &again); err != nil || again != s {
			t.Fatalf("%d is written %s, and read as %d, %v", s, text, again, err)
		}
	}
	for s, want := range map[article.Similarity]string{
		0: "0", 1: "0.000001", 312_345: "0.312345", 500_000: "0.5", article.MaxSimilarity: "1",
	} {
		if got, err := json.Marshal(s); err != nil || string(got) != want {
			t.Errorf("%d is written %s, %v; want %s", s, got, err, want)
		}
	}
	for _, text := range []string{"-0.1", "1.000001", `"0.5"`, "null", "[]", "1e9"} {
		var s article.Similarity
		check.ErrorHas(t, json.Unmarshal([]byte(text), &s), "want a number from 0 to 1")
	}
	var s article.Similarity
	check.ErrorHas(t, s.UnmarshalJSON([]byte("NaN")), "want a number from 0 to 1")
}

// randomSimilarity is often 0, and otherwise any.
func randomSimilarity(g generator) article.Similarity {
	return article.Similarity(g.IntN(2) * g.IntN(int(article.MaxSimilarity)+1))
}

// randomStory has each of its parts or not, and anything in them that can be written.
func randomStory(g generator) article.Story {
	s := article.Story{
		StoryID: g.text(5), Seq: g.Uint64() >> g.IntN(64),
		Headline: article.Headline{
			Title: g.text(50), ClusterID: g.text(5), ArticleID: g.text(5), Publisher: g.text(3),
		},
		Clusters: g.Int()>>g.IntN(64) - g.IntN(2), Articles: g.Int()>>g.IntN(64) - g.IntN(2),
		Publishers: article.NewPublishers(g.IntN(66)), Recent: g.IntN(1000),
		FirstSeen: randomTime(g), LastSeen: randomTime(g), Terms: []string{},
		MergedInto: g.text(3), SplitFrom: g.text(3),
	}
	for range g.IntN(3) * g.IntN(5) {
		s.Terms = append(s.Terms, g.text(4))
	}
	return s
}

// A story is written as encoding/json writes it, and read as it was.
func TestStoryJSONIsAsPlain(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(20, 1))}
	for range 2000 {
		s := randomStory(g)
		got := s.AppendJSON([]byte("before "))
		if want := append([]byte("before "), plainJSON(s)...); !bytes.Equal(got, want) {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
		again, err := article.ParseStory(plainJSON(s))
		var plain article.Story
		if json.Unmarshal(plainJSON(s), &plain) != nil || err != nil || !cmp.Equal(again, plain) {
			t.Fatalf("%s is read as\n%+v, %v", plainJSON(s), again, err)
		}
	}
	s := randomStory(g)
	s.Terms = nil // a list that others read is a list, also where there is nothing in it
	if !bytes.Contains(s.AppendJSON(nil), []byte(`,"terms":[]`)) {
		t.Errorf("a story without terms is written %s", s.AppendJSON(nil))
	}
	many := article.NewPublishers(article.MaxPublishers + 1)
	if earlier, err := article.ParseStory([]byte(`{"publishers":"64+"}`)); err != nil ||
		earlier.Publishers != many {
		t.Errorf("a story of an earlier version: %+v, %v", earlier.Publishers, err)
	}
	_, err := article.ParseStory([]byte(`{"story_id":7}`))
	check.ErrorHas(t, err, "not a story")
}
