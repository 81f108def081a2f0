package contact

// name takes a word of letters, digits and underscores: what a keyword announces, a keyword, or a
// name made of letters and digits.
func (s *scanner) name(start, end int) {
	word := s.text[start:end]
	letters, digits := count(word)
	wanted := s.wants
	if start > wanted.end {
		wanted = wants{}
	}
	kind, keyword := asciiKeywords[string(word)]
	switch {
	case wanted.kind != "" && fillerWords[string(word)]:
		s.wants.sure, s.wants.end = true, end+reach
	case keyword:
		s.expect(kind)
	case wanted.kind == kindCode && digits > 0 && len(word) >= 4 && len(word) <= 16:
		s.add(kindCode, word, start, end)
	case wanted.kind == kindNumber && letters == 0 && digits >= 5:
		s.add(kindNumber, word, start, end)
	case wanted.kind == kindName && isLetter(word[0]) && (digits > 0 || wanted.sure) &&
		len(word) >= 4 && len(word) <= 24:
		s.add(kindName, word, start, end)
	case digits >= fewestAnnounced && asciiKeywords[string(word[:letters])] != "" &&
		onlyDigits(word[letters:]):
		s.add(kindNumber, word[letters:], start, end) // qq123456
	case isMadeUp(word, letters, digits):
		s.add(kindName, word, start, end)
	}
}

// isMadeUp reports whether a word is a name made of letters and digits, such as alexis17: at least
// three letters and two digits, letters first or at least four of them, or letters and five digits.
func isMadeUp(word []byte, letters, digits int) bool {
	if len(word) > 32 || letters == 0 {
		return false
	}
	return digits >= 5 || digits >= 2 && letters >= 3 && (isLetter(word[0]) || letters >= 4)
}

func onlyDigits(word []byte) bool {
	_, digits := count(word)
	return digits == len(word)
}

func count(word []byte) (letters, digits int) {
	for _, c := range word {
		if isLetter(c) {
			letters++
		} else if isDigit(c) {
			digits++
		}
	}
	return letters, digits
}

// handle takes a name behind an at sign, if a keyword announces it or it has a digit. Others, one
// at the beginning of a line and one before a colon are whom the text answers or quotes.
func (s *scanner) handle() {
	start, announced := s.at, s.wants.kind == kindName && s.at <= s.wants.end
	s.at++
	if s.text[start] == '#' || start == 0 || s.text[start-1] == '\n' || s.text[start-1] == '/' ||
		isAlnum(s.text[start-1]) {
		return
	}
	end := s.wordEnd(s.at)
	for end < len(s.text)-1 && s.text[end] == '.' && isAlnum(s.text[end+1]) {
		end = s.wordEnd(end + 1)
	}
	word := s.text[s.at:end]
	letters, digits := count(word)
	quoted := end < len(s.text) && s.text[end] == ':'
	if quoted || !announced && digits == 0 || letters < 2 || len(word) < 4 || len(word) > 32 {
		return
	}
	s.add(kindName, word, start, end)
}
