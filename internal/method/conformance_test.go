package method_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/sample"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/testutil/golden"
)

// configured is a method with its defaults, but so that it finds every centre that is near enough.
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

// pages are n made-up articles, of which many are others again: whole, with words changed, cut, or
// turned around.
func pages(n int) []page {
	articles, r := sample.New(5, time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)), rand.New(rand.NewPCG(5, 5))
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
	if err == nil || !strings.Contains(err.Error(), "md5") || !strings.Contains(err.Error(), strings.Join(method.Names(), ", ")) {
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
	if err := c.Set("fingerprint.method", "?"); err == nil || !strings.Contains(err.Error(), strings.Join(method.Names(), ", ")) {
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

// What reads alike is alike.
func TestFingerprinterNormalizes(t *testing.T) {
	const text = "the storm of may 2026 has reached the coast, and 台风登陆后居民已经转移到学校和体育馆,当地政府表示没有人员伤亡。"
	each(t, func(t *testing.T, m method.Method) {
		fingerprint := m.NewFingerprinter()
		want, ok := fingerprint("台风", text)
		for name, same := range map[string]page{
			"upper case":           {"台风", strings.ToUpper(text)},
			"traditional":          {"颱風", strings.ReplaceAll(strings.ReplaceAll(text, "台风登陆", "颱風登陸"), "转移", "轉移")},
			"full width":           {"台风", strings.ReplaceAll(text, "2026", "２０２６")},
			"invisible characters": {"台\u200b风", strings.ReplaceAll(text, "m", "m\u200b")},
			"markup":               {"台风", "<p>" + strings.ReplaceAll(text, " ", "&nbsp;<!-- x -->") + "</p><script>var x</script>"},
		} {
			if got, _ := fingerprint(same.title, same.content); got != want || !ok {
				t.Errorf("%s: distance %v", name, m.Distance(got, want))
			}
		}
	})
}

func TestNothingToCompare(t *testing.T) {
	each(t, func(t *testing.T, m method.Method) {
		fingerprint := m.NewFingerprinter()
		for _, nothing := range []string{"", " \n\t", "!?…。", "-----", "\u200b\ufeff", "<br><p></p>"} {
			if got, ok := fingerprint("", nothing); ok {
				t.Errorf("%q has fingerprint %x", nothing, got)
			}
		}
		for _, rubbish := range []string{"\xff\xfestorm", "storm\x00coast", "好", "7", strings.Repeat("a", 1<<20), strings.Repeat("<", 5000) + "storm", "𠀀😀字"} {
			got, ok := fingerprint("", rubbish)
			if d := m.Distance(got, got); !ok || d != 0 {
				t.Errorf("%.20q: %t, distance from itself %v", rubbish, ok, d)
			}
		}
	})
}

func TestDistance(t *testing.T) {
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

// A threshold is named by the settings that make it.
func TestThreshold(t *testing.T) {
	for name, want := range map[string]string{
		"simhash": "distance=3", "simhash+verify": "verified_distance=10,similarity=0.78", "minhash": "similarity=0.77",
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
				c, d, ok := index.Nearest(f, func(c singlepass.Centre) bool {
					if asked[c.Seq] || have[c.Seq] != c {
						t.Fatalf("asked of %v, again or not in the index", c)
					}
					asked[c.Seq] = true
					return live(c)
				})
				wantC, wantD, wantOK := scan.Nearest(f, live)
				if c != wantC || d != wantD || ok != wantOK {
					t.Fatalf("step %d: centre %d at %v, %t; the scan says %d at %v, %t", seq, c.Seq, d, ok, wantC.Seq, wantD, wantOK)
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
	const window = 40
	all := pages(300)
	each(t, func(t *testing.T, m method.Method) {
		fingerprints := fingerprints(t, m, all)
		lastSeen := make(map[uint64]int64)
		clusters := make(map[uint64]singlepass.Centre)
		start := func() *singlepass.Space {
			return singlepass.NewSpace(newIndex(t, m), window*time.Millisecond, func(c singlepass.Centre) int64 { return lastSeen[c.Seq] })
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
				if stopped.Expired(lastSeen[seq]) {
					stopped.Remove(c)
					delete(clusters, seq)
				}
			}
			if i%70 == 69 {
				state := stopped.State()
				stopped = start()
				stopped.BulkLoad(len(clusters), maps.Values(clusters))
				stopped.Resume(state)
			}
		}
		if joined < 20 || stopped.Len() >= left.Len() {
			t.Errorf("%d joined, %d of %d centres are left: the test shows little", joined, stopped.Len(), left.Len())
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
	c := config.Default()
	c.Cluster.Similarity, c.Cluster.Distance, c.Fingerprint.Shingle.Size, c.Fingerprint.Hashes = .7, 2, 3, 64
	for _, name := range []string{"minhash", "shingle", "ksentence", "pinyin", "exact"} { // those that load no dictionary
		c.Fingerprint.Method = name
		if _, err := method.New(c.MethodSettings()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Fingerprints are stored and compared for years: what they are must not change without a new
// identity.
func TestGolden(t *testing.T) {
	all := pages(3)
	var lines strings.Builder
	each(t, func(t *testing.T, m method.Method) {
		fmt.Fprintln(&lines, m.Identity())
		for _, f := range fingerprints(t, m, all) {
			fmt.Fprintf(&lines, "\t%016x, sketch of %d bytes: %016x\n", f.Hash, len(f.Sketch), xxh3.HashString(f.Sketch))
		}
	})
	golden.Check(t, "testdata/fingerprints.golden", []byte(lines.String()))
}
