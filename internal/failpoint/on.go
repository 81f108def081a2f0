//go:build failpoints

package failpoint

import (
	"fmt"
	"os"
	"os/signal"
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
		pause()
	case "error":
		return fmt.Errorf("failpoint %s: an error on purpose", name)
	}
	return nil
}

// pause stops the process until somebody sends SIGCONT. The kernel may hand SIGSTOP to another
// thread, so this one can run on for a moment after Kill. It therefore waits for SIGCONT as well.
func pause() {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	<-continued
}

// Seeded reports whether a bug is seeded.
func Seeded(name string) bool { return environment().seeded[name] }
