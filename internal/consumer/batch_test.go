package consumer

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go/compress"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/kafka/recordbatch"
	"github.com/clusterd/clusterd/internal/testutil/check"
)

// packed returns a batch of n records, which are already encoded, under a codec.
func packed(t testing.TB, codec compress.Compression, n int, records io.Reader) []byte {
	t.Helper()
	var buffer bytes.Buffer
	w := io.WriteCloser(nopCloser{&buffer})
	if codec != compress.None {
		w = codec.Codec().NewWriter(&buffer)
	}
	// Not to its ReadFrom: that of lz4 takes only one.
	_, err := io.Copy(struct{ io.Writer }{w}, records)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return seal(kmsg.RecordBatch{
		Attributes: int16(codec), LastOffsetDelta: int32(n - 1), ProducerID: -1, NumRecords: int32(n),
		Records: buffer.Bytes(),
	})
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// zeros returns that many, in writes that take no memory.
func zeros(n int64) io.Reader { return io.LimitReader(zeroReader{}, n) }

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// large returns an encoded record whose key, value and only header have so many zeros.
func large(offset, key, value, header int64) io.Reader {
	number := func(n int64) []byte { return binary.AppendVarint(nil, n) }
	size := int64(len(slices.Concat(number(offset), number(key), number(value),
		number(header)))) + 5 + key + value + header
	return io.MultiReader(
		bytes.NewReader(number(size)), zeros(2), bytes.NewReader(number(offset)),
		bytes.NewReader(number(key)), zeros(key),
		bytes.NewReader(number(value)), zeros(value),
		bytes.NewReader(slices.Concat(number(1), number(1), []byte("h"), number(header))), zeros(header),
	)
}

// allocated returns what do allocates in all, in bytes.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// A record that would not fit into memory is cut, whatever it is packed with, and what comes after
// it comes too.
func TestALargeRecordIsCut(t *testing.T) {
	check.OneGoroutine(t)
	const limit, size = 1000, 128 << 20
	for _, codec := range []compress.Compression{
		compress.Gzip, compress.Snappy, compress.Lz4,
		compress.Zstd,
	} {
		t.Run(codec.String(), func(t *testing.T) {
			set := packed(t, codec, 2, io.MultiReader(large(0, 2000, size, 0),
				large(1, limit, limit, limit/2)))
			reader := recordbatch.NewReader(limit)
			defer reader.Close()
			var got []kafka.Record
			n := allocated(func() {
				c := newCutter("articles", 0, 0, 1<<20, reader)
				c.send = func(chunk Chunk) error { got = append(got, chunk.Records...); return nil }
				if err := c.committed(set, nil); err != nil {
					t.Fatal(err)
				}
			})
			if len(got) != 2 {
				t.Fatalf("got %d records", len(got))
			}
			if r := got[0]; len(r.Key) != limit+1 || len(r.Value) != limit+1 || r.Cut != size-limit-1 ||
				len(r.Headers) != 1 {
				t.Errorf("the large one: %d bytes of key, %d of value, %d cut off, %d headers", len(r.Key),
					len(r.Value), r.Cut, len(r.Headers))
			}
			if r := got[1]; r.Offset != 1 || len(r.Key) != limit || len(r.Value) != limit || r.Cut != 0 ||
				len(r.Headers) != 1 {
				t.Errorf("the one at the limit: %d bytes of key, %d of value, %d cut off, %d headers",
					len(r.Key), len(r.Value), r.Cut, len(r.Headers))
			}
			if n > 16<<20 {
				t.Errorf("%d MiB of memory, for a batch of %d KiB", n>>20, len(set)>>10)
			}
		})
	}
}

func TestHeadersBeyondTheLimitAreLeftOut(t *testing.T) {
	check.OneGoroutine(t)
	records := io.MultiReader(large(0, 1, 1, 64<<20), large(1, 1, 1, 100))
	reader := recordbatch.NewReader(1000)
	defer reader.Close()
	var headers []int
	c := newCutter("articles", 0, 0, 1<<20, reader)
	c.send = func(chunk Chunk) error {
		for _, r := range chunk.Records {
			headers = append(headers, len(r.Headers))
		}
		return nil
	}
	if err := c.committed(packed(t, compress.Zstd, 2, records), nil); err != nil ||
		!slices.Equal(headers, []int{0, 1}) {
		t.Errorf("%v headers, %v", headers, err)
	}
}

// bombs returns two batches of some kilobytes that hold one record of 100 MB: it has either fifty
// million empty headers, or a value of as many bytes.
func bombs(t testing.TB) (headers, value []byte) {
	t.Helper()
	const n, one = 50_000_000, 1
	number := func(n int64) []byte { return binary.AppendVarint(nil, n) }
	empty := []byte{0, 0, 0, one, one} // attributes, time, offset, and neither a key nor a value
	head := slices.Concat(empty, number(n))
	headers = packed(t, compress.Zstd, 1, io.MultiReader(
		bytes.NewReader(number(int64(len(head))+2*n)), bytes.NewReader(head), zeros(2*n)))
	head = slices.Concat(empty[:4], number(2*n))
	value = packed(t, compress.Zstd, 1, io.MultiReader(
		bytes.NewReader(number(int64(len(head))+2*n+1)), bytes.NewReader(head), zeros(2*n+1)))
	return headers, value
}

// open reads a batch of one record, with the limit that the daemon has by default.
func open(t testing.TB, set []byte) kafka.Record {
	t.Helper()
	reader := recordbatch.NewReader(1 << 20)
	defer reader.Close()
	var got []kafka.Record
	c := newCutter("articles", 0, 0, 1<<20, reader)
	c.send = func(chunk Chunk) error { got = append(got, chunk.Records...); return nil }
	if err := c.committed(set, nil); err != nil || len(got) != 1 || got[0].Unreadable != nil {
		t.Fatalf("%d records, %v", len(got), err)
	}
	return got[0]
}

// Headers take no longer than a value of as many bytes: those beyond the limit are not looked at.
func TestManyHeadersTakeNoLongerThanAValue(t *testing.T) {
	headers, value := bombs(t)
	if len(headers) > 16<<10 {
		t.Fatalf("the batch has %d bytes", len(headers))
	}
	took := func(set []byte) time.Duration {
		best := time.Hour
		for range 3 {
			began := time.Now()
			open(t, set)
			best = min(best, time.Since(began))
		}
		return best
	}
	if long, usual := took(headers), took(value); long > 10*usual {
		t.Errorf("%d bytes with many headers take %v, with a value %v", len(headers), long, usual)
	}
	if n := len(open(t, headers).Headers); n == 0 || n > 1<<20/40 {
		t.Errorf("%d headers were kept", n)
	}
}

// BenchmarkBomb opens a batch of 10 KB that becomes a record of 100 MB.
func BenchmarkBomb(b *testing.B) {
	headers, value := bombs(b)
	for name, set := range map[string][]byte{"headers": headers, "value": value} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				open(b, set)
			}
		})
	}
}

