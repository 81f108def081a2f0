package singlepass_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/singlepass"
)

// An index may ask of every centre whether it lives: as long as none of those that were founded
// beside it can have expired, nobody is asked when it was last seen.
func TestNobodyIsAskedWhereNothingHasExpired(t *testing.T) {
	const n, window = 5000, 3000 // milliseconds, one an article
	asked := make(map[uint64]bool)
	index := singlepass.NewLinear(0, func(_, _ singlepass.Fingerprint) float64 { return 0 })
	s := singlepass.NewSpace(askingAll{index}, singlepass.Rule{Window: window * time.Millisecond},
		func(seq uint64) int64 { asked[seq] = true; return int64(seq) })
	for i := range int64(n) {
		clear(asked)
		if a := s.Assign(singlepass.Fingerprint{}, i); a.Joined {
			t.Fatalf("article %d joined %d", i, a.Centre.Seq)
		}
		if i <= window && len(asked) > 0 {
			t.Fatalf("article %d: %d asked for, and none has expired", i, len(asked))
		}
		// Those that have expired are met once, and leave the index.
		if len(asked) > 512 {
			t.Fatalf("article %d: %d asked for, want those that share a floor", i, len(asked))
		}
	}
	if s.Len() != n {
		t.Errorf("%d centres, want %d", s.Len(), n)
	}
}

// askingAll asks of each centre whether it lives, and finds none.
type askingAll struct{ singlepass.Index }

func (a askingAll) Nearest(
	f singlepass.Fingerprint, live *singlepass.Live,
) (singlepass.Centre, float64, bool) {
	a.Index.Nearest(f, &singlepass.Live{Asked: func(c singlepass.Centre) bool {
		live.Asked(c)
		return false
	}})
	return singlepass.Centre{}, 0, false
}

// A floor is the earliest time of its Seqs, or nothing is known of them: of old ones, where there
// are very many.
func TestFloors(t *testing.T) {
	const seqs, newest, most = 3, 1 << 15, 1 << 16
	r := rand.New(rand.NewPCG(1, 1))
	s := singlepass.NewSpace(nil, singlepass.Rule{Window: time.Hour}, nil)
	s.ShareFloors(seqs)
	earliest := make(map[uint64]int64)
	var next, from, forgotten uint64
	for range 1_000_000 {
		next += r.Uint64N(3)
		far := r.IntN(300_000) == 0
		if far {
			next += 1_000_000 + r.Uint64N(1<<50)
		}
		seq, at := next-min(next, r.Uint64N(1000)), r.Int64()
		if far { // nothing is known of those before
			from = seq / seqs
		}
		if earlier, ok := earliest[seq/seqs]; !ok || at < earlier {
			earliest[seq/seqs] = at
		}
		s.Lower(seq, at)
		asked := next - min(next, r.Uint64N(most*seqs*2))
		got, n := s.Floor(asked)
		want, founded := earliest[asked/seqs]
		recent := asked/seqs >= from && next/seqs-asked/seqs < newest
		switch {
		case n > most:
			t.Fatalf("%d floors", n)
		case got == math.MinInt64 && !(founded && recent):
			forgotten++
		case founded && got != want, !founded && got != math.MaxInt64:
			t.Fatalf("the floor of %d, below %d, is %d, want %d, %t", asked, next, got, want, founded)
		}
	}
	if forgotten == 0 {
		t.Error("no floor was forgotten: the test shows little")
	}
}
