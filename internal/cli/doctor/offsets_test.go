package doctor

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/clusterd/clusterd/internal/config"
)

// A group whose offset is behind the clusters that were made would count articles twice.
func TestCommitted(t *testing.T) {
	source := config.Source{Topic: "in", Group: "readers"}
	for _, tt := range []struct {
		name      string
		committed int64  // -2: nothing is known of the partition
		found     string // empty: nothing is said
	}{
		{"as far as the clusters", 100, ""},
		{"farther", 101, ""},
		{"behind", 99, "it is at offset 99 of in/0, of which it has made clusters up to offset 100"},
		{"from the start", 0, "it is at offset 0 of in/0"},
		{"no offset", -1, "it has no offset of in/0"},
		{"no partition", -2, "it has no offset of in/0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			committed := make(kadm.OffsetResponses)
			if tt.committed > -2 {
				committed.Add(kadm.OffsetResponse{
					Offset: kadm.Offset{Topic: "in", Partition: 0, At: tt.committed},
				})
			}
			e := examination{config: config.Default()}
			e.checkCommitted(source, &noted{Offsets: map[int32]int64{0: 100}}, committed)
			if tt.found == "" {
				if len(e.report.Checks) > 0 {
					t.Errorf("%+v, want nothing", e.report.Checks)
				}
				return
			}
			wantOne(t, e.report.Checks, Failure, tt.found,
				"--group readers --topic in:0 --reset-offsets --to-offset 100 --execute")
		})
	}
}
