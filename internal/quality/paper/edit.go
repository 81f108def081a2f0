package paper

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// An edit changes a text. A share is one of the text's characters: what is edited has as many,
// or more by less than the last word. A text without words stays as it is.
type edit func(text string, d dice, others donor) string

// adding puts in words of other articles, one at a time at random places.
func adding(share float64) edit {
	return func(text string, d dice, others donor) string {
		units := words(text)
		places, want := wordPlaces(units), target(text, share)
		for len(places) > 0 && want > 0 {
			word, at := others.word(d), places[d.n(len(places))]
			units[at] = spaced(word) + units[at]
			want -= utf8.RuneCountInString(word)
		}
		return strings.Join(units, "")
	}
}

// addingPassage puts in one passage of another article.
func addingPassage(share float64) edit {
	return func(text string, d dice, others donor) string {
		units := words(text)
		if places := wordPlaces(units); len(places) > 0 {
			at := places[d.n(len(places))]
			units[at] = spaced(others.passage(d, target(text, share))) + units[at]
		}
		return strings.Join(units, "")
	}
}

// deleting takes words out, one at a time at random places.
func deleting(share float64) edit {
	return replacing(share, func(dice, donor) string { return "" })
}

// deletingPassage takes out one passage.
func deletingPassage(share float64) edit {
	return func(text string, d dice, _ donor) string {
		units := words(text)
		start, end := stretch(units, target(text, share), d)
		return strings.Join(slices.Delete(units, start, end), "")
	}
}

// changing puts words of other articles in the place of the text's, one at a time at random
// places.
func changing(share float64) edit {
	return replacing(share, func(d dice, others donor) string { return others.word(d) })
}

func replacing(share float64, by func(dice, donor) string) edit {
	return func(text string, d dice, others donor) string {
		units := words(text)
		places, want := wordPlaces(units), target(text, share)
		shuffle(d, places)
		for _, at := range places {
			if want <= 0 {
				break
			}
			want -= utf8.RuneCountInString(units[at])
			units[at] = by(d, others)
		}
		return strings.Join(units, "")
	}
}

// reordering cuts all sentences out and puts them back in random order, which is another one
// where that can be.
func reordering(text string, d dice, _ donor) string {
	all := sentences(text)
	before := slices.Clone(all)
	if shuffle(d, all); slices.Equal(all, before) {
		slices.Reverse(all)
	}
	// The last one may have no space or line break after it.
	for i, s := range all[:max(len(all)-1, 0)] {
		if last, _ := utf8.DecodeLastRuneInString(s); last < utf8.RuneSelf && last != '\n' &&
			last != ' ' {
			all[i] += " "
		}
	}
	return strings.Join(all, "")
}

// target returns how many characters a share of the text is, rounded up.
func target(text string, share float64) int {
	n := float64(utf8.RuneCountInString(text)) * share
	if whole := int(n); float64(whole) < n {
		return whole + 1
	}
	return int(n)
}

// wordPlaces returns where among the units the words are.
func wordPlaces(units []string) []int {
	var places []int
	for i, u := range units {
		if isWord(u) {
			places = append(places, i)
		}
	}
	return places
}

// stretch returns a random run of units that have the wanted number of characters or, by less
// than the last unit, more. Of fewer characters it is all.
func stretch(units []string, want int, d dice) (start, end int) {
	last := len(units)
	for rest := 0; last > 0 && rest < want; {
		last--
		rest += utf8.RuneCountInString(units[last])
	}
	start = d.n(last + 1)
	for end = start; end < len(units) && want > 0; end++ {
		want -= utf8.RuneCountInString(units[end])
	}
	return start, end
}

// A donor is the articles that added text is taken from: those of the sample.
type donor struct {
	units  [][]string // of each article, by words; each has a word
	places [][]int    // where its words are
	self   int        // the article that is edited, which gives nothing
}

func newDonor(texts []string) donor {
	var d donor
	for _, t := range texts {
		units := words(t)
		d.units, d.places = append(d.units, units), append(d.places, wordPlaces(units))
	}
	return d
}

// article draws one that is not edited.
func (o donor) article(d dice) int {
	i := d.n(len(o.units) - 1)
	if i >= o.self {
		i++
	}
	return i
}

func (o donor) word(d dice) string {
	i := o.article(d)
	return o.units[i][o.places[i][d.n(len(o.places[i]))]]
}

// passage returns a passage of the wanted number of characters or, by less than the last word,
// more; where one article does not have as many, it goes on in the next.
func (o donor) passage(d dice, want int) string {
	var b strings.Builder
	for want > 0 {
		units := o.units[o.article(d)]
		start, end := stretch(units, want, d)
		for _, u := range units[start:end] {
			b.WriteString(u)
			want -= utf8.RuneCountInString(u)
		}
	}
	return b.String()
}
