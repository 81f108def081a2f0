//go:build integration

package integration

import (
	"flag"
	"slices"
	"syscall"
	"testing"
	"time"
)

var takeovers = flag.Int("takeovers", 2, "how often TestTakeOver kills and freezes the owner, each")

// A standby takes over from an owner that is killed, or that hangs, within little more than the
// session; nothing is lost or doubled, and the owner that hung writes nothing when it wakes up.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"killed", "hung"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 4, "")
			w.replace(w.group+"}", w.group+", session_timeout: 2s}")
			stream := w.stream(perSecond)
			owner, standby := w.start(), w.start()
			var took []time.Duration
			for range *takeovers {
				w.eventually("one works, and the other stands by", func() bool {
					if standby.readyz().State == "live" { // also one that hung may have it again
						owner, standby = standby, owner
					}
					return owner.readyz().State == "live" && standby.readyz().State == "standby"
				})
				before, began := w.consumed(), time.Now()
				if how == "killed" {
					owner.kill()
				} else {
					owner.signal(syscall.SIGSTOP)
				}
				w.often("a commit by the standby", func() bool {
					return standby.readyz().State == "live" && w.consumed() > before
				})
				took = append(took, time.Since(began))
				if how == "killed" {
					owner = w.startIn(owner.dir)
				} else {
					owner.signal(syscall.SIGCONT)
				}
			}
			stream.stop()
			w.done()
			owner.stop()
			standby.stop()
			w.audit()
			slices.Sort(took)
			at := func(p float64) time.Duration { return took[int(p*float64(len(took)-1))] }
			t.Logf("%d owners that were %s: p50 %s, p95 %s, max %s", len(took), how, at(.5), at(.95), at(1))
			if at(.5) > 8*time.Second { // of a session of 2 s, on a machine that does much else
				t.Errorf("taking over took %s", at(.5))
			}
		})
	}
}

// often is eventually, more often.
func (w *world) often(what string, condition func() bool) {
	w.Helper()
	for began := time.Now(); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > w.timeout {
			w.Fatalf("not within %s: %s", w.timeout, what)
		}
	}
}
