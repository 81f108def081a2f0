package article

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The headers that clusterd adds to what it writes.
const (
	// HeaderPosition stands on results and clusters: the place of the article, or of the
	// cluster's last member, in the order in which its space took articles in. That order, with
	// recovery, depends on it: the next article's position is one more than the highest.
	HeaderPosition = "clusterd.position"
	// HeaderEventTime stands on results of clustered articles: the event time that counted for
	// expiry, in Unix milliseconds, after it was cut to what is plausible.
	HeaderEventTime = "clusterd.event_time"
	HeaderSource    = "clusterd.source"    // topic/partition/offset of the input record
	HeaderError     = "clusterd.error"     // the [Class] of a dead letter
	HeaderReason    = "clusterd.reason"    // for a person
	HeaderStage     = "clusterd.stage"     // which part of clusterd said so
	HeaderTruncated = "clusterd.truncated" // the value's length, where only its beginning fits
)

// MaxTitleBytes is how much of a title a result or a cluster carries.
const MaxTitleBytes = 512

// Status says what became of an article.
type Status string

// What becomes of an article.
const (
	New         Status = "new"         // it founded a cluster
	Joined      Status = "joined"      // it joined the cluster whose centre was nearest
	Unclustered Status = "unclustered" // no token was left in it, so it was compared with nothing
)

// Representative is the founder of a cluster, for a person to recognise it.
type Representative struct {
	ID    string `json:"id"`
	Title string `json:"title"` // at most [MaxTitleBytes] of it, then an ellipsis
}

// NewRepresentative is the representative of the cluster that a founds. Its strings are copies: an
// article's share memory with its whole record.
func NewRepresentative(a Article) Representative {
	return Representative{ID: strings.Clone(a.ID), Title: strings.Clone(clip(a.Title, MaxTitleBytes))}
}

// Fingerprint is a 64-bit SimHash, written as 16 hexadecimal digits.
type Fingerprint uint64

// MarshalText writes 16 hexadecimal digits.
func (f Fingerprint) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "%016x", uint64(f)), nil
}

// UnmarshalText reads 16 hexadecimal digits.
func (f *Fingerprint) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 16, 64)
	if err != nil || len(text) != 16 {
		return fmt.Errorf("fingerprint %q: want 16 hexadecimal digits", text)
	}
	*f = Fingerprint(n)
	return nil
}

// Result is what became of one article. Of an unclustered article the cluster, distance,
// representative and fingerprint are null and the size is 0.
type Result struct {
	ArticleID      string          `json:"article_id"`
	ClusterID      *string         `json:"cluster_id"`
	Status         Status          `json:"status"`
	Distance       *int            `json:"distance"` // bits between the article and the centre; 0 for a new one
	Size           int             `json:"size"`     // articles in the cluster, this one included
	Representative *Representative `json:"representative"`
	Fingerprint    *Fingerprint    `json:"fingerprint"`
	PublishedAt    *time.Time      `json:"published_at,omitempty"`
	Source         Address         `json:"source"`
	Pipeline       string          `json:"pipeline"`
}

// Cluster is a cluster as others read it and as clusterd recovers it.
type Cluster struct {
	ClusterID      string         `json:"cluster_id"`
	Seq            uint64         `json:"seq"` // the founding order within the space
	Fingerprint    Fingerprint    `json:"fingerprint"`
	Size           int            `json:"size"`
	FirstSeen      time.Time      `json:"first_seen"` // the lowest event time of a member
	LastSeen       time.Time      `json:"last_seen"`  // the highest event time of a member
	Representative Representative `json:"representative"`
	Pipeline       string         `json:"pipeline"`
}

// JSON writes the result as one line without a line break.
func (r Result) JSON() []byte { return encode(r) }

// JSON writes the cluster as one line without a line break.
func (c Cluster) JSON() []byte { return encode(c) }

// encode writes v with <, > and & as they are: titles are for people. The types of this
// package hold nothing that cannot be encoded, times beyond the year 9999 included, which
// [Decoder] rejects.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("article: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// ParseCluster reads what [Cluster.JSON] wrote.
func ParseCluster(value []byte) (Cluster, error) {
	var c Cluster
	if err := json.Unmarshal(value, &c); err != nil {
		return Cluster{}, fmt.Errorf("not a cluster: %w", err)
	}
	if _, err := ParseAddress(c.ClusterID); err != nil {
		return Cluster{}, fmt.Errorf("not a cluster: cluster_id: %w", err)
	}
	return c, nil
}

// ParseResult reads what [Result.JSON] wrote.
func ParseResult(value []byte) (Result, error) {
	var r Result
	if err := json.Unmarshal(value, &r); err != nil {
		return Result{}, fmt.Errorf("not a result: %w", err)
	}
	return r, nil
}
