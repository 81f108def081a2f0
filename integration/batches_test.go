//go:build integration

package integration

import (
	"bytes"
	"cmp"
	"compress/gzip"
	endian "encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/clusterd/clusterd/internal/cli/demo/sample"
)

var mutations = flag.Int("mutations", 300,
	"how many spoilt record batches TestMutatedBatches sends")

// rawProducer sends record batches as they are.
type rawProducer struct {
	*world
	client *kgo.Client
	leader int
}

func (w *world) rawProducer() *rawProducer {
	w.Helper()
	versions := kversion.Stable()
	versions.SetMaxKeyVersion(int16(kmsg.Produce), 12) // later ones name topics by their ids
	client, err := kgo.NewClient(kgo.SeedBrokers(w.addresses[0]), kgo.MaxVersions(versions))
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(client.Close)
	p := &rawProducer{w, client, -1}
	w.eventually("leaders of "+w.input, func() bool {
		topics, err := w.admin.ListTopics(w.Context(), w.input)
		for _, partition := range topics[w.input].Partitions {
			err = cmp.Or(err, partition.Err)
			p.leader = int(partition.Leader)
		}
		return err == nil && p.leader >= 0
	})
	return p
}

// send returns the offset that the first record of the batch got, or why the broker refuses the
// batch.
func (p *rawProducer) send(partition int32, batch []byte) (offset int64, refused error) {
	p.Helper()
	request := kmsg.NewPtrProduceRequest()
	request.Acks, request.TimeoutMillis = -1, 10_000
	topic, of := kmsg.NewProduceRequestTopic(), kmsg.NewProduceRequestTopicPartition()
	of.Partition, of.Records = partition, batch
	topic.Topic, topic.Partitions = p.input, append(topic.Partitions, of)
	request.Topics = append(request.Topics, topic)
	answer, err := p.client.Broker(p.leader).Request(p.Context(), request)
	if err != nil {
		return 0, err // the broker hangs up on what it cannot parse
	}
	got := answer.(*kmsg.ProduceResponse).Topics[0].Partitions[0]
	return got.BaseOffset, kerr.ErrorForCode(got.ErrorCode)
}

// sealed returns a batch with the right length and checksum. It may claim what it likes.
func sealed(b kmsg.RecordBatch) []byte {
	b.Magic, b.PartitionLeaderEpoch, b.ProducerID, b.ProducerEpoch, b.FirstSequence = 2, -1, -1, -1, -1
	b.Length = int32(49 + len(b.Records))
	encoded := b.AppendTo(nil)
	sum := crc32.Checksum(encoded[21:], crc32.MakeTable(crc32.Castagnoli))
	endian.BigEndian.PutUint32(encoded[17:], sum)
	return encoded
}

// batchOf returns a batch of n encoded records.
func batchOf(codec int16, n int, records []byte) kmsg.RecordBatch {
	now := time.Now().UnixMilli()
	return kmsg.RecordBatch{
		Attributes: codec, NumRecords: int32(n), LastOffsetDelta: int32(n - 1),
		FirstTimestamp: now, MaxTimestamp: now, Records: records,
	}
}

// rawRecord returns an encoded record with a value of its own.
func rawRecord(delta int32, value []byte) []byte {
	r := kmsg.Record{
		OffsetDelta: delta, Key: []byte("k"), Value: value,
		Headers: []kmsg.Header{{Key: "clusterd.error", Value: []byte("forged")}},
	}
	r.Length = int32(len(r.AppendTo(nil)) - 1)
	return r.AppendTo(nil)
}

const (
	gzipped, snapped, lz4ed, zstded = 1, 2, 3, 4
)

// packed returns data compressed as a producer does it.
func packed(codec int16, data []byte) []byte {
	var out bytes.Buffer
	switch codec {
	case gzipped:
		w := gzip.NewWriter(&out)
		_, _ = w.Write(data) // a buffer takes everything
		_ = w.Close()
	case snapped:
		encoded := snappy.Encode(nil, data)
		out.WriteString("\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01")
		out.Write(endian.BigEndian.AppendUint32(nil, uint32(len(encoded))))
		out.Write(encoded)
	case lz4ed:
		compressor, _ := kgo.DefaultCompressor(kgo.Lz4Compression())
		encoded, _ := compressor.Compress(&out, data)
		return bytes.Clone(encoded)
	case zstded:
		w, _ := zstd.NewWriter(&out)
		_, _ = w.Write(data)
		_ = w.Close()
	default:
		return data
	}
	return out.Bytes()
}

