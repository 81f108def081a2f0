package audit

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafkatest"
)

const transactional = "stage"

// start is the event time of the first article.
const start = 1_700_000_000_000

// An item is an input record, as the tests want it to come out.
type item struct {
	partition   int32
	fingerprint uint64
	minute      int64  // event time, from start on
	kind        string // clustered when empty, else unclustered or the class of a dead letter
}

// story has two clusters that are 4 bits apart, an article between them, a third cluster, one dead letter
// and one article without a word. Offsets without gaps make the addresses in the tests:
// article i is articles/(i mod 2)/(i div 2).
var story = []item{
	{0, 0x00, 0, ""},            // new
	{1, 0x0f, 1, ""},            // new
	{0, 0x03, 2, ""},            // as near to both: joins the older
	{1, 0, 3, "bad_json"},       //
	{0, 0x1f, 4, ""},            // joins the second
	{1, 0, 5, "unclustered"},    //
	{0, 0xffff0000, 6, ""},      // new
	{1, 0xffff0001, 7, ""},      // joins it
	{0, 0x1e, 8, ""},            // joins the second
	{1, 0xff000000ff00, 9, ""},  // new
	{0, 0xff000000ff00, 10, ""}, // joins it
	{1, 0x01, 11, ""},           // joins the first
}

// A transaction is what a clusterd of the tests writes at once. Aborted ones are written, too.
type transaction struct {
	records   []*kgo.Record
	committed map[int32]int64
	aborted   bool
}

// A stage is a broker with the topics of a clusterd that never ran: the tests write what it would have.
type stage struct {
	*testing.T
	config       config.Config
	client       *kgo.Client
	producer     *kgo.Client // of transactions
	admin        *kadm.Client
	transactions []transaction
	written      int // of them
}

func newStage(t *testing.T, change func(*config.Config)) *stage {
	t.Helper()
	broker := kafkatest.Start(t, 1)
	s := &stage{T: t, config: config.Default()}
	s.config.Kafka.Brokers = broker.ListenAddrs()
	if change != nil {
		change(&s.config)
	}
	for _, topic := range []string{s.config.Input.Topic, s.config.Output.Topic, s.config.Output.ClustersTopic, s.config.Output.DeadLetterTopic} {
		if err := broker.CreateTopic(topic, 2, nil); err != nil {
			t.Fatal(err)
		}
	}
	s.client = s.newClient()
	s.producer = s.newClient(kgo.TransactionalID(transactional))
	s.admin = kadm.NewClient(s.client)
	return s
}

func (s *stage) newClient(options ...kgo.Opt) *kgo.Client {
	s.Helper()
	client, err := kgo.NewClient(append(options, kgo.SeedBrokers(s.config.Kafka.Brokers...), kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(client.Close)
	return client
}

// input writes the input records of items and says where they are.
func (s *stage) input(items []item) []place {
	s.Helper()
	places := make([]place, len(items))
	for i, it := range items {
		r := &kgo.Record{Topic: s.config.Input.Topic, Partition: it.partition, Value: []byte("{}")}
		if err := s.client.ProduceSync(s.Context(), r).FirstErr(); err != nil {
			s.Fatal(err)
		}
		places[i] = placeOf(r)
	}
	return places
}

// cluster works out, in batches of four, what a clusterd writes for items at these places. The
// transactions wait to be spoilt, and then written.
func (s *stage) cluster(items []item, places []place) {
	spaces, next := make(map[int32]*simple), make(map[int32]int64)
	for from := 0; from < len(items); from += 4 {
		t := transaction{}
		touched := make(map[*simple]map[int]bool)
		for i, it := range items[from:min(from+4, len(items))] {
			at := places[from+i]
			next[at.Partition] = at.Offset + 1
			key := at.Partition
			if s.config.Cluster.Scope == "topic" {
				key = 0
			}
			if spaces[key] == nil {
				spaces[key] = &simple{linear: linear{distance: s.config.Cluster.Distance, window: s.config.Cluster.Window.Milliseconds()}}
			}
			space := spaces[key]
			if touched[space] == nil {
				touched[space] = make(map[int]bool)
			}
			t.records = append(t.records, s.outcome(space, it, at, touched[space]))
		}
		for _, key := range slices.Sorted(maps.Keys(spaces)) {
			t.records = append(t.records, s.clusters(spaces[key], touched[spaces[key]])...)
		}
		t.committed = maps.Clone(next)
		s.transactions = append(s.transactions, t)
	}
}

// simple is the state of a clusterd of the tests.
type simple struct {
	linear
	position int64
	members  []member
}

type member struct {
	founder                          place
	seq, size, first, last, position int64
	fingerprint                      uint64
	gone                             bool
}

func (s *stage) outcome(space *simple, it item, at place, touched map[int]bool) *kgo.Record {
	source := at.in(s.config.Input.Topic)
	r := &kgo.Record{Topic: s.config.Output.Topic, Partition: at.Partition, Headers: []kgo.RecordHeader{{Key: "clusterd.source", Value: []byte(source)}}}
	where := fmt.Sprintf(`"source":{"topic":%q,"partition":%d,"offset":%d}`, s.config.Input.Topic, at.Partition, at.Offset)
	switch it.kind {
	case "":
	case "unclustered":
		r.Value = fmt.Appendf(nil, `{"cluster_id":null,"status":"unclustered","distance":null,"size":0,"fingerprint":null,%s}`, where)
		return r
	default:
		r.Topic, r.Value = s.config.Output.DeadLetterTopic, []byte("{}")
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: "clusterd.error", Value: []byte(it.kind)})
		return r
	}
	when := start + it.minute*60_000
	i, distance, joined := space.assign(it.fingerprint, when)
	status := "joined"
	if !joined {
		status = "new"
		space.members = append(space.members, member{founder: at, seq: space.position, first: when, last: when, fingerprint: it.fingerprint})
	}
	m := &space.members[i]
	m.size++
	m.position, m.first, m.last = space.position, min(m.first, when), max(m.last, when)
	touched[i] = true
	r.Value = fmt.Appendf(nil, `{"cluster_id":%q,"status":%q,"distance":%d,"size":%d,"fingerprint":"%016x","published_at":%q,%s}`,
		m.founder.in(s.config.Input.Topic), status, distance, m.size, it.fingerprint, time.UnixMilli(when).UTC().Format(time.RFC3339Nano), where)
	r.Headers = append(r.Headers,
		kgo.RecordHeader{Key: "clusterd.position", Value: fmt.Append(nil, space.position)},
		kgo.RecordHeader{Key: "clusterd.event_time", Value: fmt.Append(nil, when)})
	space.position++
	return r
}

