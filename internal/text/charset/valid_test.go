package charset

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func wantValid(t *testing.T, b []byte) {
	t.Helper()
	if got, want := valid(b), utf8.Valid(b); got != want {
		t.Fatalf("%x: %v, want %v", b, got, want)
	}
}

// Each beginning of a character, valid or not, at each place in a block, and across its end.
func TestValidBeginnings(t *testing.T) {
	edges := []byte{0, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC2, 0xE4, 0xFF}
	text := []byte(strings.Repeat("中x", 40))
	for first := range 256 {
		for _, second := range edges {
			for _, third := range edges {
				for _, fourth := range []byte{'a', 0x80} {
					for at := 55; at < 72; at++ {
						b := bytes.Clone(text)
						copy(b[at:], []byte{byte(first), second, third, fourth})
						wantValid(t, b)
						for end := at + 1; end < at+5; end++ {
							wantValid(t, b[at-at%4:end])
						}
					}
				}
			}
		}
	}
}

// A text that is cut anywhere.
func TestValidOfPrefixes(t *testing.T) {
	text := []byte(strings.Repeat("中文", 30) + strings.Repeat("x", 80) + strings.Repeat("文é新", 30))
	for from := range 70 {
		for end := from; end <= len(text); end++ {
			wantValid(t, text[from:end])
		}
	}
}

func TestValidOfRandomTexts(t *testing.T) {
	pieces := []string{
		"a", "abcdefgh", "中", "中文", "中文新闻，", "é", "ы", "😀", "\u0800", "\ud7ff",
		"\ue000", "\uffff", "\U0010ffff",
		"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
		"\xf4\x90\x80\x80", "\xe4\xb8",
		"\xf5", "\xff", "\x00",
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		var b strings.Builder
		b.WriteString(strings.Repeat("中", random.IntN(40)))
		for range random.IntN(24) {
			good := 13
			if random.IntN(40) == 0 {
				good = len(pieces)
			}
			b.WriteString(pieces[random.IntN(good)])
		}
		wantValid(t, []byte(b.String()))
	}
}

// FuzzValid: the seeds are in testdata/fuzz/FuzzValid.
func FuzzValid(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) { wantValid(t, b) })
}

func BenchmarkValid(b *testing.B) {
	for name, text := range map[string]string{
		"chinese": strings.Repeat("本市今日举行了一场活动，来自各地的1200多名代表参加。", 30),
		"english": strings.Repeat("The typhoon made landfall near the harbour on Monday. ", 40),
		"russian": strings.Repeat("Тайфун обрушился на побережье в понедельник. ", 30),
		"emoji":   strings.Repeat("好👍👍🏽 ", 150),
	} {
		for way, check := range map[string]func([]byte) bool{"plain": utf8.Valid, "new": valid} {
			b.Run(name+"/"+way, func(b *testing.B) {
				text := []byte(text)
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					check(text)
				}
			})
		}
	}
}
