package pinyin

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"
)

func randomLetters(r *rand.Rand, n, kinds int) []byte {
	letters := make([]byte, n)
	for i := range letters {
		letters[i] = byte('a' + r.IntN(kinds))
	}
	return letters
}

// all returns the windows of a text.
func (w windows) all(letters []byte) (all []string) {
	w.each(letters, func(window []byte) { all = append(all, string(window)) })
	return all
}

func TestFixedWindows(t *testing.T) {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	for _, test := range []struct {
		letters    string
		size, step int
		want       []string
	}{
		{"", 8, 4, nil},
		{"abc", 8, 4, []string{"abc"}},
		{letters[:8], 8, 4, []string{letters[:8]}},
		{letters[:11], 8, 4, []string{letters[:8]}},
		{letters[:12], 8, 4, []string{letters[:8], letters[4:12]}},
		{letters, 10, 10, []string{letters[:10], letters[10:20]}},
		{letters, 24, 1, []string{letters[:24], letters[1:25], letters[2:]}},
	} {
		w := windows{size: test.size, step: test.step, fixed: true}
		if got := w.all([]byte(test.letters)); !slices.Equal(got, test.want) {
			t.Errorf("windows of %d each %d of %q: %q, want %q", test.size, test.step, test.letters, got,
				test.want)
		}
	}
}

// chosen returns where windows begin, by the definition.
func chosen(letters []byte, size, step int) (starts []int) {
	last := len(letters) - size
	places := min(2*step-1, last+1)
	for from := 0; from+places <= last+1; from++ {
		smallest := from
		for at := from; at < from+places; at++ {
			if xxh3.Hash(letters[at:at+anchor]) <= xxh3.Hash(letters[smallest:smallest+anchor]) {
				smallest = at
			}
		}
		starts = append(starts, smallest)
	}
	return slices.Compact(starts)
}

func TestContentWindows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		w := windows{size: 8 + r.IntN(30), step: 1 + r.IntN(20)}
		letters := randomLetters(r, 1+r.IntN(200), 1+r.IntN(5))
		var want []string
		if len(letters) <= w.size {
			want = []string{string(letters)}
		} else {
			for _, at := range chosen(letters, w.size, w.step) {
				want = append(want, string(letters[at:at+w.size]))
			}
		}
		if got := w.all(letters); !slices.Equal(got, want) {
			t.Fatalf("%+v of %q:\n%q, want\n%q", w, letters, got, want)
		}
	}
}

// What is put in front of a text, or after it, changes no window in it.
func TestContentWindowsStay(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	w := windows{size: 24, step: 12}
	for range 200 {
		text := randomLetters(r, w.size+2*w.step+r.IntN(300), 23)
		before, after := randomLetters(r, r.IntN(100), 23), randomLetters(r, r.IntN(100), 23)
		want, got := strings.Join(w.all(text), " "),
			strings.Join(w.all(slices.Concat(before, text, after)), " ")
		if !strings.Contains(got, want) {
			t.Fatalf("windows of %q are not among those of %q + it + %q", text, before, after)
		}
	}
}

// Windows follow one another by a step on average.
func TestContentWindowsDensity(t *testing.T) {
	w := windows{size: 24, step: 12}
	letters := randomLetters(rand.New(rand.NewPCG(3, 3)), 24_000, 23)
	if n := len(w.all(letters)); n < 1800 || n > 2200 {
		t.Errorf("%d windows of %d letters, want about 2000", n, len(letters))
	}
}

func TestDigits(t *testing.T) {
	for _, test := range []struct {
		window string
		levels int
		want   string // from a to z
	}{
		{strings.Repeat("z", 24), 2, "00000000000000000000000001"},
		{strings.Repeat("z", 24), 3, "10001000100000100000110002"},
		{"abcdefghjklmnopqrstwxyz", 2, "10001100001011111101001000"},
		{"EEEE", 2, "00001000000000000000000000"},
		{"ee", 2, "00001000000000000000000000"},
		{"EE", 3, "11112111111111111111111111"},
	} {
		w := windows{levels: test.levels}
		digits := w.digits([]byte(test.window))
		if got := string(digits[:]); got != test.want {
			t.Errorf("%q in %d levels: %s, want %s", test.window, test.levels, got, test.want)
		}
	}
}

// Digits that are made beforehand are the same.
func TestTabulatedDigits(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, size := range []int{8, 24, maxTabled, maxTabled + 1} {
		for levels := 2; levels <= 10; levels++ {
			plain := windows{size: size, levels: levels}
			tabled := plain
			tabled.tabulate()
			for range 200 {
				window := randomLetters(r, max(1, size-r.IntN(2)), 1+r.IntN(26))
				for i := range window {
					if r.IntN(3) == 0 {
						window[i] -= 'a' - 'A'
					}
				}
				if got, want := tabled.digits(window), plain.digits(window); got != want {
					t.Fatalf("%q in %d levels: %s, want %s", window, levels, got, want)
				}
			}
		}
	}
}

// The order of the letters makes no difference, nor do levels go beyond what there are.
func FuzzDigits(f *testing.F) {
	f.Add("zzzz", 2)
	f.Add("tfdlABC", 3)
	f.Add("THE", 10)
	all := newLetters()
	f.Fuzz(func(t *testing.T, text string, levels int) {
		if levels < 2 || levels > 10 {
			t.Skip()
		}
		w := windows{size: 8, step: 4, levels: levels}
		letters := all.append(nil, []byte(text))
		want := w.digits(letters)
		if smallest, largest := slices.Min(want[:]), slices.Max(want[:]); smallest < '0' ||
			int(largest-'0') >= levels {
			t.Errorf("%q in %d levels: %s", letters, levels, want)
		}
		other := bytes.Clone(letters)
		slices.Reverse(other)
		if got := w.digits(other); got != want {
			t.Errorf("%q: %s, and backwards %s", letters, want, got)
		}
	})
}
