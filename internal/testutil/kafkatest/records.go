package kafkatest

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/klauspost/compress/snappy"

	"github.com/clusterd/clusterd/internal/kafka"
)

// RandomBytes returns n bytes that do not compress.
func RandomBytes(random *rand.Rand, n int) []byte {
	b := make([]byte, 0, n+8)
	for len(b) < n {
		b = binary.LittleEndian.AppendUint64(b, random.Uint64())
	}
	return b[:n]
}

// RandomRecord returns a record of topic t that does not compress, of about n bytes.
func RandomRecord(random *rand.Rand, n int) kafka.Record {
	r := kafka.Record{
		Topic: "t", Partition: random.IntN(3), Value: RandomBytes(random, random.IntN(n+1)),
	}
	if random.IntN(2) == 0 {
		r.Key = RandomBytes(random, random.IntN(40))
	}
	for range random.IntN(4) {
		r.Headers = append(r.Headers, kafka.Header{
			Key: string(RandomBytes(random, random.IntN(20))), Value: RandomBytes(random, random.IntN(20)),
		})
	}
	if random.IntN(2) == 0 {
		r.Time = time.UnixMilli(random.Int64N(1 << 42))
	}
	return r
}

// SnappyJava returns what snappy-java, and so Kafka's own clients, make of plain: a head and
// blocks.
func SnappyJava(plain []byte) []byte {
	stream := []byte("\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01")
	for block := range slices.Chunk(plain, 32<<10) {
		encoded := snappy.Encode(nil, block)
		stream = append(binary.BigEndian.AppendUint32(stream, uint32(len(encoded))), encoded...)
	}
	return stream
}
