package cli

import (
	"runtime/debug"
	"testing"
)

// What the linker was told comes first, then the version of a module, then the commit.
func TestFill(t *testing.T) {
	checkout := []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef"},
		{Key: "vcs.time", Value: "2026-01-02T03:04:05Z"},
		{Key: "vcs.modified", Value: "true"},
	}
	for _, test := range []struct {
		name, module string
		settings     []debug.BuildSetting
		told, want   Version
	}{
		{
			name: "a release", module: "v0.0.0-2026", settings: checkout,
			told: Version{Version: "1.2.3", Commit: "fedcba", Committed: "2026-02-03T04:05:06Z"},
			want: Version{Version: "1.2.3", Commit: "fedcba", Committed: "2026-02-03T04:05:06Z"},
		},
		{name: "go install", module: "v1.2.3", want: Version{Version: "v1.2.3"}},
		{
			name: "a checkout", module: "v1.2.4-0.20260102-0123456789ab+dirty", settings: checkout,
			want: Version{
				Version: "v1.2.4-0.20260102-0123456789ab+dirty", Commit: "0123456789abcdef",
				Committed: "2026-01-02T03:04:05Z", Modified: true,
			},
		},
		{
			name: "a checkout without tags", module: "(devel)", settings: checkout,
			want: Version{
				Version: "0123456789ab", Commit: "0123456789abcdef",
				Committed: "2026-01-02T03:04:05Z", Modified: true,
			},
		},
		{name: "no checkout", module: "(devel)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := test.told
			got.fill(&debug.BuildInfo{Main: debug.Module{Version: test.module}, Settings: test.settings})
			if got != test.want {
				t.Errorf("%+v, want %+v", got, test.want)
			}
		})
	}
}