// A batch that becomes large comes in chunks of the size that was asked for.
func TestALargeBatchComesInChunks(t *testing.T) {
	check.OneGoroutine(t)
	const records, maxBytes = 400_000, 4 << 20
	encoded, one := []byte(nil), []byte(nil)
	for i := range records {
		r := kmsg.Record{OffsetDelta: int32(i), Value: []byte("x")}
		one = r.AppendTo(one[:0])
		r.Length = int32(len(one) - 1)
		encoded = r.AppendTo(encoded)
	}
	set := packed(t, compress.Zstd, records, bytes.NewReader(encoded))
	reader := recordbatch.NewReader(1000)
	defer reader.Close()
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	next, chunks := int64(0), 0
	c := newCutter("articles", 0, 0, maxBytes, reader)
	c.send = func(chunk Chunk) error {
		runtime.GC()
		runtime.ReadMemStats(&now)
		if grown := int64(now.HeapAlloc) - int64(before.HeapAlloc); grown > 4*maxBytes {
			return fmt.Errorf("%d MiB in memory", grown>>20)
		}
		for _, r := range chunk.Records {
			if r.Offset != next {
				return fmt.Errorf("offset %d instead of %d", r.Offset, next)
			}
			next++
		}
		chunks++
		return nil
	}
	if err := c.committed(set, nil); err != nil || next != records ||
		chunks < records*(&kafka.Record{}).Memory()/maxBytes {
		t.Errorf("%d records in %d chunks of a batch of %d KiB: %v", next, chunks, len(set)>>10, err)
	}
}

