package audit

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"log/slog"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
)

const transactional = "stage"

// start is the event time of the first article.
const start = 1_700_000_000_000

// An item is an input record, as the tests want it to come out.
type item struct {
	partition   int32
	fingerprint uint64
	minute      int64  // event time, from start on
	kind        string // clustered when empty, else undated, unclustered or the class of a dead letter
}

// bad are the values of records of a class.
var bad = map[string]string{"bad_json": "{", "bad_field": `{"title":7}`, "empty": `{"author":"x"}`, "too_deep": strings.Repeat("[", 100)}

// spelled is a method of which articles say their fingerprints themselves.
type spelled struct{ distance int }

func (spelled) Threshold() string                  { return "" }
func (spelled) Check(singlepass.Fingerprint) error { return nil }
func (spelled) Identity() string                   { return "method=spelled" }

func (spelled) NewPrinter() func(title, content string) (singlepass.Fingerprint, bool) {
	return func(_, content string) (f singlepass.Fingerprint, ok bool) {
		_, err := fmt.Sscanf(content, "%x", &f.Hash)
		return f, err == nil
	}
}

func (spelled) Distance(a, b singlepass.Fingerprint) float64 {
	return float64(bits.OnesCount64(a.Hash ^ b.Hash))
}
func (m spelled) Bound() float64                           { return float64(m.distance) }
func (spelled) NewIndex(float64) (singlepass.Index, error) { panic("the audit has a model of its own") }

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

	method method.Method
	print  func(title, content string) (singlepass.Fingerprint, bool)
	text   func(item) string // the content of an article
	title  string            // of all articles; else each has one of its own
	inputs map[place]input
	keys   bool // input records have keys
}

// An input is an input record, and what a clusterd decodes of it.
type input struct {
	*kgo.Record
	id, title, content string
}

func newStage(t *testing.T, change func(*config.Config)) *stage {
	t.Helper()
	broker := kafkatest.Start(t, 1)
	s := &stage{T: t, config: config.Default(), inputs: make(map[place]input)}
	s.config.Kafka.Brokers = broker.ListenAddrs()
	s.config.Output.Key = "source" // and no record has a key, so results are in the partitions of their articles
	if change != nil {
		change(&s.config)
	}
	s.use(spelled{s.config.Cluster.Distance}, func(it item) string { return fmt.Sprintf("%x", it.fingerprint) })
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

// use has articles with these texts compared by a method.
func (s *stage) use(m method.Method, text func(item) string) {
	s.method, s.print, s.text = m, m.NewPrinter(), text
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
		in := s.article(it, len(s.inputs))
		r := in.Record
		if err := s.client.ProduceSync(s.Context(), r).FirstErr(); err != nil {
			s.Fatal(err)
		}
		places[i] = placeOf(r)
		s.inputs[places[i]] = in
	}
	return places
}

