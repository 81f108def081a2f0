package model

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/audit/wire"
)

// What the model counts is what one finds who goes through all members.
func TestSignals(t *testing.T) {
	t.Parallel()
	const window, width = 12 * time.Minute, 60_000
	r := rand.New(rand.NewPCG(1, 1))
	m := New(3, Rule{Recent: window})
	type member struct{ at, publisher int64 }
	members, now := make(map[int][]member), int64(0)
	for position := range int64(2_000) {
		at := max(0, 30_000*position+r.Int64N(40*width)-30*width)
		now = max(now, at)
		cluster, publisher := r.IntN(3), r.Int64N(position/10+1)
		_, err := m.Assign(Article{
			Source: wire.Address{Offset: position}, EventTime: at, Publisher: uint64(publisher),
			Fingerprint: Fingerprint{Hash: uint64(0xff) << (8 * cluster)}, Signals: true,
		}, position)
		if err != nil {
			t.Fatal(err)
		}
		members[cluster] = append(members[cluster], member{at, publisher})
		number := 0
		for m.Cluster(number).Fingerprint.Hash != uint64(0xff)<<(8*cluster) {
			number++
		}
		recent, publishers := int64(0), make(map[int64]bool)
		for _, one := range members[cluster] {
			if one.at/width > now/width-12 {
				recent++
			}
			if one.publisher != 0 {
				publishers[one.publisher] = true
			}
		}
		want := min(int64(len(publishers)), MaxPublishers+1)
		got := m.Cluster(number).Signals
		if got.Recent() != recent || got.Publishers() != want {
			t.Fatalf("position %d: %d recent and %d publishers, want %d and %d", position, got.Recent(),
				got.Publishers(), recent, want)
		}
	}
}

// An article whose result has no signals does not count.
func TestSignalsLater(t *testing.T) {
	t.Parallel()
	m := New(3, Rule{Recent: time.Hour})
	for position, has := range []bool{false, true} {
		_, err := m.Assign(Article{
			Source: wire.Address{Offset: int64(position)}, EventTime: 5, Publisher: 7 + uint64(position),
			Signals: has,
		}, int64(position))
		if err != nil {
			t.Fatal(err)
		}
	}
	if c := m.Cluster(0); c.Size != 2 || c.Signals.Publishers() != 1 || c.Signals.Recent() != 1 {
		t.Errorf("%+v with %+v, want a publisher and an article of two", c, c.Signals)
	}
}
