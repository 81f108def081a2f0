package method_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/testutil/check"
)

// A divided index answers as one index for each value does, whether values have few centres, many,
// or none any more.
func TestDividedIndexIsOneForEachValue(t *testing.T) {
	check.OneGoroutine(t)
	all := pages(300)
	each(t, func(t *testing.T, m method.Method) {
		fingerprints, r := fingerprints(t, m, all), rand.New(rand.NewPCG(7, 8))
		divided := singlepass.NewDivided(singlepass.Division{
			New:   func() singlepass.Index { return newIndex(t, m) },
			Small: 32,
			Near:  method.Near(m, newIndex(t, m)),
		})
		alone := make(map[string]singlepass.Index)
		var have []singlepass.Centre
		found := 0
		for seq := range uint64(3000) {
			f := fingerprints[r.IntN(len(fingerprints))]
			// A few values with many centres, and many with few.
			f.Space = fmt.Sprint(r.IntN(1 + r.IntN(40)))
			if alone[f.Space] == nil {
				alone[f.Space] = newIndex(t, m)
			}
			bare := f
			bare.Space = ""
			switch r.IntN(5) {
			case 0, 1:
				c := singlepass.Centre{Fingerprint: f, Seq: seq}
				have = append(have, c)
				divided.Insert(c)
				alone[f.Space].Insert(singlepass.Centre{Fingerprint: bare, Seq: seq})
			case 2:
				if len(have) == 0 {
					continue
				}
				i := r.IntN(len(have))
				c := have[i]
				have = slices.Delete(have, i, i+1)
				other := c
				other.Space += "x"
				if divided.Remove(other) || !divided.Remove(c) || divided.Remove(c) {
					t.Fatalf("%v is not removed as it should be", c)
				}
				index := alone[c.Space]
				c.Space = ""
				index.Remove(c)
			default:
				bit := r.Uint64N(5)
				live := func(c singlepass.Centre) bool { return c.Seq%5 != bit }
				got, d, ok := divided.Nearest(f, &singlepass.Live{Asked: func(c singlepass.Centre) bool {
					if c.Space != f.Space {
						t.Fatalf("asked of a centre of %q for one of %q", c.Space, f.Space)
					}
					return live(c)
				}})
				want, wantD, wantOK := alone[f.Space].Nearest(bare, &singlepass.Live{Asked: live})
				if wantOK {
					want.Space = f.Space
					found++
				}
				if got != want || d != wantD || ok != wantOK {
					t.Fatalf("%v at %v, %t; alone: %v at %v, %t", got, d, ok, want, wantD, wantOK)
				}
			}
			if divided.Len() != len(have) {
				t.Fatalf("%d centres of %d", divided.Len(), len(have))
			}
		}
		if found < 30 {
			t.Errorf("only %d queries found a centre", found)
		}
	})
}
