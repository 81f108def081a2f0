package minhash

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/clusterd/clusterd/internal/method/shingling"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/text"
)

var _ singlepass.Index = (*index)(nil)

func testOptions(t testing.TB) Options {
	t.Helper()
	cleaner, err := text.NewCleaner(text.CleanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return Options{
		Shingles: shingling.Shingles{Cleaner: cleaner, Size: 5}, Signature: "fast", Hashes: 128,
		Recall: 0.999,
	}
}

func newTest(t testing.TB, change func(*Options)) *Method {
	t.Helper()
	o := testOptions(t)
	if change != nil {
		change(&o)
	}
	m, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestNewRefuses(t *testing.T) {
	check.OneGoroutine(t)
	for _, test := range []struct {
		change func(*Options)
		want   string
	}{
		{
			func(o *Options) { o.Signature = "slow" },
			`unknown signature "slow": allowed are fast, permutation and functions`,
		},
		{func(o *Options) { o.Shingles.Size = 0 }, "shingles of size 0: allowed is 1 or more"},
		{func(o *Options) { o.Hashes = 1025 }, "1025 hashes: allowed are 1 to 1024"},
		{func(o *Options) { o.Similarity = 1.1 }, "similarity 1.1: allowed is more than 0, up to 1"},
		{func(o *Options) { o.Similarity = -1 }, "similarity -1: allowed is more than 0, up to 1"},
		{func(o *Options) { o.Recall = 0 }, "recall 0: allowed is more than 0, up to 1"},
	} {
		o := testOptions(t)
		test.change(&o)
		if m, err := New(o); m != nil || err == nil || err.Error() != test.want {
			t.Errorf("got %v, error %v; want error %s", m, err, test.want)
		}
	}
	for _, threshold := range []float64{-0.1, 1, 2} {
		want := fmt.Sprintf("minhash: distance %v: allowed is 0 to less than 1", threshold)
		if index, err := newTest(t, nil).NewIndex(threshold); index != nil || err == nil ||
			err.Error() != want {
			t.Errorf("got %v, error %v; want error %s", index, err, want)
		}
	}
}

func TestIdentity(t *testing.T) {
	check.OneGoroutine(t)
	m := newTest(t, nil)
	want := "method=minhash,shingle=characters,size=5,signature=fast,hashes=128," +
		m.options.Shingles.Cleaner.Identity()
	if got := m.Identity(); got != want {
		t.Errorf("identity %s, want %s", got, want)
	}
	// How alike they must be does not change fingerprints.
	same := newTest(t, func(o *Options) { o.Similarity, o.Recall = 0.5, 1 })
	if got := same.Identity(); got != want {
		t.Errorf("identity %s, want %s", got, want)
	}
	// With containment the sketch has more.
	counted := newTest(t, func(o *Options) { o.Rule.Containment = .9 })
	want = strings.Replace(want, "hashes=128", "hashes=128,sketch=counted,quotes=marked", 1)
	if got := counted.Identity(); got != want {
		t.Errorf("identity %s, want %s", got, want)
	}
	f, _ := counted.NewFingerprinter()("", "abcdefabcdef")
	if n := sizeIn(f.Sketch, 128).Elements; n != 6 || counted.Check(f) != nil {
		t.Errorf("%d distinct shingles, want 6; %v", n, counted.Check(f))
	}
	quoting, _ := counted.NewFingerprinter()("Re: it", "No.\n> abcdef")
	if size := sizeIn(quoting.Sketch, 128); !size.Quotes || counted.Check(quoting) != nil {
		t.Errorf("%+v of an article that quotes another; %v", size, counted.Check(quoting))
	}
	none := []byte(f.Sketch[:128] + "\x00\x00\x00\x00")
	if counted.Check(fingerprintOf(none)) == nil {
		t.Error("a sketch of no shingles is taken")
	}
}

// Threshold is where the similarity says, whatever floats make of it.
func TestBound(t *testing.T) {
	check.OneGoroutine(t)
	for _, test := range []struct {
		hashes     int
		similarity float64
		want       float64
	}{
		{128, 0, 29.0 / 128},
		{128, 0.77, 29.0 / 128},
		{128, 0.75, 0.25},
		{128, 1, 0},
		{100, 0.8, 0.2},
		{100, 0.7, 0.3},
		{128, 0.001, 127.0 / 128},
	} {
		m := newTest(t, func(o *Options) { o.Hashes, o.Similarity = test.hashes, test.similarity })
		if got := m.Threshold(); got != test.want {
			t.Errorf("threshold at %v with %d hashes is %v, want %v", test.similarity, test.hashes, got,
				test.want)
		}
		made, err := m.NewIndex(m.Threshold())
		if err != nil {
			t.Fatal(err)
		}
		if got := made.(*index).threshold; got != test.want {
			t.Errorf("the index at %v with %d hashes has threshold %v, want %v", test.similarity,
				test.hashes, got, test.want)
		}
	}
}

// What the shingles of a text are.
func TestShingles(t *testing.T) {
	check.OneGoroutine(t)
	hash := func(runes string) (h uint64) {
		for _, r := range runes {
			h = h*multiplier + uint64(r)
		}
		return h
	}
	for _, test := range []struct {
		title, content string
		want           string // separated by blanks
	}{
		{"", "abc", "abc"},
		{"abcd", "", "abcd"},
		{"a", "b", "ab"},
		{"", "abcde", "abcde"},
		{"Ab", "c\u3000DE\t\n\u2028f", "abcde bcdef"},
		{"颱風登", "陸 了！", "台风登陆了 风登陆了!"},
		{"", "<p>x&nbsp;y</p>z\u200b1", "xyz1"},
		{"", "--7--", "--7--"},
		{"", "aaaaaaa", "aaaaa aaaaa aaaaa"},
		{"", "😀", ""},
		{"", "", ""},
		{" \n", "…！ -- ", ""},
	} {
		var want []uint64
		for _, s := range strings.Fields(test.want) {
			want = append(want, hash(s))
		}
		got, ok := newShingler(testOptions(t)).shinglesOf(test.title, test.content)
		if !slices.Equal(got, want) || ok != (len(want) > 0) {
			t.Errorf("shingles of %q, %q are %x, %t; want %x, of %s", test.title, test.content, got, ok,
				want, test.want)
		}
	}
}

// Rolling over any letters gives the hash of each run of them.
func FuzzRoll(f *testing.F) {
	f.Fuzz(func(t *testing.T, size uint8, data []byte) {
		if size == 0 {
			return
		}
		s := newShingler(Options{Shingles: shingling.Shingles{Size: int(size)}})
		for _, b := range append(data, 'x') {
			s.letters = append(s.letters, uint64(b)<<56|uint64(b))
		}
		var want []uint64
		for at := 0; at == 0 || at+int(size) <= len(s.letters); at++ {
			var hash uint64
			for _, l := range s.letters[at:min(at+int(size), len(s.letters))] {
				hash = hash*multiplier + l
			}
			want = append(want, hash)
		}
		if s.roll(); !slices.Equal(s.shingles, want) {
			t.Errorf("shingles of %d of %x are %x, want %x", size, s.letters, s.shingles, want)
		}
	})
}

// An article is the same as itself in another form, like a changed copy, and unlike another.
func TestDistance(t *testing.T) {
	check.OneGoroutine(t)
	const story = "Typhoon Doksuri made landfall in Jinjiang on Friday morning, with winds of up to " +
		"180 km/h, " +
		"the strongest to hit the province in years. More than 400,000 people had been moved to safer " +
		"places."
	const other = "The central bank left its interest rate unchanged on Thursday, as had been " +
		"expected, and said " +
		"that it would watch prices in the months to come before it decided on anything else."
	for _, signature := range signatureNames() {
		m := newTest(t, func(o *Options) { o.Signature = signature })
		fingerprint := m.NewFingerprinter()
		distance := func(a, b string) float64 {
			fa, okA := fingerprint("", a)
			fb, okB := fingerprint("", b)
			if !okA || !okB || fa.Hash != xxh3.HashString(fa.Sketch) || len(fa.Sketch) != 128 {
				t.Fatalf("%s: fingerprints %x, %t and %x, %t", signature, fa, okA, fb, okB)
			}
			return m.Distance(fa, fb)
		}
		for _, test := range []struct {
			a, b     string
			from, to float64
		}{
			{story, story, 0, 0},
			{story, "<p>" + strings.ToUpper(story) + "</p>", 0, 0},
			{story, strings.ReplaceAll(story, "Friday", "Saturday"), 0.01, 0.2},
			{story, other, 0.9, 1},
			{"好", "好", 0, 0},
			{"好", "坏", 0.9, 1}, // which stay apart however few shingles they have
			{"a", "b", 0.9, 1},
			{"a" + strings.Repeat("-", 5000), "a" + strings.Repeat("-", 9000), 0, 0},
			{"a" + strings.Repeat("-", 5000), "a" + strings.Repeat("=", 5000), 0.9, 1},
		} {
			if got := distance(test.a, test.b); got < test.from || got > test.to {
				t.Errorf("%s: distance of %.40q and %.40q is %v, want %v to %v", signature, test.a, test.b, got,
					test.from, test.to)
			}
		}
	}
}

// A fingerprinter lets the memory of a giant go, and takes none beside the fingerprint for others.
func TestFingerprinterMemory(t *testing.T) {
	check.OneGoroutine(t)
	s := newShingler(testOptions(t))
	for _, content := range []string{strings.Repeat("一二", maxKeptLetters), "short"} {
		if _, ok := s.shinglesOf("", content); !ok {
			t.Fatal("no shingles")
		}
	}
	if cap(s.text) > maxKeptText || cap(s.letters) > maxKeptLetters ||
		cap(s.shingles) > maxKeptLetters {
		t.Errorf("kept %d bytes, %d letters, %d shingles", cap(s.text), cap(s.letters), cap(s.shingles))
	}
	fingerprint := newTest(t, nil).NewFingerprinter()
	content := strings.Repeat("The quick brown fox jumps over the lazy dog. ", 20)
	fingerprint("", content)
	if allocs := testing.AllocsPerRun(20, func() { fingerprint("", content) }); allocs > 1 {
		t.Errorf("%v allocations an article, want the sketch alone", allocs)
	}
}
