package fingerprint

import (
	"time"
	"unsafe"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/story/words"
)

// An Article is what is left of an article once it is fingerprinted: all that its assignment and
// its result need.
type Article struct {
	Source         article.Address        // of its record; the id of the cluster that it may found
	Key            []byte                 // of its record, where results have it, else nil
	RecordedAt     time.Time              // its record's timestamp
	PublishedAt    time.Time              // zero where the article does not say
	Representative article.Representative // of the cluster that it may found
	Publisher      string                 // empty: it does not say
	Copied         article.Copied         // what its result repeats of it
	Headers        []Header               // of its record, those that its result carries
	Fingerprint    singlepass.Fingerprint
	Comparable     bool // there is something in it to compare
	// Text is what Words are made of, by whoever knows that the article founds a cluster. Both are
	// empty where stories are off, and one of them where they are on.
	Text  words.Text
	Words words.Words
	Notes *article.Notes // what was odd about it; nil for nothing
}

// Size returns about how many bytes of memory the article holds.
func (a *Article) Size() int {
	n := int(unsafe.Sizeof(*a)) + len(a.Key) + len(a.Representative.ID) +
		len(a.Representative.Title) + len(a.Representative.Excerpt) + len(a.Publisher) + len(a.Copied) +
		len(a.Fingerprint.Sketch) + len(a.Fingerprint.Contacts) + len(a.Fingerprint.Space) +
		len(a.Text.Title) + len(a.Text.Content) + len(a.Words.Vector) + len(a.Words.Terms)
	for _, h := range a.Headers {
		n += int(unsafe.Sizeof(h)) + len(h.Key) + len(h.Value)
	}
	return n
}

// A Header is a header of a record.
type Header struct {
	Key   string
	Value []byte // nil: none
}
