package memlimit

import (
	"errors"
	"math"
	"runtime/debug"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

func TestSetLimit(t *testing.T) {
	const none, gib = int64(math.MaxInt64), 1 << 30
	unlimited := func() (uint64, error) { return 0, memlimit.ErrNoLimit }
	absent := func() (uint64, error) { return 0, memlimit.ErrNoCgroup }
	elsewhere := func() (uint64, error) { return 0, memlimit.ErrCgroupsNotSupported }
	broken := func() (uint64, error) { return 0, errors.New("permission denied") }
	for _, tt := range []struct {
		name       string
		env        string
		configured int
		cgroup     memlimit.Provider
		want       Limit
		fails      bool
	}{
		{"90 % of the cgroup", "", 0, memlimit.Limit(10 * gib), Limit{9 * gib, "cgroup"}, false},
		{"a cgroup without limit", "", 0, unlimited, Limit{none, "none"}, false},
		{"no cgroup", "", 0, absent, Limit{none, "none"}, false},
		{"a system without cgroups", "", 0, elsewhere, Limit{none, "none"}, false},
		{"a cgroup that cannot be read", "", 0, broken, Limit{none, "none"}, true},
		{
			"the configuration before the cgroup", "", 2 * gib, memlimit.Limit(10 * gib),
			Limit{2 * gib, "memory.limit"},
			false,
		},
		{
			"the environment before the configuration", "off", 2 * gib, memlimit.Limit(10 * gib),
			Limit{none, "GOMEMLIMIT"},
			false,
		},
		{
			"the environment before the cgroup", "off", 0, memlimit.Limit(10 * gib),
			Limit{none, "GOMEMLIMIT"},
			false,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := debug.SetMemoryLimit(none)
			defer debug.SetMemoryLimit(before)
			got, err := setLimit(tt.configured, func(string) string { return tt.env }, tt.cgroup)
			if got != tt.want || (err != nil) != tt.fails {
				t.Errorf("set %+v, %v; want %+v", got, err, tt.want)
			}
			if set := debug.SetMemoryLimit(-1); set != tt.want.Bytes {
				t.Errorf("Go's limit is %d, want %d", set, tt.want.Bytes)
			}
		})
	}
}
