package method_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/testutil/check"
)

// longer returns the methods that know cluster.long_similarity, at .7 beside a similarity of .5.
func longer(t *testing.T, change func(*config.Config)) map[string]method.Method {
	t.Helper()
	methods := make(map[string]method.Method)
	for _, name := range method.Using("cluster.long_similarity") {
		c := configured(name)
		c.Cluster.Similarity, c.Cluster.LongSimilarity = .5, .7
		if change != nil {
			change(&c)
		}
		m, err := method.New(c.MethodSettings())
		if err != nil {
			t.Fatal(err)
		}
		methods[name] = m
	}
	if len(methods) != 2 {
		t.Fatalf("%d methods, want minhash and shingle", len(methods))
	}
	return methods
}

// Texts that are similar by .6 are the same where one of them is short.
func TestLongSimilarity(t *testing.T) {
	check.OneGoroutine(t)
	r := rand.New(rand.NewPCG(14, 14))
	v := newVocabulary(r, 20_000)
	all, other := v.text(r, 400), v.text(r, 400)
	text := func(own, from, to int) string { // some words of its own, and some of all
		return strings.Join(slices.Concat(other[:own], all[from:to]), " ")
	}
	for _, contacts := range []bool{false, true} {
		for name, m := range longer(t, func(c *config.Config) { c.Contacts.Join = contacts }) {
			for _, test := range []struct {
				name, a, b string
				want       bool
			}{
				{"short, 15 of 20 words", text(0, 0, 20), text(5, 0, 15), true},
				{"long, 150 of 200 words", text(0, 0, 200), text(50, 0, 150), false},
				{"long, 190 of 200 words", text(0, 0, 200), text(10, 0, 190), true},
				{"short, and long by as much again", text(0, 0, 24), text(0, 0, 40), true},
				{"long, and longer by as much again", text(0, 0, 120), text(0, 0, 200), false},
				{"long, the same", text(0, 0, 200), text(0, 0, 200), true},
				{"short, 5 of 20 words", text(0, 0, 20), text(15, 0, 5), false},
			} {
				f := fingerprints(t, m, []page{{"", test.a}, {"", test.b}})
				d := m.Distance(f[0], f[1])
				if method.Same(m, f[0], f[1]) != test.want || method.Same(m, f[1], f[0]) != test.want {
					t.Errorf("%s: %s: want the same: %t (distance %.3f)", name, test.name, test.want, d)
				}
				index := newIndex(t, m)
				index.Insert(singlepass.Centre{Fingerprint: f[0]})
				if _, _, ok := index.Nearest(f[1], nil); ok != test.want {
					t.Errorf("%s: %s: found: %t, want %t (distance %.3f)", name, test.name, ok, test.want, d)
				}
			}
		}
	}
}

// The checkpoint says what decides. Sketches of minhash have the number of shingles; whether an
// article quotes another is not asked.
func TestLongSimilarityIsASetting(t *testing.T) {
	for name, m := range longer(t, nil) {
		if got, want := m.ThresholdSettings(), "similarity=0.5,long_similarity=0.7"; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		off := longer(t, func(c *config.Config) { c.Cluster.LongSimilarity = 0 })[name]
		want := off.Identity()
		if name == "minhash" {
			want = strings.Replace(want, ",hashes=128,", ",hashes=128,sketch=counted,", 1)
		}
		if got := m.Identity(); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// The index answers as a scan does, where long texts that are within the threshold are not the
// same, with containment and without.
func TestLongIndexEqualsScan(t *testing.T) {
	check.OneGoroutine(t)
	r := rand.New(rand.NewPCG(15, 15))
	v := newVocabulary(r, 20_000)
	all := make([]page, 300)
	texts := make([][]string, len(all))
	for i := range texts {
		texts[i] = v.text(r, []int{15, 150}[r.IntN(2)])
		if i > 0 && r.IntN(4) > 0 {
			texts[i] = slices.Clone(texts[r.IntN(i)])
			copy(texts[i], v.text(r, r.IntN(1+len(texts[i])/3)))
		}
		all[i].content = strings.Join(texts[i], " ")
	}
	for _, containment := range []float64{0, .9} {
		for name, m := range longer(t, func(c *config.Config) { c.Cluster.Containment = containment }) {
			fingerprints := fingerprints(t, m, all)
			scan, index := singlepass.NewLinearOf(near(m)), newIndex(t, m)
			joined, refused := 0, 0 // refused: another is nearer than what was found, if anything
			var have []singlepass.Fingerprint
			for i, f := range fingerprints {
				want, wantD, wantOK := scan.Nearest(f, nil)
				got, d, ok := index.Nearest(f, nil)
				if got != want || d != wantD || ok != wantOK {
					t.Fatalf("%s: article %d: centre %d at %v, %t; the scan says %d at %v, %t", name, i,
						got.Seq, d, ok, want.Seq, wantD, wantOK)
				}
				if ok && d > 1-.7 {
					joined++
				}
				if slices.ContainsFunc(have, func(h singlepass.Fingerprint) bool {
					e := m.Distance(f, h)
					return e <= m.Threshold() && (!ok || e < d)
				}) {
					refused++
				}
				have = append(have, f)
				c := singlepass.Centre{Fingerprint: f, Seq: uint64(i)}
				scan.Insert(c)
				index.Insert(c)
			}
			if joined < 20 || refused < 20 {
				t.Errorf("%s: %d joined beyond .3, %d refused within .5: the test shows little", name, joined,
					refused)
			}
		}
	}
}
