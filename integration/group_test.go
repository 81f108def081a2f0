//go:build integration

package integration

import (
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/cli/demo/sample"
)

// An instance that is held up until another has taken over finds out, and writes nothing more.
func TestPaused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, noLinger)
	stream := w.stream(perSecond)
	first := w.start()
	first.waitLive()
	second := w.start()
	second.waitStandby()
	w.progress(w.consumed())
	first.signal(syscall.SIGSTOP)
	second.waitLive()
	w.progress(w.consumed())
	first.signal(syscall.SIGCONT)
	first.waitFor("another instance has taken over")
	w.progress(w.consumed()) // by either
	stream.stop()
	w.done()
	first.stop()
	second.stop()
	w.audit()
}

// Instances that come and go all the time stop the work for a moment only.
func TestRebalanceStorm(t *testing.T) {
	t.Parallel()
	const storm, every = 20 * time.Second, time.Second
	w := newWorld(t, 4, "cluster: {scope: partition}\n")
	stream := w.stream(perSecond)
	staying := w.start()
	staying.waitLive()
	for began := time.Now(); time.Since(began) < storm; {
		passing := w.start()
		passing.waitFor("msg=starting") // before, nobody listens to a signal
		time.Sleep(every)
		passing.signal(syscall.SIGTERM)
	}
	changed, ends := time.Now(), w.ends(w.input)
	w.eventually("progress in every partition after the last change", func() bool {
		for p, offset := range w.committed() {
			if offset < ends[p] {
				return false
			}
		}
		return true
	})
	t.Logf("all that had come is done %.1f s after the last change", time.Since(changed).Seconds())
	stream.stop()
	w.done()
	for _, i := range w.instances[1:] {
		if err := i.wait(); err != nil {
			t.Errorf("an instance that was told to stop: %v", err)
		}
	}
	staying.stop()
	w.audit()
}

// Each partition a space of its own, spread over two instances: nothing is lost when one goes.
func TestScopePartition(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4, "cluster: {scope: partition}\n")
	first := w.start()
	first.waitLive()
	second := w.start()
	second.waitLive()
	w.send(1000)
	w.done()
	first.kill()
	w.send(1000)
	w.done()
	second.stop()
	w.audit()
}

// A second instance in the same directory is refused: it would spoil the first one's disk.
func TestSameFolder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, "")
	first := w.start()
	first.waitLive()
	w.startIn(first.dir).fails(first.dir)
	first.stop()
}

// A restart goes on with the same clusters.
func TestRestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, "")
	article := []byte(
		`{"title":"Harbour bridge opens","content":"The new bridge over the northern harbour opened to traffic this morning."}`)
	for n := 1; n <= 3; n++ {
		running := w.start()
		w.produce(&kgo.Record{Value: article})
		w.done()
		running.stop()
		results := w.results()
		if last := results[len(results)-1]; len(results) != n || last.Size != n ||
			*last.ClusterID != w.input+"/0/0" {
			t.Fatalf("run %d: %+v", n, last)
		}
	}
}

// Partitions that are added to the input are read, with the clusters that are there.
func TestPartitionsAdded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, "")
	running := w.start()
	generator := sample.New(5, time.Now())
	send := func(partition int32) {
		var records []*kgo.Record
		for range 200 {
			records = append(records, &kgo.Record{Partition: partition, Value: generator.Next().JSON()})
		}
		if err := w.producer(kgo.RecordPartitioner(kgo.ManualPartitioner())).ProduceSync(t.Context(),
			records...).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	send(0)
	w.done()
	if _, err := w.admin.UpdatePartitions(t.Context(), 3, w.input); err != nil {
		t.Fatal(err)
	}
	w.eventually("three partitions", func() bool { return len(w.ends(w.input)) == 3 })
	send(2)
	send(1)
	w.done()
	running.stop()
	w.audit()
}
