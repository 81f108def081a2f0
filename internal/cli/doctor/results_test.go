package doctor

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/audit/wire"
)

// Two groups that write to one topic are found. One that was started anew, and is the only one that
// writes now, is not: it gives each article another result, too.
func TestDoubledResults(t *testing.T) {
	type result struct {
		partition int32
		producer  int64
		source    string
	}
	for name, tt := range map[string]struct {
		results []result
		want    string
	}{
		"nothing":   {nil, ""},
		"one group": {[]result{{0, 1, "a/0/0"}, {0, 1, "a/0/1"}}, ""},
		"a producer for each partition": {
			[]result{{0, 1, "a/0/0"}, {0, 2, "a/1/0"}, {0, 1, "a/0/1"}, {0, 2, "a/1/1"}}, "",
		},
		"by turns": {
			[]result{{0, 1, "a/0/0"}, {0, 2, "a/0/0"}, {0, 1, "a/0/1"}, {0, 2, "a/0/1"}}, "a/0/0",
		},
		"started anew": {
			[]result{{0, 1, "a/0/0"}, {0, 1, "a/0/1"}, {0, 2, "a/0/0"}, {0, 2, "a/0/1"}}, "",
		},
		"started anew, and another partition": {
			[]result{{0, 1, "a/0/0"}, {0, 2, "a/0/0"}, {1, 1, "a/0/1"}, {1, 2, "a/0/1"}}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var d doubled
			for _, r := range tt.results {
				d.add(&kgo.Record{
					Partition: r.partition, ProducerID: r.producer,
					Headers: []kgo.RecordHeader{{Key: wire.HeaderSource, Value: []byte(r.source)}},
				})
			}
			if d.source != tt.want {
				t.Errorf("found %q, want %q", d.source, tt.want)
			}
		})
	}
}
