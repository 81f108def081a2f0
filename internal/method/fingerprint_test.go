package method_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/testutil/check"
)

// The same article has the same fingerprint, whoever makes it, and it stays as it was.
func TestFingerprinter(t *testing.T) {
	all := pages(60)
	each(t, func(t *testing.T, m method.Method) {
		want := fingerprints(t, m, all)
		kept := slices.Clone(want)
		for i := range kept {
			kept[i].Sketch = strings.Clone(kept[i].Sketch)
		}
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				fingerprint := m.NewFingerprinter()
				for _, i := range rand.Perm(len(all)) {
					if got, ok := fingerprint(all[i].title, all[i].content); got != kept[i] || !ok {
						t.Errorf("article %d: %x, %t, want %x", i, got, ok, kept[i])
					}
				}
			})
		}
		group.Wait()
		if !slices.Equal(want, kept) {
			t.Error("a fingerprint has changed since it was made")
		}
	})
}

// Any number may ask an index at once.
func TestNearestAtOnce(t *testing.T) {
	all := pages(60)
	each(t, func(t *testing.T, m method.Method) {
		fingerprints, index := fingerprints(t, m, all), newIndex(t, m)
		for seq, f := range fingerprints {
			index.Insert(singlepass.Centre{Fingerprint: f, Seq: uint64(seq)})
		}
		nearest := func(f singlepass.Fingerprint) uint64 {
			c, d, ok := index.Nearest(f, &singlepass.Live{Asked: func(c singlepass.Centre) bool {
				return c.Seq%5 > 0
			}})
			if ok && d > m.Threshold() {
				t.Errorf("%d is at distance %v", c.Seq, d)
			}
			return c.Seq
		}
		var want []uint64
		for _, f := range fingerprints {
			want = append(want, nearest(f))
		}
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				for i, f := range fingerprints {
					if got := nearest(f); got != want[i] {
						t.Errorf("nearest to %d is %d, want %d", i, got, want[i])
					}
				}
				_ = index.Len() + int(index.Candidates())
			})
		}
		group.Wait()
	})
}

// What reads alike is alike.
func TestFingerprinterNormalizes(t *testing.T) {
	const text = "the storm of may 2026 has reached the coast, and 台风登陆后居民已经转移到学校和体育馆,当地政府表示没有人员伤亡。"
	each(t, func(t *testing.T, m method.Method) {
		fingerprint := m.NewFingerprinter()
		want, ok := fingerprint("台风", text)
		for name, same := range map[string]page{
			"upper case": {"台风", strings.ToUpper(text)},
			"traditional": {"颱風", strings.ReplaceAll(strings.ReplaceAll(text, "台风登陆", "颱風登陸"), "转移",
				"轉移")},
			"full width":           {"台风", strings.ReplaceAll(text, "2026", "２０２６")},
			"invisible characters": {"台\u200b风", strings.ReplaceAll(text, "m", "m\u200b")},
			"markup": {"台风", "<p>" + strings.ReplaceAll(text, " ", "&nbsp;<!-- x -->") +
				"</p><script>var x</script>"},
		} {
			if got, _ := fingerprint(same.title, same.content); got != want || !ok {
				t.Errorf("%s: distance %v", name, m.Distance(got, want))
			}
		}
	})
}

func TestNothingToCompare(t *testing.T) {
	check.OneGoroutine(t)
	each(t, func(t *testing.T, m method.Method) {
		fingerprint := m.NewFingerprinter()
		for _, nothing := range []string{"", " \n\t", "!?…。", "-----", "\u200b\ufeff", "<br><p></p>"} {
			if got, ok := fingerprint("", nothing); ok {
				t.Errorf("%q has fingerprint %x", nothing, got)
			}
		}
		for _, rubbish := range []string{
			"\xff\xfestorm", "storm\x00coast", "好", "7",
			strings.Repeat("a", 1<<20), strings.Repeat("<", 5000) + "storm", "𠀀😀字",
		} {
			got, ok := fingerprint("", rubbish)
			if d := m.Distance(got, got); !ok || d != 0 {
				t.Errorf("%.20q: %t, distance from itself %v", rubbish, ok, d)
			}
		}
	})
}

func TestDistance(t *testing.T) {
	check.OneGoroutine(t)
	all := pages(40)
	each(t, func(t *testing.T, m method.Method) {
		fingerprints := fingerprints(t, m, all)
		for i, a := range fingerprints {
			for _, b := range fingerprints[:i+1] {
				d := m.Distance(a, b)
				if back := m.Distance(b, a); d != back || d < 0 || math.IsNaN(d) || a == b && d != 0 {
					t.Fatalf("distance %v, and back %v, of %x and %x", d, back, a, b)
				}
			}
		}
	})
}

// Check takes what the method makes and nothing that another length or another hash shows to be
// foreign.
func TestCheck(t *testing.T) {
	check.OneGoroutine(t)
	all := pages(30)
	each(t, func(t *testing.T, m method.Method) {
		for _, f := range fingerprints(t, m, all) {
			if err := m.Check(f); err != nil {
				t.Fatalf("%x: %v", f, err)
			}
			changed := map[string]singlepass.Fingerprint{
				"three bytes":   {Hash: f.Hash, Sketch: "abc"},
				"a byte more":   {Hash: f.Hash, Sketch: f.Sketch + "x"},
				"eight more":    {Hash: f.Hash, Sketch: f.Sketch + "\x00\x00\x00\x00\x00\x00\x00\x00"},
				"a megabyte":    {Hash: f.Hash, Sketch: strings.Repeat("\xff", 1<<20)},
				"sixteen zeros": {Hash: f.Hash, Sketch: strings.Repeat("\x00", 16)},
			}
			if f.Sketch != "" {
				changed["none"] = singlepass.Fingerprint{Hash: f.Hash}
				changed["a byte less"] = singlepass.Fingerprint{Hash: f.Hash, Sketch: f.Sketch[1:]}
			}
			if f.Hash == xxh3.HashString(f.Sketch) {
				changed["another hash"] = singlepass.Fingerprint{Hash: f.Hash + 1, Sketch: f.Sketch}
			}
			for name, c := range changed {
				if err := m.Check(c); err == nil {
					t.Errorf("%s: taken", name)
				}
			}
		}
	})
}

// What Check takes, index and distance can take: no bytes make them panic.
func TestCheckedFingerprintsAreSafe(t *testing.T) {
	check.OneGoroutine(t)
	own := pages(5)
	each(t, func(t *testing.T, m method.Method) {
		r, index, mine, taken := rand.New(rand.NewPCG(3, 3)), newIndex(t, m), fingerprints(t, m, own), 0
		for seq := range uint64(2000) {
			sketch := make([]byte, []int{0, 1, 3, 8, 16, 64, 128, 129}[r.IntN(8)])
			for i := range sketch {
				sketch[i] = byte(r.Uint32())
			}
			f := singlepass.Fingerprint{Hash: r.Uint64(), Sketch: string(sketch)}
			if r.IntN(2) == 0 {
				f.Hash = xxh3.HashString(f.Sketch)
			}
			if m.Check(f) != nil {
				continue
			}
			taken++
			c := singlepass.Centre{Fingerprint: f, Seq: seq}
			index.Insert(c)
			for _, a := range mine {
				index.Nearest(a, nil)
				m.Distance(a, f)
			}
			if !index.Remove(c) {
				t.Fatalf("%x is not in the index", f)
			}
		}
		if taken < 20 {
			t.Errorf("%d taken: the test shows little", taken)
		}
	})
}
