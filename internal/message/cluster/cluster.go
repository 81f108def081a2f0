// Package cluster is a cluster as it is committed: the one type that assignment changes and that
// the clusters topic and the disk hold. Each of the two has one place where a cluster is written
// and read: wire.go for the topic, and encode.go of package state for the disk.
package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/label"
	"github.com/clusterd/clusterd/internal/message/signals"
	"github.com/clusterd/clusterd/internal/singlepass"
)

// A Cluster is a cluster with at least one article. A copy of it is a cluster of its own: whoever
// has a newer one takes it as a whole, so that no field is lost on the way.
type Cluster struct {
	// Centre is the fingerprint of the founder, and as its Seq the position of the founder, by which
	// a space knows the cluster. It never changes.
	singlepass.Centre
	Founder        article.Address        // its String is the cluster id; never changes
	Representative article.Representative // the founder; only its text may go
	Size           int                    // articles
	// FirstSeen and LastSeen are the lowest and the highest event time of its articles, in Unix
	// milliseconds.
	FirstSeen, LastSeen int64
	Position            uint64 // of the last article
	// Signals are what is known of its articles since signals are on; empty where they are off.
	Signals signals.State
	// Story is the id of the story that it belongs to, empty for none, as of when its last article
	// came: that one may have become part of another since. StorySimilarity is that of the founder
	// and the story, and 0 where it is the story's first cluster.
	Story           string
	StorySimilarity article.Similarity
	Labels          label.Set
	Exceptions      label.Exceptions // labels of single articles
	Kept            int64            // milliseconds by which it outlives others, while Labelled
}

// ID returns the cluster id: the address of the founder.
func (c *Cluster) ID() string { return c.Founder.String() }

// EraseText removes what is kept of the founder's text, and reports whether there was any.
func (c *Cluster) EraseText() bool {
	erased := article.Representative{ID: c.Representative.ID}
	if c.Representative == erased {
		return false
	}
	c.Representative = erased
	return true
}

// EraseContact puts the name of an erased contact in place of a contact, and reports whether the
// cluster has it. Its labels stay.
func (c *Cluster) EraseContact(name, erased string) bool {
	if !c.Contacts.Has(name) {
		return false
	}
	contacts := renamed(slices.Collect(c.Contacts.All()), name, erased)
	slices.Sort(contacts)
	c.Contacts = singlepass.NewContacts(slices.Compact(contacts))
	rename := func(labels []article.Label) []article.Label {
		for i := range labels {
			l := &labels[i]
			if l.Contact == name {
				l.Contact = erased
			}
			l.Marked = renamed(l.Marked, name, erased)
		}
		return labels
	}
	c.Labels = label.Of(rename(c.Labels.All()))
	exceptions := c.Exceptions.All()
	for i := range exceptions {
		rename(exceptions[i].Labels)
	}
	c.Exceptions = label.ExceptionsOf(exceptions)
	return true
}

// Join counts an article with this position in its space and this event time in Unix milliseconds.
func (c *Cluster) Join(position uint64, at int64) {
	c.Size++
	c.Position = position
	c.FirstSeen, c.LastSeen = min(c.FirstSeen, at), max(c.LastSeen, at)
}

// Labelled reports whether the cluster or single articles of it have labels.
func (c *Cluster) Labelled() bool { return c.Labels != "" || c.Exceptions != "" }

// SeenAs returns when the cluster counts as last seen, for expiry, in Unix milliseconds.
func (c *Cluster) SeenAs() int64 { return c.LastSeen + c.Kept }

// ByAge compares clusters of a space by the order in which they were founded.
func ByAge(a, b Cluster) int { return cmp.Compare(a.Seq, b.Seq) }

// The largest values of a cluster that was made here, with room to count on.
const (
	MaxPosition = 1<<53 - 1              // all of JSON's numbers are exact up to it
	MaxOffset   = 1<<62 - 1              // of the founder
	MaxTime     = int64(253402300799999) // the end of the year 9999, the last that RFC 3339 writes
	maxTitle    = article.MaxTitleBytes + len("…")
	maxExcerpt  = article.MaxExcerpt * utf8.UTFMax
)

