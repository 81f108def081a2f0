package text

import (
	"fmt"
	"slices"
)

// A Cleaner makes one text of all articles that read alike: without markup or invisible
// characters, in simplified Chinese and lower case, in compatible forms. It is safe for
// concurrent use.
type Cleaner struct {
	html    htmlMode
	article bool // of a whole page only the article is taken
	norm    *normalizer
}

// NewCleaner returns a Cleaner that strips markup as [Options].HTML says.
func NewCleaner(html string) (*Cleaner, error) { return NewArticleCleaner(html, "all") }

// NewArticleCleaner returns a Cleaner that strips markup as [Options].HTML says, and takes of whole
// pages what [Options].Extract says.
func NewArticleCleaner(html, extract string) (*Cleaner, error) {
	mode, err := parseHTMLMode(html)
	if err != nil {
		return nil, err
	}
	article, err := parseExtract(extract)
	if err != nil {
		return nil, err
	}
	n, err := newNormalizer()
	if err != nil {
		return nil, err
	}
	return &Cleaner{mode, article, n}, nil
}

// AppendClean appends a title, a line break and a content, cleaned. The result is valid
// UTF-8.
func (c *Cleaner) AppendClean(dst []byte, title, content string) []byte {
	title, content = c.html.plain(title), c.plainContent(content)
	dst = slices.Grow(dst, len(title)+1+len(content))
	dst = c.norm.appendNormalized(dst, title)
	dst = append(dst, '\n')
	return c.norm.appendNormalized(dst, content)
}

// plainContent returns the text of a content: of a whole page the article's, where that is wanted
// and one is found.
func (c *Cleaner) plainContent(s string) string {
	if c.article && c.html != htmlNever && isPage(s) {
		if article, ok := mainText(s); ok {
			return article
		}
	}
	return c.html.plain(s)
}

// Identity names everything that changes what is made of a text, as in
//
//	norm=1,html=auto
//
// and, where articles are extracted, the release of what does that.
// It is the same on every machine.
func (c *Cleaner) Identity() string {
	identity := fmt.Sprintf("norm=%d,html=%s", normVersion, c.html)
	if c.article {
		identity += ",extract=article/" + extractVersion
	}
	return identity
}
