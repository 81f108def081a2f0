package article

import (
	"encoding/base64"
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
	// recovery, depends on it: the next article's position is one more than the highest. An
	// unclustered article takes no place: its result has the position of the next article that does.
	HeaderPosition = "clusterd.position"
	// HeaderEventTime stands on results: the event time, in Unix milliseconds, after it was cut to
	// what is plausible. That of an unclustered article counts for nothing.
	HeaderEventTime = "clusterd.event_time"
	HeaderSource    = "clusterd.source"    // topic/partition/offset of the input record
	HeaderError     = "clusterd.error"     // the [Class] of a dead letter
	HeaderReason    = "clusterd.reason"    // for a person
	HeaderStage     = "clusterd.stage"     // which part of clusterd said so
	HeaderTruncated = "clusterd.truncated" // the value's length, where only its beginning fits
	// HeaderOffsets is first-last, of the records that a dead letter of class [BadBatch] stands for.
	HeaderOffsets = "clusterd.offsets"
	// HeaderOwn stands on the records of the clusters topic that are not clusters, tombstones
	// included, so that a filter that cannot look into keys can leave them out. It says which of
	// these they are.
	HeaderOwn     = "clusterd.own"
	OwnCheckpoint = "checkpoint"
	OwnStory      = "story"
	OwnContact    = "contact"
)

// ForeignHeader returns the name under which a dead letter carries a header of its record: the
// same, unless it could be taken for one of clusterd's. Then "input." goes before it; as it does
// before a name that would else become the same as another's, so that what it was can be told.
func ForeignHeader(name string) string {
	const prefix, mark = "clusterd.", "input."
	rest := name
	for strings.HasPrefix(rest, mark) {
		rest = rest[len(mark):]
	}
	if strings.HasPrefix(rest, prefix) {
		return mark + name
	}
	return name
}

// What a result or a cluster carries at most.
const (
	MaxTitleBytes     = 512 // of a title
	MaxPublisherBytes = 256 // of who published an article
	MaxExcerpt        = 120 // characters of the content where there is no title
)

// A Status says what became of an article.
type Status string

// What becomes of an article.
const (
	New         Status = "new"         // it founded a cluster
	Joined      Status = "joined"      // it joined the cluster whose centre was nearest
	Unclustered Status = "unclustered" // no token was left in it, so it was compared with nothing
)

// A Match says how an article joined its cluster.
type Match string

// How articles join.
const (
	ByText    Match = "text"      // its text is near enough to the founder's
	Contained Match = "contained" // its text holds most of the founder's, or the other way round
	ByContact Match = "contact"   // both have a contact; only results of an earlier version say so
)

// A Representative is the founder of a cluster, for a person to recognise it.
type Representative struct {
	ID    string `json:"id"`
	Title string `json:"title"` // at most [MaxTitleBytes] of it, then an ellipsis
	// Excerpt is the first characters of the content, at most [MaxExcerpt], where there is no title.
	Excerpt string `json:"excerpt,omitempty"`
}

// NewRepresentative returns the representative of the cluster that a founds, without an excerpt.
// Its strings are copies: an article's share memory with its whole record.
func NewRepresentative(a Article) Representative {
	return Representative{ID: strings.Clone(a.ID), Title: strings.Clone(clip(a.Title, MaxTitleBytes))}
}

// NewPublisher returns what a result says of who published a: at most [MaxPublisherBytes] of it,
// then an ellipsis. It is a copy.
func NewPublisher(a Article) string { return strings.Clone(clip(a.Source, MaxPublisherBytes)) }

// A Fingerprint is a 64-bit SimHash, or a hash of a sketch, written as 16 hexadecimal digits.
type Fingerprint uint64

// AppendTo appends 16 hexadecimal digits.
func (f Fingerprint) AppendTo(dst []byte) []byte {
	for shift := 60; shift >= 0; shift -= 4 {
		dst = append(dst, hexDigits[f>>shift&0xF])
	}
	return dst
}

// MarshalText writes 16 hexadecimal digits.
func (f Fingerprint) MarshalText() ([]byte, error) { return f.AppendTo(nil), nil }

// UnmarshalText reads 16 hexadecimal digits.
func (f *Fingerprint) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 16, 64)
	if err != nil || len(text) != 16 {
		return fmt.Errorf("fingerprint %q: want 16 hexadecimal digits", text)
	}
	*f = Fingerprint(n)
	return nil
}

