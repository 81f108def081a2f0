package audit

import (
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/config"
)

// Results carry those headers of their input records that output.headers names. They may also carry
// all, which was the default of earlier versions, or those of the default: then they are counted.
func TestHeadersOfOtherSettings(t *testing.T) {
	t.Parallel()
	const all, traces = "from traceparent baggage", "traceparent baggage"
	long := strings.Repeat("x", 1000)
	for _, test := range []struct {
		name      string
		setting   []string // nil for the default
		carried   string   // the headers of a result
		change    func(*kgo.Record)
		violated  bool
		elsewhere bool // by another setting
	}{
		{name: "as the default", carried: traces},
		{name: "all, with the default", carried: all, elsewhere: true},
		{name: "no headers, with the default", carried: "", violated: true},
		{name: "a header too few", carried: "traceparent", violated: true},
		{name: "a header too many", carried: traces + " odd", violated: true},
		{name: "in another order", carried: "baggage traceparent", violated: true},
		{
			name: "another value", carried: traces, violated: true,
			change: func(r *kgo.Record) { r.Headers[0].Value = []byte("x") },
		},
		{name: "all, as they are named", setting: []string{"*"}, carried: all},
		{name: "the default, with all", setting: []string{"*"}, carried: traces, elsewhere: true},
		{name: "as it is named", setting: []string{"from"}, carried: "from"},
		{name: "all, with others", setting: []string{"from"}, carried: all, elsewhere: true},
		{name: "the default, with others", setting: []string{"from"}, carried: traces, elsewhere: true},
		{name: "what nothing names", setting: []string{"from"}, carried: "baggage", violated: true},
		{name: "none", setting: []string{}, carried: ""},
		{
			name: "a large result that its topic would not take with headers", carried: "",
			change: func(r *kgo.Record) {
				r.Value = append(r.Value[:len(r.Value):len(r.Value)], strings.Repeat(" ", len(long))...)
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, func(c *config.Config) {
				c.Output.Headers = test.setting
				if test.setting == nil {
					c.Output.Headers = config.Default().Output.Headers
				}
			})
			s.more = []kgo.RecordHeader{
				{Key: "traceparent", Value: []byte("00-1")}, {Key: "baggage", Value: []byte("a=b")},
			}
			s.cluster(story, s.input(story))
			for i := range unrejected(story) {
				names := strings.Join(s.config.Output.Headers, " ")
				if i == 2 {
					names = test.carried
				}
				carry(s.result(i), names)
			}
			if test.change != nil {
				test.change(s.result(2))
			}
			s.write()
			found := s.audit(Options{})
			other := found.Counts.OtherHeaders == 1
			if (found.Violations() > 0) != test.violated || other != test.elsewhere {
				t.Errorf("%d results carry those of another setting, and %q", found.Counts.OtherHeaders,
					violations(found))
			}
		})
	}
}

// carry has a result carry of its input record the headers with these names, or all.
func carry(r *kgo.Record, names string) {
	if names == "*" {
		return
	}
	var own []kgo.RecordHeader
	of := map[string]kgo.RecordHeader{"odd": {Key: "odd"}}
	for _, h := range r.Headers {
		if of[h.Key] = h; strings.HasPrefix(h.Key, "clusterd.") {
			own = append(own, h)
		}
	}
	r.Headers = nil
	for _, name := range strings.Fields(names) {
		if h, ok := of[name]; ok {
			r.Headers = append(r.Headers, h)
		}
	}
	r.Headers = slices.Concat(r.Headers, own)
}
