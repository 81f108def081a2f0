package pinyin

import (
	"math"

	"github.com/clusterd/clusterd/internal/simhash/keyedhash"
)

// windows divides a text's letters into windows and tells them apart by a number. It is
// not safe for concurrent use.
type windows struct {
	size, step int // letters
	levels     int
	fixed      bool
	hash       *keyedhash.Hash // of windows
	anchors    *keyedhash.Hash
	// table has the digits of all letters that occur so many times in a whole window with so many
	// Chinese letters, at chinese·(size+1) + times; nil where they are not made beforehand
	table [][26]byte
	queue []start // memory that is used again
}

// A start is where a window may begin, with the hash of the letters there.
type start struct {
	at   int
	hash uint64
}

// anchor is how many letters decide whether a window begins with them: enough to be rare,
// few enough to be seldom hit by an edit.
const anchor = 4

// each hands on the windows of a text. One that is not longer than a window is a window. Of
// a longer one all windows are whole, as the last one would else depend on where the text
// ends.
func (w *windows) each(letters []byte, do func(window []byte)) {
	last := len(letters) - w.size // where a window may begin
	switch {
	case len(letters) == 0:
	case last <= 0:
		do(letters)
	case w.fixed:
		for at := 0; at <= last; at += w.step {
			do(letters[at : at+w.size])
		}
	default:
		w.winnow(letters, last, func(at int) { do(letters[at : at+w.size]) })
	}
}

// winnow hands on where the content has windows begin: at the smallest hash, the last among
// equals, of each 2·step-1 neighbouring places ("Winnowing: Local Algorithms for Document
// Fingerprinting", Schleimer, Wilkerson and Aiken, SIGMOD 2003). So windows follow one
// another by a step on average and by less than two always, and what decides on one is
// near it: a paragraph in front changes no window further on.
func (w *windows) winnow(letters []byte, last int, do func(at int)) {
	places := min(2*w.step-1, last+1)
	w.queue = w.queue[:0] // of ascending hashes: those that may become the smallest
	first, chosen := 0, -1
	for at := 0; at <= last; at++ {
		hash := w.anchors.Sum(letters[at : at+anchor])
		for len(w.queue) > first && w.queue[len(w.queue)-1].hash >= hash {
			w.queue = w.queue[:len(w.queue)-1]
		}
		w.queue = append(w.queue, start{at, hash})
		if w.queue[first].at <= at-places {
			first++
		}
		if smallest := w.queue[first].at; at >= places-1 && smallest != chosen {
			do(smallest)
			chosen = smallest
		}
	}
}

// number tells windows apart by how often each letter occurs. The digits of the letters in
// alphabetical order are the published number. Here it is hashed, since beyond five levels it does
// not fit into 64 bits.
func (w *windows) number(window []byte) uint64 {
	digits := w.digits(window)
	return w.hash.Sum(digits[:])
}

// digits writes how often each letter occurs as a digit.
//
// As published there are twenty letters. No syllable begins with i, u or v, so it would be 23;
// texts that are mixed with English, or in it, need all.
func (w *windows) digits(window []byte) (digits [26]byte) {
	var (
		counts  [26]int
		chinese int // letters
	)
	for _, letter := range window {
		if letter >= 'a' {
			chinese++
		}
		counts[letter|0x20-'a']++ // in lower case
	}
	if len(window) == w.size && w.table != nil {
		of := w.table[chinese*(w.size+1):]
		for i, count := range counts {
			digits[i] = of[count][i]
		}
		return digits
	}
	for i, count := range counts {
		digits[i] = w.digit(i, count, chinese, len(window))
	}
	return digits
}

// digit returns the digit of a letter that occurs count times among so many letters, of which some
// are Chinese. What its language has us expect is taken off, so that what stands out counts; the
// rest is measured in its standard deviations (of a Poisson distribution) and cut into levels of
// one deviation each, with 0 in their middle.
func (w *windows) digit(letter, count, chinese, letters int) byte {
	// In ten thousandths. Integers and one division are the same on every machine.
	expected := chinese*initials[letter] + (letters-chinese)*english[letter]
	deviations := float64(count*10_000-expected) / math.Sqrt(float64(expected*10_000))
	level := math.Floor(deviations + float64(w.levels)/2)
	return '0' + byte(min(max(level, 0), float64(w.levels-1)))
}

// maxTabled is of how many letters a window may be whose digits are made beforehand. They take
// 430 KB then.
const maxTabled = 128

// tabulate makes the digits of whole windows beforehand. In a run of one letter a window begins at
// each place: a text of such runs took a third of a second for each MiB.
func (w *windows) tabulate() {
	if w.size > maxTabled {
		return
	}
	w.table = make([][26]byte, 0, (w.size+1)*(w.size+1))
	for chinese := range w.size + 1 {
		for count := range w.size + 1 {
			var digits [26]byte
			for letter := range digits {
				digits[letter] = w.digit(letter, count, chinese, w.size)
			}
			w.table = append(w.table, digits)
		}
	}
}
