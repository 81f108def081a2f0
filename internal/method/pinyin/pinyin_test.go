package pinyin

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	gopinyin "github.com/mozillazg/go-pinyin"

	"github.com/clusterd/clusterd/internal/cli/demo/sample"
	"github.com/clusterd/clusterd/internal/text"
)

func newCleaner(t testing.TB) *text.Cleaner {
	t.Helper()
	cleaner, err := text.NewCleaner(text.CleanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return cleaner
}

func newMethod(t testing.TB, change func(*Options)) *Method {
	t.Helper()
	o := Options{Cleaner: newCleaner(t), Window: 24, Overlap: .5, Levels: 2, Boundaries: "content"}
	change(&o)
	m, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestOptions(t *testing.T) {
	for _, test := range []struct {
		change func(*Options)
		want   string // in the error
	}{
		{func(*Options) {}, ""},
		{func(o *Options) { o.Window = 7 }, "windows of 7 letters"},
		{func(o *Options) { o.Overlap = .95 }, "overlap 0.95"},
		{func(o *Options) { o.Overlap = -1 }, "overlap -1"},
		{func(o *Options) { o.Levels = 1 }, "1 levels"},
		{func(o *Options) { o.Levels = 11 }, "11 levels"},
		{func(o *Options) { o.Boundaries = "any" }, `boundaries "any"`},
		{func(o *Options) { o.Similarity = 1.1 }, "similarity 1.1"},
		{func(o *Options) { o.Similarity = math.NaN() }, "similarity NaN"},
	} {
		o := Options{Cleaner: newCleaner(t), Window: 24, Overlap: .5, Levels: 2, Boundaries: "content"}
		test.change(&o)
		_, err := New(o)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: error %v, want %q", o, err, test.want)
		}
	}
}

func TestIdentity(t *testing.T) {
	m := newMethod(t, func(o *Options) { o.Similarity = .8 })
	if want := "method=pinyin,letters=9c2bfede,window=24,step=12,levels=2,boundaries=content," +
		newCleaner(t).Identity(); m.Identity() != want {
		t.Errorf("identity %q, want %q", m.Identity(), want)
	}
}

func TestFingerprinter(t *testing.T) {
	m := newMethod(t, func(*Options) {})
	fingerprint := m.NewFingerprinter()
	for _, test := range []struct {
		name, a, b string
		same       bool
	}{
		{"other punctuation", "台风登陆，居民转移。", "台风登陆!居民转移", true},
		{"other numbers", "第7号台风登陆", "第18号台风登陆", true},
		{"homophones", "台风登陆，居民转移。", "抬疯灯鹿，巨民专一。", true},
		{"another character", "台风登陆", "台风离开", false},
		{"English", "the storm has reached the coast", "the crops fail for want of rain", false},
		{"Latin letters are not initials", "十二台风登陆居民转移到了学校里安全", "setfdljmzydlxxlaq", false},
		{"another script", "Гроза дошла до берега", "Гроза дошла до берега!", false},
		{"another script, other white space", "Гроза дошла до берега", "Гроза  дошла\nдо берега", true},
	} {
		a, okA := fingerprint("", test.a)
		b, okB := fingerprint("", test.b)
		if !okA || !okB || (m.Distance(a, b) == 0) != test.same {
			t.Errorf("%s: distance %v, %t, %t", test.name, m.Distance(a, b), okA, okB)
		}
	}
	if _, ok := fingerprint("!", " …。"); ok {
		t.Error("punctuation has a fingerprint")
	}
}

// chinese returns made-up articles with more than a few windows.
func chinese(n int) (all []string) {
	articles := sample.New(9, time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC))
	for len(all) < n {
		if content := articles.Next().Content; strings.Count(content, "，") > 5 {
			all = append(all, content)
		}
	}
	return all
}

// homophones returns the characters that the cleaner leaves alone, by reading.
func homophones(t *testing.T) map[string][]rune {
	t.Helper()
	cleaner, args := newCleaner(t), gopinyin.NewArgs()
	by := make(map[string][]rune)
	for r := rune(0x4E00); r <= 0x9FA5; r++ {
		if string(cleaner.AppendClean(nil, "", string(r))) == "\n"+string(r) {
			if reading := gopinyin.SinglePinyin(r, args); len(reading) > 0 {
				by[reading[0]] = append(by[reading[0]], r)
			}
		}
	}
	return by
}

// replaced replaces a share of the Han characters of a text.
func replaced(r *rand.Rand, s string, share float64, by func(rune) rune) string {
	return strings.Map(func(c rune) rune {
		if c >= 0x4E00 && c <= 0x9FA5 && r.Float64() < share {
			return by(c)
		}
		return c
	}, s)
}

// However many characters are replaced by others of the same sound, the article is the same.
func TestHomophones(t *testing.T) {
	m, r, all, args := newMethod(t, func(*Options) {}), rand.New(rand.NewPCG(4, 4)), homophones(t),
		gopinyin.NewArgs()
	fingerprint := m.NewFingerprinter()
	for _, content := range chinese(20) {
		for _, share := range []float64{.05, .3, 1} {
			copied := replaced(r, content, share, func(c rune) rune {
				same := all[gopinyin.SinglePinyin(c, args)[0]]
				return same[r.IntN(len(same))]
			})
			a, _ := fingerprint("", content)
			if b, ok := fingerprint("", copied); a != b || !ok {
				t.Errorf("%.0f %% replaced: distance %v", 100*share, m.Distance(a, b))
			}
		}
	}
}

// A wrong character changes the windows that it is in, and some of those that begin near it.
func TestWrongCharacter(t *testing.T) {
	m, r := newMethod(t, func(*Options) {}), rand.New(rand.NewPCG(5, 5))
	fingerprint := m.NewFingerprinter()
	long := strings.Join(chinese(10), "")
	a, _ := fingerprint("", long)
	for range 50 {
		at := r.IntN(len(long) - 3)
		for long[at] < 0xE4 || long[at] > 0xE9 { // the first byte of most Han characters
			at++
			if at == len(long)-3 {
				at = 0
			}
		}
		b, _ := fingerprint("", long[:at]+"错"+long[at+3:])
		windows := len(a.Sketch) / 8
		if most := 1 - float64(windows-7)/float64(windows+7); m.Distance(a, b) > most {
			t.Errorf("one character of %d windows: distance %v, want at most %v", windows, m.Distance(a, b),
				most)
		}
	}
}

func TestNewIndex(t *testing.T) {
	m := newMethod(t, func(o *Options) { o.Similarity = .6 })
	if m.Threshold() != 1-.6 {
		t.Errorf("threshold %v", m.Threshold())
	}
	if _, err := m.NewIndex(1); err == nil {
		t.Error("a threshold of 1 is allowed")
	}
}
