package eval

import (
	"bytes"
	"errors"
	"io"
	"time"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/files"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/monitor/tally"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/text"
)

// A Document is an article of which more may be known.
type Document struct {
	ID             string
	Title, Content string
	PublishedAt    time.Time // zero where the article does not say
	Label          string    // empty where there is none
	// Rejected is set of a line that is no article although it has an id. Clusterd gives no
	// result for it; a truth may know it all the same.
	Rejected bool
	// LeftOut is set of a document that is clustered, and counts in no measure, see [LeaveOut].
	LeftOut bool
}

func (d *Document) characters() int {
	return utf8.RuneCountInString(d.Title) + utf8.RuneCountInString(d.Content)
}

// eventTime returns that of the daemon for an article of a file, when soFar is the highest one so
// far.
func (d *Document) eventTime(soFar int64, now time.Time, window time.Duration) int64 {
	at, _ := singlepass.Dates{
		Published: d.PublishedAt, StreamTime: soFar, Now: now,
		Window: window,
	}.EventTime()
	return at
}

// ReadDocuments makes a document of each line of the files, by the input section of a
// configuration, with the label in the field at this dotted path, if it is not empty; only JSON has
// labels. An article without an id has the address that it would have in Kafka, as in the results
// of clusterd. The documents, with their texts, stay in memory. It counts the lines that it has
// skipped, which are no article and have no id. odd, if it is not nil, counts what was odd.
func ReadDocuments(
	c config.Input, label string, inputs []files.File, odd *tally.Tally,
) (docs []Document, skipped int, err error) {
	lines, err := files.NewReader(c, inputs)
	if err != nil {
		return nil, 0, err
	}
	reader := documentReader{lines, odd, article.NewLabels(c.Format, c.Fields.ID, label)}
	for {
		entry, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return docs, skipped, nil
		}
		if err != nil {
			return nil, 0, err
		}
		if d, ok := reader.document(entry); ok {
			docs = append(docs, d)
		} else {
			skipped++
		}
	}
}

// LeaveOut leaves the documents out of all measures but cost whose content, cleaned as the settings
// say, has fewer than so many characters: what is that short may be boilerplate alone. They are
// clustered all the same, since a stream has them, too, and others may join them. Their labels are
// taken away. A line that is no article stays, since its content is not known.
func LeaveOut(c method.TextSettings, docs []Document, characters int) error {
	cleaner, err := text.NewCleaner(text.CleanOptions{HTML: c.HTML, Extract: c.Extract})
	if err != nil {
		return err
	}
	var clean []byte
	for i := range docs {
		d := &docs[i]
		clean = cleaner.AppendClean(clean[:0], "", d.Content)
		if !d.Rejected && utf8.RuneCount(bytes.TrimSpace(clean)) < characters {
			d.LeftOut, d.Label = true, ""
		}
	}
	return nil
}

type documentReader struct {
	*files.Reader
	tally  *tally.Tally // or nil
	labels article.Labels
}

func (r *documentReader) document(e files.Entry) (Document, bool) {
	a, rejection := r.Article(e)
	if r.tally != nil {
		r.tally.Add(a.Notes, rejection)
	}
	d := Document{ID: a.ID, Title: a.Title, Content: a.Content, PublishedAt: a.PublishedAt}
	if rejection != nil {
		d = Document{ID: r.labels.RejectedID(e.Value), Rejected: true}
	}
	d.Label = r.labels.Label(e.Value)
	return d, d.ID != ""
}
