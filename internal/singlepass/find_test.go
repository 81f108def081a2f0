package singlepass_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/singlepass"
)

// clone returns a model that goes on by itself.
func (m *model) clone() *model {
	c := *m
	c.clusters = slices.Clone(m.clusters)
	return &c
}

// A ledger is a Space whose batches are committed or taken back, and what readers must see of it:
// the model as of the last commit.
type ledger struct {
	*keeper
	committed *model
	clusters  map[uint64]cluster // as of the last commit
	asked     int                // queries that were answered
	waited    int                // queries that had to wait
	joined    int                // queries that were answered with a cluster
}

func newLedger(k *keeper) *ledger {
	return &ledger{keeper: k, committed: k.model.clone(), clusters: map[uint64]cluster{}}
}

// ended is a context that lets nothing wait.
func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func (l *ledger) find(
	ctx context.Context, f singlepass.Fingerprint, at int64, others int,
) ([]singlepass.Assignment, error) {
	return l.Find(ctx, singlepass.Query{
		Fingerprint: f, Others: others,
		Begin: func(singlepass.State) (int64, func(uint64) (int64, bool)) {
			return at, func(seq uint64) (int64, bool) {
				c, ok := l.clusters[seq]
				return c.lastSeen, ok
			}
		},
	})
}

// ask compares what a reader is told with what the model as of the last commit would do.
func (l *ledger) ask(f singlepass.Fingerprint, at int64) {
	l.t.Helper()
	got, err := l.find(ended(), f, at, 0)
	if err != nil {
		l.waited++
		return
	}
	l.asked++
	want := l.committed.clone().assign(f, at)
	if len(got) != 1 || got[0] != want {
		l.t.Fatalf("%+v at %d, as of %d articles of %d: found %+v, want %+v", f, at,
			l.committed.articles, l.model.articles, got, want)
	}
	if want.Joined {
		l.joined++
	}
}

// commit makes the batch in hand last and takes some of the expired clusters away.
func (l *ledger) commit() {
	var gone []singlepass.Centre
	for _, seq := range slices.Sorted(maps.Keys(l.keeper.clusters)) {
		if c := l.keeper.clusters[seq]; l.Expired("", c.lastSeen) && seq != l.last && l.r.IntN(3) > 0 {
			gone = append(gone, c.centre)
			delete(l.keeper.clusters, seq)
		}
	}
	l.Commit(singlepass.Commit{State: l.State(), Removed: gone, Publish: func() {
		l.committed, l.clusters = l.model.clone(), maps.Clone(l.keeper.clusters)
	}})
}

// Whatever is in hand, and whatever becomes of it, readers are told what the model would have done
// at the last commit.
func TestFindSeesWhatIsCommitted(t *testing.T) {
	for name, next := range sources() {
		for _, window := range []time.Duration{0, time.Nanosecond, 100 * time.Millisecond, time.Second} {
			t.Run(fmt.Sprintf("%s/%v", name, window), func(t *testing.T) {
				eachIndex(t, func(t *testing.T, build func(int) singlepass.Index) {
					r := rand.New(rand.NewPCG(uint64(window), 5))
					l := newLedger(newKeeper(t, r, build, &model{
						distance: 3, window: window,
					}))
					articles := &stream{r: r, next: next}
					for range 60 {
						l.batch(articles)
					}
					joins := window != time.Nanosecond && name != "uniform"
					if l.waited > 0 || l.asked < 1000 || joins && l.joined == 0 {
						t.Errorf("%d queries waited, %d were answered, %d joined: the test shows little",
							l.waited, l.asked, l.joined)
					}
				})
			})
		}
	}
}

// batch assigns a batch, and commits it or takes it back, with readers in between.
func (l *ledger) batch(articles *stream) {
	question := func() {
		later := *articles
		f, at := later.article()
		l.ask(f, at)
	}
	if l.r.IntN(4) == 0 {
		before := *articles
		l.undo(l.r.IntN(30), func() (singlepass.Fingerprint, int64) {
			question()
			return articles.article()
		})
		question()
		*articles = before
		articles.seen = slices.Clone(before.seen)
		return
	}
	for range l.r.IntN(30) {
		l.compare(articles.article())
		question()
		question()
	}
	l.commit()
	question()
}

