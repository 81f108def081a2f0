package intake

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
)

// headerOf is a header of a record, whose value may be long.
func headerOf(name string, bytes int) kafka.Header {
	return kafka.Header{Key: name, Value: []byte(strings.Repeat("v", bytes))}
}

// Articles carry the headers that are wanted, as many as fit, and none that looks like clusterd's.
func TestArticlesCarryHeaders(t *testing.T) {
	many := make([]kafka.Header, maxHeaders+5)
	for i := range many {
		many[i] = headerOf(fmt.Sprint("h", i), 1)
	}
	const room = maxHeaderBytes - len("a")
	for name, tt := range map[string]struct {
		wanted []string
		in     []kafka.Header
		want   []kafka.Header
		left   string // what is said of those that are left out
	}{
		"all, in their order": {
			[]string{"*"},
			[]kafka.Header{{Key: "b", Value: []byte("1")}, {Key: "a"}, {Key: "b", Value: []byte{}}},
			[]kafka.Header{{Key: "b", Value: []byte("1")}, {Key: "a"}, {Key: "b", Value: []byte{}}},
			"",
		},
		"some": {
			[]string{"traceparent", "tenant"},
			[]kafka.Header{{Key: "a"}, {Key: "tenant"}, {Key: "Tenant"}, {Key: "traceparent"}},
			[]kafka.Header{{Key: "tenant"}, {Key: "traceparent"}},
			"",
		},
		"none": {nil, []kafka.Header{{Key: "a"}}, nil, ""},
		"clusterd's own": {
			[]string{"*"},
			[]kafka.Header{{Key: "clusterd.position", Value: []byte("0")}, {Key: "input.clusterd.x"}},
			[]kafka.Header{
				{Key: "input.clusterd.position", Value: []byte("0")}, {Key: "input.input.clusterd.x"},
			},
			"",
		},
		"as large as they may be": {
			[]string{"*"}, []kafka.Header{headerOf("a", room)}, []kafka.Header{headerOf("a", room)}, "",
		},
		"one too large": {
			[]string{"*"},
			[]kafka.Header{headerOf("a", room+1), {Key: "b"}},
			[]kafka.Header{{Key: "b"}},
			"1 of 2 headers of the record do not fit",
		},
		"a megabyte": {
			[]string{"*"},
			[]kafka.Header{
				{Key: "b"},
				headerOf("a", 1<<20), headerOf("c", 9000),
				headerOf("d", 9000),
			},
			[]kafka.Header{{Key: "b"}, headerOf("c", 9000)},
			"2 of 4 headers",
		},
		"many": {[]string{"*"}, many, many[:maxHeaders], "5 of 69 headers"},
	} {
		t.Run(name, func(t *testing.T) {
			a := &fingerprint.Article{}
			CarriedBy(config.Output{Headers: tt.wanted}, nil).add(a, &kafka.Record{Headers: tt.in})
			var got []kafka.Header
			for _, h := range a.Headers {
				got = append(got, kafka.Header(h))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("headers (-want +got):\n%s", diff)
			}
			said := ""
			if a.Notes != nil {
				said = a.Notes.Fallbacks[0].Detail
			}
			if (said != "") != (tt.left != "") || !strings.HasPrefix(said, tt.left) {
				t.Errorf("it says %q, want %q", said, tt.left)
			}
		})
	}
}
