package audit

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/audit/wire"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// oddRecord returns an encoded record of no article.
func oddRecord(delta int32) []byte {
	r := kmsg.Record{OffsetDelta: delta, Value: []byte("{")}
	r.Length = int32(len(r.AppendTo(nil)) - 1)
	return r.AppendTo(nil)
}

// oddBatch returns a batch of n records with a right checksum.
func oddBatch(n int, attributes int16, records ...[]byte) []byte {
	b := kmsg.RecordBatch{
		Magic: 2, Attributes: attributes,
		PartitionLeaderEpoch: -1, ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1,
		NumRecords: int32(n), LastOffsetDelta: int32(n - 1), Records: slices.Concat(records...),
	}
	b.Length = int32(49 + len(b.Records))
	encoded := b.AppendTo(nil)
	binary.BigEndian.PutUint32(
		encoded[17:], crc32.Checksum(encoded[21:], crc32.MakeTable(crc32.Castagnoli)),
	)
	return encoded
}

// inputBatch writes a batch to partition 0 of the input as it is, and says at which offset.
func (s *stage) inputBatch(batch []byte) int64 {
	s.Helper()
	versions := kversion.Stable()
	versions.SetMaxKeyVersion(int16(kmsg.Produce), 12)
	client := s.newClient(kgo.MaxVersions(versions))
	topics, err := s.admin.ListTopics(s.Context(), s.config.Input.Topic)
	if err != nil {
		s.Fatal(err)
	}
	request := kmsg.NewPtrProduceRequest()
	request.Acks, request.TimeoutMillis = -1, 10_000
	topic, partition := kmsg.NewProduceRequestTopic(), kmsg.NewProduceRequestTopicPartition()
	partition.Records = batch
	topic.Topic, topic.Partitions = s.config.Input.Topic, append(topic.Partitions, partition)
	request.Topics = append(request.Topics, topic)
	answer, err := client.Broker(int(topics[s.config.Input.Topic].Partitions[0].Leader)).
		Request(s.Context(), request)
	if err != nil {
		s.Fatal(err)
	}
	got := answer.(*kmsg.ProduceResponse).Topics[0].Partitions[0]
	if err := kerr.ErrorForCode(got.ErrorCode); err != nil {
		s.Fatal(err)
	}
	for i := range int64(binary.BigEndian.Uint32(batch[57:])) { // whether they can be read or not
		s.inputs[wire.Address{Partition: 0, Offset: got.BaseOffset + i}] = input{
			Record: &kgo.Record{Value: []byte("{")},
		}
	}
	return got.BaseOffset
}

// The classes of the dead letters here.
const unreadable, single = "bad_batch", "bad_json"

// A badRun is a dead letter of these offsets of a batch.
type badRun struct {
	class       string
	first, last int64
}

var equalOffsets = oddBatch(3, 0, oddRecord(0), oddRecord(0), oddRecord(2))

