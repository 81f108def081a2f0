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
	links   bool // targets of links follow the content
	norm    *normalizer
}

// CleanOptions configures a [Cleaner]. The zero value works.
type CleanOptions struct {
	// HTML says where markup is stripped:
	//
	//	"auto", ""  where a text is recognised as HTML; elsewhere nothing is
	//	            lost, and character references such as &amp; are resolved
	//	"always"    everywhere
	//	"never"     nowhere, nor are character references resolved
	//
	// A document in XML (a feed, NITF, NewsML) is recognised in "auto" and "always": its
	// character data is the text.
	HTML string

	// Extract says what of a content is compared that is a whole HTML page, with a doctype or an
	// html, head or body tag at its beginning. Elsewhere, and where HTML is "never", it makes no
	// difference.
	//
	//	"all", ""  all its text
	//	"article"  what looks like the article, without menus, adverts and other articles' headlines;
	//	           all its text where nothing looks like one
	Extract string

	// Links makes the targets of links part of the text: see [Cleaner.AppendClean].
	Links bool
}

// NewCleaner returns a Cleaner.
func NewCleaner(o CleanOptions) (*Cleaner, error) {
	mode, err := parseHTMLMode(o.HTML)
	if err != nil {
		return nil, err
	}
	article, err := parseExtract(o.Extract)
	if err != nil {
		return nil, err
	}
	n, err := newNormalizer()
	if err != nil {
		return nil, err
	}
	return &Cleaner{mode, article, o.Links, n}, nil
}

// AppendClean appends a title, a line break and a content, cleaned. The result is valid
// UTF-8.
//
// With [CleanOptions].Links, where markup is stripped, a line follows for each target of a link or
// a form in the title, then in the content: at most 64 lines, of at most 2 KiB before they are
// normalised. Of a whole page these are all its links, even where the text is the article's alone.
func (c *Cleaner) AppendClean(dst []byte, title, content string) []byte {
	var found *links
	if c.links {
		found = new(links)
	}
	title, content = c.html.plain(title, found), c.plainContent(content, found)
	dst = slices.Grow(dst, len(title)+1+len(content))
	dst = c.norm.appendNormalized(dst, title)
	dst = append(dst, '\n')
	dst = c.norm.appendNormalized(dst, content)
	if found != nil {
		for _, target := range found.targets {
			dst = c.norm.appendNormalized(append(dst, '\n'), target)
		}
	}
	return dst
}

// plainContent returns the text of a content, and links, as htmlMode.plain does: of a whole page the
// article's text, where that is wanted and one is found.
func (c *Cleaner) plainContent(s string, found *links) string {
	if c.article && c.html != htmlNever && isPage(s) {
		if article, ok := mainText(s); ok {
			if found != nil {
				c.html.plain(s, found)
			}
			return article
		}
	}
	return c.html.plain(s, found)
}

// Identity names everything that changes what is made of a text, as in
//
//	norm=1,html=auto
//
// and, where articles are extracted, the release of what does that.
// Links stand in it where they are on. It is the same on every machine.
func (c *Cleaner) Identity() string {
	identity := fmt.Sprintf("norm=%d,html=%s", normVersion, c.html)
	if c.article {
		identity += ",extract=article/" + extractVersion
	}
	if c.links {
		identity += ",links=1"
	}
	return identity
}
