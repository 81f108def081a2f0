package contact

import (
	"bytes"
	"slices"
	"strings"
)

// announcedBehind reports whether words such as "on Telegram" stand behind a name.
func (s *scanner) announcedBehind(end int) bool {
	rest := s.text[end:min(len(s.text), end+len(" on my ")+longestKeyword+1)]
	for _, between := range []string{" on my ", " on ", " via ", " in ", " (", " [", " - "} {
		after, ok := bytes.CutPrefix(rest, []byte(between))
		if !ok {
			continue
		}
		n := 0
		for n < len(after) && isLetter(after[n]) {
			n++
		}
		kind := asciiKeywords[string(after[:n])]
		return kind == kindName || string(after[:n]) == "whatsapp"
	}
	return false
}

// mailAt are hosts of mail before which "at" may be written as a word: "sam at gmail dot com".
var mailAt = setOf("gmail googlemail yahoo hotmail outlook proton protonmail icloud yandex " +
	"gmx aol mail qq 163 126")

// wordAt returns the length of " at " before a host of mail, 0 if something else stands there.
func wordAt(rest []byte) int {
	after, ok := bytes.CutPrefix(rest, []byte(" at "))
	if !ok {
		return 0
	}
	n := 0
	for n < len(after) && isAlnum(after[n]) {
		n++
	}
	isDot := bytes.HasPrefix(after[n:], []byte(" dot ")) || bytes.HasPrefix(after[n:], []byte("."))
	if !isDot || !mailAt[string(after[:n])] {
		return 0
	}
	return len(" at ")
}

// beforeSite are words that stand before a site and are no part of its name.
var beforeSite = setOf("a an and at buy by check click com dot find for from get go google " +
	"in is it join just look my new now of on open or order our out search see shop site that " +
	"the this to try use via visit web website with you your www http https")

// spelledSite takes a site the name of which is spelled as words, the last of them of digits: "best
// pills 24 dot com", up to three words. Without a number it may be any words before "dot com". Its
// last word begins at start and ends at end.
func (s *scanner) spelledSite(start, end int) bool {
	last := s.text[start:end]
	if !onlyDigits(last) || len(last) > 4 || len(last) == 4 && isYear(last) {
		return false
	}
	after, ok := bytes.CutPrefix(s.text[end:], []byte(" dot com"))
	if !ok || len(after) > 0 && classes[after[0]]&inWord != 0 || isBubble(after) {
		return false
	}
	from := start
	for range 2 {
		word := s.wordBefore(from)
		if word == nil || beforeSite[string(word)] {
			break
		}
		from -= len(word) + 1
	}
	name := bytes.ReplaceAll(s.text[from:end], []byte(" "), nil)
	if from == start || len(name) < 6 {
		return false
	}
	s.addURL(append(name, ".com"...), []byte{}, from, end+len(" dot com"))
	return true
}

// bubbles follow "dot com" where that is what firms and their shares were called. They are the
// beginnings of words.
var bubbles = [][]byte{
	[]byte(" boom"), []byte(" bubble"), []byte(" bust"), []byte(" crash"), []byte(" era"),
	[]byte(" compan"), []byte(" culture"), []byte(" stock"), []byte(" startup"),
}

func isBubble(after []byte) bool {
	return slices.ContainsFunc(bubbles, func(word []byte) bool { return bytes.HasPrefix(after, word) })
}

// wordBefore returns the word of ASCII letters that ends with one space before a place, nil if
// there is none or it belongs to the contact before.
func (s *scanner) wordBefore(at int) []byte {
	if at < 2 || s.text[at-1] != ' ' {
		return nil
	}
	from := at - 1
	for from > s.taken && isLetter(s.text[from-1]) {
		from--
	}
	if from == at-1 || from > 0 && s.text[from-1] != ' ' && s.text[from-1] != '\n' {
		return nil
	}
	return s.text[from : at-1]
}

// gapped returns where a name ends that was announced in Chinese and is written with gaps, as in
// 加薇信：qian 8888 zhuan: two or three words of ASCII with a number among them, and nothing else
// that such a word follows. Its first word ends at end. It returns end if there is no such name.
func (s *scanner) gapped(end int, wanted wants) int {
	if !wanted.wide || !wanted.sure {
		return end
	}
	digits, to := 0, end
	for words := 1; to+1 < len(s.text) && s.text[to] == ' ' && isAlnum(s.text[to+1]); words++ {
		next := s.wordEnd(to + 1)
		if words == 3 {
			return end // a sentence
		}
		_, n := count(s.text[to+1 : next])
		digits, to = digits+n, next
	}
	if digits < 2 || digits > 6 || to < len(s.text) && strings.IndexByte("+-@./", s.text[to]) >= 0 {
		return end // of more it is a telephone number
	}
	return to
}
