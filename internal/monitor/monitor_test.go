package monitor

import (
	"bytes"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/testutil/golden"
)

// The error is shown until it is known to be over: fetches alone show that only after a while.
func TestErrorIsShownWhileItLasts(t *testing.T) {
	i := newInstance()
	i.owner(0)
	i.Failed(errDown)
	i.fetching(calm - time.Second)
	if got := i.Status().Error; got != errDown.Error() {
		t.Errorf("error %q before fetches went on for long, want %q", got, errDown)
	}
	i.fetching(time.Second)
	if got := i.Status().Error; got != "" {
		t.Errorf("error %q after fetches went on for long, want none", got)
	}
}

func TestLagIsOfThePartitionsWorkedOn(t *testing.T) {
	i := newInstance()
	i.Live("0", []int{0})
	i.Live("1", []int{1})
	i.PolledInput("0", []kafka.Position{stands(0, 7, nil)})
	i.PolledInput("1", []kafka.Position{stands(1, 8, nil)})
	i.Gone("0")
	if got := i.Status().Lag; len(got) != 1 || got[1] != 8 {
		t.Errorf("lag %v after partition 0 has gone, want that of 1", got)
	}
	i.Recovering("1", "fencing")
	if got := i.Status().Lag; len(got) != 0 {
		t.Errorf("lag %v while nothing is fetched, want none", got)
	}
}

// What /readyz answers, as it is written.
func TestStatusJSON(t *testing.T) {
	i := newInstance()
	var all bytes.Buffer
	add := func(name string) {
		text, err := json.MarshalIndent(i.Status(), "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString("// " + name + "\n")
		all.Write(append(text, '\n'))
	}
	add("joining")

	i.Joined([]int{0, 1})
	i.Recovering("all", "reading clusters back")
	i.Progress("all", 0, 3_000_000)
	i.wait(1500 * time.Millisecond)
	i.Progress("all", 1_000_000, 3_000_000)
	add("recovering")

	i.Live("all", []int{0, 1})
	i.Received(300, 4000)
	i.PolledInput("all", []kafka.Position{stands(0, 12, nil), stands(1, 0, nil)})
	i.wait(20 * time.Millisecond)
	i.Committed(Commit{Space: "all"})
	i.wait(230 * time.Millisecond)
	add("live")

	open := &kafka.OpenTransaction{
		Topic: "articles", Offset: 7, Since: i.now().Add(-time.Minute), Records: 1600,
	}
	i.heldBack("all", []kafka.Position{stands(0, 0, open)})
	add("live, and a transaction is open")
	i.heldBack("all", []kafka.Position{stands(0, 0, nil)})

	i.Blocked("all", errors.New("topic results refuses it"))
	add("blocked")
	i.Live("all", []int{0, 1})

	i.Failed(errDown)
	i.wait(20 * time.Second)
	add("live, and the brokers are gone")

	i.Gone("all")
	i.Joined(nil)
	i.Standby("all")
	add("standby")

	golden.Check(t, "testdata/status.golden", all.Bytes())
}

// Under -race, this shows that all of it may be called at once.
func TestConcurrentUse(t *testing.T) {
	m := New("test")
	var group sync.WaitGroup
	for _, call := range []func(){
		func() { m.Joining() },
		func() { m.Joined([]int{0}) },
		func() { m.Recovering("0", "fencing") },
		func() { m.Progress("0", 1, 2) },
		func() { m.Live("0", []int{0}) },
		func() { m.Standby("0") },
		func() { m.Gone("0") },
		func() { m.Loaded("0", 1) },
		func() { m.Unloaded("0") },
		func() { m.Received(1, 2) },
		func() { m.PolledInput("0", []kafka.Position{stands(0, 1, &kafka.OpenTransaction{})}) },
		func() { m.Failed(errDown) },
		func() { m.Request()(errRefused) },
		func() { m.PolledClusters("0", []kafka.Position{stands(0, 1, &kafka.OpenTransaction{})}) },
		func() { m.Blocked("0", errDown) },
		func() { m.Lags([]int{0}) },
		func() { m.Waiting("0", 1) },
		func() { m.Committed(Commit{Space: "0", Rejected: map[string]int{"empty": 1}}) },
		func() { m.Status() },
		func() { _, _ = m.metrics.registry.Gather() },
	} {
		group.Go(func() {
			for range 100 {
				call()
			}
		})
	}
	group.Wait()
	m.Stopping()
	if got := m.Status().State; got != "stopping" {
		t.Errorf("state %s after all calls, want stopping", got)
	}
}
