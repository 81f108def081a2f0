package text

import (
	"fmt"
	"hash/fnv"
	"strconv"

	"github.com/go-ego/gse"
)

// identity is [Tokenizer.Identity] of what was loaded.
func identity(dict *gse.Segmenter, stop map[string]struct{}, c *Cleaner) string {
	return fmt.Sprintf("dict=%08x,stop=%08x,%s", dictionaryChecksum(dict), stopChecksum(stop), c.Identity())
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

func dictionaryChecksum(seg *gse.Segmenter) uint32 {
	var (
		sum    checksum
		member []byte
	)
	for i := range seg.Dict.Tokens {
		word := &seg.Dict.Tokens[i]
		member = append(member[:0], word.Text()...)
		member = append(member, ' ')
		member = strconv.AppendFloat(member, word.Freq(), 'g', -1, 64)
		sum.add(member)
	}
	return sum.fold()
}

func stopChecksum(stop map[string]struct{}) uint32 {
	var sum checksum
	for word := range stop {
		sum.add([]byte(word))
	}
	return sum.fold()
}