// Validate returns an error for a cluster that no clusterd can have made, whatever its articles
// were. What is read from outside goes through it before anything is done with it. Fingerprint and
// sketch are the method's to judge.
func (c *Cluster) Validate() error {
	f := c.Founder
	switch {
	case f.Topic == "" || f.Partition < 0 || f.Partition > math.MaxInt32 || f.Offset < 0 ||
		f.Offset > MaxOffset:
		return fmt.Errorf("founder %s: the address of no record", f)
	case c.Position > MaxPosition:
		return fmt.Errorf("position %d: at most %d is possible", c.Position, uint64(MaxPosition))
	case c.Seq > c.Position:
		return fmt.Errorf("seq %d, the founder's position, is above %d, the last member's", c.Seq,
			c.Position)
	case c.Size < 1 || uint64(c.Size) > c.Position-c.Seq+1 || c.Size == 1 && c.Seq != c.Position:
		return fmt.Errorf("size %d: the founder has position %d, the last member %d", c.Size, c.Seq,
			c.Position)
	case len(c.Space) > article.MaxSpaceBytes || !utf8.ValidString(c.Space):
		return fmt.Errorf("a space of %d bytes: at most %d of UTF-8 are possible", len(c.Space),
			article.MaxSpaceBytes)
	case c.FirstSeen < 0 || c.LastSeen < c.FirstSeen || c.LastSeen > MaxTime:
		return fmt.Errorf("seen from %d to %d ms since 1970: not from 1970 on, one after the other",
			c.FirstSeen, c.LastSeen)
	case c.Kept < 0 || c.Kept > MaxTime || c.Kept > 0 && !c.Labelled():
		return fmt.Errorf("kept for %d ms: from 0 to %d are possible, and 0 without labels", c.Kept,
			MaxTime)
	}
	if err := validate(&c.Representative); err != nil {
		return err
	}
	if err := c.validateStory(); err != nil {
		return err
	}
	if err := c.Signals.Check(c.Size, MaxTime); err != nil {
		return err
	}
	return errors.Join(c.Contacts.Check(), c.Labels.Check(), c.Exceptions.Check())
}

func validate(r *article.Representative) error {
	for _, part := range []struct {
		name, is string
		most     int
	}{
		{"id", r.ID, article.MaxIDBytes},
		{"title", r.Title, maxTitle},
		{"excerpt", r.Excerpt, maxExcerpt},
	} {
		if len(part.is) > part.most {
			return fmt.Errorf("the representative's %s has %d bytes: at most %d are possible", part.name,
				len(part.is), part.most)
		}
	}
	return nil
}

// Follows returns an error if c cannot be what became of the same cluster as it was before: what
// never changes is another, or what only grows has shrunk. The text of the representative may be
// gone, since somebody has erased it. An earlier clusterd that had the cluster meanwhile does not
// know of excerpts either.
func (c *Cluster) Follows(before *Cluster) error {
	was := before.Representative
	if c.Representative.Excerpt == "" {
		was.Excerpt = ""
		if c.Representative.Title == "" {
			was.Title = ""
		}
	}
	centre := before.Centre
	if erasedSince(c.Contacts, centre.Contacts) {
		centre.Contacts = c.Contacts
	}
	switch {
	case c.Centre != centre || c.Representative != was:
		return errors.New("its centre or representative is another than before, and a cluster's never " +
			"change")
	case c.Position < before.Position || c.Size < before.Size ||
		c.FirstSeen > before.FirstSeen || c.LastSeen < before.LastSeen:
		return fmt.Errorf("the cluster goes back, from size %d at position %d to size %d at position "+
			"%d: the topic's order is not that "+
			"in which it was written", before.Size, before.Position, c.Size, c.Position)
	}
	return nil
}
