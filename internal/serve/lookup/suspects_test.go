package lookup

import (
	"fmt"
	"slices"
	"testing"

	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/serve/http/api"
)

// Suspects are clusters without a label, the nearest to one that has some first.
func TestSuspects(t *testing.T) {
	s := newSite(t, 0)
	found := s.commit(start, 0xff, 0xff00, 0xf, 0xffffffff, 0xff0f)
	if all, err := s.Suspects(t.Context()); err != nil || len(all) > 0 {
		t.Errorf("%d suspects, %v, without a label", len(all), err)
	}
	s.suspects = suspects{} // nothing was found just now
	s.label([]cluster.Cluster{found[0], found[4]}, "spam")
	all, err := s.Suspects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, one := range all {
		got = append(got, fmt.Sprintf("%s %.0f from %s", one.Cluster.ClusterID, one.Near.Distance,
			one.Near.Cluster.ClusterID))
	}
	want := []string{
		found[2].ID() + " 4 from " + found[0].ID(), found[1].ID() + " 4 from " + found[4].ID(),
		found[3].ID() + " 20 from " + found[4].ID(),
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("suspects %q, want %q", got, want)
	}
	if !slices.IsSortedFunc(all, func(a, b api.Suspect) int {
		return int(a.Near.Distance - b.Near.Distance)
	}) {
		t.Error("the nearest is not first")
	}
	// They are not looked for again for some seconds.
	s.label([]cluster.Cluster{found[2]}, "spam")
	if again, err := s.Suspects(t.Context()); err != nil || len(again) != len(all) {
		t.Errorf("%d suspects, %v; want %d, as of before", len(again), err, len(all))
	}
}

// What is near depends on the unit of the method.
func TestNear(t *testing.T) {
	for method, want := range map[string]float64{"simhash": 9.5, "minhash": 2} {
		c := configured("topic")
		c.Fingerprint.Method = method
		if got := New(Options{Config: c}).near(3); got != want {
			t.Errorf("%s: near is within %g, want %g", method, got, want)
		}
	}
}