// A Result is what became of one article. Of an unclustered article the cluster, distance,
// representative and fingerprint are null and the size is 0.
type Result struct {
	ArticleID string  `json:"article_id"`
	ClusterID *string `json:"cluster_id"`
	Status    Status  `json:"status"`
	// Distance is that from the centre, in the measure of the method; 0 for a new one, and null for
	// one that joined by a contact.
	Distance *float64 `json:"distance"`
	Matched  Match    `json:"matched,omitempty"` // of a joined one, where it is told
	Contact  string   `json:"contact,omitempty"` // by which it joined
	Size     int      `json:"size"`              // articles in the cluster, this one included
	// StoryID is the story of its cluster, and StorySimilarity that of the cluster's founder and the
	// story, from 0 to 1; absent where the cluster is the first one of its story.
	StoryID         string          `json:"story_id,omitempty"`
	StorySimilarity Similarity      `json:"story_similarity,omitempty"`
	Representative  *Representative `json:"representative"`
	// Labels are those that its cluster carries, and TrialLabels those that it has on trial.
	Labels      []string `json:"labels,omitempty"`
	TrialLabels []string `json:"trial_labels,omitempty"`
	// LabelledBy names, of these, the ones that the cluster has by a contact.
	LabelledBy  []LabelledBy `json:"labelled_by,omitempty"`
	Fingerprint *Fingerprint `json:"fingerprint"`
	PublishedAt *time.Time   `json:"published_at,omitempty"`
	Publisher   string       `json:"publisher,omitempty"`
	// Space is the value of cluster.scope_field, by which it is told apart what is compared.
	Space    string   `json:"space,omitempty"`
	Copied   Copied   `json:"copied,omitempty"`
	Signals  *Signals `json:"signals,omitempty"`
	Source   Address  `json:"source"`
	Pipeline string   `json:"pipeline"`
}

// A Cluster is a cluster as others read it and as clusterd recovers it.
type Cluster struct {
	ClusterID   string      `json:"cluster_id"`
	Seq         uint64      `json:"seq"` // the founding order within the space
	Fingerprint Fingerprint `json:"fingerprint"`
	// Sketch is what the method compares beside the fingerprint, in base64.
	Sketch   []byte   `json:"sketch,omitempty"`
	Contacts []string `json:"contacts,omitempty"` // of the founder, each once, in ascending order
	Size     int      `json:"size"`
	// ByContact is how many of the articles joined by a contact. Only an earlier version wrote it.
	ByContact int `json:"by_contact,omitempty"`
	// Space is the value of cluster.scope_field, of all its articles.
	Space          string         `json:"space,omitempty"`
	FirstSeen      time.Time      `json:"first_seen"` // the lowest event time of a member
	LastSeen       time.Time      `json:"last_seen"`  // the highest event time of a member
	Representative Representative `json:"representative"`
	// StoryID and StorySimilarity are as in a [Result].
	StoryID         string     `json:"story_id,omitempty"`
	StorySimilarity Similarity `json:"story_similarity,omitempty"`
	// Labels is a JSON array of [Label], and KeptMS by how many milliseconds the cluster outlives
	// others for these.
	Labels json.RawMessage `json:"labels,omitempty"`
	// Exceptions is a JSON array of [Exception].
	Exceptions json.RawMessage `json:"exceptions,omitempty"`
	KeptMS     int64           `json:"kept_ms,omitempty"`
	Signals    *ClusterSignals `json:"signals,omitempty"`
	Pipeline   string          `json:"pipeline"`
}

// JSON writes the result as one line without a line break.
func (r Result) JSON() []byte { return r.AppendJSON(nil, AllParts) }

// JSON writes the cluster as one line without a line break.
func (c Cluster) JSON() []byte { return c.AppendJSON(nil) }

// AppendJSON appends what [Result.JSON] writes, of which it leaves out the fields that p has not:
// the bytes of encoding/json, but with <, > and & as they are, since titles are for people. Nothing
// of r escapes, so that a result can stay on its caller's stack. It panics on a time beyond the
// year 9999, which [Decoder] rejects.
func (r *Result) AppendJSON(dst []byte, p Parts) []byte {
	dst = appendString(append(dst, `{"article_id":`...), r.ArticleID)
	dst = append(dst, `,"cluster_id":`...)
	if r.ClusterID != nil {
		dst = appendString(dst, *r.ClusterID)
	} else {
		dst = append(dst, "null"...)
	}
	dst = appendString(append(dst, `,"status":`...), string(r.Status))
	dst = append(dst, `,"distance":`...)
	if r.Distance != nil {
		dst = appendDistance(dst, *r.Distance)
	} else {
		dst = append(dst, "null"...)
	}
	if r.Matched != "" {
		dst = appendString(append(dst, `,"matched":`...), string(r.Matched))
	}
	if r.Contact != "" {
		dst = appendString(append(dst, `,"contact":`...), r.Contact)
	}
	dst = strconv.AppendInt(append(dst, `,"size":`...), int64(r.Size), 10)
	dst = appendStory(dst, r.StoryID, r.StorySimilarity)
	if p.has(RepresentativePart) {
		dst = append(dst, `,"representative":`...)
		if r.Representative != nil {
			dst = r.Representative.appendJSON(dst)
		} else {
			dst = append(dst, "null"...)
		}
	}
	dst = appendStrings(dst, `,"labels":[`, r.Labels)
	dst = appendStrings(dst, `,"trial_labels":[`, r.TrialLabels)
	dst = r.appendLabelledBy(dst)
	if p.has(FingerprintPart) {
		dst = append(dst, `,"fingerprint":`...)
		if r.Fingerprint != nil {
			dst = r.Fingerprint.appendJSON(dst)
		} else {
			dst = append(dst, "null"...)
		}
	}
	if r.PublishedAt != nil && p.has(PublishedPart) {
		dst = appendTime(append(dst, `,"published_at":`...), *r.PublishedAt)
	}
	dst = r.appendCarried(dst)
	if p.has(SourcePart) {
		dst = r.Source.appendJSON(append(dst, `,"source":`...))
	}
	if p.has(PipelinePart) {
		dst = appendString(append(dst, `,"pipeline":`...), r.Pipeline)
	}
	return append(dst, '}')
}

