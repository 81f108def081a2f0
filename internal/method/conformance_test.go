package method_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/clusterd/clusterd/internal/cli/demo/sample"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/golden"
)

// configured returns a method with its defaults, but so that it finds every centre that is near
// enough.
func configured(name string) config.Config {
	c := config.Default()
	c.Fingerprint.Method, c.Cluster.Recall = name, 1
	return c
}

// made are the methods, each made once for all tests: some load a dictionary.
var made = sync.OnceValues(func() (map[string]method.Method, error) {
	all := make(map[string]method.Method)
	for _, name := range method.Names() {
		m, err := method.New(configured(name).MethodSettings())
		if err != nil {
			return nil, err
		}
		all[name] = m
	}
	return all, nil
})

// each runs a test for every method: what one promises, all promise.
func each(t *testing.T, test func(t *testing.T, m method.Method)) {
	t.Helper()
	all, err := made()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range method.Names() {
		t.Run(name, func(t *testing.T) { test(t, all[name]) })
	}
}

type page struct{ title, content string }

// pages returns n made-up articles, of which many are others again: whole, with words changed, cut,
// or turned around.
func pages(n int) []page {
	articles, r := sample.New(5, time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)),
		rand.New(rand.NewPCG(5, 5))
	all := make([]page, 0, n)
	for len(all) < n {
		a := articles.Next()
		p := page{a.Title, a.Content}
		if len(all) > 0 && r.IntN(2) == 0 {
			p = changed(r, all[r.IntN(len(all))])
		}
		all = append(all, p)
	}
	return all
}

func changed(r *rand.Rand, p page) page {
	text := []rune(p.content)
	from := r.IntN(len(text) + 1)
	to := min(len(text), from+r.IntN(1+len(text)/20))
	switch r.IntN(4) {
	case 0:
		p.content = string(slices.Delete(text, from, to))
	case 1:
		p.content = string(slices.Insert(text, from, text[from:to]...))
	case 2:
		p.content = string(text[from:]) + string(text[:from])
	}
	return p
}

func fingerprints(t *testing.T, m method.Method, pages []page) []singlepass.Fingerprint {
	t.Helper()
	fingerprint := m.NewFingerprinter()
	all := make([]singlepass.Fingerprint, len(pages))
	for i, p := range pages {
		var ok bool
		if all[i], ok = fingerprint(p.title, p.content); !ok {
			t.Fatalf("article %d has no fingerprint: %q", i, p)
		}
	}
	return all
}

func newIndex(t *testing.T, m method.Method) singlepass.Index {
	t.Helper()
	index, err := m.NewIndex(m.Threshold())
	if err != nil {
		t.Fatal(err)
	}
	return index
}

func TestUnknown(t *testing.T) {
	c := config.Default()
	c.Fingerprint.Method = "md5"
	_, err := method.New(c.MethodSettings())
	if err == nil || !strings.Contains(err.Error(), "md5") ||
		!strings.Contains(err.Error(), strings.Join(method.Names(), ", ")) {
		t.Errorf("error = %v, want one that names md5 and what is allowed", err)
	}
}

// The configuration has a list of its own, and it is the same.
func TestNames(t *testing.T) {
	c := config.Default()
	if c.Fingerprint.Method != method.Names()[0] {
		t.Errorf("the default is %s, want %s", c.Fingerprint.Method, method.Names()[0])
	}
	for _, name := range method.Names() {
		if err := c.Set("fingerprint.method", name); err != nil {
			t.Error(err)
		}
	}
	if err := c.Set("fingerprint.method", "?"); err == nil ||
		!strings.Contains(err.Error(), strings.Join(method.Names(), ", ")) {
		t.Errorf("error = %v, want %v", err, method.Names())
	}
}

// An identity says all that fingerprints depend on.
func TestIdentity(t *testing.T) {
	seen := make(map[string]string)
	each(t, func(t *testing.T, m method.Method) {
		parts := make(map[string]bool)
		for i, part := range strings.Split(m.Identity(), ",") {
			name, value, ok := strings.Cut(part, "=")
			if !ok || value == "" || parts[name] || (i == 0) != (name == "method") {
				t.Errorf("%s: part %q", m.Identity(), part)
			}
			parts[name] = true
		}
		if other, ok := seen[m.Identity()]; ok {
			t.Errorf("the identity of %s too", other)
		}
		seen[m.Identity()] = t.Name()
	})
}

