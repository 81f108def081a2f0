package text

import (
	"fmt"
	"hash/fnv"
	"strconv"
)

// identity is [Tokenizer.Identity] of what was loaded.
func identity(dict checksum, stop map[string]struct{}, c *Cleaner) string {
	return fmt.Sprintf("dict=%08x,stop=%08x,%s", dict.fold(), stopChecksum(stop), c.Identity())
}

// checksum is that of a set: the sum of its members' FNV-1a hashes, so that
// their order does not matter.
type checksum uint64

func (c *checksum) add(member []byte) {
	h := fnv.New64a()
	h.Write(member) // never fails
	*c += checksum(h.Sum64())
}

func (c checksum) fold() uint32 {
	return uint32(c>>32) ^ uint32(c)
}

// wordChecksum is what a word adds to the checksum of a dictionary.
func wordChecksum(word string, frequency float64) checksum {
	var c checksum
	c.add(strconv.AppendFloat([]byte(word+" "), frequency, 'g', -1, 64))
	return c
}

func stopChecksum(stop map[string]struct{}) uint32 {
	var sum checksum
	for word := range stop {
		sum.add([]byte(word))
	}
	return sum.fold()
}