var (
	allSingle  = []badRun{{single, 0, 0}, {single, 1, 1}, {single, 2, 2}}
	oddBatches = []struct {
		name    string
		batch   []byte
		letters []badRun
		check   string // that is violated; empty: all hold
	}{
		{"a good batch", oddBatch(3, 0, oddRecord(0), oddRecord(1), oddRecord(2)), allSingle, ""},
		{
			"equal offsets, the rest as one",
			equalOffsets,
			[]badRun{{single, 0, 0}, {unreadable, 1, 2}},
			"",
		},
		{"equal offsets, by one who reads them", equalOffsets, allSingle, ""},
		{
			"offsets too high",
			oddBatch(3, 0, oddRecord(0), oddRecord(900), oddRecord(901)),
			[]badRun{{single, 0, 0}, {unreadable, 1, 2}},
			"",
		},
		{
			"negative offsets",
			oddBatch(3, 0, oddRecord(-3), oddRecord(-2), oddRecord(-1)),
			[]badRun{{unreadable, 0, 2}},
			"",
		},
		{
			"a record that is not there",
			oddBatch(3, 0, oddRecord(0), oddRecord(1)),
			[]badRun{{single, 0, 0}, {single, 1, 1}, {unreadable, 2, 2}},
			"",
		},
		{
			"bytes behind the last",
			oddBatch(3, 0, oddRecord(0), oddRecord(1), oddRecord(2), []byte{0}),
			[]badRun{{single, 0, 0}, {single, 1, 1}, {unreadable, 2, 2}},
			"",
		},
		{"no zstd", oddBatch(3, 4, oddRecord(0)), []badRun{{unreadable, 0, 2}}, ""},
		{"nothing", oddBatch(3, 0), []badRun{{unreadable, 0, 2}}, ""},
		{"a record that can be read", equalOffsets, []badRun{{unreadable, 0, 2}}, "I1"},
		{
			"a good batch that came out as none",
			oddBatch(3, 0, oddRecord(0), oddRecord(1), oddRecord(2)),
			[]badRun{{unreadable, 0, 2}},
			"I1",
		},
		{"a rest that is lost", equalOffsets, []badRun{{single, 0, 0}}, "I1"},
		{"a rest of which one is lost", equalOffsets, []badRun{{single, 0, 0}, {unreadable, 1, 1}}, "I1"},
		{
			"a rest that came twice",
			equalOffsets,
			[]badRun{{single, 0, 0}, {unreadable, 1, 2}, {unreadable, 1, 2}},
			"I1",
		},
		{
			"a rest of which one came twice",
			equalOffsets,
			[]badRun{{single, 0, 0}, {unreadable, 1, 2}, {single, 2, 2}},
			"I1",
		},
		{
			"a rest beyond the topic",
			equalOffsets,
			[]badRun{{single, 0, 0}, {unreadable, 1, 1 << 60}},
			"form",
		},
		{
			"a rest that ends before it begins",
			equalOffsets,
			[]badRun{{single, 0, 0}, {unreadable, 1, 0}},
			"form",
		},
	}
)

// What the audit cannot read of the input must come out all the same, each offset once, in
// whatever way; what it can read must not come out as unreadable.
func TestOddInputBatches(t *testing.T) {
	t.Parallel()
	for _, test := range some(8, oddBatches) {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, nil)
			addresses := s.input(story)
			at := s.inputBatch(test.batch)
			after := s.input([]item{{0, 0, 0, single}}) // nothing of what follows is passed over
			s.cluster(story, addresses)
			letters := []*kgo.Record{s.outcome(nil, item{kind: single}, after[0], nil)}
			for _, l := range test.letters {
				r := s.outcome(nil, item{kind: l.class}, wire.Address{Partition: 0, Offset: at + l.first}, nil)
				if l.class == unreadable {
					setHeader(r, "clusterd.offsets", fmt.Sprintf("%d-%d", at+l.first, at+l.last))
				}
				letters = append(letters, r)
			}
			s.transactions = append(
				s.transactions, transaction{records: letters, committed: map[int32]int64{0: at + 4}},
			)
			s.write()
			found := s.audit(Options{})
			if test.check == "" {
				wantHeld(t, found)
				if want := int64(len(story) + 4); found.Counts.Records != want {
					t.Errorf("%d records, want %d", found.Counts.Records, want)
				}
				return
			}
			for _, c := range found.Checks {
				if c.ID == test.check && c.Violations == 0 {
					t.Errorf("%s holds", c.ID)
				}
			}
		})
	}
}

// A record has more headers than are read: the audit says so, and compares all else of it and of
// what follows. The article's result may carry what it could of them.
func TestMoreHeadersThanAreRead(t *testing.T) {
	t.Parallel()
	for _, violated := range []bool{false, true} {
		s := newStage(t, func(c *config.Config) { c.Input.MaxBytes = 64 << 10 })
		s.more = make([]kgo.RecordHeader, 70_000)
		s.more[69_000].Key = "from"
		addresses := s.input(story[:1])
		s.more = nil
		s.cluster(story, append(addresses, s.input(story[1:])...))
		r := s.result(0)
		r.Headers = r.Headers[len(r.Headers)-3:]
		if violated {
			s.edit(r, `"id-0"`, `"id-1"`)
		}
		s.write()
		found := s.audit(Options{})
		if got := firsts(found); violated != slices.Equal(got, []string{"input article-clusters/0/0"}) {
			t.Errorf("found:\n%s", strings.Join(violations(found), "\n"))
		}
		const want = "the headers of 1 records, of which the first is articles/0/0: "
		if len(found.Limits) != 1 || !strings.HasPrefix(found.Limits[0], want) {
			t.Errorf("limits %q, want %q", found.Limits, want)
		}
	}
}