// appendLabelledBy appends which labels the cluster has by a contact.
func (r *Result) appendLabelledBy(dst []byte) []byte {
	start := `,"labelled_by":[{"label":`
	for i := range r.LabelledBy {
		l := &r.LabelledBy[i]
		dst = appendString(append(dst, start...), l.Label)
		if l.Trial {
			dst = append(dst, `,"trial":true`...)
		}
		dst = appendString(append(dst, `,"contact":`...), l.Contact)
		dst = append(dst, '}')
		start = `,{"label":`
	}
	if len(r.LabelledBy) > 0 {
		dst = append(dst, ']')
	}
	return dst
}

// appendCarried appends what a result carries of its input, and the signals.
func (r *Result) appendCarried(dst []byte) []byte {
	if r.Publisher != "" {
		dst = appendString(append(dst, `,"publisher":`...), r.Publisher)
	}
	if r.Space != "" {
		dst = appendString(append(dst, `,"space":`...), r.Space)
	}
	if r.Copied != "" {
		dst = append(append(dst, `,"copied":`...), r.Copied...)
	}
	if r.Signals != nil {
		dst = r.Signals.appendJSON(append(dst, `,"signals":`...))
	}
	return dst
}

// AppendJSON appends what [Cluster.JSON] writes, as [Result.AppendJSON] does.
func (c *Cluster) AppendJSON(dst []byte) []byte {
	dst = appendString(append(dst, `{"cluster_id":`...), c.ClusterID)
	dst = strconv.AppendUint(append(dst, `,"seq":`...), c.Seq, 10)
	dst = c.Fingerprint.appendJSON(append(dst, `,"fingerprint":`...))
	if len(c.Sketch) > 0 {
		dst = base64.StdEncoding.AppendEncode(append(dst, `,"sketch":"`...), c.Sketch)
		dst = append(dst, '"')
	}
	dst = appendStrings(dst, `,"contacts":[`, c.Contacts)
	dst = strconv.AppendInt(append(dst, `,"size":`...), int64(c.Size), 10)
	if c.ByContact != 0 {
		dst = strconv.AppendInt(append(dst, `,"by_contact":`...), int64(c.ByContact), 10)
	}
	if c.Space != "" {
		dst = appendString(append(dst, `,"space":`...), c.Space)
	}
	dst = appendTime(append(dst, `,"first_seen":`...), c.FirstSeen)
	dst = appendTime(append(dst, `,"last_seen":`...), c.LastSeen)
	dst = c.Representative.appendJSON(append(dst, `,"representative":`...))
	dst = appendStory(dst, c.StoryID, c.StorySimilarity)
	if len(c.Labels) > 0 {
		dst = append(append(dst, `,"labels":`...), c.Labels...)
	}
	if len(c.Exceptions) > 0 {
		dst = append(append(dst, `,"exceptions":`...), c.Exceptions...)
	}
	if c.KeptMS != 0 {
		dst = strconv.AppendInt(append(dst, `,"kept_ms":`...), c.KeptMS, 10)
	}
	if c.Signals != nil {
		dst = c.Signals.appendJSON(append(dst, `,"signals":`...))
	}
	dst = appendString(append(dst, `,"pipeline":`...), c.Pipeline)
	return append(dst, '}')
}

func (r *Representative) appendJSON(dst []byte) []byte {
	dst = appendString(append(dst, `{"id":`...), r.ID)
	dst = appendString(append(dst, `,"title":`...), r.Title)
	if r.Excerpt != "" {
		dst = appendString(append(dst, `,"excerpt":`...), r.Excerpt)
	}
	return append(dst, '}')
}

func (a *Address) appendJSON(dst []byte) []byte {
	dst = appendString(append(dst, `{"topic":`...), a.Topic)
	dst = strconv.AppendInt(append(dst, `,"partition":`...), int64(a.Partition), 10)
	dst = strconv.AppendInt(append(dst, `,"offset":`...), a.Offset, 10)
	return append(dst, '}')
}

func (f Fingerprint) appendJSON(dst []byte) []byte {
	return append(f.AppendTo(append(dst, '"')), '"')
}
