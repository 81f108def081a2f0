package stories

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/audit/labels"
	"github.com/clusterd/clusterd/internal/audit/model"
	"github.com/clusterd/clusterd/internal/audit/report"
	"github.com/clusterd/clusterd/internal/audit/spill"
	"github.com/clusterd/clusterd/internal/audit/wire"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/simhash/hamming"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/space/state"
	"github.com/clusterd/clusterd/internal/story/words"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
	"github.com/clusterd/clusterd/internal/text"
)

// topics are what a clusterd of the tests has read and written.
type topics struct {
	inputs  []*kgo.Record
	texts   []string // title and content, with a zero byte between
	results []*result
	records []*kgo.Record // of the clusters topic, states alone
	told    []*kgo.Record
	labels  []*kgo.Record
	applied labels.OfStories
	merged  [][2]string
	done    map[article.Action]int
	since   *int64 // from which position on stories were never off, as the last checkpoint says
}

type result struct {
	wire.Result
	wire.Assignment
}

func settings(t *testing.T) config.Config {
	t.Helper()
	c := config.Default()
	ranks := filepath.Join(t.TempDir(), "ranks")
	if err := os.WriteFile(ranks, []byte("# ours\nBest\ngood\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Input.Topic, c.Stories.Topic, c.Stories.Ranks = "articles", "stories", ranks
	c.Cluster.Window, c.Stories.Window, c.Stories.Merge = time.Hour, 3*time.Hour, 0.15
	c.Output.Excerpt = 40
	return c
}

// write has the daemon's space take in articles on a number of events, in batches. Somebody merges
// and splits stories all the time.
func write(t *testing.T, c config.Config, seed uint64) (out topics) {
	t.Helper()
	out = writeByHand(t, c, seed, .67)
	for _, action := range []article.Action{
		article.MergeStories, article.UnmergeStories, article.SplitStory,
	} {
		if out.done[action] == 0 {
			t.Errorf("nothing was done by hand with action %s", action)
		}
	}
	return out
}

// writeByHand does what write does. The probability is that of one more label record.
func writeByHand(t *testing.T, c config.Config, seed uint64, probability float64) (out topics) {
	t.Helper()
	return writeSwitched(t, c, seed, probability, 0, 0)
}

// batches is how many of them are written.
const batches = 150

// writeSwitched does what writeByHand does, with stories off from a batch on until another one.
func writeSwitched(
	t *testing.T, c config.Config, seed uint64, probability float64, off, on int,
) (out topics) {
	t.Helper()
	newCounter, err := words.New(c.Text)
	if err != nil {
		t.Fatal(err)
	}
	ranks, err := cluster.LoadRanks(c.Stories.Ranks)
	if err != nil {
		t.Fatal(err)
	}
	files := vfs.NewMem()
	open := func(stories bool) *space.Space {
		store, err := state.Open("clusters", state.Identity{Input: "articles"}, state.Options{FS: files})
		if err != nil {
			t.Fatal(err)
		}
		s := space.New(hamming.Centres(hamming.NewBTree(0)), store, space.Options{
			Rule: singlepass.Rule{Window: c.Cluster.Window},
			Stories: space.Stories{
				On: stories, Rule: c.Stories.Rule(), Ranks: ranks, NewCounter: newCounter,
			},
		}, func() time.Time { return time.UnixMilli(start).Add(1000 * time.Hour) })
		if err := s.Load(t.Context(), func(singlepass.Fingerprint) error { return nil }); err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open(true)
	shut := func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	defer func() { shut() }()
	out.done, out.since = make(map[article.Action]int), new(int64)
	r, now := rand.New(rand.NewPCG(seed, 15)), time.UnixMilli(start)
	for n := range batches {
		if off < on && (n == off || n == on) {
			shut()
			s = open(n == on)
			*out.since = int64(s.State().Next)
		}
		articles := make([]fingerprint.Article, 1+r.IntN(6))
		for i := range articles {
			now = now.Add(time.Duration(r.IntN(200)) * time.Second)
			articles[i] = out.article(r, now)
		}
		out.batch(t, s, articles, out.byHand(r, newCounter(), probability))
	}
	return out
}

// byHand returns label records that merge and split stories of late and take them apart, now and
// then.
func (o *topics) byHand(
	r *rand.Rand, counter *words.Counter, probability float64,
) (records []article.LabelRecord) {
	address := func(id string) article.Address {
		a, _ := article.ParseAddress(id)
		return a
	}
	for len(o.results) > 20 && r.Float64() < probability {
		recent := func() *result { return o.results[len(o.results)-1-r.IntN(20)] }
		about := recent()
		l := article.LabelRecord{
			Cluster: address(about.Cluster.In("articles")), Action: article.SplitStory,
		}
		switch n := r.IntN(6); {
		case n < 2 && len(o.merged) > 0:
			i, which := r.IntN(len(o.merged)), r.IntN(2)
			two := o.merged[i]
			o.merged = slices.Delete(o.merged, i, i+1)
			l.Action, l.Cluster, l.Other = article.UnmergeStories, address(two[which]), two[1-which]
		case n < 4:
			two := [2]string{about.StoryID, recent().StoryID}
			l.Action, l.Cluster, l.Other = article.MergeStories, address(two[0]), two[1]
			o.merged = append(o.merged[max(0, len(o.merged)-20):], two)
		default:
			if said := strings.Split(o.texts[about.Cluster.Offset], "\x00"); r.IntN(4) > 0 {
				made := counter.Count(said[0], said[1])
				l.Words, l.Han, l.Terms = string(made.Vector), made.Han, made.Terms
			}
		}
		records = append(records, l)
	}
	return records
}

// labelled adds label records that were applied or refused before the article at a position.
func (o *topics) labelled(
	t *testing.T, b *space.Batch, records []article.LabelRecord, position int64,
) {
	t.Helper()
	for i := range b.Labelled {
		l, why := &records[i], b.Labelled[i].Rejection
		if why != nil && why.Class != article.UnknownStory {
			continue
		}
		said := map[string]any{"action": l.Action}
		if l.Action != article.SplitStory {
			said["story_id"], said["other"] = l.Cluster.String(), l.Other
		} else {
			said["cluster_id"], said["words"] = l.Cluster.String(), []byte(l.Words)
			said["han"], said["terms"] = l.Han, l.Terms
		}
		value, err := json.Marshal(said)
		if err != nil {
			t.Fatal(err)
		}
		if why == nil {
			o.done[l.Action]++
		}
		r := &kgo.Record{Topic: "labels", Offset: int64(len(o.labels)), Value: value}
		o.labels = append(o.labels, r)
		o.applied.Records = append(o.applied.Records, labels.Applied{
			Record: wire.AddressOf(r), First: position, Last: position, Refused: why != nil,
		})
	}
}

const start = 1_700_000_000_000

// article adds an input record, and returns what is fingerprinted of it.
func (o *topics) article(r *rand.Rand, now time.Time) fingerprint.Article {
	offset, late := int64(len(o.inputs)), time.Duration(r.IntN(30))*time.Minute
	event := int(now.Sub(time.UnixMilli(start))/(40*time.Minute)) + r.IntN(6)
	said, bridge := "", r.IntN(8) == 0
	for i := range 20 {
		of := event
		if r.IntN(8) == 0 || bridge && i%2 == 0 {
			of++
		}
		said += fmt.Sprintf("w%dx%d ", of, r.IntN(20))
	}
	title := strings.Repeat(fmt.Sprintf("w%dx%d", event, r.IntN(20)), r.IntN(2))
	publisher := []string{"", "best", "good", "other", "fourth"}[r.IntN(5)]
	value := fmt.Appendf(nil, `{"id":"id-%d","title":%q,"content":%q,"source":%q}`, offset, title, said,
		publisher)
	o.inputs = append(o.inputs, &kgo.Record{Topic: "articles", Offset: offset, Value: value})
	o.texts = append(o.texts, title+"\x00"+said)
	a := clustertest.Article(offset, uint64(event*8+r.IntN(8))*0x9e3779b97f4a7c15, now.Add(-late))
	a.RecordedAt, a.Source.Partition = a.PublishedAt, 0
	a.Publisher, a.Representative.ID = publisher, fmt.Sprintf("id-%d", offset)
	a.Representative.Title, a.Text = title, words.TextOf(title, said)
	if title == "" {
		a.Representative.Excerpt = text.Excerpt(said, 40)
	}
	return a
}

// batch has the articles assigned, and adds what is written of them.
func (o *topics) batch(
	t *testing.T, s *space.Space, articles []fingerprint.Article, records []article.LabelRecord,
) {
	t.Helper()
	position := int64(s.State().Next)
	b, err := s.AssignLabelled(space.LabelWork{Records: records, Room: len(records)},
		clustertest.Each(articles), len(articles))
	if err == nil {
		err = s.Commit(b, s.Meta())
	}
	if err != nil {
		t.Fatal(err)
	}
	o.labelled(t, &b, records, position)
	for i := range b.Assignments {
		a := &b.Assignments[i]
		founder, err := wire.ParseAddress(a.ClusterID, "articles")
		if err != nil {
			t.Fatal(err)
		}
		r := &result{Assignment: wire.Assignment{
			Cluster: founder, EventTime: a.EventTime, Position: int64(a.Position),
		}}
		r.Status, r.Publisher, r.StoryID = string(a.Status), a.Article.Publisher, a.Story
		r.StorySimilarity = wire.Similarity(a.StorySimilarity.Float())
		r.Source.Topic, r.Source.Offset = "articles", a.Article.Source.Offset
		o.results = append(o.results, r)
	}
	for i := range b.Stories {
		change := &b.Stories[i]
		state := &kgo.Record{
			Topic: "clusters", Key: []byte("story:" + change.Address),
			Headers: []kgo.RecordHeader{{Key: article.HeaderOwn, Value: []byte(article.OwnStory)}},
		}
		told := &kgo.Record{Topic: "stories", Key: []byte(change.Address)}
		if !change.Gone {
			value := change.Wire()
			state.Value, told.Value = change.AppendJSON(nil), value.AppendJSON(nil)
			told.Headers = []kgo.RecordHeader{
				{Key: article.HeaderPosition, Value: fmt.Append(nil, change.Position)},
			}
			state.Headers = append(state.Headers, told.Headers...)
		}
		state.Offset, told.Offset = int64(len(o.records)), int64(len(o.told))
		o.records, o.told = append(o.records, state), append(o.told, told)
	}
}

// audit returns the check of the topics.
func (o *topics) audit(t *testing.T, c *config.Config) *report.Check {
	t.Helper()
	dir, err := spill.NewDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = dir.Close() }()
	check := report.New("articles", "clusterd", 5).Add("I13", "stories")
	rule := c.Stories.Rule()
	s, err := New(Options{
		Input: "articles", Results: "results", Clusters: "clusters", Told: "stories",
		Labels: "labels", Check: check,
		Rule: model.StoryRule{
			Threshold: rule.Threshold, Han: rule.Han, Merge: rule.Merge,
			Window: rule.Window.Milliseconds(), ArticleTerms: rule.ArticleTerms,
			StoryTerms: rule.StoryTerms, List: rule.List, Postings: rule.Postings,
			Candidates: rule.Candidates,
		},
		Seed: maphash.MakeSeed(), IsQuiet: true, Space: func(int32) int32 { return 0 },
	}, c, dir)
	for i, r := range o.results {
		place := wire.Address{Offset: int64(i)}
		err = cmp.Or(err, s.Result(0, &r.Result, &r.Assignment, place))
	}
	for _, r := range o.labels {
		s.Label(r)
	}
	s.Checkpoint(&wire.Checkpoint{Space: "all", StoriesSince: o.since})
	for _, r := range o.records {
		s.State(r, strings.TrimPrefix(string(r.Key), "story:"), 0)
	}
	for _, r := range o.told {
		err = cmp.Or(err, s.Tell(r))
	}
	for _, r := range o.inputs {
		err = cmp.Or(err, s.Founder(r))
	}
	err = cmp.Or(err, s.Replay(t.Context(), func(int32) int64 { return int64(len(o.results)) },
		func(int32) labels.OfStories { return o.applied }))
	if err != nil {
		t.Fatal(err)
	}
	return check
}

// last returns the last record of a story that lives, of those that are wanted.
func last(t *testing.T, records []*kgo.Record, wanted func(*wire.Story) bool) (r *kgo.Record) {
	t.Helper()
	newest := make(map[string]*kgo.Record)
	for _, r := range records {
		newest[string(r.Key)] = r
	}
	for _, r := range records {
		if r.Value == nil || newest[string(r.Key)] != r {
			continue
		}
		parse := wire.ParseTold
		if r.Topic == "clusters" {
			parse = wire.ParseState
		}
		if s, err := parse(r); err == nil && wanted(&s) {
			return r
		}
	}
	t.Fatal("there is no such story")
	return nil
}

func large(s *wire.Story) bool { return s.Into == "" && s.Clusters > 2 }

// change makes a state another.
func change(t *testing.T, r *kgo.Record, do func(*cluster.Story)) {
	t.Helper()
	s, err := cluster.ParseStory(r.Key, r.Value, 0)
	if err != nil {
		t.Fatal(err)
	}
	do(&s)
	r.Value = s.AppendJSON(nil)
}

// edit replaces a part of what is told, which must be there.
func edit(t *testing.T, r *kgo.Record, old, new string) {
	t.Helper()
	if !strings.Contains(string(r.Value), old) {
		t.Fatalf("%q is not in %s", old, r.Value)
	}
	r.Value = []byte(strings.Replace(string(r.Value), old, new, 1))
}

// inState returns a fault of the newest state of a story of several clusters.
func inState(do func(*cluster.Story)) func(*testing.T, *topics) {
	return func(t *testing.T, o *topics) {
		t.Helper()
		change(t, last(t, o.records, large), do)
	}
}

// inPart returns a fault of the newest state of a story that somebody made part of another.
func inPart(do func(*cluster.Story)) func(*testing.T, *topics) {
	return func(t *testing.T, o *topics) {
		t.Helper()
		part := func(s *wire.Story) bool {
			return s.Apart && s.Into != "" && s.Own.Vector != "" && s.Own.Publishers != wire.Publishers(0)
		}
		change(t, last(t, o.records, part), do)
	}
}

// first returns the first label record of an action that was applied, or refused.
func (o *topics) first(t *testing.T, refused bool, action article.Action) *labels.Applied {
	t.Helper()
	for i := range o.applied.Records {
		a := &o.applied.Records[i]
		r, err := wire.ParseLabelRecord(o.labels[a.Record.Offset])
		if err == nil && r.Action == string(action) && a.Refused == refused {
			return a
		}
	}
	t.Fatalf("no %s with refused = %t", action, refused)
	return nil
}

func drop(records []*kgo.Record, r *kgo.Record) []*kgo.Record {
	return slices.DeleteFunc(slices.Clone(records), func(o *kgo.Record) bool { return o == r })
}

// withoutTombstones returns records without those tombstones that are the last of their story.
func withoutTombstones(records []*kgo.Record) []*kgo.Record {
	return slices.DeleteFunc(slices.Clone(records), func(r *kgo.Record) bool { return r.Value == nil })
}

// joined returns a result of a founder that joined a story, or of a copy.
func (o *topics) joined(t *testing.T, status string) *result {
	t.Helper()
	for _, r := range o.results {
		if r.Status == status && r.StorySimilarity > 0 {
			return r
		}
	}
	t.Fatal("no cluster joined a story")
	return nil
}

// What a clusterd writes holds, and whatever is wrong with it is found.
func TestFaultsOfStoriesAreFound(t *testing.T) {
	t.Parallel()
	c := settings(t)
	for name, fault := range map[string]func(*testing.T, *topics){
		"": func(t *testing.T, o *topics) {
			last(t, o.records, func(s *wire.Story) bool { return s.Into != "" })
			if len(withoutTombstones(o.records)) == len(o.records) {
				t.Error("no story has expired: the test proves less")
			}
		},
		"a founder without its story": func(t *testing.T, o *topics) {
			o.joined(t, "new").StoryID = ""
		},
		"a founder in a story of its own": func(t *testing.T, o *topics) {
			r := o.joined(t, "new")
			r.StoryID, r.StorySimilarity = r.Cluster.In("articles"), 0
		},
		"a similarity": func(t *testing.T, o *topics) {
			o.joined(t, "new").StorySimilarity += 1e-6
		},
		"a copy in the story of before": func(t *testing.T, o *topics) {
			r := o.joined(t, "joined")
			r.StoryID = r.Cluster.In("articles")
		},
		"a vector without a word": inState(func(s *cluster.Story) { s.Vector = s.Vector[6:] }),
		"a cluster less":          inState(func(s *cluster.Story) { s.Clusters-- }),
		"an article less":         inState(func(s *cluster.Story) { s.Articles-- }),
		"first seen":              inState(func(s *cluster.Story) { s.FirstSeen-- }),
		"last seen":               inState(func(s *cluster.Story) { s.LastSeen++ }),
		"no signals":              inState(func(s *cluster.Story) { s.Signals = "" }),
		"another title":           inState(func(s *cluster.Story) { s.Headline.Title += "x" }),
		"another headline": inState(func(s *cluster.Story) {
			s.Headline.Cluster = "articles/0/0"
		}),
		"terms":                                 inState(func(s *cluster.Story) { s.Terms += "\nx" }),
		"a part with another vector of its own": inPart(func(s *cluster.Story) { s.Own = s.Own[6:] }),
		"a part with another headline": inPart(func(s *cluster.Story) {
			s.OwnHeadline.Title += "x"
		}),
		"a part without signals of its own":   inPart(func(s *cluster.Story) { s.OwnSignals = "" }),
		"a part with terms of others":         inPart(func(s *cluster.Story) { s.OwnTerms += "\nx" }),
		"a part that does not count articles": inPart(func(s *cluster.Story) { s.Articles-- }),
		"a part that cannot be taken out": inPart(func(s *cluster.Story) {
			s.Apart, s.Own, s.OwnSignals, s.OwnHeadline, s.OwnTerms = false, "", "", cluster.Headline{}, ""
		}),
		"a story that did not leave": func(t *testing.T, o *topics) {
			r := last(t, o.records, func(s *wire.Story) bool { return s.LeftAt > 0 && s.Into == "" })
			change(t, r, func(s *cluster.Story) { s.Into, s.Vector = s.LeftFrom, "" })
		},
		"a story that left at another position": func(t *testing.T, o *topics) {
			for _, r := range o.records {
				if s, err := wire.ParseState(r); r.Value != nil && err == nil && s.LeftAt > 0 {
					change(t, r, func(s *cluster.Story) { s.LeftAt += 9 })
				}
			}
		},
		"not merged": func(t *testing.T, o *topics) {
			r := last(t, o.records, func(s *wire.Story) bool { return s.Into != "" })
			change(t, r, func(s *cluster.Story) { s.Into = "" })
		},
		"a state that is not there": func(t *testing.T, o *topics) {
			id := last(t, o.records, large).Key
			o.records = slices.DeleteFunc(o.records, func(r *kgo.Record) bool {
				return string(r.Key) == string(id)
			})
		},
		"a state of before": func(t *testing.T, o *topics) {
			o.records = drop(o.records, last(t, o.records, large))
		},
		"what is told of before": func(t *testing.T, o *topics) {
			o.told = drop(o.told, last(t, o.told, large))
		},
		"what is told of another title": func(t *testing.T, o *topics) {
			edit(t, last(t, o.told, large), `"title":"`, `"title":"x`)
		},
		"what is told of more articles": func(t *testing.T, o *topics) {
			edit(t, last(t, o.told, large), `"articles":`, `"articles":1`)
		},
		"not told of": func(t *testing.T, o *topics) {
			id := last(t, o.told, large).Key
			o.told = slices.DeleteFunc(o.told, func(r *kgo.Record) bool {
				return string(r.Key) == string(id)
			})
		},
		"no tombstones": func(_ *testing.T, o *topics) {
			o.records = withoutTombstones(o.records)
		},
		"no tombstones in what is told": func(_ *testing.T, o *topics) {
			o.told = withoutTombstones(o.told)
		},
		"a tombstone of one that lives": func(t *testing.T, o *topics) {
			id := last(t, o.records, large).Key
			o.records = append(o.records, &kgo.Record{Topic: "clusters", Key: id})
		},
		"a tombstone in what is told of one that lives": func(t *testing.T, o *topics) {
			o.told = append(o.told, &kgo.Record{Topic: "stories", Key: last(t, o.told, large).Key})
		},
		"a merge that was refused": func(t *testing.T, o *topics) {
			o.first(t, false, article.MergeStories).Refused = true
		},
		"a refused merge that was not": func(t *testing.T, o *topics) {
			o.first(t, true, article.MergeStories).Refused = false
		},
		"an undo that was refused": func(t *testing.T, o *topics) {
			o.first(t, false, article.UnmergeStories).Refused = true
		},
		"a split that was refused": func(t *testing.T, o *topics) {
			o.first(t, false, article.SplitStory).Refused = true
		},
		"a split before another article": func(t *testing.T, o *topics) {
			a := o.first(t, false, article.SplitStory)
			a.First, a.Last = a.First+20, a.Last+20
		},
		"no label record of a split": func(t *testing.T, o *topics) {
			a := o.first(t, false, article.SplitStory)
			o.applied.Records = slices.DeleteFunc(slices.Clone(o.applied.Records),
				func(b labels.Applied) bool { return b == *a })
		},
		"a story that nobody founded": func(t *testing.T, o *topics) {
			for _, records := range []*[]*kgo.Record{&o.records, &o.told} {
				other := *last(t, *records, large)
				other.Key = []byte(strings.Replace(string(other.Key), "articles/0/", "articles/0/99", 1))
				other.Value = []byte(strings.ReplaceAll(string(other.Value), `"story_id":"articles/0/`,
					`"story_id":"articles/0/99`))
				*records = append(*records, &other)
			}
		},
		"another partition": func(t *testing.T, o *topics) {
			last(t, o.records, large).Partition = 1
		},
		"a state that says that it is a checkpoint": func(t *testing.T, o *topics) {
			r := last(t, o.records, large)
			r.Headers = slices.Clone(r.Headers)
			r.Headers[0].Value = []byte(article.OwnCheckpoint)
		},
		"no story at all": func(t *testing.T, o *topics) {
			last(t, o.records, large).Value = []byte{9}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := write(t, c, 1)
			fault(t, &o)
			found := o.audit(t, &c)
			if (found.Violations > 0) != (name != "") || found.NotChecked != "" || found.Checked == 0 {
				t.Errorf("%d violations, not checked %q: %+v", found.Violations, found.NotChecked, found.Shown)
			}
		})
	}
}

// What was deleted is not checked, and is no violation: nor is what was before stories were on.
func TestStoriesThatCannotBeChecked(t *testing.T) {
	t.Parallel()
	c := settings(t)
	o := write(t, c, 1)
	compacted := o
	compacted.applied = o.compacted()
	compacted.records = slices.DeleteFunc(slices.Clone(o.records), func(r *kgo.Record) bool {
		s, err := wire.ParseState(r)
		return err == nil && s.MergedAt > 0
	})
	compacted.told = nil
	if found := compacted.audit(t, &c); found.NotChecked == "" {
		t.Errorf("what was merged by hand is compacted away: all is checked, %+v", found.Shown)
	}
	deleted := o
	deleted.applied = labels.OfStories{Since: int64(len(o.results)), Lost: true}
	deleted.labels = nil
	if found := deleted.audit(t, &c); found.Violations > 0 ||
		!strings.Contains(found.NotChecked, "cannot be checked since label records were deleted") {
		t.Errorf("label records are deleted: not checked %q, %+v", found.NotChecked, found.Shown)
	}
	o.inputs = o.inputs[len(o.inputs)/2:]
	if found := o.audit(t, &c); found.Violations > 0 || found.NotChecked == "" {
		t.Errorf("half of the input is deleted: %d violations, not checked %q: %+v", found.Violations,
			found.NotChecked, found.Shown)
	}
}

// Stories that were off for a while cannot be checked from there on, and nothing of that is a
// violation: neither what results and clusters lack, nor that label records were refused meanwhile.
func TestStoriesOffForAWhile(t *testing.T) {
	t.Parallel()
	c := settings(t)
	const want = "cannot be checked since stories.topic was empty for a while, from position "
	for seed := range uint64(6) {
		probability := []float64{0, .67}[seed%2]
		o := writeSwitched(t, c, 80+seed, probability, 40+int(seed), 60+10*int(seed)/2)
		found := o.audit(t, &c)
		if found.Violations > 0 || !strings.HasPrefix(found.NotChecked, want) || found.Checked < 100 {
			t.Errorf("seed %d: %d violations, %d checked, not checked %q: %+v", 80+seed, found.Violations,
				found.Checked, found.NotChecked, found.Shown)
		}
		before := o.results[20]
		before.StoryID, before.StorySimilarity = "articles/0/9999", 0
		if found := o.audit(t, &c); found.Violations == 0 {
			t.Errorf("seed %d: a wrong story from before is not found", 80+seed)
		}
	}
}

// A result that lost its story, where the checkpoints say that stories were on, is a violation.
func TestResultWithoutStoryWhileStoriesWereOn(t *testing.T) {
	t.Parallel()
	c := settings(t)
	for _, since := range []*int64{nil, new(int64)} {
		o := write(t, c, 1)
		o.since = since
		o.joined(t, "joined").StoryID = ""
		if found := o.audit(t, &c); found.Violations == 0 || found.NotChecked != "" {
			t.Errorf("since %v: %d violations, not checked %q", since, found.Violations, found.NotChecked)
		}
	}
}

// compacted returns the label records that were applied as they are known where all checkpoints but
// the last one have been compacted away.
func (o *topics) compacted() (of labels.OfStories) {
	for _, a := range o.applied.Records {
		a.First, a.Last = 0, int64(len(o.results))
		of.Records = append(of.Records, a)
	}
	return of
}

// Where the positions of label records are not known, all holds that is checked: if few stories
// were merged and split, their states say at which position.
func TestCompactedStoriesHold(t *testing.T) {
	t.Parallel()
	c := settings(t)
	checked := 0
	for seed := range uint64(24) {
		o := writeByHand(t, c, 40+seed, []float64{.02, .67}[seed%2])
		o.applied = o.compacted()
		found := o.audit(t, &c)
		if found.Violations > 0 {
			t.Errorf("seed %d: %d violations: %+v", 40+seed, found.Violations, found.Shown)
		}
		if found.NotChecked == "" && len(o.done) > 0 {
			checked++
		}
	}
	if checked < 4 {
		t.Errorf("%d of 24 are checked, want 4 or more", checked)
	}
}

// Whatever a clusterd writes holds, by hand too.
func TestStoriesHold(t *testing.T) {
	t.Parallel()
	c := settings(t)
	for seed := range uint64(12) {
		o := write(t, c, 2+seed)
		if found := o.audit(t, &c); found.Violations > 0 || found.NotChecked != "" {
			t.Errorf("seed %d: %d violations, not checked %q: %+v", 2+seed, found.Violations,
				found.NotChecked, found.Shown)
		}
	}
}
