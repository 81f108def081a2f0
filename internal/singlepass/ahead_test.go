package singlepass_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/singlepass"
)

// sealed is a batch that is assigned and not committed, as the model and the clusters were behind
// it.
type sealed struct {
	model    *model
	clusters map[uint64]cluster
	last     uint64
	state    singlepass.State
}

func (l *ledger) seal() (s *sealed, ahead bool) {
	ahead = l.Seal()
	return &sealed{l.model.clone(), maps.Clone(l.keeper.clusters), l.last, l.State()}, ahead
}

// commitSealed makes a batch last, though others, behind, have been assigned after it, and takes
// some of the clusters away that had expired with it.
func (l *ledger) commitSealed(s *sealed, behind ...*sealed) {
	var gone []singlepass.Centre
	rule := singlepass.Rule{Window: l.model.window}
	for _, seq := range slices.Sorted(maps.Keys(s.clusters)) {
		c := s.clusters[seq]
		if rule.Expired(c.lastSeen, s.state.StreamTime) && seq != s.last && l.r.IntN(3) > 0 {
			gone = append(gone, c.centre)
			delete(l.keeper.clusters, seq)
			delete(s.clusters, seq)
			for _, b := range behind {
				delete(b.clusters, seq)
			}
		}
	}
	l.Commit(singlepass.Commit{State: s.state, Removed: gone, Publish: func() {
		l.committed, l.clusters = s.model, s.clusters
	}})
}

// assigned assigns a batch, with readers in between, and returns what it founded.
func (l *ledger) assigned(articles *stream) (founded []singlepass.Centre) {
	question := func() {
		later := *articles
		l.ask(later.article())
	}
	for range l.r.IntN(30) {
		before := l.State().Next
		l.compare(articles.article())
		if c, ok := l.keeper.clusters[before]; ok {
			founded = append(founded, c.centre)
		}
		question()
		question()
	}
	question()
	return founded
}

// A batch may be assigned while the one before is not committed, and both may be taken back:
// readers are told what the model would have done at the last commit, and the articles belong where
// they would without all that.
func TestAhead(t *testing.T) {
	for name, next := range sources() {
		for _, window := range []time.Duration{0, time.Nanosecond, 100 * time.Millisecond, time.Second} {
			t.Run(fmt.Sprintf("%s/%v", name, window), func(t *testing.T) {
				eachIndex(t, func(t *testing.T, build func(int) singlepass.Index) {
					r := rand.New(rand.NewPCG(uint64(window), 6))
					l := newLedger(newKeeper(t, r, build, &model{
						distance: 3, window: window,
					}))
					articles := &stream{r: r, next: next}
					for range 25 {
						l.ahead(articles)
					}
					if l.waited > l.asked/10 || l.asked < 500 {
						t.Errorf("%d queries waited, %d were answered: the test shows little", l.waited, l.asked)
					}
				})
			})
		}
	}
}

// ahead assigns some batches, each before the last one is committed, and then commits all of them,
// or takes the last two back.
func (l *ledger) ahead(articles *stream) {
	model, clusters, last, state := l.model.clone(), maps.Clone(l.keeper.clusters), l.last, l.State()
	var before *sealed
	var founded []singlepass.Centre
	for range 1 + l.r.IntN(4) {
		more := l.assigned(articles)
		next, _ := l.seal()
		founded = append(founded, more...)
		if before != nil && l.r.IntN(4) == 0 { // neither is committed
			for _, c := range founded {
				l.Remove(c)
			}
			l.Resume(state)
			l.model, l.keeper.clusters, l.last = model, clusters, last
			return
		}
		if before != nil {
			l.commitSealed(before, next)
			model, clusters = before.model.clone(), maps.Clone(before.clusters)
			last, state, founded = before.last, before.state, more
		}
		before = next
	}
	l.commitSealed(before)
}

// A reader that needs centres of which too many expired with a batch waits for that one, and not
// only for the one before; and no further batch may be assigned until then.
func TestReadersWaitForTheBatchThatLacks(t *testing.T) {
	const centres = 600
	l := newLedger(newKeeper(t, rand.New(rand.NewPCG(1, 1)), func(int) singlepass.Index {
		return singlepass.NewLinear(0, func(_, _ singlepass.Fingerprint) float64 { return 0 })
	}, &model{distance: 64, window: time.Second}))
	for i := range uint64(centres) {
		c := singlepass.Centre{Fingerprint: bitsOf(i), Seq: i}
		l.Insert(c, 1000)
		l.keeper.clusters[i] = cluster{centre: c, lastSeen: 1000}
	}
	l.Resume(singlepass.State{StreamTime: 1000, Next: centres})
	l.commit()
	l.keeper.assign(bitsOf(7), 1500)
	first, ahead := l.seal()
	if !ahead {
		t.Error("after a batch that lacks nothing, none may be assigned ahead")
	}
	l.keeper.assign(bitsOf(7), 9000) // all have expired
	second, ahead := l.seal()
	if ahead {
		t.Error("after a batch with which readers have to wait, one may be assigned ahead")
	}
	for i, s := range []*sealed{first, second} {
		if found, err := l.find(ended(), bitsOf(7), 1000, 0); err == nil {
			t.Errorf("before commit %d: found %v while the index lacks what lived at the last commit", i+1,
				found)
		}
		l.commitSealed(s)
	}
	if _, err := l.find(ended(), bitsOf(7), 9000, 0); err != nil {
		t.Errorf("after both commits: %v", err)
	}
}
