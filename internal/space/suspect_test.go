package space

import (
	"math/bits"
	"slices"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/label"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
)

// load fills the index of a space.
func load(t *testing.T, s *Space) {
	t.Helper()
	if err := s.Load(t.Context(), func(singlepass.Fingerprint) error { return nil }); err != nil {
		t.Fatal(err)
	}
}

// The suspect is the nearest cluster that has a label, unless the text joins it; and a label is
// known from the commit on that brought it.
func TestCheckNamesASuspect(t *testing.T) {
	s := testSpace(t, 0)
	s.options.Distance = func(a, b singlepass.Fingerprint) float64 {
		return float64(bits.OnesCount64(a.Hash ^ b.Hash))
	}
	load(t, s)
	articles := make([]fingerprint.Article, len(far))
	for i, f := range far {
		articles[i] = clustertest.Article(int64(i), f, time.Time{})
	}
	b := mustAssign(t, s, articles)
	check := func(f uint64) Answer {
		t.Helper()
		a, err := s.Check(t.Context(), Question{Fingerprint: singlepass.Fingerprint{Hash: f}})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if a := check(0); a.Suspect != nil {
		t.Fatalf("without labels the suspect is %+v", a.Suspect)
	}
	before, err := s.View()
	if err != nil {
		t.Fatal(err)
	}
	defer before.Release()
	var changes []*Change
	for _, c := range b.Touched[1:3] {
		c.Labels = label.Of([]article.Label{clustertest.Label("spam", 1)})
		changes = append(changes, &Change{Cluster: c, Stored: true})
	}
	if err := s.Apply(slices.Values(changes), s.Meta()); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		f        uint64
		joins    string
		suspect  string // empty: none
		distance float64
	}{
		{far[0], "articles/0/0", "articles/1/1", 8},
		{far[1], "articles/1/1", "", 0},
		{far[2] | 0xf000000, "", "articles/2/2", 4},
		{far[1] ^ 1, "articles/1/1", "", 0},
	} {
		a := check(tt.f)
		joins, suspect, distance := "", "", 0.0
		if a.Status == article.Joined {
			joins = a.ID()
		}
		if a.Suspect != nil {
			suspect, distance = a.Suspect.ID(), a.Suspect.Distance
		}
		if joins != tt.joins || suspect != tt.suspect || distance != tt.distance {
			t.Errorf("%x joins %q, suspect %q at %g; want %q, %q at %g", tt.f, joins, suspect, distance,
				tt.joins, tt.suspect, tt.distance)
		}
	}
	if n := len(before.Labelled()); n != 0 {
		t.Errorf("the view of before has %d labelled clusters", n)
	}
}
