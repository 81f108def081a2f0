package consumer

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/segmentio/kafka-go/compress"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/kafka/recordbatch"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
)

// What the topic of dead letters does not take need not be held.
func TestALargeUnreadableBatchIsCut(t *testing.T) {
	set := odd(compress.None, 2, slices.Concat(record(0),
		record(0, withValue(sized(strings.Repeat("x", 1000))))))
	u := recordbatch.NewReader(100)
	defer u.Close()
	c := newCutter("articles", 0, 10, 1<<20, u)
	var got []kafka.Record
	c.send = func(chunk Chunk) error { got = append(got, chunk.Records...); return nil }
	if err := c.committed(set, nil); err != nil || summary(got) != "10 11-11" {
		t.Fatalf("got %s, %v", summary(got), err)
	}
	if r := got[1]; len(r.Value) != 101 || !bytes.Equal(r.Value, set[:101]) || r.Cut != len(set)-101 {
		t.Errorf("%d bytes of %d, %d cut off", len(r.Value), len(set), r.Cut)
	}
}

// Whatever stands in a batch, and wherever a fetch begins: records and what is unreadable cover its
// offsets, each once and in order.
func TestRecordsAndTheRestCoverABatch(t *testing.T) {
	check.OneGoroutine(t)
	random := rand.New(rand.NewPCG(12, 2))
	const n = 20_000
	rests := 0
	for range n {
		set, last := spoiltBatch(random)
		next := 10 + random.Int64N(last-10+1)
		if covers(t, set, next, last, 1+random.IntN(1000)) {
			rests++
		}
		if t.Failed() {
			t.Fatalf("the batch was %x", set)
		}
	}
	if rests < n/10 || rests > n*9/10 {
		t.Errorf("of %d batches, %d were odd", n, rests)
	}
}

// spoiltBatch returns a batch of records at offset 10 and later, as one might be sent, and its last
// offset.
func spoiltBatch(random *rand.Rand) (set []byte, last int64) {
	n := 1 + random.IntN(6)
	var encoded []byte
	for i := range n {
		delta := int64(i)
		if random.IntN(20) == 0 {
			delta = random.Int64N(10) - 3
		}
		encoded = append(encoded, record(delta, withKey(sized("k")),
			withHeaders([]byte("\x02\x02h\x02v")))...)
	}
	for range random.IntN(2) * random.IntN(3) {
		encoded[random.IntN(len(encoded))] = byte(random.IntN(256))
	}
	codec := compress.Compression(random.IntN(6))
	switch codec {
	case compress.Gzip:
		encoded = deflated(encoded)
	case compress.Snappy:
		encoded = kafkatest.SnappyJava(encoded)
	case compress.Lz4:
		encoded = framed4(encoded)
	case compress.Zstd:
		encoded = zstandard(encoded)
	}
	if random.IntN(6) == 0 && len(encoded) > 0 {
		encoded[random.IntN(len(encoded))] ^= 1 << random.IntN(8)
	}
	return odd(codec, n, encoded), int64(9 + n)
}

// covers holds what comes of a batch of as many records as offsets from 10 on to the promise, and
// reports whether some of it was unreadable.
func covers(t *testing.T, set []byte, next, last int64, maxBytes int) (rest bool) {
	t.Helper()
	got, err := committed(next, set, nil, maxBytes)
	if err != nil {
		t.Fatal(err)
	}
	at := next
	for i := range got.Records {
		r := &got.Records[i]
		if r.Offset != at || rest {
			t.Errorf("from %d: %s", next, summary(got.Records))
		}
		at, rest = r.Next(), r.Unreadable != nil
	}
	if at != last+1 || got.Next != at {
		t.Errorf("from %d: %s, then %d; the last is %d", next, summary(got.Records), got.Next, last)
	}
	return rest
}

// FuzzUnpack reads whatever bytes in a batch whose checksum is right.
func FuzzUnpack(f *testing.F) {
	three := records(0, 1, 2)
	for codec := range int8(6) {
		f.Add(codec, uint8(2), uint8(0), three)
	}
	f.Add(int8(compress.Gzip), uint8(2), uint8(1), deflated(three))
	f.Add(int8(compress.Snappy), uint8(2), uint8(2), snappy.Encode(nil, three))
	f.Add(int8(compress.Snappy), uint8(2), uint8(0),
		slices.Concat(kafkatest.SnappyJava(three[:8]), kafkatest.SnappyJava(three[8:])))
	f.Add(int8(compress.Lz4), uint8(2), uint8(0), framed4(three))
	f.Add(int8(compress.Zstd), uint8(2), uint8(0), zstandard(three))
	f.Add(int8(compress.None), uint8(1), uint8(0), records(0, 0))
	f.Add(int8(compress.None), uint8(1), uint8(1), records(1, 0))
	f.Add(int8(compress.None), uint8(1), uint8(0), records(0, -1))
	f.Add(int8(compress.None), uint8(1), uint8(0), records(5, 6))
	f.Add(int8(compress.None), uint8(0), uint8(0), record(0, withHeaders(varint(math.MaxInt32))))
	f.Fuzz(func(t *testing.T, codec int8, delta, skip uint8, packed []byte) {
		last := 10 + int64(delta)
		covers(t, odd(compress.Compression(codec)&7, int(delta)+1, packed),
			10+int64(skip)%(int64(delta)+1), last, 1<<10)
	})
}