// clusters are the records of the clusters that a batch touched, and tombstones of those that expired.
func (s *stage) clusters(space *simple, touched map[int]bool) (records []*kgo.Record) {
	for i := range space.members {
		m := &space.members[i]
		r := &kgo.Record{Topic: s.config.Output.ClustersTopic, Partition: m.founder.Partition, Key: []byte(m.founder.in(s.config.Input.Topic))}
		expired := space.window > 0 && space.now-m.last > space.window
		switch {
		case expired && !m.gone:
			m.gone = true
		case touched[i]:
			r.Value = fmt.Appendf(nil, `{"cluster_id":%q,"seq":%d,"fingerprint":"%016x","size":%d,"first_seen":%q,"last_seen":%q}`,
				r.Key, m.seq, m.fingerprint, m.size, time.UnixMilli(m.first).UTC().Format(time.RFC3339Nano), time.UnixMilli(m.last).UTC().Format(time.RFC3339Nano))
			r.Headers = []kgo.RecordHeader{{Key: "clusterd.position", Value: fmt.Append(nil, m.position)}}
		default:
			continue
		}
		records = append(records, r)
	}
	return records
}

// write writes the transactions that are not written yet, and commits their offsets.
func (s *stage) write() {
	s.Helper()
	for ; s.written < len(s.transactions); s.written++ {
		t := s.transactions[s.written]
		s.begin(t)
		s.end(kgo.TransactionEndTry(!t.aborted))
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

// offsets puts offsets of the group into the transaction, for which the client has no call outside of
// a group session.
func (s *stage) offsets(offsets map[int32]int64) {
	s.Helper()
	id, epoch, err := s.producer.ProducerID(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	add := kmsg.NewPtrAddOffsetsToTxnRequest()
	add.TransactionalID, add.ProducerID, add.ProducerEpoch, add.Group = transactional, id, epoch, s.config.Input.Group
	if r, err := add.RequestWith(s.Context(), s.producer); err != nil || r.ErrorCode != 0 {
		s.Fatalf("AddOffsetsToTxn: %v, %v", err, kerr.ErrorForCode(r.ErrorCode))
	}
	commit := kmsg.NewPtrTxnOffsetCommitRequest()
	commit.TransactionalID, commit.ProducerID, commit.ProducerEpoch, commit.Group = transactional, id, epoch, s.config.Input.Group
	topics, err := s.admin.ListTopics(s.Context(), s.config.Input.Topic)
	if err != nil {
		s.Fatal(err)
	}
	topic := kmsg.NewTxnOffsetCommitRequestTopic()
	topic.Topic, topic.TopicID = s.config.Input.Topic, topics[s.config.Input.Topic].ID
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

// audit runs an audit with options.
func (s *stage) audit(o Options) *Report {
	s.Helper()
	o.Log, o.TempDir = slog.New(slog.DiscardHandler), s.TempDir()
	if o.Show == 0 {
		o.Show = 10
	}
	report, err := Run(s.Context(), s.config, o)
	if err != nil {
		s.Fatal(err)
	}
	return report
}

// record is the n-th record of a topic among those that are to be written.
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

// drop takes a record out.
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

// setHeader replaces a header; an empty value takes it away.
func setHeader(r *kgo.Record, key, value string) {
	r.Headers = slices.DeleteFunc(slices.Clone(r.Headers), func(h kgo.RecordHeader) bool { return h.Key == key })
	if value != "" {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: key, Value: []byte(value)})
	}
}
