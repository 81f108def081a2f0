//go:build integration

package integration

import (
	"flag"
	"fmt"
	"net"
	"strconv"
	"testing"
	"time"
)

var down = flag.Duration("down", 20*time.Second, "how long TestBrokerDown leaves the broker away")

// A broker that is away for a while is waited for: /readyz says no, nobody has to do anything, and
// nothing is lost.
func TestBrokerDown(t *testing.T) {
	t.Parallel()
	w := ownBroker(t).newWorld(t, 2, noLinger)
	stream := w.stream(perSecond)
	running := w.start()
	running.waitLive()
	w.progress(0)

	w.do("kill")
	gone := time.Now()
	if pid, err := w.script("status"); err == nil {
		t.Errorf("the status of a broker that was killed is process %s", pid)
	}
	w.eventually("/readyz to say no", func() bool { return !running.readyz().Ready })
	t.Logf("not ready %.1f s after the broker died: %s", time.Since(gone).Seconds(),
		running.readyz().Reason)
	for time.Since(gone) < *down {
		if running.readyz().Ready {
			t.Fatal("it is ready without a broker")
		}
		time.Sleep(100 * time.Millisecond)
	}
	w.do("start")
	pid, err := w.script("status")
	if _, odd := strconv.Atoi(pid); err != nil || odd != nil {
		t.Errorf("the status of a broker that was started is %q, %v; want its process", pid, err)
	}

	running.worksAgain(stream)
}

// A broker that hangs for a while, with its connections open, is waited for too.
func TestBrokerFrozen(t *testing.T) {
	t.Parallel()
	w := ownBroker(t).newWorld(t, 2, noLinger)
	stream := w.stream(perSecond)
	running := w.start()
	running.waitLive()
	w.progress(0)

	w.do("pause")
	time.Sleep(frozenFor) // longer than requests and sessions last
	w.do("continue")

	running.worksAgain(stream)
}

// worksAgain holds an instance to going on where it stopped, now that the broker is back.
func (i *instance) worksAgain(stream *stream) {
	i.Helper()
	back, before := time.Now(), i.consumed()
	i.eventually("progress with the broker back", func() bool { return i.consumed() > before })
	i.waitLive()
	i.Logf("it works again %.1f s after the broker", time.Since(back).Seconds())
	stream.stop()
	i.done()
	i.stop()
	i.audit()
}

// One of the brokers of the configuration, the first, takes connections and never answers.
func TestFirstBrokerHangs(t *testing.T) {
	t.Parallel()
	hangs, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer hangs.Close()
	w := newWorld(t, 2, fmt.Sprintf("kafka: {brokers: [%q, %q], create_topics: true}\n%s",
		hangs.Addr(), shared.addresses[0], noLinger))
	stream := w.stream(perSecond)
	first := w.start()
	first.waitLive()
	w.progress(0)
	second := w.start()
	first.kill()
	second.waitLive()
	w.progress(w.consumed())
	stream.stop()
	w.done()
	second.stop()
	w.audit()
}