// Nobody unpacks what is to be dropped.
func TestAbortedBatchesStayPacked(t *testing.T) {
	var b kmsg.RecordBatch
	if err := b.ReadFrom(packed(t, compress.Gzip, 3, strings.NewReader("no records"))); err != nil {
		t.Fatal(err)
	}
	b.Attributes |= 1 << 4 // transactional
	b.ProducerID = 7
	got, err := committed(0, append(seal(b), marker(7, 3).bytes()...), []aborted{{ProducerID: 7}},
		1<<20)
	if err != nil || len(got.Records) != 0 || got.Next != 4 {
		t.Errorf("%d records, then %d, %v", len(got.Records), got.Next, err)
	}
}

// What the broker or the way has damaged is an error, after what comes before it.
func TestDamagedBatches(t *testing.T) {
	good := data(-1, 3, 5).bytes()
	format, checksum, short, negative, far := bytes.Clone(good), bytes.Clone(good), bytes.Clone(good),
		bytes.Clone(good), bytes.Clone(good)
	format[16] = 1
	checksum[len(checksum)-1] ^= 1
	binary.BigEndian.PutUint32(short[8:], 40)
	binary.BigEndian.PutUint64(negative, 1<<64-3)
	binary.BigEndian.PutUint64(far, 1<<63-1)
	for name, tt := range map[string]struct {
		set  []byte
		want string
	}{
		"an old format": {
			format, "it has format 1, and only 2, that of Kafka 0.11 and later, is known",
		},
		"a wrong checksum":  {checksum, "its checksum is wrong"},
		"too short":         {short, "it has 52 bytes"},
		"a negative offset": {negative, "it begins at offset -3"},
		"the last offset":   {far, "it begins at offset 9223372036854775807"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := committed(0, append(data(-1, 0, 2).bytes(), tt.set...), nil, 1<<20)
			if !errors.Is(err, recordbatch.ErrUnreadable) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want %q in it", err, tt.want)
			}
			if kafka.Retriable(err) {
				t.Error("it counts as an error that passes")
			}
			if got.Next != 3 || len(got.Records) != 3 {
				t.Errorf("%d records, then %d", len(got.Records), got.Next)
			}
		})
	}
}

// From a broker, each codec as another client writes it.
func TestLogReadsCompressedRecords(t *testing.T) {
	for name, codec := range map[string]kgo.CompressionCodec{
		"gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(),
		"zstd": kgo.ZstdCompression(),
	} {
		t.Run(name, func(t *testing.T) {
			_, client := startBrokers(t, 1, kfake.SeedTopics(1, "articles"))
			writer := newWriter(t, client, kgo.ProducerBatchCompression(codec),
				kgo.ProducerBatchMaxBytes(8<<20))
			large := strings.Repeat("0123456789", 100_000)
			write(t, writer, 0, "before", large, "after")
			log := NewLog(client, slog.New(slog.DiscardHandler), "articles", map[int]int64{0: 0}, 1<<20)
			log.MaxValue = 100
			chunks, failed := make(chan Chunk), make(chan error, 1)
			go func() { failed <- log.Read(t.Context(), chunks) }()
			var got []kafka.Record
			for len(got) < 3 {
				select {
				case chunk := <-chunks:
					got = append(got, chunk.Records...)
				case err := <-failed:
					t.Fatal(err)
				}
			}
			if string(got[0].Value) != "before" || string(got[1].Value) != large[:101] ||
				got[1].Cut != len(large)-101 || string(got[2].Value) != "after" {
				t.Errorf("got %q, %d bytes and %d more, %q", got[0].Value, len(got[1].Value), got[1].Cut,
					got[2].Value)
			}
		})
	}
}