// A threshold is named by the settings that make it.
func TestThreshold(t *testing.T) {
	for name, want := range map[string]string{
		"simhash": "distance=3", "simhash+verify": "verified_distance=10,similarity=0.78",
		"minhash": "similarity=0.77",
		"shingle": "similarity=0.95", "pinyin": "similarity=0.7", "ksentence": "", "exact": "",
	} {
		all, err := made()
		if err != nil {
			t.Fatal(err)
		}
		if got := all[name].ThresholdSettings(); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// The index answers as a scan of all centres does, which compares by Distance, whatever comes and
// goes.
func TestIndexEqualsScan(t *testing.T) {
	check.OneGoroutine(t)
	all := pages(400)
	each(t, func(t *testing.T, m method.Method) {
		fingerprints, r := fingerprints(t, m, all), rand.New(rand.NewPCG(7, 7))
		scan, index := singlepass.NewLinear(m.Threshold(), m.Distance), newIndex(t, m)
		have, found := make(map[uint64]singlepass.Centre), 0
		for seq := range uint64(1500) {
			switch f := fingerprints[r.IntN(len(fingerprints))]; r.IntN(4) {
			case 0:
				c := singlepass.Centre{Fingerprint: f, Seq: seq}
				have[seq] = c
				scan.Insert(c)
				index.Insert(c)
			case 1:
				gone := singlepass.Centre{Fingerprint: f, Seq: r.Uint64N(seq + 1)}
				if c, ok := have[gone.Seq]; ok && r.IntN(3) > 0 {
					gone = c
				}
				was := have[gone.Seq] == gone && len(have) > 0
				if was {
					delete(have, gone.Seq)
				}
				if got := index.Remove(gone); got != scan.Remove(gone) {
					t.Fatalf("Remove says %t, it was there: %t", got, was)
				}
			default:
				live, bit := func(singlepass.Centre) bool { return true }, r.Uint64N(5)
				if r.IntN(2) == 0 {
					live = func(c singlepass.Centre) bool { return c.Seq%5 != bit }
				}
				asked := make(map[uint64]bool)
				c, d, ok := index.Nearest(f, &singlepass.Live{Asked: func(c singlepass.Centre) bool {
					if asked[c.Seq] || have[c.Seq] != c {
						t.Fatalf("asked of %v, again or not in the index", c)
					}
					asked[c.Seq] = true
					return live(c)
				}})
				wantC, wantD, wantOK := scan.Nearest(f, &singlepass.Live{Asked: live})
				if c != wantC || d != wantD || ok != wantOK {
					t.Fatalf("step %d: centre %d at %v, %t; the scan says %d at %v, %t", seq, c.Seq, d, ok,
						wantC.Seq, wantD, wantOK)
				}
				if ok {
					found++
				}
			}
			if index.Len() != len(have) {
				t.Fatalf("%d centres, want %d", index.Len(), len(have))
			}
		}
		if found < 50 || index.Candidates() < uint64(found) {
			t.Errorf("%d found of %d compared: the test shows little", found, index.Candidates())
		}
	})
}

// A space that was stopped and filled again, and one from which expired centres were taken in time,
// go on as one that was left alone.
func TestSpaceGoesOn(t *testing.T) {
	check.OneGoroutine(t)
	const window = 40
	all := pages(400)
	each(t, func(t *testing.T, m method.Method) {
		fingerprints := fingerprints(t, m, all)
		lastSeen := make(map[uint64]int64)
		clusters := make(map[uint64]singlepass.Centre)
		start := func() *singlepass.Space {
			return singlepass.NewSpace(newIndex(t, m), singlepass.Rule{Window: window * time.Millisecond},
				func(seq uint64) int64 { return lastSeen[seq] })
		}
		left, stopped, joined := start(), start(), 0
		for i, f := range fingerprints {
			a, b := left.Assign(f, int64(i)), stopped.Assign(f, int64(i))
			if a != b {
				t.Fatalf("article %d: %+v, and without a stop %+v", i, b, a)
			}
			if a.Joined {
				joined++
			} else if a.Distance != 0 || a.Centre != (singlepass.Centre{Fingerprint: f, Seq: uint64(i)}) {
				t.Fatalf("article %d founded %+v", i, a)
			}
			lastSeen[a.Centre.Seq], clusters[a.Centre.Seq] = int64(i), a.Centre
			for seq, c := range clusters {
				if stopped.Expired("", lastSeen[seq]) {
					stopped.Remove(c)
					delete(clusters, seq)
				}
			}
			if i%70 == 69 {
				state := stopped.State()
				stopped = start()
				stopped.BulkLoad(len(clusters), func(yield func(singlepass.Centre, int64) bool) {
					for seq, c := range clusters {
						if !yield(c, lastSeen[seq]) {
							return
						}
					}
				})
				stopped.Resume(state)
			}
		}
		if joined < 20 || stopped.Len() >= left.Len() {
			t.Errorf("%d joined, %d of %d centres are left: the test shows little", joined, stopped.Len(),
				left.Len())
		}
	})
}

func TestBoundsThatAreNone(t *testing.T) {
	each(t, func(t *testing.T, m method.Method) {
		for _, threshold := range []float64{-1, 65, math.NaN(), math.Inf(1)} {
			if _, err := m.NewIndex(threshold); err == nil || !strings.Contains(err.Error(), "allowed") {
				t.Errorf("NewIndex(%v): error = %v, want one that says what is allowed", threshold, err)
			}
		}
	})
}

// A configuration that was made for one method serves for all, as eval and compare have it.
func TestOtherMethodsSettings(t *testing.T) {
	check.OneGoroutine(t)
	c := config.Default()
	c.Cluster.Similarity, c.Cluster.Distance, c.Fingerprint.Shingle.Size, c.Fingerprint.Hashes = .7, 2,
		3, 64
	// those that load no dictionary
	for _, name := range []string{"minhash", "shingle", "ksentence", "pinyin", "exact"} {
		c.Fingerprint.Method = name
		if _, err := method.New(c.MethodSettings()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Fingerprints are stored and compared for years: what they are must not change without a new
// identity.
func TestGolden(t *testing.T) {
	check.OneGoroutine(t)
	all := pages(3)
	var lines strings.Builder
	each(t, func(t *testing.T, m method.Method) {
		fmt.Fprintln(&lines, m.Identity())
		for _, f := range fingerprints(t, m, all) {
			fmt.Fprintf(&lines, "\t%016x, sketch of %d bytes: %016x\n", f.Hash, len(f.Sketch),
				xxh3.HashString(f.Sketch))
		}
	})
	golden.Check(t, "testdata/fingerprints.golden", []byte(lines.String()))
}
