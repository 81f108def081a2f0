package replica

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
)

// storyRecord returns the record of a story of input partition 3, which is in partition 0 of three.
func storyRecord(offset int64, value []byte) kafka.Record {
	s := clustertest.FullStory()
	return kafka.Record{
		Topic: "clusters", Offset: offset, Time: wallClock,
		Key: []byte(cluster.StoryPrefix + s.Address), Value: value,
		Headers: []kafka.Header{
			{Key: article.HeaderOwn, Value: []byte(article.OwnStory)},
			{Key: article.HeaderPosition, Value: []byte("41")},
		},
	}
}

// A story is read in either form, and in one after the other.
func TestStoriesOfEitherForm(t *testing.T) {
	full, merged := clustertest.FullStory(), clustertest.MergedStory()
	for name, values := range map[string][2][]byte{
		"json":              {full.AppendJSON(nil), merged.AppendJSON(nil)},
		"binary":            {full.AppendBinary(nil), merged.AppendBinary(nil)},
		"json after binary": {full.AppendBinary(nil), merged.AppendJSON(nil)},
		"binary after json": {full.AppendJSON(nil), merged.AppendBinary(nil)},
	} {
		r := testReplica(t, 0)
		for i, want := range []cluster.Story{full, merged} {
			if err := applyAll(t, r, storyRecord(int64(i), values[i])); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got, ok, err := r.space.Story(want.Address)
			if diff := cmp.Diff(want, got); diff != "" || !ok || err != nil {
				t.Errorf("%s: %v (-written +stored):\n%s", name, err, diff)
			}
		}
	}
}

// What clusterd cannot have written as a story is refused, by its place and with what to do.
func TestUnexpectedStories(t *testing.T) {
	s := clustertest.FullStory()
	text := string(s.AppendJSON(nil))
	longer := article.StoryState{StoryID: s.Address, State: append(s.AppendBinary(nil), 0)}
	impossible := s
	impossible.Clusters = 0
	for want, value := range map[string]string{
		"unexpected end of JSON":  text[:len(text)/2],
		"not a story: illegal":    strings.Replace(text, `"state":"`, `"state":"!`, 1),
		"too early or too late":   string(longer.AppendJSON(nil)),
		"is not that of its key":  strings.Replace(text, "articles/3/17", "articles/3/18", 1),
		"not a story: version 0,": "{\"story_id\":\"articles/3/17\"}",
		"not a story: version 3,": "\x03",
		"unexpected end of":       "",
		"0 clusters":              string(impossible.AppendJSON(nil)),
	} {
		r := testReplica(t, 0)
		err := applyAll(t, r, storyRecord(12, []byte(value)))
		check.ErrorHas(t, err, "clusters/0/12", "output.clusters_topic", want,
			"a tombstone to its key takes it out")
		if _, ok, err := r.space.Story(s.Address); ok || err != nil {
			t.Errorf("%s: it is stored, or %v", want, err)
		}
	}
}
