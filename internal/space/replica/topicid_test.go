package replica

import (
	"maps"
	"testing"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/testutil/check"
)

// A topic counts as another one only if its id is known twice. What to do depends on which it is.
func TestChangedTopics(t *testing.T) {
	for name, tt := range map[string]struct {
		was, is map[string]string
		want    []string // none: all are the same
	}{
		"the same": {
			map[string]string{"articles": "a", "labels": "l"},
			map[string]string{"articles": "a", "labels": "l", "clusters": "c"},
			nil,
		},
		"of an earlier version": {nil, map[string]string{"articles": "a"}, nil},
		"not known now":         {map[string]string{"articles": "a"}, nil, nil},
		"no longer read": {
			map[string]string{"gone": "a"}, map[string]string{"articles": "a"}, nil,
		},
		"the input": {map[string]string{"articles": "a"}, map[string]string{"articles": "b"}, []string{
			"topic articles is another one than before: its id was a and is b. Nothing was read or written",
			StartAnew, "clusterd state accept -c FILE --topic articles",
		}},
		"labels": {map[string]string{"labels": "a"}, map[string]string{"labels": "b"}, []string{
			"topic labels is another one", "--topic labels --from-beginning",
		}},
		"all of them": {
			map[string]string{"articles": "a", "labels": "l", "clusters": "c"},
			map[string]string{"articles": "b", "labels": "m", "clusters": "d"},
			[]string{StartAnew, "accept -c FILE --topic clusters --topic articles --topic labels"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := testReplica(t, 0)
			r.Labels, r.Source = "labels", config.Source{Topic: "articles", Group: "clusterd"}
			r.ids = maps.Clone(tt.is)
			err := r.checkIDs(&checkpoint.Record{IDs: tt.was})
			if tt.want == nil && err != nil {
				t.Errorf("error = %v, want none", err)
			}
			if tt.want != nil {
				check.ErrorHas(t, err, tt.want...)
			}
		})
	}
}
