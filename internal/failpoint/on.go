//go:build failpoints

package failpoint

import (
	"fmt"
	"os"
	"sync"
	"syscall"
)

// environment is what CLUSTERD_FAILPOINT said when it was first asked for. One that cannot be
// understood is a mistake of the tester's, which must not pass as a run without faults.
var environment = sync.OnceValue(func() *plan {
	p, err := parse(os.Getenv("CLUSTERD_FAILPOINT"))
	if err != nil {
		panic(err)
	}
	return p
})

// Hit reports that the program is at a point, and does there what is planned. The error is one on
// purpose.
func Hit(name string) error {
	switch environment().hit(name) {
	case "kill":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // nothing may happen after the point
	case "pause":
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	case "error":
		return fmt.Errorf("failpoint %s: an error on purpose", name)
	}
	return nil
}

// Seeded reports whether a bug is seeded.
func Seeded(name string) bool { return environment().seeded[name] }
