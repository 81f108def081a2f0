package pipeline

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/story"
	"github.com/clusterd/clusterd/internal/testutil/texts"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

// Stories are those of the rule, in the order of positions, whatever became of the disk, and the
// topic of stories has the newest state of each.
func TestRunStories(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]func(t *testing.T, dir, old string) string{
		"disk as it was left": func(_ *testing.T, dir, _ string) string { return dir },
		"disk lost":           func(t *testing.T, _, _ string) string { return t.TempDir() },
		"an old disk":         func(_ *testing.T, _, old string) string { return old },
	} {
		for _, scope := range []string{"topic", "partition"} {
			t.Run(name+", scope "+scope, func(t *testing.T) {
				t.Parallel()
				c := testConfig()
				c.Stories.Topic, c.Cluster.Scope = "stories", scope
				b, dir := newBench(t, c, 2), t.TempDir()
				if err := b.broker.CreateTopic("stories", 3, nil); err != nil {
					t.Fatal(err)
				}
				values := eventFeed(30)
				round := func(dir string) {
					b.produce(spread(values)...)
					i := b.startIn(dir)
					b.committed()
					i.end()
				}
				round(dir)
				old := wait.CopyDir(t, dir)
				values = eventFeed(31)
				round(dir)
				values = eventFeed(32)
				round(next(t, dir, old))
				b.verifyStories()
			})
		}
	}
}

// The checkpoint says from which position on stories were never off, and nothing while they are.
func TestStoriesSince(t *testing.T) {
	t.Parallel()
	c := testConfig()
	c.Stories.Topic = "stories"
	b, dir := newBench(t, c, 1), t.TempDir()
	if err := b.broker.CreateTopic("stories", 1, nil); err != nil {
		t.Fatal(err)
	}
	var positions, back uint64
	for n, topic := range []string{"stories", "stories", "", "stories", "stories"} {
		before := positions
		b.config.Stories.Topic = topic
		b.produce(spread(eventFeed(uint64(40 + n)))...)
		i := b.startIn(dir)
		b.committed()
		i.end()
		var last checkpoint.Record
		for _, r := range b.read(b.config.Output.ClustersTopic) {
			if checkpoint.Is(r.Key) {
				var err error
				if last, err = checkpoint.Parse(r.Key, r.Value); err != nil {
					t.Fatal(err)
				}
			}
		}
		positions = last.NextPosition
		want := &back
		switch n {
		case 2:
			want = nil
		case 3:
			back = before
		}
		if diff := cmp.Diff(want, last.StoriesSince); diff != "" || positions == before {
			t.Errorf("start %d (-want +got):\n%s", n, diff)
		}
	}
}

// eventFeed returns articles on some events, each with words of its own. A third are copies.
func eventFeed(seed uint64) (values [][]byte) {
	r := rand.New(rand.NewPCG(seed, 1))
	word := func(event, n int) string {
		const letters = "bdfghklmnprstvwz"
		return string([]byte{letters[event], 'a', letters[n%16], 'o', letters[n/16], 'u', 'n'})
	}
	for i := range 100 {
		if i > 0 && r.IntN(3) == 0 {
			values = append(values, values[r.IntN(len(values))])
			continue
		}
		event, said := int(seed)%8+r.IntN(6), ""
		for range 30 {
			said += word(event, r.IntN(60)) + " "
		}
		values = append(values, texts.ArticleJSON(fmt.Sprint(seed, "-", i), word(event, i%8), said))
	}
	return values
}

// verifyStories holds results and stories to the rule.
func (b *bench) verifyStories() {
	b.Helper()
	inputs, counter := b.inputs(), testFingerprinter(b, b.config).NewCounter()
	spaces := make(map[int]*story.Space)
	of, articles := make(map[string]string), make(map[string]int)
	joined := 0
	for _, r := range b.results() {
		if r.ClusterID == nil {
			continue
		}
		key := 0
		if b.config.Cluster.Scope == "partition" {
			key = r.Source.Partition
		}
		if spaces[key] == nil {
			spaces[key] = story.New(story.Defaults())
		}
		var in struct {
			Title, Content string
		}
		if err := json.Unmarshal(inputs[r.Source.String()].Value, &in); err != nil {
			b.Fatal(err)
		}
		at, want := eventTime(b, r), story.Decision{}
		if r.Status == article.New {
			said := counter.Count(in.Title, in.Content)
			want = spaces[key].Assign(story.Article{
				Address: *r.ClusterID, Seq: r.position, EventTime: at, Words: said.Vector, Han: said.Han,
			})
			if want.Merged != "" {
				articles[want.Story] += articles[want.Merged]
			}
			if want.Joined {
				joined++
			}
			if uint32(r.StorySimilarity) != want.Similarity {
				b.Errorf("%s: similarity %d, want %d", r.Source, r.StorySimilarity, want.Similarity)
			}
		} else {
			want.Story, _, _ = spaces[key].Touch(of[*r.ClusterID], at)
		}
		if r.StoryID != want.Story {
			b.Errorf("%s is of story %s, want %s", r.Source, r.StoryID, want.Story)
		}
		of[*r.ClusterID] = want.Story
		articles[want.Story]++
	}
	if joined == 0 || len(articles) < 4 {
		b.Errorf("%d clusters joined %d stories", joined, len(articles))
	}
	told := b.newestStories()
	for _, s := range spaces {
		for want := range s.All() {
			got, ok := told[want.Address]
			delete(told, want.Address)
			expected := article.Story{
				StoryID: want.Address, Seq: want.Seq, Clusters: int(want.Clusters), MergedInto: want.Into,
				Articles:  articles[want.Address],
				FirstSeen: unixMilli(want.FirstSeen), LastSeen: unixMilli(want.LastSeen),
			}
			expected.Headline, expected.Terms = got.Headline, got.Terms
			expected.Publishers, expected.Recent = got.Publishers, got.Recent
			if diff := cmp.Diff(expected, got); diff != "" || !ok || got.Headline.ClusterID == "" {
				b.Errorf("story %s, told %v (-want +got):\n%s", want.Address, ok, diff)
			}
		}
	}
	for id := range told {
		b.Errorf("story %s is told of and is none", id)
	}
}

// newestStories returns the last record of each story.
func (b *bench) newestStories() map[string]article.Story {
	b.Helper()
	told := make(map[string]article.Story)
	for _, r := range b.read(b.config.Stories.Topic) {
		if r.Value == nil {
			delete(told, string(r.Key))
			continue
		}
		s, err := article.ParseStory(r.Value)
		if err != nil || s.StoryID != string(r.Key) {
			b.Fatalf("%s: %s, %v", r.Key, r.Value, err)
		}
		told[s.StoryID] = s
	}
	return told
}

func eventTime(b *bench, r result) (at int64) {
	b.Helper()
	if err := json.Unmarshal([]byte(header(r.Record, article.HeaderEventTime)), &at); err != nil {
		b.Fatal(err)
	}
	return at
}

func unixMilli(at int64) time.Time { return time.UnixMilli(at).UTC() }
