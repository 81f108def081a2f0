//go:build integration

package integration

import "testing"

// Labels that mark contacts are as the audit's own model says, though the instance that works is
// killed: what a mark labels comes from the topics alone.
func TestMarks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, labelled)
	stream := w.stream(perSecond)
	moderator := w.moderate(seeded(t), 5*labelsPerSecond)
	running := w.start()
	running.waitLive()
	w.progress(w.consumed() + 1000)
	running.kill()
	running = w.start()
	running.waitLive()
	w.progress(w.consumed() + 1000)
	stream.stop()
	moderator.stop()
	w.done()
	w.labelsDone()
	running.stop()
	w.audit()
}
