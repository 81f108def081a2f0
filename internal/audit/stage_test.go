package audit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/audit/replay"
	"github.com/clusterd/clusterd/internal/audit/report"
	"github.com/clusterd/clusterd/internal/audit/spill"
	"github.com/clusterd/clusterd/internal/audit/wire"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
)

const transactional = "stage"

// A transaction is what a clusterd of the tests writes at once. Aborted ones are written, too.
type transaction struct {
	records   []*kgo.Record
	committed map[int32]int64
	aborted   bool
	reached   map[string]reached // by space
}

// reached is how far a space is.
type reached struct{ position, streamTime int64 }

// A stage is a broker with the topics of a clusterd that never ran: the tests write what it would
// have.
type stage struct {
	limit int // of articles that may join a cluster by contacts, as in earlier versions
	*testing.T
	config       config.Config
	broker       *kfake.Cluster
	client       *kgo.Client
	producer     *kgo.Client // of transactions
	admin        *kadm.Client
	transactions []transaction
	off          map[int]bool // in these of them labels are off
	kept         map[wire.Address]int64
	reached      map[string]reached // by the last transaction that was written
	written      int                // of them

	method method.Method
	print  func(title, content string) (singlepass.Fingerprint, bool)
	text   func(item) string // the content of an article
	title  string            // of all articles; else each has one of its own
	inputs map[wire.Address]input
	keys   bool               // input records have keys
	from   map[int]string     // by number of the input record: its header from, where it is another
	more   []kgo.RecordHeader // that all input records have

	inputID kadm.TopicID // of the input topic, once it is known
}

// An input is an input record, and what a clusterd decodes of it.
type input struct {
	*kgo.Record
	id, title, content string
}

// some returns all cases, and under the race detector each n-th: whatever is wrong with a record,
// every audit runs the same goroutines.
func some[T any](n int, cases []T) []T {
	if !check.Race {
		return cases
	}
	var few []T
	for i := 0; i < len(cases); i += n {
		few = append(few, cases[i])
	}
	return few
}

func newStage(t *testing.T, change func(*config.Config)) *stage {
	t.Helper()
	broker := kafkatest.Start(t, 1)
	s := &stage{T: t, broker: broker, config: config.Default(), inputs: make(map[wire.Address]input)}
	s.config.Kafka.Brokers = broker.ListenAddrs()
	// No record has a key, so results are in the partitions of their articles.
	s.config.Output.Key, s.config.Output.Headers = "source", []string{"from"}
	if change != nil {
		change(&s.config)
	}
	s.use(
		spelled{s.config.Cluster.Distance},
		func(it item) string { return fmt.Sprintf("%x", it.fingerprint) },
	)
	out := s.config.Output
	for _, topic := range []string{
		s.config.Input.Topic, out.Topic, out.ClustersTopic, out.DeadLetterTopic,
		s.config.Labels.Topic, s.config.Labels.Corrections,
	} {
		if topic == "" {
			continue
		}
		policy := map[string]string{"retention.ms": "-1"}
		if topic == out.ClustersTopic {
			policy["cleanup.policy"] = "compact"
		}
		if err := broker.CreateTopic(topic, 2, policy); err != nil {
			t.Fatal(err)
		}
	}
	s.client = s.newClient()
	s.producer = s.newClient(kgo.TransactionalID(transactional))
	s.admin = kadm.NewClient(s.client)
	return s
}

// use has articles with these texts compared by a method.
func (s *stage) use(m method.Method, text func(item) string) {
	s.method, s.print, s.text = m, m.NewFingerprinter(), text
}

func (s *stage) newClient(options ...kgo.Opt) *kgo.Client {
	s.Helper()
	client, err := kgo.NewClient(
		append(
			options, kgo.SeedBrokers(s.config.Kafka.Brokers...),
			kgo.RecordPartitioner(kgo.ManualPartitioner()),
		)...)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(client.Close)
	return client
}

