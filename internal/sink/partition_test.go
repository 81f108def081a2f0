package sink

import (
	"encoding/binary"
	"testing"
)

// murmur2 does what Java's does, from the description in Kafka's source, as an oracle.
func murmur2(key []byte) uint32 {
	const m = 0x5bd1e995
	h := uint32(0x9747b28c) ^ uint32(len(key))
	rest := key
	for ; len(rest) >= 4; rest = rest[4:] {
		k := binary.LittleEndian.Uint32(rest) * m
		h = h*m ^ (k^k>>24)*m
	}
	for i := len(rest) - 1; i >= 0; i-- {
		h ^= uint32(rest[i]) << (8 * i)
	}
	if len(rest) > 0 {
		h *= m
	}
	h = (h ^ h>>13) * m
	return h ^ h>>15
}

func TestPartitionOf(t *testing.T) {
	// The hashes are those that Kafka's Java client gives, as kafka-go's own tests list them.
	for key, hash := range map[string]uint32{
		"kafka": 0xd067cf64, "giberish123456789": 0x8f552b0c, "1234": 0x9fc97b14, "234": 0xe7c009ca,
		"34": 0x873930da, "4": 0x5a4b5ca1,
		"PreAmbleWillBeRemoved,ThePrePartThatIs": 0x78424f1c, "": 0x106e08d9,
	} {
		if got := murmur2([]byte(key)); got != hash {
			t.Fatalf("the oracle gives %#x for %q, want %#x", got, key, hash)
		}
	}
	partitions := []int{0, 1, 2, 3, 4, 5, 6}
	for _, key := range []string{
		"", "21", "kafka", "articles/0/0", "articles/3/812731", "新闻/1/2",
		"articles/0/123456789012",
	} {
		want := int(murmur2([]byte(key))&0x7fffffff) % len(partitions)
		if got := PartitionOf([]byte(key), partitions); got != want {
			t.Errorf("PartitionOf(%q) = %d, want %d", key, got, want)
		}
	}
}
