package fold

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// letterFor has the letters that digits stand for.
var letterFor = [128]byte{
	'0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '7': 't',
}

// Leet makes letters of the digits within words of normalised text, in place: v1agra is viagra. A
// word is a run of ASCII letters and digits. Its digits become letters if
//
//   - each of them stands for a letter, is alone or twice the same, and one at least stands between
//     letters: 5g, mp3, covid-19 and b2b stay; in cas1n0 the last one follows
//   - there are four letters, or three if the word ends with two, and twice as many as digits: p0rn
//     is one, but w3c, sw1a and the checksum a3f5e7bc are not
//   - it does not begin like a word with a digit of its own, such as iphone5s: see ownDigits
//   - it is no part of an address, of the name of a file or of a variable
func Leet(text []byte) {
	for at := nextDigit(text, 0); at < len(text); {
		start, end := at, at
		for start > 0 && isVisible(text[start-1]) {
			start--
		}
		for end < len(text) && isVisible(text[end]) {
			end++
		}
		if chunk := text[start:end]; !isAddress(chunk) {
			for len(chunk) > 0 {
				size := wordLen(chunk)
				if word := chunk[:size]; isLeet(word) {
					foldDigits(word)
				}
				chunk = chunk[max(size, 1):]
			}
		}
		at = nextDigit(text, end)
	}
}

// ownDigits begin words that have digits and are no leetspeak.
var ownDigits = []string{
	"c3po", "covid", "galaxy", "gt3", "hba1c", "iphone", "log4", "mp3", "mp4", "neo4j", "ps3", "ps4",
	"ps5", "python3", "slf4j", "web3", "win7",
}

// isLeet reports whether the digits of a word stand for letters.
func isLeet(word []byte) bool {
	letters, digits, tail, within := 0, 0, 0, false
	for at := 0; at < len(word); {
		b := word[at]
		if isLetter(b) {
			within = within || digits > 0
			letters++
			tail++
			at++
			continue
		}
		size := 1
		if at+1 < len(word) && word[at+1] == b {
			size = 2
		}
		at += size
		if letters == 0 || letterFor[b] == 0 || at < len(word) && !isLetter(word[at]) {
			return false
		}
		digits += size
		if at < len(word) {
			tail = 0
		}
	}
	if !within || letters < 2*digits || letters < 3 || letters == 3 && tail < 2 {
		return false
	}
	for _, own := range ownDigits {
		if len(word) >= len(own) && string(word[:len(own)]) == own {
			return false
		}
	}
	return true
}

func foldDigits(word []byte) {
	for i, b := range word {
		if letter := letterFor[b]; letter != 0 {
			word[i] = letter
		}
	}
}

// isAddress reports whether a run of visible ASCII looks like a part of an address, a path, the
// name of a file or a variable, a tag or a parameter.
func isAddress(chunk []byte) bool {
	if chunk[0] == '/' || bytes.ContainsAny(chunk, "@#_=\\") {
		return true
	}
	for i := 1; i+1 < len(chunk); i++ {
		if chunk[i] == '.' && isWordByte(chunk[i-1]) && isWordByte(chunk[i+1]) {
			return true
		}
	}
	return bytes.Contains(chunk, []byte("://"))
}

// wordLen returns the length of the word that chunk begins with.
func wordLen(chunk []byte) int {
	for i, b := range chunk {
		if !isWordByte(b) {
			return i
		}
	}
	return len(chunk)
}

func isLetter(b byte) bool { return 'a' <= b && b <= 'z' }

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

func isWordByte(b byte) bool { return isLetter(b) || isDigit(b) }

func isVisible(b byte) bool { return ' ' < b && b < 0x7F }

// nextDigit returns where, at or after at, a digit first follows a letter, or the length of the
// text. It looks at eight bytes at a time, and of these only closer where the bits are set that all
// letters and digits have.
func nextDigit(text []byte, at int) int {
	const each = 0x0101010101010101 // times a byte: that byte eight times
	before := uint64(0)             // whether the byte before may be a letter, in its lowest bit
	for ; len(text)-at >= 8; at += 8 {
		eight := binary.LittleEndian.Uint64(text[at:])
		letters := eight >> 6 &^ (eight >> 7)
		digits := eight >> 4 & (eight >> 5) &^ (eight >> 6) &^ (eight >> 7)
		found := digits & (letters<<8 | before) & each
		before = letters >> 56
		for ; found != 0; found &= found - 1 {
			i := at + bits.TrailingZeros64(found)/8
			if isDigit(text[i]) && isLetter(text[i-1]) {
				return i
			}
		}
	}
	for ; at < len(text); at++ {
		if at > 0 && isDigit(text[at]) && isLetter(text[at-1]) {
			return at
		}
	}
	return at
}
