package space

import (
	"cmp"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/message/label"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/space/state"
)

// A Batch is what became of some articles, and what that does to the space.
type Batch struct {
	Assignments []Assignment // one an article, in order
	Labelled    []Labelled   // one a label record, in order
	// that have new members or other labels, and live on, in founding order
	Touched    []cluster.Cluster
	Expired    []cluster.Cluster   // that are to be removed, in founding order
	Stories    []state.StoryChange // in founding order
	Contacts   []state.ContactChange
	Due        []checkpoint.Due // contacts whose clusters are not in step with their marks yet
	Adopt      *uint64          // as in [checkpoint.Labels]
	Adjusted   Adjusted
	Candidates uint64 // centres that the articles were compared with
	Clusters   int    // that there are then, with those that have expired and were not removed yet
	Flood      Flood
	// Ahead is whether the next batch may be assigned before this one is committed.
	Ahead bool

	joined  []int               // articles that joined, by touched cluster
	founded []singlepass.Centre // among the touched, or expired since
	before  singlepass.State    // to roll the batch back
	after   singlepass.State
	erased  []uint64 // clusters whose text, or that of their stories, is to be gone from the disk
	room    int      // how many more clusters may change
	changes []checkpoint.Correction

	endedMarks int // by label records that say that a contact is harmless
}

// Next returns the position of the article behind the batch.
func (b *Batch) Next() uint64 { return b.after.Next }

// Existed reports whether a cluster was there before the batch.
func (b *Batch) Existed(c *cluster.Cluster) bool { return c.Seq < b.before.Next }

// An Assignment is what became of one article. Of an article that was not clustered, only Article,
// Status, Position and EventTime are set.
type Assignment struct {
	*fingerprint.Article
	Status         article.Status
	ClusterID      string
	Representative article.Representative // of the cluster
	Distance       float64                // from the centre, in the measure of the method
	Matched        article.Match          // how it joined, where results say so; else empty
	Size           int                    // articles in the cluster, this one included
	Position       uint64                 // in the order of the space; unclustered: of the next one
	EventTime      int64                  // that counts, in Unix milliseconds
	Signals        article.Signals        // of the cluster; zero where they are off
	Carried        *label.Carried         // by the cluster; nil for nothing
	// Story is the id of the cluster's story, empty for none, and StorySimilarity as in a
	// [cluster.Cluster].
	Story           string
	StorySimilarity article.Similarity
}

// unclustered returns what becomes of an article in which there is nothing to compare. It moves
// neither position nor stream time.
func (s *Space) unclustered(a *fingerprint.Article) Assignment {
	at, _ := s.eventTime(a)
	return Assignment{
		Article: a, Status: article.Unclustered, Position: s.rule.State().Next, EventTime: at,
	}
}

func clustered(
	a *fingerprint.Article, m *member, decision singlepass.Assignment, at int64,
) Assignment {
	status := article.New
	if decision.Joined {
		status = article.Joined
	}
	return Assignment{
		Article: a, Status: status, ClusterID: m.id, Representative: m.Representative,
		Distance: decision.Distance, Size: m.Size,
		Position: decision.Position, EventTime: at, Signals: signalsOf(&m.Cluster),
	}
}

// signalsOf returns the signals of a cluster as its last member's result has them.
func signalsOf(c *cluster.Cluster) article.Signals {
	if c.Signals == "" {
		return article.Signals{}
	}
	return article.Signals{
		Publishers: article.NewPublishers(c.Signals.Publishers()), Recent: c.Signals.Recent(),
		FirstSeen: time.UnixMilli(c.FirstSeen).UTC(), LastSeen: time.UnixMilli(c.LastSeen).UTC(),
	}
}

// matched returns how an article joined, where results say so.
func (o *Options) matched(decision *singlepass.Assignment) article.Match {
	if !o.Explained || !decision.Joined {
		return ""
	}
	return o.match(decision)
}

// match returns how an article joined.
func (o *Options) match(decision *singlepass.Assignment) article.Match {
	if decision.Distance > o.Threshold {
		return article.Contained
	}
	return article.ByText
}

// AppendJSON appends the article's result, with these fields. Identity says how fingerprints are
// made.
func (a *Assignment) AppendJSON(dst []byte, identity string, parts article.Parts) []byte {
	r := article.Result{
		ArticleID: a.Article.Representative.ID, Status: a.Status, Source: a.Source, Pipeline: identity,
		Publisher: a.Publisher, Copied: a.Copied, Space: a.Article.Fingerprint.Space,
	}
	if !a.PublishedAt.IsZero() {
		r.PublishedAt = &a.PublishedAt
	}
	hash := article.Fingerprint(a.Fingerprint.Hash)
	if a.Status != article.Unclustered {
		r.ClusterID, r.Distance, r.Fingerprint = &a.ClusterID, &a.Distance, &hash
		r.Size, r.Representative = a.Size, &a.Representative
		r.Matched = a.Matched
		r.StoryID, r.StorySimilarity = a.Story, a.StorySimilarity
		if !a.Signals.LastSeen.IsZero() {
			r.Signals = &a.Signals
		}
		if a.Carried != nil {
			r.Labels, r.TrialLabels, r.LabelledBy = a.Carried.Labels, a.Carried.Trial, a.Carried.By
		}
	}
	return r.AppendJSON(dst, parts)
}

// Adjusted counts the articles of a batch that have another event time than they say, by why.
type Adjusted struct {
	Ahead, Old int
	Example    *fingerprint.Article // the first one; nil for none
	EventTime  time.Time            // of the example
}

func (d *Adjusted) add(a *Assignment, why singlepass.Adjustment) {
	switch why {
	case singlepass.Ahead:
		d.Ahead++
	case singlepass.Old:
		d.Old++
	default:
		return
	}
	if d.Example == nil {
		d.Example, d.EventTime = a.Article, time.UnixMilli(a.EventTime).UTC()
	}
}

// Counts counts articles by what became of them.
type Counts struct {
	New, Joined, Unclustered int
	Contained                int // of those that joined
}

// Add adds other counts.
func (c *Counts) Add(more Counts) {
	c.New += more.New
	c.Joined += more.Joined
	c.Unclustered += more.Unclustered
	c.Contained += more.Contained
}

// Distances returns how far the articles that joined by their text are from their founders, as
// shares of a threshold in the method's measure. A threshold of 0 allows no distance, so all are 0.
func (b *Batch) Distances(threshold float64) []float64 {
	var shares []float64
	for i := range b.Assignments {
		if a := &b.Assignments[i]; a.Status == article.Joined {
			shares = append(shares, a.Distance/cmp.Or(threshold, 1))
		}
	}
	return shares
}

// Counts returns how many articles of the batch founded a cluster, joined one, or neither.
func (b *Batch) Counts() (c Counts) {
	for i := range b.Assignments {
		switch b.Assignments[i].Status {
		case article.New:
			c.New++
		case article.Joined:
			c.Joined++
		default:
			c.Unclustered++
		}
		if b.Assignments[i].Matched == article.Contained {
			c.Contained++
		}
	}
	return c
}
