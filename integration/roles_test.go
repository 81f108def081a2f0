//go:build integration

package integration

import (
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

// divide has instances take their role from the environment, and the audit that of those that
// assign.
func (w *world) divide() {
	w.Helper()
	w.fingerprints = strings.TrimSuffix(w.input, "articles") + "fingerprints"
	w.replace("state: {", `role: "${CLUSTERD_TEST_ROLE:assign}"
fingerprints: {topic: `+w.fingerprints+`}
state: {`)
}

// assigned returns the offsets of the topic of fingerprinted articles that the assigning group has
// committed.
func (w *world) assigned() map[int32]int64 {
	w.Helper()
	return w.committedBy(w.group+"-assign", w.fingerprints)
}

// allAssigned waits until all that is fingerprinted is assigned.
func (w *world) allAssigned() {
	w.Helper()
	last := make(map[int32]int64) // behind the last record, which markers of transactions follow
	for _, r := range w.read(w.fingerprints, kgo.ReadCommitted()) {
		last[r.Partition] = max(last[r.Partition], r.Offset+1)
	}
	w.eventually("all that is fingerprinted is assigned", func() bool {
		assigned := w.assigned()
		for p, end := range last {
			if assigned[p] < end {
				return false
			}
		}
		return true
	})
}

// Instances that did all are followed by instances that divide the work, and these by others, while
// articles stream. Nothing is lost, and nothing is doubled.
func TestRolesFollow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4, labelled)
	w.divide()
	stream := w.stream(perSecond)
	witness := w.witness()
	dir := w.otherDir()
	all := w.startAs("all", dir)
	w.eventually("progress of one that does all", func() bool {
		return slices.Max(append([]int64{0}, values(w.committed())...)) > 100
	})
	all.stop()
	assigner := w.startAs("assign", dir)
	first := w.startAs("fingerprint", w.otherDir())
	w.progress(w.consumed() + 100)
	second := w.startAs("fingerprint", w.otherDir())
	standby := w.startAs("assign", w.otherDir())
	standby.waitStandby()
	w.progress(w.consumed() + 200)
	first.stop()
	w.progress(w.consumed() + 200)
	assigner.stop()
	standby.waitLive()
	w.progress(w.consumed() + 200)
	stream.stop()
	w.done()
	second.stop()
	standby.stop()
	w.audit("--seen", witness.end())
	w.startAs("all", dir).fails("role assign")
}

// The audit finds what fails on the way between the roles.
func TestRolesSeeded(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ bug, check string }{
		{"fingerprint-lost", "I12"}, {"fingerprint-twice", "I12"}, {"drop", "I1"},
	} {
		t.Run(tt.bug, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 2, "")
			w.divide()
			w.startAs("assign", w.otherDir(), "seeded="+tt.bug)
			w.startAs("fingerprint", w.otherDir(), "seeded="+tt.bug)
			w.send(200)
			w.done()
			r, _ := w.tryAudit()
			for _, c := range r.Checks {
				if c.ID == tt.check && c.Violations > 0 {
					return
				}
			}
			t.Errorf("%s is not found: %+v", tt.bug, r.Checks)
		})
	}
}

func values(m map[int32]int64) (all []int64) {
	for _, v := range m {
		all = append(all, v)
	}
	return all
}
