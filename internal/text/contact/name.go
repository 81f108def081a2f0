package contact

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// name takes a word of letters, digits and underscores: a keyword, what one announces, or a name
// made of letters and digits.
func (s *scanner) name(start, end int) {
	word := s.text[start:end]
	if 1<<len(word)&keywordLengths[word[0]] != 0 && s.keyword(word, start) {
		return
	}
	wanted := s.wanted(start)
	if wanted.kind == kindName {
		end = s.hyphened(start, end)
		word = s.text[start:end]
		if to := s.gapped(end, wanted); to > end {
			s.add(kindName, bytes.ReplaceAll(s.text[start:to], []byte(" "), nil), start, to)
			return
		}
	}
	letters, digits := count(word)
	switch {
	case wanted.kind == kindCode && isCode(word, letters, digits, wanted):
		s.add(kindCode, word, start, end)
	case wanted.kind == kindName && isLetter(word[0]) && isAnnounced(word, letters, digits, wanted):
		s.add(kindName, word, start, end)
	case announces(word[:letters], digits) && onlyDigits(word[letters:]):
		plain := asciiKeywords[string(word[:letters])] == kindChat
		s.add(kindNumber, s.national(word[letters:], plain), start, end) // qq123456
	case string(word) == "watch" && bytes.HasPrefix(s.text[end:], []byte("?v=")):
		s.relativeVideo(start, end)
	case isWWW(word):
		s.addURL(bytes.Replace(word[3:], wwwTop(word), append([]byte("."), wwwTop(word)...), 1), nil,
			start, end)
	case isMadeUp(word, letters, digits), len(s.styled) > 0 && s.isStyled(start, end),
		letters+digits < len(word) && letters >= 4 && len(word) <= 32 && s.announcedBehind(end):
		s.add(kindName, word, start, end)
	}
}

// keyword takes a word that changes what the next one may be.
func (s *scanner) keyword(word []byte, start int) bool {
	wanted := s.wanted(start)
	if wanted.kind != "" && fillerWords[string(word)] {
		s.wants.sure, s.wants.end = wanted.sure || string(word) != "is", s.at+reach
		return true
	}
	if kind, ok := asciiKeywords[string(word)]; ok {
		s.expect(kind, false)
		return true
	}
	if kind, ok := weakKeywords[string(word)]; ok {
		s.expect(kind, true)
		if kind == kindNumber {
			s.sending = s.at
		}
		return true
	}
	if w := string(word); (w == "to" || w == "on") && s.sending > 0 && start-s.sending <= sendsTo {
		s.expect(kindNumber, true)
		return true
	}
	if currencies[string(word)] {
		s.money = s.at
	}
	return false
}

// announces reports whether letters before so many digits say that these are a contact.
func announces(letters []byte, digits int) bool {
	if digits < fewestAnnounced || len(letters) > longestKeyword {
		return false
	}
	kind := asciiKeywords[string(letters)]
	return kind == kindNumber || kind == kindChat || kind == kindName || string(letters) == "v" ||
		digits >= fewestDigits && weakKeywords[string(letters)] == kindNumber
}

// isCode reports whether a word that was announced as a code is one.
func isCode(word []byte, letters, digits int, wanted wants) bool {
	return digits > 0 && letters > 0 && len(word) >= 4 && len(word) <= 16 &&
		(isLetter(word[0]) || !wanted.weak)
}

// longestName is how many letters and digits a name has at most that a keyword announces.
const longestName = 24

// isAnnounced reports whether a word that was announced as a name is one. Of letters alone it may
// as well be the next word of a sentence.
func isAnnounced(word []byte, letters, digits int, wanted wants) bool {
	if n := letters + digits; n < 5 || n > longestName {
		return false
	}
	return digits > 0 || bytes.IndexByte(word, '_') > 0 || wanted.sure && letters >= 6
}

// hyphened returns where a name ends that may have hyphens in it; its first part ends at end.
func (s *scanner) hyphened(start, end int) int {
	for end-start < longestName && end+1 < len(s.text) && s.text[end] == '-' &&
		isAlnum(s.text[end+1]) {
		end = s.wordEnd(end + 1)
	}
	return end
}

