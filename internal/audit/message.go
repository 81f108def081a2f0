package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/article"
)

// A place is where a record is within a topic that is known.
type place struct {
	Partition int32
	Offset    int64
}

func (p place) in(topic string) string { return fmt.Sprintf("%s/%d/%d", topic, p.Partition, p.Offset) }

func placeOf(r *kgo.Record) place { return place{r.Partition, r.Offset} }

// classes of dead letters, as the README lists them.
var deadLetterClasses = []string{"null_value", "bad_json", "bad_field", "empty", "too_large", "too_deep"}

// A resultRow is what is kept of a result of an article that was clustered: 69 bytes on disk.
type resultRow struct {
	At          place // in the topic of results
	Source      place
	Cluster     place // the founder
	Fingerprint uint64
	EventTime   int64 // Unix milliseconds
	Size        int64
	Distance    float64 // in the measure of the method
	Joined      bool
}

// A clusterRow is what is kept of a record of the clusters topic: 64 bytes on disk.
type clusterRow struct {
	At          place // in the clusters topic
	Founder     place
	Fingerprint uint64
	Seq         int64
	Size        int64
	FirstSeen   int64 // Unix milliseconds
	LastSeen    int64 // Unix milliseconds
}

// message is the JSON of a result, as the README shows it.
type message struct {
	ClusterID   *string    `json:"cluster_id"`
	Status      string     `json:"status"`
	Distance    *float64   `json:"distance"`
	Size        int64      `json:"size"`
	Fingerprint *string    `json:"fingerprint"`
	PublishedAt *time.Time `json:"published_at"`
	Source      struct {
		Topic     string `json:"topic"`
		Partition int32  `json:"partition"`
		Offset    int64  `json:"offset"`
	} `json:"source"`
}

func (m *message) source() place { return place{m.Source.Partition, m.Source.Offset} }

// clusterID is what stands as cluster id in a result, also when there is none.
func (m *message) clusterID() string {
	if m.ClusterID == nil {
		return "null"
	}
	return *m.ClusterID
}

// header is the last header of that name: dead letters carry the input's headers before clusterd's.
func header(r *kgo.Record, name string) (string, bool) {
	for i := len(r.Headers) - 1; i >= 0; i-- {
		if r.Headers[i].Key == name {
			return string(r.Headers[i].Value), true
		}
	}
	return "", false
}

func numberHeader(r *kgo.Record, name string) (int64, error) {
	text, ok := header(r, name)
	if !ok {
		return 0, fmt.Errorf("no header %s", name)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("header %s: %q, which is no number from 0 on", name, text)
	}
	return n, nil
}

// sourceHeader is the input record that a result or a dead letter is of.
func sourceHeader(r *kgo.Record, input string) (place, error) {
	text, ok := header(r, article.HeaderSource)
	if !ok {
		return place{}, fmt.Errorf("no header %s", article.HeaderSource)
	}
	p, err := parsePlace(text, input)
	if err != nil {
		return place{}, fmt.Errorf("header %s: %w", article.HeaderSource, err)
	}
	return p, nil
}

// parsePlace reads topic/partition/offset, in which the topic must be that one.
func parsePlace(text, topic string) (place, error) {
	rest, ok := strings.CutPrefix(text, topic+"/")
	partition, offset, cut := strings.Cut(rest, "/")
	p, err1 := strconv.ParseInt(partition, 10, 32)
	o, err2 := strconv.ParseInt(offset, 10, 64)
	if !ok || !cut || err1 != nil || err2 != nil || p < 0 || o < 0 {
		return place{}, fmt.Errorf("%q, which is not %s/partition/offset", text, topic)
	}
	return place{int32(p), o}, nil
}

func parseFingerprint(text string) (uint64, error) {
	n, err := strconv.ParseUint(text, 16, 64)
	if err != nil || len(text) != 16 {
		return 0, fmt.Errorf("fingerprint %q, which is not 16 hexadecimal digits", text)
	}
	return n, nil
}

func parseMessage(value []byte) (message, error) {
	var m message
	err := json.Unmarshal(value, &m)
	if err == nil && m.Status != "new" && m.Status != "joined" && m.Status != "unclustered" {
		err = fmt.Errorf("status %q", m.Status)
	}
	return m, err
}

// unclustered holds the result of an article without a token to its form.
func (m *message) unclustered(r *kgo.Record) error {
	if _, ok := header(r, article.HeaderPosition); ok {
		return errors.New("a position on an unclustered result")
	}
	if m.ClusterID != nil || m.Distance != nil || m.Fingerprint != nil || m.Size != 0 {
		return errors.New("cluster, distance, fingerprint or size on an unclustered result")
	}
	return nil
}

// clustered is the row of the result of any other article, and its position.
func (m *message) clustered(r *kgo.Record, input string) (row resultRow, position int64, err error) {
	if m.ClusterID == nil || m.Distance == nil || m.Fingerprint == nil {
		return row, 0, errors.New("a clustered result without cluster, distance or fingerprint")
	}
	row = resultRow{At: placeOf(r), Source: m.source(), Size: m.Size, Distance: *m.Distance, Joined: m.Status == "joined"}
	if row.Cluster, err = parsePlace(*m.ClusterID, input); err != nil {
		return row, 0, fmt.Errorf("cluster id %w", err)
	}
	if row.Fingerprint, err = parseFingerprint(*m.Fingerprint); err != nil {
		return row, 0, err
	}
	if row.EventTime, err = numberHeader(r, article.HeaderEventTime); err != nil {
		return row, 0, err
	}
	position, err = numberHeader(r, article.HeaderPosition)
	return row, position, err
}

// Event times may run ahead of the clock by a day, when they are cut; and the clock is that of the
// record, give or take what a commit may take and clocks may differ.
const (
	maxAhead   = 24 * time.Hour
	clockSlack = time.Hour
)

// eventTime holds an event time to the time that the article says of itself, if it does.
func (m *message) eventTime(at int64, written time.Time) error {
	if m.PublishedAt == nil {
		return nil
	}
	published := max(0, m.PublishedAt.UnixMilli())
	capped := at < published && written.Add(maxAhead).Sub(time.UnixMilli(at)).Abs() <= clockSlack
	if at != published && !capped {
		return fmt.Errorf("header %s: %d (%s)", article.HeaderEventTime, at, time.UnixMilli(at).UTC().Format(time.RFC3339Nano))
	}
	return nil
}

// parseCluster is the row of a record of the clusters topic that is no tombstone, and its position.
func parseCluster(r *kgo.Record, founder place, input string) (row clusterRow, position int64, err error) {
	var c struct {
		ClusterID   string    `json:"cluster_id"`
		Seq         int64     `json:"seq"`
		Fingerprint string    `json:"fingerprint"`
		Size        int64     `json:"size"`
		FirstSeen   time.Time `json:"first_seen"`
		LastSeen    time.Time `json:"last_seen"`
	}
	if err := json.Unmarshal(r.Value, &c); err != nil {
		return row, 0, err
	}
	if id := founder.in(input); c.ClusterID != id {
		return row, 0, fmt.Errorf("cluster_id %q under the key %s", c.ClusterID, id)
	}
	row = clusterRow{
		At: placeOf(r), Founder: founder, Seq: c.Seq, Size: c.Size, FirstSeen: c.FirstSeen.UnixMilli(), LastSeen: c.LastSeen.UnixMilli(),
	}
	if row.Fingerprint, err = parseFingerprint(c.Fingerprint); err != nil {
		return row, 0, err
	}
	position, err = numberHeader(r, article.HeaderPosition)
	return row, position, err
}
