package singlepass_test

import (
	"slices"
	"testing"

	"github.com/clusterd/clusterd/internal/singlepass"
)

// Offered in any order, the nearest live one is the result, among equals the oldest; and who is
// not going to be is not asked whether it lives.
func TestNearest(t *testing.T) {
	type offer struct {
		seq      uint64
		distance float64
	}
	for _, test := range []struct {
		name   string
		offers []offer
		dead   []uint64
		want   offer
		ok     bool
		asked  []uint64
	}{
		{name: "nothing"},
		{
			name: "at the threshold", offers: []offer{{3, 0.5}}, want: offer{3, 0.5}, ok: true,
			asked: []uint64{3},
		},
		{name: "past the threshold", offers: []offer{{3, 0.500001}}},
		{
			name: "the nearer of two", offers: []offer{{1, 0.4}, {2, 0.3}}, want: offer{2, 0.3}, ok: true,
			asked: []uint64{1, 2},
		},
		{
			name: "the further of two", offers: []offer{{2, 0.3}, {1, 0.4}}, want: offer{2, 0.3}, ok: true,
			asked: []uint64{2},
		},
		{
			name: "the older of equals", offers: []offer{{2, 0.3}, {1, 0.3}}, want: offer{1, 0.3}, ok: true,
			asked: []uint64{2, 1},
		},
		{
			name: "the younger of equals", offers: []offer{{1, 0.3}, {2, 0.3}}, want: offer{1, 0.3},
			ok: true, asked: []uint64{1},
		},
		{name: "one that is dead", offers: []offer{{1, 0}}, dead: []uint64{1}, asked: []uint64{1}},
		{
			name: "a dead one hides none", offers: []offer{{1, 0}, {2, 0.5}}, dead: []uint64{1},
			want: offer{2, 0.5}, ok: true, asked: []uint64{1, 2},
		},
	} {
		var asked []uint64
		n := singlepass.NewNearest(0.5, func(c offer) bool {
			asked = append(asked, c.seq)
			return !slices.Contains(test.dead, c.seq)
		})
		for _, o := range test.offers {
			n.Offer(o, o.seq, o.distance)
		}
		c, distance, ok := n.Result()
		if c != test.want || distance != test.want.distance || ok != test.ok {
			t.Errorf("%s: %v at %g, %t; want %v, %t", test.name, c, distance, ok, test.want, test.ok)
		}
		if !slices.Equal(asked, test.asked) {
			t.Errorf("%s: asked of %v, want %v", test.name, asked, test.asked)
		}
		if reach := n.Cutoff(); test.ok && reach != distance || !test.ok && reach != 0.5 {
			t.Errorf("%s: reaches to %g", test.name, reach)
		}
	}
}