// input writes the input records of items and says where they are.
func (s *stage) input(items []item) []wire.Address {
	s.Helper()
	addresses := make([]wire.Address, len(items))
	inputs, records := make([]input, len(items)), make([]*kgo.Record, len(items))
	for i, it := range items {
		inputs[i] = s.article(it, len(s.inputs)+i)
		records[i] = inputs[i].Record
	}
	if err := s.client.ProduceSync(s.Context(), records...).FirstErr(); err != nil {
		s.Fatal(err)
	}
	for i, r := range records {
		addresses[i] = wire.AddressOf(r)
		s.inputs[addresses[i]] = inputs[i]
	}
	return addresses
}

// article returns the n-th input record.
func (s *stage) article(it item, n int) input {
	when := time.UnixMilli(start + it.minute*60_000).UTC()
	in := input{
		Record: &kgo.Record{
			Topic: s.config.Input.Topic, Partition: it.partition, Timestamp: when,
			Headers: append([]kgo.RecordHeader{
				{Key: "from", Value: []byte(cmp.Or(s.from[n], "a test"))},
			}, s.more...),
		},
		id: fmt.Sprintf("id-%d", n), title: "—",
	}
	if s.keys {
		in.Key = fmt.Appendf(nil, "key-%d", n)
	}
	switch it.kind {
	case "", "undated":
		in.title, in.content = cmp.Or(s.title, fmt.Sprintf("The title of number %d", n)), s.text(it)
		in.Value = fmt.Appendf(nil, `{"id":%q,"title":%q,"content":%q`, in.id, in.title, in.content)
		if it.kind == "" {
			in.Value = fmt.Appendf(in.Value, `,"published_at":%q`, when.Format(time.RFC3339Nano))
		}
		in.Value = append(in.Value, '}')
	case "unclustered":
		in.Value = fmt.Appendf(nil, `{"id":%q,"title":%q}`, in.id, in.title)
	default:
		in.Value = []byte(bad[it.kind])
	}
	return in
}

// write writes the transactions that are not written yet, and commits their offsets.
func (s *stage) write() {
	s.Helper()
	for ; s.written < len(s.transactions); s.written++ {
		t := s.transactions[s.written]
		s.completeCheckpoints(t)
		s.begin(t)
		s.end(kgo.TransactionEndTry(!t.aborted))
	}
}

// completeCheckpoints has checkpoints say how far their spaces are, where they do not.
func (s *stage) completeCheckpoints(t transaction) {
	if t.reached != nil {
		s.reached = t.reached
	}
	for _, r := range t.records {
		var said struct{ Space string }
		if !wire.IsCheckpoint(r) || json.Unmarshal(r.Value, &said) != nil {
			continue
		}
		at := s.reached[said.Space]
		for field, n := range map[string]int64{
			"next_position": at.position, "stream_time": at.streamTime,
		} {
			if value := string(r.Value); !strings.Contains(value, field) {
				r.Value = []byte(strings.Replace(value, "{", fmt.Sprintf("{%q:%d,", field, n), 1))
			}
		}
	}
}

// begin writes a transaction, and leaves it open.
func (s *stage) begin(t transaction) {
	s.Helper()
	if err := s.producer.BeginTransaction(); err != nil {
		s.Fatal(err)
	}
	if err := s.producer.ProduceSync(s.Context(), t.records...).FirstErr(); err != nil {
		s.Fatal(err)
	}
	s.offsets(t.committed)
}

func (s *stage) end(how kgo.TransactionEndTry) {
	s.Helper()
	if err := s.producer.EndTransaction(s.Context(), how); err != nil {
		s.Fatal(err)
	}
}

