// Package memlimit sets the limit of memory near which Go collects garbage harder. In: what the
// configuration says. Out: what was set, and who said so.
package memlimit

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// share of the cgroup's limit that is taken: the kernel kills at that limit, and it counts more
// than Go's memory, such as pages of files.
const share = 0.9

// variable is what Go itself reads at its start.
const variable = "GOMEMLIMIT"

// A Limit is a limit and where it comes from.
type Limit struct {
	Bytes int64  // math.MaxInt64: none
	From  string // "GOMEMLIMIT", "memory.limit", "cgroup" or "none"
}

// SetLimit sets the process's limit (see [debug.SetMemoryLimit]) to configured bytes, or with 0 to
// 90 % of what the cgroup allows, if it has a limit. The environment's GOMEMLIMIT, which Go has
// obeyed by itself, goes before both. After an error, which only a cgroup that cannot be read
// gives, nothing has changed.
func SetLimit(configured int) (Limit, error) {
	return setLimit(configured, os.Getenv, memlimit.FromCgroup)
}

// Machine returns how much memory the machine has, in bytes. The error is that of a system that
// does not say.
func Machine() (int64, error) {
	bytes, err := memlimit.FromSystem()
	return int64(min(bytes, math.MaxInt64)), err
}

func setLimit(configured int, env func(string) string, cgroup memlimit.Provider) (Limit, error) {
	current := debug.SetMemoryLimit(-1)
	switch {
	case env(variable) != "":
		return Limit{current, variable}, nil
	case configured > 0:
		debug.SetMemoryLimit(int64(configured))
		return Limit{int64(configured), "memory.limit"}, nil
	}
	bytes, err := memlimit.ApplyRatio(cgroup, share)()
	switch {
	case errors.Is(err, memlimit.ErrNoLimit), errors.Is(err, memlimit.ErrNoCgroup),
		errors.Is(err, memlimit.ErrCgroupsNotSupported):
		debug.SetMemoryLimit(math.MaxInt64)
		return Limit{math.MaxInt64, "none"}, nil
	case err != nil:
		return Limit{current, "none"}, fmt.Errorf(
			"reading the cgroup's limit of memory: %w: set memory.limit instead of auto", err)
	}
	debug.SetMemoryLimit(int64(bytes))
	return Limit{int64(bytes), "cgroup"}, nil
}
