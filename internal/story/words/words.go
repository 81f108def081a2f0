// Package words makes of an article what the rule of stories takes: its words, without stop words,
// as weighed terms.
package words

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/story"
	"github.com/clusterd/clusterd/internal/text"
)

// Words are those of an article. The zero value has none.
type Words struct {
	Vector story.Vector
	Han    bool   // more than half of them are Chinese
	Terms  string // the first distinct ones, joined by line breaks
}

// A Text is what the words of an article are made of: the beginning of its title and its content.
// Strings that are kept must not share memory with a record.
type Text struct{ Title, Content string }

// The bytes of an article in which its words are looked for.
const (
	maxTitle   = 2 << 10
	maxContent = 16 << 10
)

// TextOf returns the beginning of a title and of a content.
func TextOf(title, content string) Text {
	return Text{head(title, maxTitle), head(content, maxContent)}
}

// head returns the beginning of s, of at most size bytes and of whole characters.
func head(s string, size int) string {
	if len(s) <= size {
		return s
	}
	for size > 0 && !utf8.RuneStart(s[size]) {
		size--
	}
	return s[:size]
}

// Clone returns a copy that shares no memory.
func (t Text) Clone() Text { return Text{strings.Clone(t.Title), strings.Clone(t.Content)} }

// A Counter counts the words of one article after the other. It is not safe for concurrent use.
type Counter struct {
	counter *text.Counter
	words   story.Words
}

// New returns what makes Counters by these settings. It loads the dictionaries.
func New(s method.TextSettings) (func() *Counter, error) {
	tokenizer, err := text.New(text.Options{
		CleanOptions: text.CleanOptions{HTML: s.HTML, Extract: s.Extract, Fold: s.Fold},
		Dictionaries: s.Dictionaries, StopWords: s.StopWords,
	})
	if err != nil {
		return nil, fmt.Errorf("words of stories: %w", err)
	}
	return func() *Counter { return &Counter{counter: tokenizer.NewCounter()} }, nil
}

// Count returns the words of an article, of which it looks at [TextOf].
func (c *Counter) Count(title, content string) Words {
	t := TextOf(title, content)
	title, content = t.Title, t.Content
	c.words.Reset()
	c.counter.Words(title, "", func(t text.Token) { c.words.Title(t.Word) })
	c.counter.Words("", content, func(t text.Token) { c.words.Content(t.Word) })
	return Words{Vector: c.words.Vector(), Han: c.words.Han(), Terms: c.words.Terms()}
}
