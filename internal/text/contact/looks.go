package contact

import "bytes"

// isYear reports whether four digits are a year of this century or the last.
func isYear(g []byte) bool { return g[0] == '1' && g[1] == '9' || g[0] == '2' && g[1] == '0' }

// isRound reports whether a number is rather a date, a time stamp in milliseconds or a round
// amount.
func isRound(number []byte) bool {
	n := len(number)
	zeros := n - len(bytes.TrimRight(number, "0"))
	return 2*zeros > n || n == 13 && number[0] == '1' ||
		n >= 8 && isYear(number) && isUpTo(number[4:], "12") && isUpTo(number[6:], "31")
}

// isUpTo reports whether the first two digits are from 01 to a number of two digits.
func isUpTo(digits []byte, most string) bool {
	two := string(digits[:2])
	return "01" <= two && two <= most
}

// isUnlikely reports whether digits that nothing announces are rather no telephone number.
func isUnlikely(number []byte) bool { return isRound(number) || isTyped(number) }

// isTyped reports whether a number was typed for fun: of at most two different digits, or each
// one more or one less than the one before, where 0 follows 9.
func isTyped(number []byte) bool {
	up, down := true, true
	for i := 1; i < len(number); i++ {
		step := (number[i] + 10 - number[i-1]) % 10
		up, down = up && step == 1, down && step == 9
	}
	return up || down || hasTwoDigits(number)
}

// hasTwoDigits reports whether a number has at most two different digits.
func hasTwoDigits(number []byte) bool {
	different := 1
	for i := 1; i < len(number); i++ {
		if bytes.IndexByte(number[:i], number[i]) < 0 {
			different++
		}
	}
	return different <= 2
}

// isDate reports whether groups of digits are a date, or a span of years.
func isDate(groups []byte) bool {
	years := 0
	between := func(r rune) bool { return r < '0' || r > '9' }
	for g := range bytes.FieldsFuncSeq(groups, between) {
		switch {
		case len(g) == 4 && isYear(g):
			years++
		case len(g) > 4 || len(g) == 3:
			return false
		}
	}
	return years > 0
}
