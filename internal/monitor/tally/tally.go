// Package tally counts what is odd about records. The notes of articles go in, or why a record is
// none; out come counts, what is to be said because it is new, and what seems to be wrong with the
// configuration.
package tally

import (
	"fmt"
	"sync"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/text/charset"
)

// A Tally counts what was odd about records, and says each thing once. It is safe for concurrent
// use.
type Tally struct {
	encoding string         // input.encoding
	format   string         // input.format
	fields   article.Fields // input.fields

	mutex     sync.Mutex
	articles  int
	rejected  int
	first     *article.Rejection // the first record that is no article
	content0  int                // articles without content
	keys      []string           // of the first of these
	looksJSON int
	invalid   int
	encodings map[string]int
	fallbacks map[article.Fallback]int // without details
	warned    bool
}

// New returns the tally of records of a format, in which articles are in these fields, in an
// encoding.
func New(format string, fields article.Fields, encoding string) *Tally {
	return &Tally{
		format: format, fields: fields, encoding: encoding,
		encodings: make(map[string]int), fallbacks: make(map[article.Fallback]int),
	}
}

// Counts are what a tally knows.
type Counts struct {
	Articles, Rejected int
	Invalid            int                      // articles with bytes that are no character
	Encodings          map[string]int           // articles that were not in UTF-8
	Fallbacks          map[article.Fallback]int // fields that could not be used, without details
}

// Counts returns what has been counted. The maps are the tally's own.
func (t *Tally) Counts() Counts {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return Counts{t.articles, t.rejected, t.invalid, t.encodings, t.fallbacks}
}

// Add counts an article with these notes, nil for none, or a record that is none. It returns what
// is to be said, because nothing like it has been before.
func (t *Tally) Add(n *article.Notes, rejection *article.Rejection) (news []string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if rejection != nil {
		if t.rejected++; t.first == nil {
			t.first = rejection
		}
		return nil
	}
	t.articles++
	if n == nil {
		return nil
	}
	if n.Keys != nil {
		if t.content0++; t.keys == nil {
			t.keys = n.Keys
		}
	}
	if n.LooksJSON {
		t.looksJSON++
	}
	if n.Encoding != "" {
		if t.encodings[n.Encoding]++; t.encodings[n.Encoding] == 1 && t.encoding == charset.Auto {
			news = append(news, fmt.Sprintf("the text was taken for %s and read as such; input.encoding: "+
				"%[1]s says so for certain", n.Encoding))
		}
	}
	if n.Invalid {
		if t.invalid++; t.invalid == 1 {
			news = append(news, "there are bytes that are no character of the encoding, and U+FFFD stands "+
				"for them; if it is another encoding, name it in input.encoding; further ones are counted only")
		}
	}
	for _, f := range n.Fallbacks {
		kind := article.Fallback{Field: f.Field, Reason: f.Reason}
		if t.fallbacks[kind]++; t.fallbacks[kind] == 1 {
			news = append(news, f.Detail+"; further ones are counted only")
		}
	}
	return news
}

// Warning returns, once, what seems to be wrong with the configuration, "" for nothing: that no
// article has had content, that plain texts are JSON, or that not one record was an article. It is
// asked for when enough records are counted.
func (t *Tally) Warning() string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	text := ""
	switch {
	case t.warned:
		return ""
	case t.articles == 0 && t.rejected > 0:
		text = fmt.Sprintf("none of %d records is an article; the first is %s", t.rejected,
			t.first.Error()) + t.advice()
	case t.articles > 0 && t.content0 == t.articles:
		text = fmt.Sprintf(
			"none of %d articles has a field %q, so titles alone are compared; the first has %s. "+
				"Set input.fields.content to the path of the content", t.articles, t.fields.Content,
			article.QuotedKeys(t.keys))
	case t.articles > 0 && t.looksJSON == t.articles:
		text = fmt.Sprintf("all of %d texts look like JSON objects, which are compared with their keys "+
			"and marks; set input.format to json if they are", t.articles)
	}
	t.warned = text != ""
	return text
}

// Incomparable says why no article could be compared, "" if there was no article. It is asked for
// when that is so.
func (t *Tally) Incomparable() string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	switch {
	case t.articles == 0:
		return ""
	case t.format != article.JSON:
		return fmt.Sprintf("no article could be compared: %d texts have no word",
			t.articles)
	}
	reason := fmt.Sprintf("no article could be compared: %d articles have no word in the fields %q "+
		"and %q", t.articles, t.fields.Content, t.fields.Title)
	if t.content0 > 0 {
		reason += "; the first has " + article.QuotedKeys(t.keys)
	}
	return reason + ". If the text is elsewhere, set input.fields.content to its path"
}

// Enough reports whether so many records are counted that a warning is due.
func (t *Tally) Enough() bool {
	const enough = 1000
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.articles+t.rejected >= enough
}

// advice returns what to do where no record can be read.
func (t *Tally) advice() string {
	switch {
	case t.first.Class == article.BadJSON && t.format == "json":
		return ". If they are plain text, set input.format to text"
	case t.first.Class == article.Empty || t.first.Class == article.BadField:
		return ". input.fields says where title and content are"
	}
	return ""
}
