package eval

import (
	"errors"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/files"
	"github.com/clusterd/clusterd/internal/singlepass"
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
}

func (d *Document) characters() int {
	return utf8.RuneCountInString(d.Title) + utf8.RuneCountInString(d.Content)
}

// eventTime is that of the daemon for an article of a file, the highest one so far being that.
func (d *Document) eventTime(soFar int64, now time.Time, window time.Duration) int64 {
	at, _ := singlepass.Dates{Published: d.PublishedAt, StreamTime: soFar, Now: now, Window: window}.EventTime()
	return at
}

// ReadDocuments makes a document of each line of the files, by the input section of a configuration, with the label in the
// field at this dotted path, if it is not empty; only JSON has labels. An article without an id has the
// address that it would have in Kafka, as in the results of clusterd. The documents, with their texts, stay in
// memory. It counts the lines that it has skipped, which are no article and have no id. The tally, if it is not nil,
// counts what was odd.
func ReadDocuments(c config.Input, label string, inputs []files.File, tally *article.Tally) (docs []Document, skipped int, err error) {
	lines, err := files.NewReader(c, inputs)
	if err != nil {
		return nil, 0, err
	}
	reader := documentReader{Reader: lines, tally: tally, json: c.Format == "json", id: query(c.Fields.ID)}
	if label != "" {
		reader.label = query(label)
	}
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

type documentReader struct {
	*files.Reader
	tally *article.Tally // or nil
	json  bool
	id    string // gjson path
	label string // gjson path, or empty
}

func query(path string) string {
	components := strings.Split(path, ".")
	for i, c := range components {
		components[i] = gjson.Escape(c)
	}
	return strings.Join(components, ".")
}

func (r *documentReader) document(e files.Entry) (Document, bool) {
	a, rejection := r.Article(e)
	if r.tally != nil {
		r.tally.Add(a.Notes, rejection)
	}
	d := Document{ID: a.ID, Title: a.Title, Content: a.Content, PublishedAt: a.PublishedAt, Rejected: rejection != nil}
	if d.Rejected {
		if !r.json || !gjson.ValidBytes(e.Value) {
			return Document{}, false
		}
		d = Document{ID: gjson.GetBytes(e.Value, r.id).String(), Rejected: true}
	}
	if r.label != "" && r.json {
		d.Label = gjson.GetBytes(e.Value, r.label).String()
	}
	return d, d.ID != ""
}
