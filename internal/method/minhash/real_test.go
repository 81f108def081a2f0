package minhash

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/corpus"
)

// realShingles returns the shingles of the first 3,000 articles of a set that have any. Without the
// build tag long it is the first 400.
func realShingles(t *testing.T, set corpus.Set) (articles [][]uint64) {
	t.Helper()
	s := newShingler(testOptions(t))
	most := 400
	if check.Long {
		most = 3000
	}
	set.Lines(t, func(_ int, line []byte) bool {
		var a struct{ Title, Content string }
		if err := json.Unmarshal(line, &a); err != nil {
			t.Fatal(err)
		}
		if shingles, ok := s.shinglesOf(a.Title, a.Content); ok {
			articles = append(articles, slices.Clone(shingles))
		}
		return len(articles) < most
	})
	return articles
}

// In one pass over real articles, each finds its centre as it would by comparing all, but for a few
// in a thousand, and no article that joins one is less than half the same.
func TestRealArticles(t *testing.T) {
	check.OneGoroutine(t)
	for _, set := range corpus.Sets(t) {
		t.Run(set.Name, func(t *testing.T) {
			t.Parallel()
			passOver(t, realShingles(t, set))
		})
	}
}

// passOver lets each article find its centre, in one pass.
func passOver(t *testing.T, articles [][]uint64) {
	t.Helper()
	m := newTest(t, nil)
	made, err := m.NewIndex(m.Threshold())
	if err != nil {
		t.Fatal(err)
	}
	var centres []singlepass.Centre
	joined, missed := 0, 0
	for i, shingles := range articles {
		f := fingerprintOf(mustSign(t, "fast", 128, shingles))
		want, wantDistance, wantOK := nearestOfAll(m, centres, f)
		c, distance, ok := made.Nearest(f, nil)
		if c != want || distance != wantDistance || ok != wantOK {
			missed++
		}
		if !ok {
			centres = append(centres, singlepass.Centre{Fingerprint: f, Seq: uint64(i)})
			made.Insert(centres[len(centres)-1])
			continue
		}
		joined++
		if got := jaccardIndex(shingles, articles[c.Seq]); got < 0.5 {
			t.Errorf("article %d joins %d, with which it shares %.2f", i, c.Seq, got)
		}
	}
	if most := 1 + len(articles)/1000; missed > most {
		t.Errorf("%d articles miss their centre, want at most %d", missed, most)
	}
	most := mostSharers(made.(*index), centres)
	if most > bucketCap/2 {
		t.Errorf("%d centres share a band: from %d on, queries do not see all of them", most, bucketCap)
	}
	t.Logf("%d articles, %d joined, %d missed, %d candidates, at most %d centres share a band",
		len(articles), joined, missed, made.Candidates(), most)
}

// mostSharers returns how many centres have the same bytes in a band, at most.
func mostSharers(x *index, centres []singlepass.Centre) (most int) {
	for band := range x.bands {
		sharers := make(map[string]int)
		for _, c := range centres {
			key := string(x.band([]byte(c.Sketch), band))
			sharers[key]++
			most = max(most, sharers[key])
		}
	}
	return most
}

func nearestOfAll(
	m *Method, centres []singlepass.Centre, f singlepass.Fingerprint,
) (best singlepass.Centre, distance float64, ok bool) {
	for _, c := range centres {
		if d := m.Distance(c.Fingerprint, f); d <= m.Threshold() && (!ok || d < distance) {
			best, distance, ok = c, d, true
		}
	}
	return best, distance, ok
}

func jaccardIndex(a, b []uint64) float64 {
	in := make(map[uint64]int)
	for _, s := range a {
		in[s] |= 1
	}
	for _, s := range b {
		in[s] |= 2
	}
	both := 0
	for sets := range maps.Values(in) {
		if sets == 3 {
			both++
		}
	}
	return float64(both) / float64(len(in))
}