// A real broker takes such batches from any producer. What can be read of them is, the rest is a
// dead letter, and the stream goes on, also after a restart in the middle of it.
func TestOddBatches(t *testing.T) {
	t.Parallel()
	generator := sample.New(12, time.Now())
	article := func() []byte { return generator.Next().JSON() }
	two := func(codec int16, first, second int32) kmsg.RecordBatch {
		records := slices.Concat(rawRecord(first, article()), rawRecord(second, article()))
		return batchOf(codec, 2, packed(codec, records))
	}
	type batch = kmsg.RecordBatch
	but := func(change func(*batch)) batch {
		b := two(0, 0, 1)
		change(&b)
		return b
	}
	streams := func(codec int16) kmsg.RecordBatch {
		first, second := packed(codec, rawRecord(0, article())), packed(codec, rawRecord(1, article()))
		return batchOf(codec, 2, slices.Concat(first, second))
	}
	old := batchOf(0, 1, rawRecord(0, article()))
	tests := []struct {
		name  string
		batch kmsg.RecordBatch
		taken bool // by Kafka 4.1.1
		read  int  // of its two records
	}{
		{"as it should be", two(0, 0, 1), true, 2},
		{"an offset beyond the last", two(0, 0, 7), true, 1},
		{"a negative offset", two(0, -1, 1), true, 0},
		{"equal offsets", two(0, 0, 0), true, 1},
		{"descending offsets", two(0, 1, 0), true, 0},
		{"the highest offset", two(0, 0, math.MaxInt32), true, 1},
		{"the lowest offset", two(0, math.MinInt32, math.MinInt32), true, 0},
		{"two snappy streams", streams(snapped), true, 2},
		{"two gzip members", streams(gzipped), true, 2},
		{"two zstd frames", streams(zstded), true, 2},
		{"an unknown codec", two(7, 0, 1), false, 0},
		{"another number of records", but(func(b *batch) { b.NumRecords = 3 }), false, 0},
		{"no record", but(func(b *batch) { b.NumRecords, b.LastOffsetDelta = 0, -1 }), false, 0},
		{"bytes after the records", but(func(b *batch) { b.Records = append(b.Records, 0) }), false, 0},
		{"a control batch", but(func(b *batch) { b.Attributes |= 1 << 5 }), false, 0},
		{"a time before all times", but(func(b *batch) { b.FirstTimestamp = math.MinInt64 }), false, 0},
	}
	w := newWorld(t, 1, "")
	raw := w.rawProducer()
	for range 3 { // the first two halves and a restart, and all again
		running := w.start()
		records, whole, rests := int64(0), 0, make(map[string]int)
		before := len(w.results())
		letters := len(w.deadLetters())
		for _, test := range tests {
			w.produce(&kgo.Record{Value: article()})
			whole, records = whole+1, records+1
			offset, err := raw.send(0, sealed(test.batch))
			if (err == nil) != test.taken {
				t.Errorf("%s: %v; taken it should be: %t", test.name, err, test.taken)
			}
			if err != nil {
				continue
			}
			records += 2
			whole += test.read
			if test.read < 2 {
				rests[fmt.Sprintf("%d-%d", offset+int64(test.read), offset+1)]++
			}
		}
		for _, magic := range []byte{0, 1} {
			spoilt := sealed(old)
			spoilt[16] = magic
			if _, err := raw.send(0, spoilt); err == nil {
				t.Errorf("a batch of format %d was taken", magic)
			}
		}
		w.produce(&kgo.Record{Value: article()})
		w.done()
		running.kill()
		running = w.start()
		w.produce(&kgo.Record{Value: article()})
		w.done()
		running.stop()
		if n := len(w.results()) - before; n != whole+2 {
			t.Errorf("%d results, want %d", n, whole+2)
		}
		got := make(map[string]int)
		for _, r := range w.deadLetters()[letters:] {
			checkBadBatch(t, r)
			got[header(r, "clusterd.offsets")]++
		}
		if !maps.Equal(got, rests) {
			t.Errorf("dead letters of %v, want %v", got, rests)
		}
		w.audit()
	}
}

// checkBadBatch holds the dead letter of a batch to what docs/messages.md says.
func checkBadBatch(t *testing.T, r *kgo.Record) {
	t.Helper()
	first, _, _ := strings.Cut(header(r, "clusterd.offsets"), "-")
	base := int64(endian.BigEndian.Uint64(r.Value))
	switch at := offsetOf(t, header(r, "clusterd.source")); {
	case header(r, "clusterd.error") != "bad_batch" || header(r, "clusterd.stage") != "fetch" ||
		header(r, "clusterd.reason") == "" || r.Key != nil,
		first != strconv.FormatInt(at, 10), at < base, r.Value[16] != 2:
		t.Errorf("headers %v, and a batch from %d on", r.Headers, base)
	}
}

