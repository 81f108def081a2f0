package jaccard

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/clusterd/clusterd/internal/testutil/check"
)

// of returns the set of these hashes.
func of(hashes ...uint64) Set {
	var b Builder
	for _, hash := range hashes {
		b.Add(hash)
	}
	return b.Set()
}

// hashesOf returns the hashes of a set.
func hashesOf(s Set) []uint64 {
	var all []uint64
	for i := range s.Len() {
		all = append(all, s.at(i))
	}
	return all
}

// upTo returns n uniform hashes, always the same.
func upTo(n int) []uint64 {
	r := rand.New(rand.NewPCG(1, 1))
	all := make([]uint64, n)
	for i := range all {
		all[i] = r.Uint64()
	}
	return all
}

func TestSet(t *testing.T) {
	const most = math.MaxUint64
	for _, test := range []struct{ add, want []uint64 }{
		{nil, nil},
		{[]uint64{0}, []uint64{0}},
		{[]uint64{3, 1, 2}, []uint64{1, 2, 3}},
		{[]uint64{7, 7, 1, 7}, []uint64{1, 7}},
		{[]uint64{most, 0, 1 << 63}, []uint64{0, 1 << 63, most}},
	} {
		if got := hashesOf(of(test.add...)); !slices.Equal(got, test.want) {
			t.Errorf("of %x: %x, want %x", test.add, got, test.want)
		}
	}
}

// Of a large set the smallest hashes are left, whatever the order and however often they come.
func TestSetMax(t *testing.T) {
	check.OneGoroutine(t)
	var b Builder
	for _, n := range []int{Max - 1, Max, Max + 1, 2 * Max, 5*Max + 1, 3} {
		all := upTo(n)
		want := slices.Clone(all)
		slices.Sort(want)
		want = want[:min(n, Max)]
		for range 3 {
			for _, hash := range all {
				b.Add(hash)
			}
			slices.Reverse(all)
		}
		if got := b.Set(); !slices.Equal(hashesOf(got), want) {
			t.Errorf("%d hashes: not the %d smallest", n, min(n, Max))
		}
	}
}

func TestDistance(t *testing.T) {
	for _, test := range []struct {
		a, b []uint64
		want float64
	}{
		{nil, nil, 1},
		{nil, []uint64{1}, 1},
		{[]uint64{1}, []uint64{1}, 0},
		{[]uint64{1}, []uint64{2}, 1},
		{[]uint64{1, 2}, []uint64{2, 3}, 1 - 1./3},
		{[]uint64{1, 2, 3, 4}, []uint64{1, 2, 3}, .25},
		{[]uint64{1, 2, 3, 4}, []uint64{4}, .75},
	} {
		a, b := of(test.a...), of(test.b...)
		if got, back := Distance(a, b), Distance(b, a); math.Abs(got-test.want) > 1e-15 || back != got {
			t.Errorf("%v and %v: %v, and back %v; want %v", test.a, test.b, got, back, test.want)
		}
	}
}

// Equal fractions are equal distances, and those that a threshold allows.
func TestDistanceIsExact(t *testing.T) {
	for union := 1; union <= 300; union++ {
		for shared := range union + 1 {
			got := distance(shared, union)
			for times := 2; times < 5; times++ {
				if more := distance(times*shared, times*union); more != got {
					t.Fatalf("%d of %d is at %v, %d times that at %v", shared, union, got, times, more)
				}
			}
			if threshold := 1 - float64(shared)/float64(union); got > threshold {
				t.Fatalf("%d of %d is at %v, beyond %v", shared, union, got, threshold)
			}
		}
	}
	for hundredths := 1; hundredths <= 100; hundredths++ {
		similarity, err := strconv.ParseFloat(fmt.Sprintf("%.2f", float64(hundredths)/100), 64)
		if d := distance(hundredths, 100); err != nil || d > 1-similarity {
			t.Errorf("%d of 100 is at %v, beyond what a similarity of %v allows", hundredths, d, similarity)
		}
	}
}

// The distance of large sets is estimated, well.
func TestDistanceOfSamples(t *testing.T) {
	check.OneGoroutine(t)
	all := upTo(4 * Max)
	for _, test := range []struct {
		name       string
		a, b       []uint64
		want, with float64
	}{
		{"the same", all, all, 0, 0},
		{"half of it", all, all[:2*Max], .5, .01},
		{"a tenth off both", all[:2*Max], all[Max/5 : 2*Max+Max/5], 1 - 1.8/2.2, .01},
		{"nothing in common", all[:2*Max], all[2*Max:], 1, 0},
		{"one is whole", all[:Max/2], all[:2*Max], .75, .01},
		{"both are whole", all[:Max-1], all[1:Max], 1 - (Max-2.)/Max, 1e-15},
		{"just full", all[:Max], all[:Max], 0, 0},
	} {
		if got := Distance(of(test.a...), of(test.b...)); math.Abs(got-test.want) > test.with {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// Bytes that are no set have some distance, from 0 to 1.
func FuzzDistance(f *testing.F) {
	f.Add("", "")
	f.Add("12345678", "123456781234567")
	f.Add("8765432112345678", "1234567887654321")
	f.Fuzz(func(t *testing.T, a, b string) {
		d, back := Distance(Set(a), Set(b)), Distance(Set(b), Set(a))
		if !(d >= 0 && d <= 1 && back >= 0 && back <= 1) {
			t.Errorf("distance %v, and back %v", d, back)
		}
		index, err := NewIndex(.9, Rule{})
		if err != nil {
			t.Fatal(err)
		}
		for i, sketch := range []string{a, b, a} {
			index.Insert(centre(sketch, uint64(i)))
		}
		index.Nearest(centre(a, 0).Fingerprint, nil)
		for i, sketch := range []string{a, b, a} {
			if !index.Remove(centre(sketch, uint64(i))) {
				t.Errorf("%q cannot be removed", sketch)
			}
		}
	})
}
