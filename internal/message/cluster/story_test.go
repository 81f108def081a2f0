package cluster_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/story"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
	"github.com/clusterd/clusterd/internal/testutil/schematest"
)

// A new field must be in one of the stories by which the borders are tested.
func TestStoriesHaveNoZeroField(t *testing.T) {
	var walk func(name string, full, merged reflect.Value)
	walk = func(name string, full, merged reflect.Value) {
		for i := range full.NumField() {
			name := name + "." + full.Type().Field(i).Name
			if f, m := full.Field(i), merged.Field(i); f.Kind() == reflect.Struct {
				walk(name, f, m)
			} else if f.IsZero() && m.IsZero() {
				t.Errorf("%s is zero in clustertest.FullStory and MergedStory: give it a value, and carry "+
					"it through storywire.go", name)
			}
		}
	}
	walk("Story", reflect.ValueOf(clustertest.FullStory()), reflect.ValueOf(clustertest.MergedStory()))
}

func TestValidateStory(t *testing.T) {
	for _, s := range clustertest.ExtremeStories() {
		if err := s.Validate(); err != nil {
			t.Errorf("%+v: %v", s, err)
		}
	}
	for name, s := range clustertest.ImpossibleStories() {
		if s.Validate() == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

// The forms of a story in the clusters topic.
var storyForms = map[string]func(*cluster.Story, []byte) []byte{
	"json": (*cluster.Story).AppendJSON, "binary": (*cluster.Story).AppendBinary,
}

// A story is read as it was written, whole, in either form, and nothing else is one.
func TestStoryForms(t *testing.T) {
	for _, want := range clustertest.ExtremeStories() {
		key := []byte(cluster.StoryPrefix + want.Address)
		for form, write := range storyForms {
			value := write(&want, nil)
			got, err := cluster.ParseStory(key, value, want.Position)
			if diff := cmp.Diff(want, got); err != nil || diff != "" || !cluster.IsStory(key) {
				t.Errorf("%s: %v (-written +read):\n%s", form, err, diff)
			}
			for n := range value {
				if _, err := cluster.ParseStory(key, value[:n], 1); err == nil {
					t.Errorf("%s: %d of %d bytes are taken", form, n, len(value))
				}
			}
			if _, err := cluster.ParseStory(key, append(value, 0), 1); err == nil {
				t.Errorf("%s: a byte more is taken", form)
			}
		}
		if err := schematest.Check("story-state", want.AppendJSON(nil)); err != nil {
			t.Error(err)
		}
	}
}

// What clusterd wrote before there was a form in JSON is read for ever: the file was written by the
// last version without it.
func TestStoriesOfBefore(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "binary-stories.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var got []cluster.Story
	for line := range strings.Lines(string(data)) {
		var key string
		var position uint64
		var value []byte
		if _, err := fmt.Sscanf(line, "%s %d %x", &key, &position, &value); err != nil {
			t.Fatal(err)
		}
		s, err := cluster.ParseStory([]byte(key), value, position)
		if err != nil {
			t.Errorf("%s: %v", key, err)
		}
		if again := s.AppendBinary(nil); !bytes.Equal(again, value) {
			t.Errorf("%s is written %x, and was %x", key, again, value)
		}
		got = append(got, s)
	}
	if diff := cmp.Diff(clustertest.StoriesOfBefore(), got); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
}

// What others read of a story is as its schema says.
func TestStoryIsTold(t *testing.T) {
	for _, want := range clustertest.ExtremeStories() {
		wire := want.Wire()
		told := wire.AppendJSON(nil)
		if wire.StoryID != want.Address || wire.MergedInto != want.Into ||
			strings.Join(wire.Terms, "\n") != want.Terms {
			t.Errorf("%+v is told as %s", want, told)
		}
		if strings.HasPrefix(want.Terms, "港\n港") || want.Headline.ArticleID == "" {
			continue // within bounds, and more than a story can have
		}
		if err := schematest.Check("story", told); err != nil {
			t.Errorf("%v\n%s", err, told)
		}
	}
}

// What is no story is an error that says so.
func TestParseStoryOfWhatIsNone(t *testing.T) {
	s := clustertest.FullStory()
	value, text := s.AppendBinary(nil), string(s.AppendJSON(nil))
	inJSON := func(old, new string) []byte { return []byte(strings.Replace(text, old, new, 1)) }
	for want, test := range map[string]struct {
		key   string
		value []byte
	}{
		"version 3":               {s.Address, append([]byte{3}, value[1:]...)},
		"too late":                {s.Address, append(bytes.Clone(value), 0)},
		"not an address":          {"articles", value},
		"not the address of":      {"articles/03/17", value},
		"is not that of its key":  {"articles/3/18", []byte(text)},
		`story_id "" is not`:      {s.Address, []byte("{}")},
		"not a story: version 0":  {s.Address, inJSON(`"state"`, `"State of"`)},
		"not a story: version 10": {s.Address, inJSON(`"state":"A`, `"state":"C`)},
		"not a story: illegal":    {s.Address, inJSON(`"state":"`, `"state":"!`)},
		"unexpected end of JSON":  {s.Address, []byte{}},
		"cannot unmarshal":        {s.Address, inJSON(`"state":"`, `"state":7,"of":"`)},
	} {
		_, err := cluster.ParseStory([]byte(cluster.StoryPrefix+test.key), test.value, 1)
		check.ErrorHas(t, err, want)
	}
	gone, err := cluster.ParseStory([]byte(cluster.StoryPrefix+s.Address), nil, 5)
	if want := (cluster.Story{Story: story.Story{Address: s.Address}}); err != nil || gone != want {
		t.Errorf("a tombstone is %+v, %v", gone, err)
	}
	for _, key := range []string{"articles/3/17", "checkpoint:g/all", "", "story"} {
		if cluster.IsStory([]byte(key)) {
			t.Errorf("%q is the key of a story", key)
		}
	}
}

// Whatever stands in the topic, it is a story that is written as it was read, or an error.
func FuzzParseStory(f *testing.F) {
	for _, s := range clustertest.ExtremeStories() {
		f.Add(s.AppendBinary(nil))
		f.Add(s.AppendJSON(nil))
	}
	key := []byte(cluster.StoryPrefix + "articles/3/17")
	f.Fuzz(func(t *testing.T, value []byte) {
		s, err := cluster.ParseStory(key, value, 1<<40)
		if err != nil || value == nil || s.Validate() != nil {
			return
		}
		for form, write := range storyForms {
			again, err := cluster.ParseStory(key, write(&s, nil), 1<<40)
			if diff := cmp.Diff(s, again); err != nil || diff != "" {
				t.Errorf("%s: %v (-read +written and read again):\n%s", form, err, diff)
			}
		}
	})
}

// What a story takes in either form, with as many terms as a story keeps, and how long it takes to
// be written and read.
func BenchmarkStoryForms(b *testing.B) {
	s := clustertest.LargeStory(0)
	key := []byte(cluster.StoryPrefix + s.Address)
	for form, write := range storyForms {
		value := write(&s, nil)
		b.Run(form+"/write", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				value = write(&s, value[:0])
			}
			b.ReportMetric(float64(len(value)), "bytes")
		})
		b.Run(form+"/read", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := cluster.ParseStory(key, value, s.Position); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// What a story never changes, and what only grows, is held.
func TestStoryFollows(t *testing.T) {
	for want, changes := range map[string][]func(*cluster.Story){
		"its founder is another": {
			func(s *cluster.Story) { s.Seq++ }, func(s *cluster.Story) { s.FirstSeen-- },
		},
		"goes back": {
			func(s *cluster.Story) { s.Position-- }, func(s *cluster.Story) { s.LastSeen-- },
		},
		"it was part of": {
			func(s *cluster.Story) { s.Into = "" }, func(s *cluster.Story) { s.Into = "articles/2/3" },
		},
	} {
		for _, change := range changes {
			before := clustertest.MergedStory()
			before.Apart = want != "it was part of"
			after := before
			change(&after)
			check.ErrorHas(t, after.Follows(&before), want)
		}
	}
	before, after := clustertest.FullStory(), clustertest.MergedStory()
	after.Position, after.LastSeen = before.Position+1, before.LastSeen+1
	if err := after.Follows(&before); err != nil {
		t.Error(err)
	}
	// Somebody took it out again, and perhaps made it part of another since.
	for _, into := range []string{"", "articles/2/3"} {
		before, after := clustertest.MergedStory(), clustertest.MergedStory()
		if after.Into = into; after.Follows(&before) != nil {
			t.Errorf("part of %q: %v", into, after.Follows(&before))
		}
	}
}

// Of two headlines the one with a title, of the better publisher, the earlier, the more similar one
// is taken, in this order, and the first one where there is no difference.
func TestBetterHeadline(t *testing.T) {
	base := cluster.Headline{ArticleID: "a", Title: "t", Rank: 5, At: 100, Similarity: 500_000}
	for name, test := range map[string]struct {
		change func(h *cluster.Headline)
		better bool
	}{
		"the same":            {func(*cluster.Headline) {}, false},
		"no title":            {func(h *cluster.Headline) { h.Title, h.Rank, h.At = "", 0, 0 }, false},
		"a better rank":       {func(h *cluster.Headline) { h.Rank, h.At = 4, 900 }, true},
		"no rank, earlier":    {func(h *cluster.Headline) { h.Rank, h.At = cluster.Unranked, 1 }, false},
		"earlier, less alike": {func(h *cluster.Headline) { h.At, h.Similarity = 99, 1 }, true},
		"later, more alike":   {func(h *cluster.Headline) { h.At, h.Similarity = 101, 1_000_000 }, false},
		"more alike":          {func(h *cluster.Headline) { h.Similarity++ }, true},
		"less alike":          {func(h *cluster.Headline) { h.Similarity-- }, false},
		"a longer title":      {func(h *cluster.Headline) { h.Title = "a longer title" }, false},
	} {
		other := base
		other.ArticleID = "b"
		test.change(&other)
		if got := base.Better(other); (got == other) != test.better {
			t.Errorf("%s: %+v", name, got)
		}
		if got := other.Better(base); name != "the same" && name != "a longer title" &&
			(got == other) != test.better {
			t.Errorf("%s, the other way round: %+v", name, got)
		}
	}
}

func TestLoadRanks(t *testing.T) {
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "ranks.txt")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for text, want := range map[string]cluster.Ranks{
		"":                          {},
		"herald\ncourier":           {"herald": 0, "courier": 1},
		"# best\n\nHerald\r\n a b ": {"herald": 0, "a b": 1},
		"新华社\nherald\nHERALD\nx\n":  {"新华社": 0, "herald": 1, "x": 2},
	} {
		if got, err := cluster.LoadRanks(file(text)); err != nil || !maps.Equal(got, want) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	if got, err := cluster.LoadRanks(""); got != nil || err != nil || got.Of("a") != cluster.Unranked {
		t.Errorf("without a file: %v, %v", got, err)
	}
	_, err := cluster.LoadRanks(filepath.Join(t.TempDir(), "none"))
	check.ErrorHas(t, err, "ranks of publishers")
	_, err = cluster.LoadRanks(file(strings.Repeat("x", 1<<17)))
	check.ErrorHas(t, err, "token too long")
	ranks, err := cluster.LoadRanks(file("Herald\ncourier\n"))
	var got []uint32
	for _, name := range []string{"herald", " HERALD ", "Courier", "gazette", ""} {
		got = append(got, ranks.Of(name))
	}
	if want := []uint32{0, 0, 1, cluster.Unranked, cluster.Unranked}; err != nil ||
		!slices.Equal(got, want) {
		t.Errorf("ranks %d, %v; want %d", got, err, want)
	}
}