// offsets puts offsets of the group into the transaction, for which the client has no call outside
// of a group session.
func (s *stage) offsets(offsets map[int32]int64) {
	s.Helper()
	id, epoch, err := s.producer.ProducerID(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	add := kmsg.NewPtrAddOffsetsToTxnRequest()
	add.TransactionalID, add.ProducerID, add.ProducerEpoch = transactional, id, epoch
	add.Group = s.config.Input.Group
	if r, err := add.RequestWith(s.Context(), s.producer); err != nil || r.ErrorCode != 0 {
		s.Fatalf("AddOffsetsToTxn: %v, %v", err, kerr.ErrorForCode(r.ErrorCode))
	}
	commit := kmsg.NewPtrTxnOffsetCommitRequest()
	commit.TransactionalID, commit.ProducerID, commit.ProducerEpoch = transactional, id, epoch
	commit.Group = s.config.Input.Group
	topic := kmsg.NewTxnOffsetCommitRequestTopic()
	topic.Topic, topic.TopicID = s.config.Input.Topic, s.topicID()
	for p, offset := range offsets {
		partition := kmsg.NewTxnOffsetCommitRequestTopicPartition()
		partition.Partition, partition.Offset = p, offset
		topic.Partitions = append(topic.Partitions, partition)
	}
	commit.Topics = append(commit.Topics, topic)
	r, err := commit.RequestWith(s.Context(), s.producer)
	if err != nil {
		s.Fatal(err)
	}
	for _, t := range r.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				s.Fatal(err)
			}
		}
	}
}

// topicID returns the id of the input topic.
func (s *stage) topicID() kadm.TopicID {
	s.Helper()
	if s.inputID == (kadm.TopicID{}) {
		topics, err := s.admin.ListTopics(s.Context(), s.config.Input.Topic)
		if err != nil {
			s.Fatal(err)
		}
		s.inputID = topics[s.config.Input.Topic].ID
	}
	return s.inputID
}

// audit runs an audit with options.
func (s *stage) audit(o Options) *report.Report {
	s.Helper()
	o.Log, o.TempDir = slog.New(slog.DiscardHandler), s.TempDir()
	if o.Show == 0 {
		o.Show = 10
	}
	found, err := s.run(o)
	if err != nil {
		s.Fatal(err)
	}
	return found
}

func (s *stage) run(o Options) (*report.Report, error) {
	return run(s.Context(), s.config, o, func(
		c config.Config, dir *spill.Dir, seed maphash.Seed, from, to map[int32]int64,
	) (*replay.Outcomes, error) {
		return replay.NewOf(s.method, c, dir, seed, from, to)
	})
}

// record returns the n-th record of a topic among those that are to be written.
func (s *stage) record(topic string, n int) *kgo.Record {
	s.Helper()
	for _, t := range s.transactions {
		for _, r := range t.records {
			if r.Topic == topic {
				if n == 0 {
					return r
				}
				n--
			}
		}
	}
	s.Fatalf("there are not so many records of %s", topic)
	return nil
}

func (s *stage) result(n int) *kgo.Record { s.Helper(); return s.record(s.config.Output.Topic, n) }
func (s *stage) clusterRecord(n int) *kgo.Record {
	s.Helper()
	return s.record(s.config.Output.ClustersTopic, n)
}

// drop removes a record.
func (s *stage) drop(r *kgo.Record) {
	for i := range s.transactions {
		t := &s.transactions[i]
		t.records = slices.DeleteFunc(t.records, func(other *kgo.Record) bool { return other == r })
	}
}

// edit replaces a part of a value, which must be there.
func (s *stage) edit(r *kgo.Record, old, new string) {
	s.Helper()
	if !strings.Contains(string(r.Value), old) {
		s.Fatalf("%q is not in %s", old, r.Value)
	}
	r.Value = []byte(strings.Replace(string(r.Value), old, new, 1))
}

// setHeader replaces a header; an empty value removes it.
func setHeader(r *kgo.Record, key, value string) *kgo.Record {
	r.Headers = slices.DeleteFunc(
		slices.Clone(r.Headers), func(h kgo.RecordHeader) bool { return h.Key == key },
	)
	if value != "" {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: key, Value: []byte(value)})
	}
	return r
}
