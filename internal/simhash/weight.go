package simhash

import (
	"math"
	"unicode"
	"unicode/utf8"
)

// one is the weight 1 in fixed point. Weights are integers so that sums are exact:
// a sum of floats would depend on the order of the tokens.
const one = 1 << 16

// A weightFunc returns the weight of a word that occurs count times, at least once.
type weightFunc func(word []byte, count int) int64

func weights() []option[weightFunc] {
	return []option[weightFunc]{
		{"log", newLogWeights().weight},
		{"tf", tfWeight},
		{"set", setWeight},
	}
}

// logWeights holds the log weights of small counts, which are nearly all, for other
// words and for single Chinese characters.
type logWeights struct {
	other, han [64]int64
}

func newLogWeights() *logWeights {
	var w logWeights
	for count := range w.other {
		w.other[count], w.han[count] = logWeight(count, false), logWeight(count, true)
	}
	return &w
}

func (w *logWeights) weight(word []byte, count int) int64 {
	han := len(word) <= utf8.UTFMax && isHanCharacter(word)
	switch {
	case count >= len(w.other):
		return logWeight(count, han)
	case han:
		return w.han[count]
	}
	return w.other[count]
}

// logWeight rounds to a whole number, which also hides that the last bit of
// math.Log1p may differ from one processor architecture to another.
//
// A single Chinese character counts a quarter: it is what segmentation leaves of a
// word that its dictionary lacks, and it recurs in texts that have nothing to do
// with one another. Over five sets of articles and twelve token hashes that raised
// precision and recall both.
func logWeight(count int, han bool) int64 {
	weight := one * math.Log1p(float64(count))
	if han {
		weight /= 4
	}
	return int64(math.Round(weight))
}

func isHanCharacter(word []byte) bool {
	r, size := utf8.DecodeRune(word)
	if size != len(word) {
		return false
	}
	return r >= 0x4E00 && r <= 0x9FFF || unicode.Is(unicode.Han, r) // the block of nearly all, quickly
}

func tfWeight(_ []byte, count int) int64 { return one * int64(count) }

func setWeight([]byte, int) int64 { return one }

// TFIDF is the name of the weight that needs a table.
const TFIDF = "tfidf"

// tfidfWeights are log weights times how rare the word is. That a single Chinese character counts a
// quarter is as right here: measured on real articles, without it less is found and no more of it
// is right.
type tfidfWeights struct {
	log   *logWeights
	table *IDF
}

func (w tfidfWeights) weight(word []byte, count int) int64 {
	weight := w.log.weight(word, count) * int64(w.table.Of(word)) / oneIDF
	return max(step, (weight+step/2)/step*step)
}

// step is what tfidf weights are rounded to: with few different ones a fingerprint takes half the
// time, and it is as good.
const step = one / 2