// isMadeUp reports whether a word is a name made of letters and digits, such as alexis17, sk38xh
// or 88bet77: at least three letters and two digits, and six of both, or five if the two digits are
// the same, as in bet77; or two letters and six digits. It is no measure as in 512kbps, no ordinal
// as in july12th, no letters and a year as in euro2024, no praise as in nice666, and nothing that
// changes so often between letters and digits that it is a key or a hash.
func isMadeUp(word []byte, letters, digits int) bool {
	if digits == 1 && letters >= 4 && len(word) <= 20 {
		return bytes.HasSuffix(word, []byte("4d")) // lotteries of four digits are called so
	}
	least := 6
	if digits == 2 && isLetter(word[0]) && word[len(word)-1] == word[len(word)-2] {
		least = 5
	}
	if digits < 2 || letters == 0 || letters+digits < least || len(word) > 20 {
		return false
	}
	runs := 1
	for i := 1; i < len(word); i++ {
		if isLetter(word[i]) != isLetter(word[i-1]) {
			runs++
		}
	}
	leading := 0
	for isDigit(word[leading]) {
		leading++
	}
	switch {
	case runs > 4 || isOrdinal(word) || leading > 0 && (runs != 3 || leading < 2 || leading >= 4):
		return false
	case leading == 0 && runs == 2:
		number := word[len(word)-digits:]
		if !onlyDigits(number) {
			return letters >= 3 // a_1, a1_
		}
		return letters >= 3 && !isLaughter(number) && !(digits == 4 && isYear(number)) ||
			letters >= 2 && digits >= 6 && !isUnlikely(number)
	}
	return letters >= 4 || leading > 0 && letters >= 3
}

// fewestStyled is how many letters a name has at least that is known by its style.
const fewestStyled = 5

// isStyled reports whether so many letters of a word were written in a style.
func (s *scanner) isStyled(start, end int) bool {
	for len(s.styled) > 0 && s.styled[0].End <= start {
		s.styled = s.styled[1:]
	}
	letters := 0
	for _, part := range s.styled {
		if part.Start >= end || end-start > longestName {
			break
		}
		n, _ := count(s.text[max(start, part.Start):min(end, part.End)])
		letters += n
	}
	return letters >= fewestStyled && // and not x x x x x
		len(bytes.Trim(s.text[start:end], string(s.text[start:start+1]))) > 0
}

// isOrdinal reports whether a word ends in digits and what makes an ordinal or a decade of them.
func isOrdinal(word []byte) bool {
	for _, end := range []string{"st", "nd", "rd", "th", "s"} {
		number, ok := bytes.CutSuffix(word, []byte(end))
		if ok && len(number) > 0 && isDigit(number[len(number)-1]) {
			return true
		}
	}
	return false
}

// isLaughter reports whether digits are praise or laughter of Chinese chats: 666, 2333.
func isLaughter(digits []byte) bool {
	return len(digits) >= 3 && (len(bytes.Trim(digits, "6")) == 0 ||
		digits[0] == '2' && len(bytes.Trim(digits[1:], "3")) == 0)
}

// isWWW reports whether a word is a host name without its dots, which were lost when it was
// spaced out.
func isWWW(word []byte) bool { return bytes.HasPrefix(word, []byte("www")) && wwwTop(word) != nil }

func wwwTop(word []byte) []byte {
	for _, top := range []string{"com", "net", "org", "cn"} {
		if bytes.HasSuffix(word, []byte(top)) && len(word) >= 8 && bytes.IndexByte(word, '_') < 0 {
			return word[len(word)-len(top):]
		}
	}
	return nil
}

func onlyDigits(word []byte) bool {
	_, digits := count(word)
	return digits == len(word)
}

func count(word []byte) (letters, digits int) {
	for _, c := range word {
		letters += int(classes[c] & aLetter)
		digits += int(classes[c] & aDigit / aDigit)
	}
	return letters, digits
}

// handle takes a name behind an at sign, if a keyword announces it. Any other is one that the
// text mentions, answers or quotes.
func (s *scanner) handle() {
	start := s.at
	s.at++
	if start > 0 && isAlnum(s.text[start-1]) {
		return
	}
	end := s.wordEnd(s.at)
	for end < len(s.text)-1 && s.text[end] == '.' && isAlnum(s.text[end+1]) {
		end = s.wordEnd(end + 1)
	}
	word := s.text[s.at:end]
	letters, _ := count(word)
	if letters >= 2 && len(word) >= 4 && len(word) <= 32 &&
		(s.wanted(start).kind != "" || s.announcedBehind(end)) {
		s.add(kindName, word, start, end)
		return
	}
	s.skipMention()
}

// longestMention is how many bytes of a name are skipped behind an at sign.
const longestMention = 48

// skipMention skips a name that may be of any script, up to a keyword within it.
func (s *scanner) skipMention() {
	for start := s.at; s.at < min(start+longestMention, len(s.text)); {
		r, size := utf8.DecodeRune(s.text[s.at:])
		if s.at > start && wideClass(r)&beginsKeyword != 0 {
			if _, ok := s.wideKeyword(r, s.at); ok {
				return
			}
		}
		if r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsNumber(r) {
			return
		}
		s.at += size
	}
}
