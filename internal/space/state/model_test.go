package state_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/message/label"
	"github.com/clusterd/clusterd/internal/space/state"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
)

// A store is a map, whatever is done to it; and after a crash, which loses some or all of what was
// not synced, it is exactly what it was at its own mark.
func TestIsAMap(t *testing.T) {
	seeds, steps := uint64(12), 150
	if check.Race {
		seeds, steps = 2, 60
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := &walk{
				T: t, rng: rand.New(rand.NewPCG(seed, 0)), disk: vfs.NewCrashableMem(), model: newModel(),
			}
			w.history = []model{w.model.clone()}
			w.store = open(t, w.disk)
			for range steps {
				w.step()
			}
			w.check(t, w.store)
			closeStore(t, w.store)
		})
	}
}

// walk is a store, what it must hold, and what it held at each mark.
type walk struct {
	*testing.T
	model
	rng     *rand.Rand
	disk    *vfs.MemFS
	store   *state.Store
	history []model
	stale   []cluster.Cluster // read some time ago
}

func (w *walk) step() {
	switch w.rng.IntN(20) {
	default:
		w.change()
	case 0, 1:
		w.expire()
	case 2:
		w.again()
	case 3:
		w.must(w.store.Flush())
	case 4:
		w.model.check(w.T, w.store)
	case 5:
		closeStore(w.T, w.store)
		w.store = open(w.T, w.disk)
		w.model.check(w.T, w.store)
	case 6:
		w.crash()
	case 7:
		if c, ok := w.one(); ok {
			w.stale = append(w.stale, c)
		}
	}
}

func (w *walk) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *walk) apply(put, remove []cluster.Cluster) {
	w.Helper()
	w.must(w.model.apply(w.store, int64(len(w.history)), put, remove))
	w.history = append(w.history, w.model.clone())
}

// change founds, joins and removes some clusters.
func (w *walk) change() {
	var put, remove []cluster.Cluster
	position := w.meta.Next
	for range w.rng.IntN(4) {
		put = append(put, founded(position, w.rng.Int64N(1000)))
		position++
	}
	touched := make(map[uint64]bool)
	for range w.rng.IntN(6) {
		c, ok := w.one()
		if !ok || touched[c.Seq] {
			continue
		}
		touched[c.Seq] = true
		switch w.rng.IntN(5) {
		case 0:
			remove = append(remove, c)
		case 1:
			put = append(put, w.relabelled(c))
		default:
			put = append(put, joined(c, position, w.rng.Int64N(2000)))
			position++
		}
	}
	if w.rng.IntN(3) == 0 {
		_, err := w.store.Overdue("", w.rng.Int64N(1000), 2) // as a batch does that fails to commit
		w.must(err)
	}
	w.apply(put, remove)
}

// relabelled is a cluster with a label, by which it is kept for a while, or without one.
func (w *walk) relabelled(c cluster.Cluster) cluster.Cluster {
	c.Labels, c.Kept = "", 0
	if w.rng.IntN(2) == 0 {
		c.Labels = label.Of([]article.Label{clustertest.Label("spam", w.rng.Int64N(9))})
		c.Kept = w.rng.Int64N(1000)
	}
	return c
}

// one is a cluster as the store gives it, or as somebody has kept it.
func (w *walk) one() (cluster.Cluster, bool) {
	if len(w.clusters) == 0 {
		return cluster.Cluster{}, false
	}
	seqs := slices.Sorted(maps.Keys(w.clusters))
	want := w.clusters[seqs[w.rng.IntN(len(seqs))]]
	got, ok, err := w.store.Get(want.Seq)
	if w.rng.IntN(2) == 0 {
		got, ok, err = w.store.Find(want.Founder)
	}
	if err != nil || !ok {
		w.Fatalf("cluster %d = %t, %v", want.Seq, ok, err)
	}
	// It is found by its seq and founder alone: the rest is the caller's.
	for _, old := range w.stale {
		if old.Seq == got.Seq {
			old.Size, old.FirstSeen, old.LastSeen, old.Position = got.Size, got.FirstSeen, got.LastSeen,
				got.Position
			old.Labels, old.Kept = got.Labels, got.Kept
			return old, true
		}
	}
	return got, true
}

// expire removes all that is overdue.
func (w *walk) expire() {
	before, left := w.rng.Int64N(1500), 0
	for _, c := range w.clusters {
		if c.SeenAs() < before {
			left++
		}
	}
	for calls := 0; left > 0; calls++ {
		overdue, err := w.store.Overdue("", before, 3)
		w.must(err)
		for _, c := range overdue {
			if c.SeenAs() >= before {
				w.Fatalf("cluster %d counts as seen at %d, not before %d", c.Seq, c.SeenAs(), before)
			}
		}
		if left -= len(overdue); calls > len(w.history)+left {
			w.Fatalf("%d clusters are overdue and are never found", left)
		}
		w.apply(nil, overdue)
	}
}

// again applies the last change once more, as when the topic is read from an old mark.
func (w *walk) again() {
	last := w.history[len(w.history)-1]
	put := slices.Collect(maps.Values(last.clusters))
	var removed []cluster.Cluster
	for seq := range last.meta.Next {
		if _, ok := last.clusters[seq]; !ok {
			removed = append(removed, founded(seq, 0))
		}
	}
	w.apply(put, removed)
}

// crash loses the machine with a part of what was not synced.
func (w *walk) crash() {
	lost := w.disk
	w.disk = lost.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: w.rng.IntN(101), RNG: w.rng})
	closeStore(w.T, w.store)
	w.store = open(w.T, w.disk)
	w.back()
}

// back puts the model to the mark of the store.
func (w *walk) back() {
	w.Helper()
	mark := w.store.Meta().Offsets[0]
	w.history = w.history[:mark+1]
	w.model = w.history[mark].clone()
	w.model.check(w.T, w.store)
}
