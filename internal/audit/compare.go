package audit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/article"
)

// differences between a message and its input record.
type differences struct{ want, got []string }

// add says what is wanted, and what was found instead.
func (d *differences) add(want, got string) {
	d.want, d.got = append(d.want, want), append(d.got, got)
}

func (a *audit) differ(at, source string, d differences) {
	if len(d.want) > 0 {
		a.input.violated(at, "of "+source+": "+strings.Join(d.want, "; "), strings.Join(d.got, "; "))
	}
}

// compareResult holds a result to its input record. What it says of its cluster is up to the replay.
func (a *audit) compareResult(r *kgo.Record, m *message, in *inputRow) {
	a.input.Checked++
	at, source := placeOf(r).in(r.Topic), m.source().in(m.Source.Topic)
	if in.Kind == rejectedKind {
		a.input.violated(at, fmt.Sprintf("a dead letter of class %s: %s is no article", className(in.Class), source), "a result")
		return
	}
	var d differences
	switch unclustered := m.Status == "unclustered"; {
	case unclustered && in.Kind == clusteredKind:
		d.add(fmt.Sprintf("a cluster for fingerprint %016x", in.Fingerprint), "status unclustered")
	case !unclustered && in.Kind == unclusteredKind:
		d.add("status unclustered", "status "+m.Status)
	}
	if digest([]byte(m.ArticleID)) != in.ID {
		d.add("its article_id", fmt.Sprintf("%q", m.ArticleID))
	}
	if want := fmt.Sprintf("%016x", in.Fingerprint); in.Kind == clusteredKind && m.Fingerprint != nil && *m.Fingerprint != want {
		d.add("fingerprint "+want, *m.Fingerprint)
	}
	switch {
	case m.PublishedAt == nil && in.Dated:
		d.add("published_at "+clock(in.Published), "none")
	case m.PublishedAt != nil && timeDigest(*m.PublishedAt) != in.PublishedAt:
		want := "no published_at"
		if in.Dated {
			want = "published_at " + clock(in.Published)
		}
		d.add(want, m.PublishedAt.UTC().Format("2006-01-02T15:04:05.999999999Z07:00"))
	}
	if a.config.Output.Key == "source" {
		switch {
		case in.KeyKind == noKey && r.Key != nil, in.KeyKind == wholeKey && (r.Key == nil || digest(r.Key) != in.Key):
			d.add("its key", fmt.Sprintf("%q", r.Key))
		case in.KeyKind == longKey:
			m.keyed(r, &d)
		}
	}
	if at, err := numberHeader(r, article.HeaderEventTime); err == nil && m.Status != "unclustered" {
		if err := eventTime(at, in, r.Timestamp, a.config.Cluster.Window); err != nil {
			d.add(in.times(), err.Error())
		}
	}
	a.differ(at, source, d)
}

// times says when an article was published, as far as its record knows.
func (in *inputRow) times() string {
	if in.Dated {
		return fmt.Sprintf("an event time from published_at %s or the record's time %s", clock(in.Published), clock(in.Timestamp))
	}
	return "an event time from the record's time " + clock(in.Timestamp)
}

// keyed holds a result to the key that output.key: cluster gives it: the cluster's id, and without one that of its record.
func (m *message) keyed(r *kgo.Record, d *differences) {
	want := m.source().in(m.Source.Topic)
	if m.ClusterID != nil {
		want = *m.ClusterID
	}
	if string(r.Key) != want {
		d.add("key "+want, fmt.Sprintf("%q", r.Key))
	}
}

// common holds a result to what it must say whatever its input record is.
func (a *audit) common(r *kgo.Record, m *message) {
	var d differences
	if m.Pipeline != a.pipeline {
		d.add("pipeline "+a.pipeline, fmt.Sprintf("%q", m.Pipeline))
	}
	if a.config.Output.Key == "cluster" {
		m.keyed(r, &d)
	}
	a.differ(placeOf(r).in(r.Topic), m.source().in(m.Source.Topic), d)
}

// headersAre tells whether a message has headers of these names, each once, and no others.
func headersAre(r *kgo.Record, names ...string) error {
	var found []string
	for _, h := range r.Headers {
		found = append(found, h.Key)
	}
	slices.Sort(found)
	slices.Sort(names)
	if !slices.Equal(found, names) {
		return fmt.Errorf("headers %q, want %q", found, names)
	}
	return nil
}

// A placement is where the message of an input record is: 17 bytes on disk.
type placement struct {
	At   place
	Dead bool   // among the dead letters
	Hash uint32 // modulo the number of partitions it is the partition
}

// byKey is the hash by which Kafka's own clients choose a partition, as another client than clusterd's has it.
var byKey = kgo.StickyKeyPartitioner(nil).ForTopic("")

// hashOf is that of a result's key, and without a key its input partition.
func hashOf(r *kgo.Record, source place) uint32 {
	if r.Key == nil {
		return uint32(source.Partition)
	}
	return uint32(byKey.Partition(r, 1<<31)) // Kafka takes 31 bits
}

func (a *audit) placed(source place, p placement) error { return put(a, a.placements, source, p) }

// put keeps a row of a message by its input record, if that is among those that are read.
func put[T any](a *audit, tables map[int32]*table[T], source place, row T) (err error) {
	n := source.Offset - a.cut.input.from[source.Partition]
	if n < 0 || source.Offset >= a.cut.input.to[source.Partition] {
		return nil
	}
	t := tables[source.Partition]
	if t == nil {
		if t, err = newTable[T](a.dir); err != nil {
			return err
		}
		tables[source.Partition] = t
	}
	_, err = t.put(n, row)
	return err
}

// fewStrays is how many messages of an input partition may be elsewhere than the present number of partitions says, and count as
// misplaced. More of them mean that the topic was given more partitions.
const fewStrays = 10

// comparePlaces holds each message to the partition that its key gives it. A topic may have been given more partitions
// meanwhile: their number never falls, in the order in which an input partition was taken in. Then each message is held to the
// least number that all before it allow.
func (a *audit) comparePlaces() error {
	for _, p := range slices.Sorted(maps.Keys(a.placements)) {
		var strays [2]int
		err := a.eachPlace(p, func(kind int, s span, row placement) {
			if row.Hash%uint32(len(s.to)) != uint32(row.At.Partition) {
				strays[kind]++
			}
		})
		if err != nil {
			return err
		}
		counts := [2]uint32{1, 1}
		err = a.eachPlace(p, func(kind int, s span, row placement) {
			all := uint32(len(s.to))
			n := counts[kind]
			if strays[kind] < fewStrays {
				n = all
			}
			for n <= all && row.Hash%n != uint32(row.At.Partition) {
				n++
			}
			if n > all {
				a.input.violated(row.At.in(s.topic), fmt.Sprintf("partition %d of %d, by its key", row.Hash%all, all), fmt.Sprintf("partition %d", row.At.Partition))
				return
			}
			counts[kind] = n
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// eachPlace calls do for the messages of an input partition, in its order: of kind 0 in the topic of results, 1 in that of dead
// letters.
func (a *audit) eachPlace(partition int32, do func(kind int, s span, row placement)) error {
	t := a.placements[partition]
	for rows := t.reader(); rows.n < t.end; {
		row, ok, err := rows.next()
		switch {
		case err != nil:
			return err
		case !ok:
		case row.Dead:
			do(1, a.cut.dead, row)
		default:
			do(0, a.cut.results, row)
		}
	}
	return nil
}
