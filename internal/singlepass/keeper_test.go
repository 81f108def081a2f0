package singlepass_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clusterd/clusterd/internal/singlepass"
)

// A keeper does for a Space what its user does: it knows when the clusters were last
// seen, takes expired ones away when it likes, undoes assignments, and starts again
// from what it knows. Whatever it does, the Space must assign as the model does.
type keeper struct {
	*singlepass.Space
	t        *testing.T
	r        *rand.Rand
	model    *model
	build    func(distance int) singlepass.Index
	clusters map[uint64]cluster // of the centres in the index, by Seq
	last     uint64             // Seq of the last article's cluster
	asked    map[uint64]bool    // during an assignment
}

func newKeeper(
	t *testing.T, r *rand.Rand, build func(distance int) singlepass.Index, m *model,
) *keeper {
	t.Helper()
	k := &keeper{
		t: t, r: r, build: build, model: m, clusters: make(map[uint64]cluster),
	}
	k.Space = k.newSpace()
	return k
}

func (k *keeper) newSpace() *singlepass.Space {
	rule := singlepass.Rule{Window: k.model.window}
	s := singlepass.NewSpace(k.build(k.model.distance), rule, k.lastSeen)
	s.ShareFloors(1 + k.r.Uint64N(5))
	return s
}

func (k *keeper) lastSeen(seq uint64) int64 {
	k.t.Helper()
	known, ok := k.clusters[seq]
	if !ok {
		k.t.Fatalf("asked when %d was last seen, which is not in the index", seq)
	}
	if k.asked != nil && (k.asked[seq] || k.model.window == 0) {
		k.t.Fatalf("asked when %d was last seen again, or without a window", seq)
	}
	if k.asked != nil {
		k.asked[seq] = true
	}
	return known.lastSeen
}

func (k *keeper) assign(f singlepass.Fingerprint, at int64) singlepass.Assignment {
	k.t.Helper()
	k.asked = make(map[uint64]bool)
	a := k.Assign(f, at)
	c, ok := k.clusters[a.Centre.Seq]
	if ok != a.Joined || !ok && a.Centre != (singlepass.Centre{Fingerprint: f, Seq: a.Position}) {
		k.t.Fatalf("%+v at %d: assigned %+v, cluster known %t", f, at, a, ok)
	}
	if !ok {
		c = cluster{centre: a.Centre, lastSeen: at}
	}
	c.lastSeen, c.lastPosition = max(c.lastSeen, at), a.Position
	k.clusters[a.Centre.Seq], k.last = c, a.Centre.Seq
	return a
}

// compare gives the article to the model too, and fails where they disagree.
func (k *keeper) compare(f singlepass.Fingerprint, at int64) {
	k.t.Helper()
	want, got := k.model.assign(f, at), k.assign(f, at)
	if got != want {
		k.t.Fatalf("article %d, %+v at %d: assigned %+v, want %+v", want.Position, f, at, got,
			want)
	}
	live := make(map[uint64]cluster)
	for seq, c := range k.clusters {
		if !k.Expired("", c.lastSeen) {
			live[seq] = c
		}
	}
	for _, c := range k.model.clusters {
		if live[c.centre.Seq] != c {
			k.t.Fatalf("article %d: %+v is live, known as %+v", want.Position, c, live[c.centre.Seq])
		}
	}
	if len(live) != len(k.model.clusters) || k.Len() != len(k.clusters) {
		k.t.Fatalf("article %d: %d live centres, want %d; %d in the index, want %d",
			want.Position, len(live), len(k.model.clusters), k.Len(), len(k.clusters))
	}
}

// collect takes away some of the clusters that have expired, never that of the last
// article, and says how many.
func (k *keeper) collect() (collected int) {
	for _, seq := range slices.Sorted(maps.Keys(k.clusters)) {
		if c := k.clusters[seq]; k.Expired("", c.lastSeen) && seq != k.last && k.r.IntN(3) > 0 {
			k.Remove(c.centre)
			delete(k.clusters, seq)
			collected++
		}
	}
	return collected
}

// undo assigns articles that the model never sees, and takes them back.
func (k *keeper) undo(articles int, next func() (f singlepass.Fingerprint, at int64)) {
	state, clusters, last, size := k.State(), maps.Clone(k.clusters), k.last, k.Len()
	var founded []singlepass.Centre
	for range articles {
		if a := k.assign(next()); !a.Joined {
			founded = append(founded, a.Centre)
		}
	}
	for _, c := range founded {
		k.Remove(c)
	}
	k.Resume(state)
	k.clusters, k.last = clusters, last
	if k.State() != state || k.Len() != size {
		k.t.Fatalf("undone to %+v and %d centres, want %+v and %d", k.State(), k.Len(), state, size)
	}
}

// seenBy returns when a centre was last seen, or some time before.
func (k *keeper) seenBy(c singlepass.Centre) int64 {
	return max(math.MinInt64+100, k.clusters[c.Seq].lastSeen) - k.r.Int64N(3)*50
}

// restart makes a new Space from the clusters, which must give the state too.
func (k *keeper) restart() {
	var centres []singlepass.Centre
	derived := singlepass.State{StreamTime: math.MinInt64}
	for _, seq := range slices.Sorted(maps.Keys(k.clusters)) {
		c := k.clusters[seq]
		centres = append(centres, c.centre)
		derived = singlepass.State{
			StreamTime: max(derived.StreamTime, c.lastSeen), Next: max(derived.Next, c.lastPosition+1),
		}
	}
	if derived != k.State() {
		k.t.Fatalf("the clusters say %+v, the state is %+v", derived, k.State())
	}
	k.r.Shuffle(len(centres), func(i, j int) { centres[i], centres[j] = centres[j], centres[i] })
	k.Space = k.newSpace()
	if k.r.IntN(4) > 0 {
		k.BulkLoad(len(centres), func(yield func(singlepass.Centre, int64) bool) {
			for _, c := range centres {
				if !yield(c, k.seenBy(c)) {
					return
				}
			}
		})
	} else {
		for _, c := range centres {
			k.Insert(c, k.seenBy(c))
		}
	}
	k.Resume(derived)
}
