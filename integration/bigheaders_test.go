//go:build integration

package integration

import (
	"bytes"
	bin "encoding/binary"
	"hash/crc32"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// A record with fifty million empty headers, which Kafka takes, keeps neither an instance busy nor
// the audit, and takes neither's memory.
func TestManyEmptyHeaders(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, noLinger)
	i := w.start()
	i.waitLive()
	const headers = 50_000_000
	value := []byte(`{"id":"bomb","content":"The library lends garden tools."}`)
	varint := func(n int) []byte { return bin.AppendVarint(nil, int64(n)) }
	body := slices.Concat([]byte{0, 0, 0, 1}, varint(len(value)), value, varint(headers))
	record := slices.Concat(varint(len(body)+2*headers), body, make([]byte, 2*headers))
	var packed bytes.Buffer
	z, err := zstd.NewWriter(&packed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(record); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	now := time.Now().UnixMilli()
	b := kmsg.RecordBatch{
		Magic: 2, Attributes: 4, NumRecords: 1, ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1,
		FirstTimestamp: now, MaxTimestamp: now, Records: packed.Bytes(),
	}
	b.Length = int32(len(b.AppendTo(nil)) - 12)
	b.CRC = int32(crc32.Checksum(b.AppendTo(nil)[21:], crc32.MakeTable(crc32.Castagnoli)))
	partition := kmsg.NewProduceRequestTopicPartition()
	partition.Records = b.AppendTo(nil)
	topic := kmsg.NewProduceRequestTopic()
	topic.Topic, topic.Partitions = w.input, []kmsg.ProduceRequestTopicPartition{partition}
	request := kmsg.NewPtrProduceRequest()
	request.Acks, request.TimeoutMillis = -1, 60_000
	request.Topics = []kmsg.ProduceRequestTopic{topic}
	client := w.producer(kgo.MaxVersions(kversion.V3_9_0()))
	response, err := client.Request(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if code := response.(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode; code != 0 {
		t.Fatal(kerr.ErrorForCode(code))
	}
	w.produce(&kgo.Record{
		Topic: w.input, Value: []byte(`{"id":"next","content":"Something else altogether."}`),
	})
	w.done()
	if n := len(w.read(w.output, kgo.ReadCommitted())); n != 2 {
		t.Errorf("%d results, want 2", n)
	}
	audit := exec.Command(binary, "audit", "-c", w.config)
	said, err := audit.CombinedOutput()
	if err != nil || !strings.Contains(string(said), "the headers of 1 records") {
		t.Errorf("clusterd audit: %v\n%s", err, said)
	}
	used := audit.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10
	if used > 2500 { // 10,600 MiB where it decodes all headers; 400 to 1,200 as the collector comes
		t.Errorf("the audit used %d MiB", used)
	}
}
