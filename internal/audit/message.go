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

// A resultRow is what is kept of a result of an article that was clustered, and of its input record: 107 bytes on disk.
type resultRow struct {
	At          place // in the topic of results
	Source      place
	Cluster     place // the founder
	Fingerprint uint64
	EventTime   int64 // Unix milliseconds
	Size        int64
	Distance    float64 // in the measure of the method
	Joined      bool

	Representative uint64 // a digest
	Timeless       bool   // only the stream time says when it was published

	// What the input record says. It is not known where retention has deleted that.
	Known   bool
	Founder uint64 // a digest of it as a representative
	Sketch  sketch
}

// know adds what the input record says, which counts from here on.
func (row *resultRow) know(in *inputRow) {
	row.Known, row.Fingerprint, row.Founder, row.Sketch, row.Timeless = true, in.Fingerprint, in.Representative, in.Sketch, in.timeless()
}

// A clusterRow is what is kept of a record of the clusters topic: 80 bytes on disk.
type clusterRow struct {
	At          place // in the clusters topic
	Founder     place
	Fingerprint uint64
	Seq         int64
	Size        int64
	FirstSeen   int64 // Unix milliseconds
	LastSeen    int64 // Unix milliseconds

	Representative, Sketch uint64 // digests
}

// message is the JSON of a result, as the README shows it.
type message struct {
	ArticleID      string          `json:"article_id"`
	ClusterID      *string         `json:"cluster_id"`
	Status         string          `json:"status"`
	Distance       *float64        `json:"distance"`
	Size           int64           `json:"size"`
	Representative *representative `json:"representative"`
	Fingerprint    *string         `json:"fingerprint"`
	PublishedAt    *time.Time      `json:"published_at"`
	Pipeline       string          `json:"pipeline"`
	Source         struct {
		Topic     string `json:"topic"`
		Partition int32  `json:"partition"`
		Offset    int64  `json:"offset"`
	} `json:"source"`
}

// A representative is the founder of a cluster, for people.
type representative struct {
	ID    string `json:"id"`
	Title string `json:"title"`
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
	if m.ClusterID != nil || m.Distance != nil || m.Fingerprint != nil || m.Size != 0 || m.Representative != nil {
		return errors.New("cluster, distance, fingerprint, size or representative on an unclustered result")
	}
	return headersAre(r, article.HeaderSource)
}

// clustered is the row of the result of any other article, and its position.
func (m *message) clustered(r *kgo.Record, input string) (row resultRow, position int64, err error) {
	if m.ClusterID == nil || m.Distance == nil || m.Fingerprint == nil || m.Representative == nil {
		return row, 0, errors.New("a clustered result without cluster, distance, fingerprint or representative")
	}
	row = resultRow{
		At: placeOf(r), Source: m.source(), Size: m.Size, Distance: *m.Distance, Joined: m.Status == "joined",
		Representative: representativeDigest(m.Representative.ID, m.Representative.Title),
	}
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

// parseCluster is the row of a record of the clusters topic that is no tombstone, and its position.
func parseCluster(r *kgo.Record, founder place, input string) (row clusterRow, position int64, pipeline string, err error) {
	var c struct {
		ClusterID      string         `json:"cluster_id"`
		Seq            int64          `json:"seq"`
		Fingerprint    string         `json:"fingerprint"`
		Sketch         []byte         `json:"sketch"`
		Size           int64          `json:"size"`
		FirstSeen      time.Time      `json:"first_seen"`
		LastSeen       time.Time      `json:"last_seen"`
		Representative representative `json:"representative"`
		Pipeline       string         `json:"pipeline"`
	}
	if err := json.Unmarshal(r.Value, &c); err != nil {
		return row, 0, "", err
	}
	if id := founder.in(input); c.ClusterID != id {
		return row, 0, "", fmt.Errorf("cluster_id %q under the key %s", c.ClusterID, id)
	}
	row = clusterRow{
		At: placeOf(r), Founder: founder, Seq: c.Seq, Size: c.Size, FirstSeen: c.FirstSeen.UnixMilli(), LastSeen: c.LastSeen.UnixMilli(),
		Representative: representativeDigest(c.Representative.ID, c.Representative.Title),
	}
	if len(c.Sketch) > 0 {
		row.Sketch = digest(c.Sketch)
	}
	if row.Fingerprint, err = parseFingerprint(c.Fingerprint); err != nil {
		return row, 0, "", err
	}
	position, err = numberHeader(r, article.HeaderPosition)
	return row, position, c.Pipeline, err
}
