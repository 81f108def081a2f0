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
	case wanted.kind != "" && wanted.kind != kindCode && letters > 0 && len(word) >= 4 &&
		len(word) <= 24 && (digits > 0 || wanted.sure && wanted.kind == kindName):
		s.add(kindName, word, start, end)
	case isMadeUp(word, letters, digits):
		s.add(kindName, word, start, end)
	}
}

// isMadeUp reports whether a word is a name made of letters and digits, such as alexis17: at least
// three letters and two digits, letters first or at least four of them. Where they alternate often
// it is rather a hash.
func isMadeUp(word []byte, letters, digits int) bool {
	if len(word) > 32 || digits < 2 || letters < 3 || isDigit(word[0]) && letters < 4 {
		return false
	}
	turns := 0
	for i := range word[1:] {
		if isDigit(word[i]) != isDigit(word[i+1]) {
			turns++
		}
	}
	return turns <= 3
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

// handle takes a name behind an at sign. One at the beginning of a line is whom the text answers.
func (s *scanner) handle() {
	start := s.at
	s.at++
	if s.text[start] == '#' || start == 0 || s.text[start-1] == '\n' || isAlnum(s.text[start-1]) {
		return
	}
	end := s.wordEnd(s.at)
	for end < len(s.text)-1 && s.text[end] == '.' && isAlnum(s.text[end+1]) {
		end = s.wordEnd(end + 1)
	}
	word := s.text[s.at:end]
	if letters, _ := count(word); letters >= 2 && len(word) >= 4 && len(word) <= 32 {
		s.add(kindName, word, start, end)
	}
}