// article is the n-th input record.
func (s *stage) article(it item, n int) input {
	when := time.UnixMilli(start + it.minute*60_000).UTC()
	in := input{
		Record: &kgo.Record{
			Topic: s.config.Input.Topic, Partition: it.partition, Timestamp: when, Headers: []kgo.RecordHeader{{Key: "from", Value: []byte("a test")}},
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
				spaces[key] = &simple{window: s.config.Cluster.Window.Milliseconds()}
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
	window   int64 // 0: never
	now      int64
	position int64
	members  []member
}

// assign is the rule over a plain slice.
func (s *simple) assign(m method.Method, f singlepass.Fingerprint, at int64) (nearest int, distance float64, joined bool) {
	s.now = max(s.now, at)
	distance = m.Bound()
	for i, c := range s.members {
		live := s.window == 0 || s.now-c.last <= s.window
		if d := m.Distance(f, c.fingerprint); live && (d < distance || d == distance && !joined) {
			nearest, distance, joined = i, d, true
		}
	}
	if !joined {
		return len(s.members), 0, false
	}
	return nearest, distance, true
}

type member struct {
	founder                          place
	seq, size, first, last, position int64
	fingerprint                      singlepass.Fingerprint
	representative                   string // its JSON
	gone                             bool
}

func (s *stage) outcome(space *simple, it item, at place, touched map[int]bool) *kgo.Record {
	source := at.in(s.config.Input.Topic)
	in := s.inputs[at]
	r := &kgo.Record{Topic: s.config.Output.Topic, Key: []byte(source), Partition: at.Partition, Headers: []kgo.RecordHeader{{Key: "clusterd.source", Value: []byte(source)}}}
	defer func() {
		if r.Topic != s.config.Output.Topic {
			return
		}
		if s.config.Output.Key == "source" {
			r.Key = in.Key
		}
		if r.Key != nil {
			r.Partition = int32(kafkago.Murmur2Balancer{Consistent: true}.Balance(kafkago.Message{Key: r.Key}, 0, 1))
		}
	}()
	where := fmt.Sprintf(`"source":{"topic":%q,"partition":%d,"offset":%d},"pipeline":%q`, s.config.Input.Topic, at.Partition, at.Offset, s.method.Identity())
	switch it.kind {
	case "", "undated":
	case "unclustered":
		r.Value = fmt.Appendf(nil, `{"article_id":%q,"cluster_id":null,"status":"unclustered","distance":null,"size":0,"fingerprint":null,%s}`, in.id, where)
		return r
	default:
		r.Topic, r.Key, r.Value = s.config.Output.DeadLetterTopic, in.Key, in.Value
		r.Headers = append(slices.Clone(in.Headers), r.Headers[0], kgo.RecordHeader{Key: "clusterd.error", Value: []byte(it.kind)},
			kgo.RecordHeader{Key: "clusterd.reason", Value: []byte("it is bad")}, kgo.RecordHeader{Key: "clusterd.stage", Value: []byte("decode")})
		return r
	}
	when := start + it.minute*60_000
	fingerprint, _ := s.print(in.title, in.content)
	i, distance, joined := space.assign(s.method, fingerprint, when)
	status := "joined"
	if !joined {
		status = "new"
		space.members = append(space.members, member{
			founder: at, seq: space.position, first: when, last: when, fingerprint: fingerprint, representative: fmt.Sprintf(`{"id":%q,"title":%q}`, in.id, in.title),
		})
	}
	m := &space.members[i]
	m.size++
	m.position, m.first, m.last = space.position, min(m.first, when), max(m.last, when)
	touched[i] = true
	id, published := m.founder.in(s.config.Input.Topic), ""
	if it.kind == "" {
		published = fmt.Sprintf(`"published_at":%q,`, time.UnixMilli(when).UTC().Format(time.RFC3339Nano))
	}
	r.Key = []byte(id)
	r.Value = fmt.Appendf(nil, `{"article_id":%q,"cluster_id":%q,"status":%q,"distance":%v,"size":%d,"representative":%s,"fingerprint":"%016x",%s%s}`,
		in.id, id, status, distance, m.size, m.representative, fingerprint.Hash, published, where)
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
			sketch := ""
			if m.fingerprint.Sketch != "" {
				sketch = fmt.Sprintf(`"sketch":%q,`, base64.StdEncoding.EncodeToString([]byte(m.fingerprint.Sketch)))
			}
			r.Value = fmt.Appendf(nil, `{"cluster_id":%q,"seq":%d,"fingerprint":"%016x",%s"size":%d,"first_seen":%q,"last_seen":%q,"representative":%s,"pipeline":%q}`,
				r.Key, m.seq, m.fingerprint.Hash, sketch, m.size, time.UnixMilli(m.first).UTC().Format(time.RFC3339Nano), time.UnixMilli(m.last).UTC().Format(time.RFC3339Nano),
				m.representative, s.method.Identity())
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
	report, err := s.run(o)
	if err != nil {
		s.Fatal(err)
	}
	return report
}

func (s *stage) run(o Options) (*Report, error) {
	return run(s.Context(), s.config, o, func(config.Config) (method.Method, error) { return s.method, nil })
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
func setHeader(r *kgo.Record, key, value string) *kgo.Record {
	r.Headers = slices.DeleteFunc(slices.Clone(r.Headers), func(h kgo.RecordHeader) bool { return h.Key == key })
	if value != "" {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: key, Value: []byte(value)})
	}
	return r
}
