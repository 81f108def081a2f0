//go:build integration

package integration

import (
	"flag"
	"testing"
	"time"
)

var down = flag.Duration("down", 20*time.Second, "how long TestBrokerDown leaves the broker away")

// A broker that is away for a while is waited for: /readyz says no, nobody has to do anything, and
// nothing is lost.
func TestBrokerDown(t *testing.T) {
	w := newWorld(t, 2, noLinger)
	stream := w.stream(perSecond)
	running := w.start()
	running.waitLive()
	w.progress(0)

	mustBroker(t, "kill")
	gone := time.Now()
	w.eventually("/readyz to say no", func() bool { return !running.readyz().Ready })
	t.Logf("not ready %.1f s after the broker died: %s", time.Since(gone).Seconds(), running.readyz().Reason)
	for time.Since(gone) < *down {
		if running.readyz().Ready {
			t.Fatal("it is ready without a broker")
		}
		time.Sleep(100 * time.Millisecond)
	}
	mustBroker(t, "start")

	back, before := time.Now(), w.consumed()
	w.eventually("progress after the broker came back", func() bool { return w.consumed() > before })
	running.waitLive()
	t.Logf("works again %.1f s after the broker answered again", time.Since(back).Seconds())
	stream.stop()
	w.done()
	running.stop()
	w.audit()
}
