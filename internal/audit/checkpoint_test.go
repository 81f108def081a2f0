package audit

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

// checkpointAt returns a checkpoint of both partitions.
func checkpointAt(zero, one int64) *kgo.Record {
	const value = `{"group":"clusterd","space":"all","offsets":{"0":%d,"1":%d}}`
	return checkpointRecord(fmt.Sprintf(value, zero, one))
}

func checkpointRecord(value string) *kgo.Record {
	return &kgo.Record{
		Topic: "clusters", Key: []byte("checkpoint:clusterd/all"), Value: []byte(value),
		Headers: []kgo.RecordHeader{{Key: "clusterd.own", Value: []byte("checkpoint")}},
	}
}

var checkpointTests = []struct {
	name string
	seed func(s *stage, at func(i int) (zero, one int64))
	want []string // the promises that were not kept, and what was found
}{
	{"with each transaction", nil, nil},
	{
		"offsets that were set forward", func(s *stage, _ func(int) (int64, int64)) {
			s.transactions[2].records = s.transactions[2].records[:len(s.transactions[2].records)-1]
		},
		[]string{"I4", "was skipped"},
	},
	{"offsets that were set back", func(s *stage, at func(int) (int64, int64)) {
		zero, one := at(2)
		last := s.transactions[2].records
		last[len(last)-1] = checkpointAt(zero, one+5)
	}, []string{"I4", "would be counted twice"}},
	{"it goes back", func(s *stage, at func(int) (int64, int64)) {
		zero, one := at(2)
		first := s.transactions[0].records
		first[len(first)-1] = checkpointAt(zero+9, one)
	}, []string{"I4", "or more"}},
	{"another group's", func(s *stage, _ func(int) (int64, int64)) {
		other := checkpointRecord(`{"group":"other","space":"all","offsets":{}}`)
		other.Key = []byte("checkpoint:other/all")
		s.transactions[1].records = append(s.transactions[1].records, other)
	}, []string{"I4", "a checkpoint of group other"}},
	{"no JSON", func(s *stage, _ func(int) (int64, int64)) {
		s.transactions[1].records = append(s.transactions[1].records, checkpointRecord("{"))
	}, []string{"form", "JSON"}},
	{"a field that no checkpoint has", func(s *stage, _ func(int) (int64, int64)) {
		last := s.transactions[2].records
		s.edit(last[len(last)-1], `"offsets"`, `"speed":1,"offsets"`)
	}, []string{"form", `field "speed", written by another version or by nobody`}},
	{"it says that it is a story", func(s *stage, at func(int) (int64, int64)) {
		wrong := checkpointAt(at(2))
		wrong.Headers = []kgo.RecordHeader{{Key: "clusterd.own", Value: []byte("story")}}
		s.transactions[2].records = append(s.transactions[2].records, wrong)
	}, []string{"form", "clusterd.own"}},
	{"a tombstone, and none after it", func(s *stage, _ func(int) (int64, int64)) {
		gone := checkpointRecord("")
		gone.Value = nil
		s.transactions[2].records = append(s.transactions[2].records, gone)
	}, nil},
}

// Checkpoints say what the group's offsets say, or something is wrong.
func TestCheckpoints(t *testing.T) {
	t.Parallel()
	for _, test := range checkpointTests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, nil)
			s.cluster(story, s.input(story))
			at := func(i int) (zero, one int64) {
				return s.transactions[i].committed[0], s.transactions[i].committed[1]
			}
			for i := range s.transactions {
				zero, one := at(i)
				s.transactions[i].records = append(
					s.transactions[i].records, checkpointAt(zero, one),
				)
			}
			if test.seed != nil {
				test.seed(s, at)
			}
			s.write()
			got := violations(s.audit(Options{Show: 5}))
			ok := test.want == nil && len(got) == 0 ||
				test.want != nil && len(got) > 0 && !slices.ContainsFunc(got, func(line string) bool {
					return !strings.HasPrefix(line, test.want[0]+" ") || !strings.Contains(line, test.want[1])
				})
			if !ok {
				t.Errorf("found:\n%s\nwant %q", strings.Join(got, "\n"), test.want)
			}
		})
	}
}
