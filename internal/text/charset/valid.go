package charset

import (
	"encoding/binary"
	"unicode/utf8"
)

// valid does what [utf8.Valid] does. It reads ASCII and nearly all characters of three bytes, of
// which Chinese consists, eight bytes at a time and without branches. From the first block with any
// other on, it leaves the text to utf8.Valid.
func valid(b []byte) bool {
	const block = 64
	i, open := 0, uint64(0)
	for ; len(b)-i >= block; i += block {
		eights := (*[block]byte)(b[i:])
		if open == 0 && isASCII(eights) {
			continue
		}
		others, next := uint64(0), open
		for k := 0; k < block; k += 8 {
			var other uint64
			other, next = threes(binary.LittleEndian.Uint64(eights[k:]), next)
			others |= other
		}
		if others != 0 {
			break
		}
		open = next
	}
	if open != 0 { // to where the character begins that goes on here
		for i--; !utf8.RuneStart(b[i]); i-- {
		}
	}
	return utf8.Valid(b[i:])
}

// high are the highest bits of eight bytes.
const high = 0x8080808080808080

func isASCII(b *[64]byte) bool {
	all := uint64(0)
	for k := 0; k < len(b); k += 8 {
		all |= binary.LittleEndian.Uint64(b[k:])
	}
	return all&high == 0
}

// threes reads eight bytes, the first one lowest, of which those are to go on a character whose
// high bits are in open. It returns such bits of the bytes after them. Others is 0 if the eight are
// ASCII and characters of three bytes, of those with which any two continuation bytes make one:
// after 0xE0 fewer bytes may do, and after 0xED they may be half a surrogate pair.
func threes(eight, open uint64) (others, next uint64) {
	// Shifted by n, a byte has its bit 7-n where its highest bit was.
	lead := eight & (eight << 1) & high
	continues := eight &^ (eight << 1) & high
	others = lead &^ (eight << 2) // 110xxxxx
	others |= lead & (eight << 3) // 1111xxxx
	same := ^(eight<<4 ^ eight<<5) & ^(eight<<4 ^ eight<<7)
	others |= lead & same &^ (eight << 6) // 1110xxxx that ends in 0000 or 1101
	others |= continues ^ (lead<<8 | lead<<16 | open)
	return others, lead>>56 | lead>>48
}
