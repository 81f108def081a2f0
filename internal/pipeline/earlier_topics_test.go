package pipeline

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

// A line is a record of a dump, a line of JSON. The last line of a partition has no record, but
// the offset at which the partition ends and what the group has committed of it.
type line struct {
	Topic     string      `json:"topic"`
	Partition int32       `json:"partition"`
	Offset    int64       `json:"offset"`
	Time      int64       `json:"time,omitempty"` // Unix milliseconds
	Key       *string     `json:"key,omitempty"`  // nil is null, as in Kafka
	Value     *string     `json:"value,omitempty"`
	Headers   [][2]string `json:"headers,omitempty"`
	End       bool        `json:"end,omitempty"`
	Committed *int64      `json:"committed,omitempty"`
}

// name returns what tells a record of an output topic from all others that are live: the key of a
// cluster or checkpoint, else the article's address.
func (l line) name() string {
	for _, h := range l.Headers {
		if h[0] == article.HeaderSource {
			return h[1]
		}
	}
	return *l.Key
}

// dump reads the topics as they are, with a client of its own. Nobody may write to them meanwhile.
func dump(b *bench) (lines []line) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), wait.Timeout)
	defer cancel()
	client := b.franz(kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords(),
		kgo.ConsumeTopics(b.topics()...), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	admin := kadm.NewClient(client)
	ends, err := admin.ListEndOffsets(ctx, b.topics()...)
	if err != nil {
		b.Fatal(err)
	}
	committed, err := admin.FetchOffsets(ctx, b.config.Input.Group)
	if err != nil {
		b.Fatal(err)
	}
	var left int64
	ends.Each(func(e kadm.ListedOffset) {
		end := line{Topic: e.Topic, Partition: e.Partition, Offset: e.Offset, End: true}
		if at, ok := committed.Lookup(e.Topic, e.Partition); ok {
			end.Committed = &at.At
		}
		lines, left = append(lines, end), left+e.Offset
	})
	for left > 0 {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			b.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			left--
			if !r.Attrs.IsControl() {
				lines = append(lines, lineOf(b.T, r))
			}
		})
	}
	slices.SortFunc(lines, func(x, y line) int {
		return cmp.Or(cmp.Compare(x.Topic, y.Topic), cmp.Compare(x.Partition, y.Partition),
			cmp.Compare(x.Offset, y.Offset))
	})
	return lines
}

func lineOf(t *testing.T, r *kgo.Record) line {
	t.Helper()
	l := line{
		Topic: r.Topic, Partition: r.Partition, Offset: r.Offset, Time: r.Timestamp.UnixMilli(),
		Key: text(t, r.Key), Value: text(t, r.Value),
	}
	for _, h := range r.Headers {
		l.Headers = append(l.Headers, [2]string{h.Key, *text(t, h.Value)})
	}
	return l
}

// text returns bytes as a string that JSON can keep.
func text(t *testing.T, b []byte) *string {
	t.Helper()
	if b == nil {
		return nil
	}
	if !utf8.Valid(b) {
		t.Fatalf("%q is not UTF-8, and a dump is JSON", b)
	}
	s := string(b)
	return &s
}

// replay writes the topics of a dump, so that each record has its offset again. Where an offset is
// missing, the marker of a transaction stood there, and one stands there again.
func replay(b *bench, lines []line) {
	b.Helper()
	plain, producer := b.franz(), b.franz(kgo.TransactionalID("replay"))
	var run []*kgo.Record
	offsets := make(kadm.Offsets)
	b.left = make(map[article.Address]bool)
	for i, l := range lines {
		if l.Committed != nil {
			offsets.AddOffset(l.Topic, l.Partition, *l.Committed, -1)
		}
		if l.End {
			write(b.T, plain, run...)
			run = nil
			continue
		}
		run = append(run, l.record())
		at := article.Address{Topic: l.Topic, Partition: int(l.Partition), Offset: l.Offset}
		b.left[at] = true
		switch gap := lines[i+1].Offset - l.Offset; {
		case gap == 2:
			if err := producer.BeginTransaction(); err != nil {
				b.Fatal(err)
			}
			write(b.T, producer, run...)
			if err := producer.EndTransaction(b.Context(), kgo.TryCommit); err != nil {
				b.Fatal(err)
			}
			run = nil
		case gap != 1:
			b.Fatalf("%s/%d/%d: the next record is %d further", l.Topic, l.Partition, l.Offset, gap)
		}
	}
	admin := kadm.NewClient(plain)
	if err := admin.CommitAllOffsets(b.Context(), b.config.Input.Group, offsets); err != nil {
		b.Fatal(err)
	}
}

// write produces records in their order, to the partitions that they have.
func write(t *testing.T, client *kgo.Client, records ...*kgo.Record) {
	t.Helper()
	if err := client.ProduceSync(t.Context(), records...).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

func (l line) record() *kgo.Record {
	r := &kgo.Record{Topic: l.Topic, Partition: l.Partition, Timestamp: time.UnixMilli(l.Time)}
	if l.Key != nil {
		r.Key = []byte(*l.Key)
	}
	if l.Value != nil {
		r.Value = []byte(*l.Value)
	}
	for _, h := range l.Headers {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: h[0], Value: []byte(h[1])})
	}
	return r
}

// franz returns a client that shares nothing with clusterd's.
func (b *bench) franz(options ...kgo.Opt) *kgo.Client {
	b.Helper()
	client, err := kgo.NewClient(append(options, kgo.SeedBrokers(b.config.Kafka.Brokers...),
		kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(client.Close)
	return client
}

func (b *bench) topics() []string {
	o := b.config.Output
	return []string{b.config.Input.Topic, o.Topic, o.ClustersTopic, o.DeadLetterTopic}
}

// encodeLines returns lines as a file has them.
func encodeLines(t *testing.T, lines []line) []byte {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for _, l := range lines {
		if err := e.Encode(l); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// readLines reads a file of lines.
func readLines(t *testing.T, path string) (lines []line) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			t.Fatal(fmt.Errorf("%s:%d: %w", path, i+1, err))
		}
		lines = append(lines, l)
	}
	return lines
}