// A reader that needs centres of which too many expired at once waits for the commit, or until the
// batch is taken back.
func TestFindWaitsWhereTooManyExpired(t *testing.T) {
	const centres = 600
	l := newLedger(newKeeper(t, rand.New(rand.NewPCG(1, 1)), func(int) singlepass.Index {
		return singlepass.NewLinear(0, func(_, _ singlepass.Fingerprint) float64 { return 0 })
	}, &model{distance: 64, window: time.Second}))
	for i := range centres {
		l.Insert(singlepass.Centre{Fingerprint: bitsOf(uint64(i)), Seq: uint64(i)}, 1000)
		l.keeper.clusters[uint64(i)] = cluster{
			centre: singlepass.Centre{Fingerprint: bitsOf(uint64(i)), Seq: uint64(i)}, lastSeen: 1000,
		}
	}
	state := singlepass.State{StreamTime: 1000, Next: centres}
	l.Resume(state)
	l.commit()
	lives := func(want bool) {
		t.Helper()
		found, err := l.find(t.Context(), bitsOf(7), 1000, 0)
		if err != nil || found[0].Joined != want {
			t.Fatalf("found %+v, %v; want that the article joins: %t", found, err, want)
		}
	}
	lives(true)
	founded := l.Assign(bitsOf(7), 5000).Centre // all others have expired
	if found, err := l.find(ended(), bitsOf(7), 1000, 0); err == nil {
		t.Fatalf("found %v while the index lacks what lived at the last commit", found)
	}
	l.Remove(founded)
	l.Resume(state)
	lives(true)

	l.keeper.assign(bitsOf(7), 5000)
	done := make(chan error)
	go func() {
		_, err := l.find(t.Context(), bitsOf(7), 1000, 0)
		done <- err
	}()
	l.commit()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// A centre whose members count as seen earlier than before, so that it has expired for the batch in
// hand, lives for readers until the commit.
func TestFindSeesWhatCountedAtTheCommit(t *testing.T) {
	l := newLedger(newKeeper(t, rand.New(rand.NewPCG(1, 1)), func(int) singlepass.Index {
		return singlepass.NewLinear(0, func(_, _ singlepass.Fingerprint) float64 { return 0 })
	}, &model{distance: 64, window: time.Second}))
	l.Insert(singlepass.Centre{}, 90_000)
	l.keeper.clusters[0] = cluster{lastSeen: 90_000}
	l.Resume(singlepass.State{StreamTime: 5000, Next: 1})
	l.commit()
	l.Seen(0, 90_000, 1000)
	l.keeper.clusters[0] = cluster{lastSeen: 1000}
	if a := l.keeper.assign(bitsOf(7), 5000); a.Joined {
		t.Fatalf("assigned %+v, want a new cluster", a)
	}
	if found, err := l.find(ended(), bitsOf(7), 5000, 0); err != nil || !found[0].Joined {
		t.Fatalf("before the commit: found %+v, %v", found, err)
	}
	l.commit()
	if found, err := l.find(ended(), bitsOf(7), 5000, 0); err != nil || found[0].Centre.Seq != 1 {
		t.Fatalf("after it: found %+v, %v, want the new cluster", found, err)
	}
}

// The runners-up are the next live centres within the threshold, the nearest first, among equals
// the oldest.
func TestFindOthers(t *testing.T) {
	eachIndex(t, func(t *testing.T, build func(int) singlepass.Index) {
		r := rand.New(rand.NewPCG(1, 1))
		l := newLedger(newKeeper(t, r, build, &model{distance: 3}))
		for _, f := range []uint64{0b111, 0b1111_000, 0b11 << 10, 0b11 << 20, 0b1 << 30} {
			l.Insert(singlepass.Centre{Fingerprint: bitsOf(f), Seq: l.State().Next}, 0)
			l.Resume(singlepass.State{Next: l.State().Next + 1})
		}
		l.commit()
		for others, want := range [][]uint64{{4}, {4, 2}, {4, 2, 3}, {4, 2, 3, 0}, {4, 2, 3, 0}} {
			found, err := l.find(ended(), bitsOf(0), 0, others)
			var got []uint64
			for _, a := range found {
				got = append(got, a.Centre.Seq)
			}
			if !slices.Equal(got, want) || err != nil {
				t.Errorf("%d others: %v, %v; want %v", others, got, err, want)
			}
		}
	})
}
