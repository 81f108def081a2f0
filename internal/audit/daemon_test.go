package audit

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/clusterd/clusterd/internal/audit/wire"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/twmb/franz-go/pkg/kgo"
)

// cluster works out, in batches of four, what a clusterd writes for items at these addresses. The
// transactions wait to be spoilt, and then written.
func (s *stage) cluster(items []item, addresses []wire.Address) {
	spaces, next := make(map[int32]*simple), make(map[int32]int64)
	for from := 0; from < len(items); from += 4 {
		t := transaction{}
		touched := make(map[*simple]map[int]bool)
		for i, it := range items[from:min(from+4, len(items))] {
			at := addresses[from+i]
			next[at.Partition] = at.Offset + 1
			key := at.Partition
			if s.config.Cluster.Scope == "topic" {
				key = 0
			}
			if spaces[key] == nil {
				spaces[key] = &simple{
					window: s.config.Cluster.Window.Milliseconds(), limit: s.limit, kept: s.kept,
				}
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
		t.committed, t.reached = maps.Clone(next), make(map[string]reached)
		for key, space := range spaces {
			name := fmt.Sprint(key)
			if s.config.Cluster.Scope == "topic" {
				name = "all"
			}
			t.reached[name] = reached{space.position, space.now}
		}
		s.transactions = append(s.transactions, t)
	}
}

// simple is the state of a clusterd of the tests.
type simple struct {
	window   int64                  // 0: never
	limit    int                    // of articles that join by contacts, as in earlier versions
	kept     map[wire.Address]int64 // by how much labels have clusters outlive others, by founder
	now      int64
	position int64
	members  []member
}

// assign applies the rule over a plain slice. What matched is empty of a founder.
func (s *simple) assign(
	m method.Method, f singlepass.Fingerprint, at int64,
) (cluster int, distance float64, matched, contact string) {
	s.now = max(s.now, at)
	if nearest, distance, ok := s.nearest(m, f); ok {
		if distance > m.Threshold() {
			return nearest, distance, "contained", ""
		}
		return nearest, distance, "text", ""
	}
	cluster = len(s.members)
	for c := range f.Contacts.All() {
		i := slices.IndexFunc(s.members, func(m member) bool {
			return s.live(m) && slices.Contains(slices.Collect(m.fingerprint.Contacts.All()), c)
		})
		if i >= 0 && i < cluster && s.members[i].byContact < s.limit {
			cluster, matched, contact = i, "contact", c
		}
	}
	return cluster, 0, matched, contact
}

func (s *simple) live(m member) bool {
	return s.window == 0 || s.now-m.last <= s.window+s.kept[m.founder]
}

func (s *simple) nearest(
	m method.Method, f singlepass.Fingerprint,
) (nearest int, distance float64, joined bool) {
	for i, c := range s.members {
		d := m.Distance(f, c.fingerprint)
		if s.live(c) && method.Same(m, f, c.fingerprint) && (!joined || d < distance) {
			nearest, distance, joined = i, d, true
		}
	}
	return nearest, distance, joined
}

type member struct {
	founder                          wire.Address
	seq, size, first, last, position int64
	fingerprint                      singlepass.Fingerprint
	representative                   string // its JSON
	byContact                        int
	gone                             bool
}

// outcome returns the message of an input record.
func (s *stage) outcome(space *simple, it item, at wire.Address, touched map[int]bool) *kgo.Record {
	source := at.In(s.config.Input.Topic)
	in := s.inputs[at]
	r := &kgo.Record{
		Topic: s.config.Output.Topic, Key: []byte(source), Partition: at.Partition,
		Headers: append(
			slices.Clone(in.Headers), kgo.RecordHeader{Key: "clusterd.source", Value: []byte(source)},
		),
	}
	defer func() {
		if r.Topic != s.config.Output.Topic {
			return
		}
		if s.config.Output.Key == "source" {
			r.Key = in.Key
		}
		if r.Key != nil {
			r.Partition = int32(
				kafkago.Murmur2Balancer{Consistent: true}.Balance(kafkago.Message{Key: r.Key}, 0, 1),
			)
		}
	}()
	where := fmt.Sprintf(
		`"source":{"topic":%q,"partition":%d,"offset":%d},"pipeline":%q`, s.config.Input.Topic,
		at.Partition, at.Offset, s.method.Identity(),
	)
	if s.config.Cluster.Scope == config.ByField {
		where = fmt.Sprintf(`"space":%q,%s`, in.Headers[0].Value, where)
	}
	switch it.kind {
	case "", "undated":
		s.clustered(r, space, it, at, touched, where)
	case "unclustered":
		r.Value = fmt.Appendf(
			nil,
			`{"article_id":%q,"cluster_id":null,"status":"unclustered",`+
				`"distance":null,"size":0,"fingerprint":null,%s}`,
			in.id, where,
		)
		taken(r, space.position, start+it.minute*60_000)
	default:
		s.deadLetter(in, r, it.kind)
	}
	return r
}

// deadLetter makes a dead letter of the result of an input record.
func (s *stage) deadLetter(in input, r *kgo.Record, class string) {
	r.Topic, r.Key, r.Value = s.config.Output.DeadLetterTopic, in.Key, in.Value
	r.Headers = append(r.Headers,
		kgo.RecordHeader{Key: "clusterd.error", Value: []byte(class)},
		kgo.RecordHeader{Key: "clusterd.reason", Value: []byte("it is bad")},
		kgo.RecordHeader{Key: "clusterd.stage", Value: []byte("decode")},
	)
}

// clustered makes the result of an article in its cluster.
func (s *stage) clustered(
	r *kgo.Record, space *simple, it item, at wire.Address, touched map[int]bool, where string,
) {
	in := s.inputs[at]
	when := start + it.minute*60_000
	fingerprint, _ := s.print(in.title, in.content)
	i, distance, matched, contact := space.assign(s.method, fingerprint, when)
	status, how := "joined", fmt.Sprint(distance)
	switch {
	case contact != "":
		space.members[i].byContact++
		how = fmt.Sprintf(`null,"matched":"contact","contact":%q`, contact)
	case matched != "" && s.config.Explains():
		how += fmt.Sprintf(`,"matched":%q`, matched)
	}
	if matched == "" {
		status = "new"
		space.members = append(space.members, member{
			founder: at, seq: space.position, first: when, last: when, fingerprint: fingerprint,
			representative: fmt.Sprintf(`{"id":%q,"title":%q}`, in.id, in.title),
		})
	}
	m := &space.members[i]
	m.size++
	m.position, m.first, m.last = space.position, min(m.first, when), max(m.last, when)
	touched[i] = true
	id, published := m.founder.In(s.config.Input.Topic), ""
	if it.kind == "" {
		published = fmt.Sprintf(`"published_at":%q,`, time.UnixMilli(when).UTC().Format(time.RFC3339Nano))
	}
	r.Key = []byte(id)
	r.Value = fmt.Appendf(
		nil,
		`{"article_id":%q,"cluster_id":%q,"status":%q,"distance":%s,"size":%d,`+
			`"representative":%s,"fingerprint":"%016x",%s%s}`,
		in.id, id, status, how, m.size, m.representative, fingerprint.Hash, published, where,
	)
	taken(r, space.position, when)
	space.position++
}

// taken adds to a result when its article was taken in.
func taken(r *kgo.Record, position, when int64) {
	r.Headers = append(r.Headers,
		kgo.RecordHeader{Key: "clusterd.position", Value: fmt.Append(nil, position)},
		kgo.RecordHeader{Key: "clusterd.event_time", Value: fmt.Append(nil, when)})
}

// clusters returns the records of the clusters that a batch touched, and tombstones of those that
// expired.
func (s *stage) clusters(space *simple, touched map[int]bool) (records []*kgo.Record) {
	for i := range space.members {
		m := &space.members[i]
		r := &kgo.Record{
			Topic: s.config.Output.ClustersTopic, Partition: m.founder.Partition,
			Key: []byte(m.founder.In(s.config.Input.Topic)),
		}
		expired := !space.live(*m)
		switch {
		case expired && !m.gone:
			m.gone = true
		case touched[i]:
			sketch := ""
			if m.fingerprint.Sketch != "" {
				sketch = fmt.Sprintf(
					`"sketch":%q,`, base64.StdEncoding.EncodeToString([]byte(m.fingerprint.Sketch)),
				)
			}
			if contacts := slices.Collect(m.fingerprint.Contacts.All()); contacts != nil {
				sketch += fmt.Sprintf(`"contacts":["%s"],`, strings.Join(contacts, `","`))
			}
			if s.config.Cluster.Scope == config.ByField {
				sketch += fmt.Sprintf(`"space":%q,`, s.inputs[m.founder].Headers[0].Value)
			}
			if m.byContact > 0 {
				sketch += fmt.Sprintf(`"by_contact":%d,`, m.byContact)
			}
			r.Value = fmt.Appendf(
				nil,
				`{"cluster_id":%q,"seq":%d,"fingerprint":"%016x",%s"size":%d,`+
					`"first_seen":%q,"last_seen":%q,"representative":%s,"pipeline":%q}`,
				r.Key, m.seq, m.fingerprint.Hash, sketch, m.size,
				time.UnixMilli(m.first).UTC().Format(time.RFC3339Nano),
				time.UnixMilli(m.last).UTC().Format(time.RFC3339Nano), m.representative, s.method.Identity(),
			)
			r.Headers = []kgo.RecordHeader{{Key: "clusterd.position", Value: fmt.Append(nil, m.position)}}
		default:
			continue
		}
		records = append(records, r)
	}
	return records
}