// Thousands of batches with a right checksum, spoilt in some way: the broker refuses some, and
// clusterd works through the others.
func TestMutatedBatches(t *testing.T) {
	t.Parallel()
	random, generator := seeded(t), sample.New(*seed, time.Now())
	w := newWorld(t, 2, "")
	w.timeout = 5 * time.Minute
	raw := w.rawProducer()
	running := w.start()
	var taken, records int64
	refused := make(map[string]int)
	for n := range *mutations {
		if every := max(100, *mutations/20); n%every == every/2 { // wherever that finds it
			running.signal(syscall.SIGKILL)
			<-running.exited
			running = w.start()
		}
		b, spoilt := mutatedBatch(random, generator)
		partition := int32(random.IntN(2))
		if _, err := raw.send(partition, spoilt); err != nil {
			refused[reason(err)]++
			continue
		}
		taken++
		records += int64(b.LastOffsetDelta) + 1
	}
	for p := range int32(2) { // good ones come after all
		good := batchOf(0, 1, rawRecord(0, generator.Next().JSON()))
		if _, err := raw.send(p, sealed(good)); err != nil {
			t.Fatal(err)
		}
	}
	w.done()
	running.stop()
	read, bad, covered, other := int64(len(w.results())), 0, int64(0), 0
	for _, r := range w.deadLetters() {
		if header(r, "clusterd.error") != "bad_batch" {
			other++
			continue
		}
		checkBadBatch(t, r)
		bad++
		from, to, _ := strings.Cut(header(r, "clusterd.offsets"), "-")
		first, _ := strconv.ParseInt(from, 10, 64)
		last, _ := strconv.ParseInt(to, 10, 64)
		covered += last - first + 1
	}
	t.Logf("%d batches sent, %d taken with %d records, refused: %v; "+
		"%d results, %d dead letters of records, %d of batches for %d records",
		*mutations, taken, records, refused, read, other, bad, covered)
	if read+int64(other)+covered != records+2 {
		t.Errorf("%d records came out, of %d", read+int64(other)+covered, records+2)
	}
	if bad == 0 || taken < int64(*mutations/10) {
		t.Errorf("%d of %d batches were taken, %d were bad", taken, *mutations, bad)
	}
	w.audit()
}

// reason returns the name of Kafka's error.
func reason(err error) string {
	var e *kerr.Error
	if errors.As(err, &e) {
		return e.Message
	}
	return "hung up"
}

// mutatedBatch returns a batch of articles, and how it is sent: some bytes, or some of what it
// says, are not right.
func mutatedBatch(random *rand.Rand, generator *sample.Generator) (kmsg.RecordBatch, []byte) {
	n := 1 + random.IntN(8)
	var records [][]byte
	for i := range n {
		delta := int32(i)
		if random.IntN(8) == 0 {
			delta = int32(random.IntN(2*n+4) - 3)
		}
		value := generator.Next().JSON()
		if random.IntN(10) == 0 {
			value, _ = json.Marshal(random.IntN(100)) // no article
		}
		records = append(records, rawRecord(delta, value))
	}
	mutate := func(data []byte, times int) {
		for range times {
			switch i := random.IntN(len(data)); random.IntN(3) {
			case 0:
				data[i] ^= 1 << random.IntN(8)
			case 1:
				data[i] = byte(random.IntN(256))
			default:
				data[i] = []byte{0, 1, 0x7f, 0x80, 0xff}[random.IntN(5)]
			}
		}
	}
	if random.IntN(3) == 0 { // the first bytes are the numbers
		r := records[random.IntN(n)]
		mutate(r[:min(len(r), 12)], 1)
	}
	codec := int16(random.IntN(5))
	var encoded []byte
	switch random.IntN(6) {
	case 0: // one stream after another
		cut := random.IntN(n + 1)
		encoded = slices.Concat(packed(codec, slices.Concat(records[:cut]...)),
			packed(codec, slices.Concat(records[cut:]...)))
	case 1: // and something behind it
		encoded = append(packed(codec, slices.Concat(records...)), make([]byte, random.IntN(9))...)
	default:
		encoded = packed(codec, slices.Concat(records...))
	}
	if random.IntN(4) == 0 {
		mutate(encoded, 1+random.IntN(3))
	}
	b := batchOf(codec, n, encoded)
	switch random.IntN(20) {
	case 0:
		b.LastOffsetDelta += int32(random.IntN(5) - 2)
	case 1:
		b.NumRecords += int32(random.IntN(5) - 2)
	case 2:
		b.NumRecords += int32(random.IntN(5) - 2)
		b.LastOffsetDelta = b.NumRecords - 1
	case 3:
		b.FirstTimestamp = random.Int64() - random.Int64()
	case 4:
		b.MaxTimestamp = random.Int64() - random.Int64()
	case 5:
		b.Attributes ^= 1 << random.IntN(16)
	case 6:
		b.Records = b.Records[:random.IntN(len(b.Records)+1)]
	}
	return b, sealed(b)
}
