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

// containing returns the methods that know containment, with it.
func containing(t testing.TB, change func(*config.Config)) map[string]method.Method {
	t.Helper()
	methods := make(map[string]method.Method)
	for _, name := range method.Using("cluster.containment") {
		c := configured(name)
		c.Cluster.Containment = .9
		if change != nil {
			change(&c)
		}
		m, err := method.New(c.MethodSettings())
		if err != nil {
			t.Fatal(err)
		}
		methods[name] = m
	}
	return methods
}

// near is the rule as a user reads it.
func near(m method.Method) func(a, b singlepass.Fingerprint) (float64, bool) {
	return func(a, b singlepass.Fingerprint) (float64, bool) {
		return m.Distance(a, b), method.Same(m, a, b)
	}
}

// A copy is the same where it was cut to a good half, or has as much again around it.
func TestContained(t *testing.T) {
	check.OneGoroutine(t)
	r := rand.New(rand.NewPCG(4, 4))
	v := newVocabulary(r, 20_000)
	words, other := v.text(r, 120), v.text(r, 120)
	join := func(parts ...[]string) string { return strings.Join(slices.Concat(parts...), " ") }
	for _, secret := range []string{"", "sixteen bytes or more"} {
		for name, m := range containing(t, func(c *config.Config) {
			c.Fingerprint.Secret = config.Secret(secret)
		}) {
			fingerprint := m.NewFingerprinter()
			founder, _ := fingerprint("", join(words))
			for _, test := range []struct {
				name, text string
				want       bool
			}{
				{"the same", join(words), true},
				{"its first 80 words", join(words[:80]), true},
				{"its last 80 words", join(words[40:]), true},
				{"with 60 around it", join(other[:30], words, other[30:60]), true},
				{"its first 40 words", join(words[:40]), false}, // a Jaccard index of a third
				{"80 of its words, and 30 others", join(words[:80], other[:30]), false},
				{"others", join(other), false},
				{"quoted by another", "I agree.\n> " + join(words), true},
			} {
				text, _ := fingerprint("", test.text)
				if got := method.Same(m, founder, text); got != test.want {
					t.Errorf("%s: %s: %t, want %t", name, test.name, got, test.want)
				}
				if method.Same(m, founder, text) != method.Same(m, text, founder) {
					t.Errorf("%s: %s: not both ways", name, test.name)
				}
				index := newIndex(t, m)
				index.Insert(singlepass.Centre{Fingerprint: founder})
				_, d, ok := index.Nearest(text, nil)
				if ok != test.want || ok && d != m.Distance(founder, text) {
					t.Errorf("%s: %s: found %t at %v; want %t at %v", name, test.name, ok, d, test.want,
						m.Distance(founder, text))
				}
			}
			one, _ := fingerprint("Re: it", "I agree.\n> "+join(words))
			answer, _ := fingerprint("Re: it", join(other[:60])+"\n> "+join(words))
			if method.Same(m, one, answer) {
				t.Errorf("%s: two answers to one message are the same by containment", name)
			}
			brief, cut := join(words[:12]), join(words[:8])
			a, _ := fingerprint("", brief)
			b, _ := fingerprint("", cut)
			if method.Same(m, a, b) {
				t.Errorf("%s: texts of some 60 characters are the same by containment", name)
			}
		}
	}
}

// Without the setting the threshold alone decides, and with it the checkpoint says so.
func TestContainmentIsASetting(t *testing.T) {
	all, err := made()
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range containing(t, nil) {
		if got, want := m.ThresholdSettings(), all[name].ThresholdSettings()+",containment=0.9"; got !=
			want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got, want := method.Using("cluster.containment"), []string{"minhash", "shingle"}; !slices.Equal(
		got, want) {
		t.Errorf("%v use it, want %v", got, want)
	}
	each(t, func(t *testing.T, m method.Method) {
		all := fingerprints(t, m, cutPages(60))
		for i, a := range all {
			for _, b := range all[:i] {
				if d := m.Distance(a, b); method.Same(m, a, b) != (d <= m.Threshold()) {
					t.Fatalf("the same: %t, at %v with a threshold of %v", method.Same(m, a, b), d,
						m.Threshold())
				}
			}
		}
	})
}

// cutPages are pages, of which many are cut copies.
func cutPages(n int) []page {
	all, r := pages(n), rand.New(rand.NewPCG(6, 6))
	for i := range all {
		if r.IntN(2) == 0 {
			text := []rune(all[r.IntN(n)].content)
			all[i].content = string(text[:len(text)/2+r.IntN(len(text)/2)])
		}
	}
	return all
}

// The index answers as a scan does, with containment too. minhash may overlook a centre that is
// contained alone; of these so few are, that it sees all.
func TestContainedIndexEqualsScan(t *testing.T) {
	check.OneGoroutine(t)
	all := cutPages(300)
	for name, m := range containing(t, nil) {
		t.Run(name, func(t *testing.T) {
			fingerprints := fingerprints(t, m, all)
			for _, f := range fingerprints {
				if err := m.Check(f); err != nil {
					t.Fatal(err)
				}
				for _, short := range []string{f.Sketch[1:], f.Sketch[:len(f.Sketch)-4], f.Sketch + "x"} {
					if m.Check(singlepass.Fingerprint{Hash: f.Hash, Sketch: short}) == nil {
						t.Fatal("a sketch of another length is taken")
					}
				}
			}
			scan, index := singlepass.NewLinearOf(near(m)), newIndex(t, m)
			joined, contained := 0, 0
			for i, f := range fingerprints {
				want, wantD, wantOK := scan.Nearest(f, nil)
				got, d, ok := index.Nearest(f, nil)
				if got != want || d != wantD || ok != wantOK {
					t.Fatalf("article %d: centre %d at %v, %t; the scan says %d at %v, %t", i, got.Seq, d, ok,
						want.Seq, wantD, wantOK)
				}
				if ok {
					joined++
					if d > m.Threshold() {
						contained++
					}
				}
				if !ok || i%3 == 0 {
					c := singlepass.Centre{Fingerprint: f, Seq: uint64(i)}
					scan.Insert(c)
					index.Insert(c)
				}
			}
			if contained < 20 || joined-contained < 20 {
				t.Errorf("%d joined, %d of them contained: the test shows little", joined, contained)
			}
		})
	}
}
