package text

import (
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/text/fold"
)

// A Cleaner makes one text of all articles that read alike: without markup or invisible
// characters, in simplified Chinese and lower case, in compatible forms. It is safe for
// concurrent use.
type Cleaner struct {
	html    htmlMode
	article bool // of a whole page only the article is taken
	fold    int  // the version of folding, 0: texts are not folded
	norm    *normalizer
	links   *normalizer // of the targets of links; nil where these are left out
	mask    Mask        // nil: nothing
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

	// Fold makes texts the same that a spammer varies and a reader hardly tells apart: letters and
	// digits that look like those of ASCII become these, marks on letters are dropped, symbols and
	// emoji become spaces, letters that are spaced out are joined, and digits within words become
	// the letters that they stand for.
	//
	// It is the version of folding, such as [fold.Latest]; 0 for none.
	Fold int

	// Links makes the targets of links part of the text: see [Cleaner.AppendClean].
	Links bool

	// Mask takes out of texts what does not count; nil for nothing. Where it would leave next to no
	// letters of an article, nothing is taken out.
	Mask Mask
}

// A Mask takes out of cleaned texts what does not count, such as numbers. It is safe for concurrent
// use.
type Mask interface {
	// Apply returns what is left of a text, in the same memory.
	Apply(text []byte) []byte
	// Identity names what is taken out, and how it is found, as name=value pairs joined by commas.
	Identity() string
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
	plain, err := newNormalizer()
	if err != nil {
		return nil, err
	}
	c := &Cleaner{html: mode, article: article, fold: o.Fold, norm: plain, mask: o.Mask}
	if o.Links {
		c.links = plain
	}
	if o.Fold > 0 {
		c.norm, err = newFoldingNormalizer()
	}
	return c, err
}

// AppendClean appends a title, a line break and a content, cleaned. The result is valid
// UTF-8.
//
// With [CleanOptions].Links, where markup is stripped, a line follows for each target of a link or
// a form in the title, then in the content: at most 64 lines, of at most 2 KiB before they are
// normalised. They are not folded: what only looks like a link's target is another. Of a whole page
// these are all its links, even where the text is the article's alone.
func (c *Cleaner) AppendClean(dst []byte, title, content string) []byte {
	work := cleaning{Cleaner: c, mask: c.mask}
	return work.append(dst, title, content)
}

// Folds reports whether look-alikes are folded.
func (c *Cleaner) Folds() bool { return c.fold > 0 }

// cleaning is how one article is cleaned.
type cleaning struct {
	*Cleaner
	mask   Mask
	names  bool         // styled is wanted
	styled []fold.Range // see [Cleaner.AppendStyled]
}

// append does what [Cleaner.AppendClean] does.
func (c *cleaning) append(dst []byte, title, content string) []byte {
	var found *links
	if c.links != nil {
		found = new(links)
	}
	var b stripped
	defer b.release()
	title, content = c.html.plainIn(&b, title, found), c.plainContent(&b, content, found)
	from := len(dst)
	dst = c.appendBoth(dst, title, content)
	if c.mask != nil && fewLetters(dst[from:]) {
		c.mask = nil
		dst = c.appendBoth(dst[:from], title, content)
	}
	if found != nil {
		for _, target := range found.targets {
			dst = c.links.appendNormalized(append(dst, '\n'), target)
		}
	}
	return dst
}

// appendBoth appends a title and a content without markup, cleaned.
func (c *cleaning) appendBoth(dst []byte, title, content string) []byte {
	dst = slices.Grow(dst, len(title)+1+len(content))
	dst = append(c.appendPlain(dst, title), '\n')
	return c.appendPlain(dst, content)
}

func (c *cleaning) appendPlain(dst []byte, s string) []byte {
	from, piled, leet := len(dst), false, false
	switch {
	case c.fold > 0 && c.names:
		dst, c.styled = c.norm.appendStyled(dst, s, c.styled)
	case c.fold > 0:
		dst, piled, leet = c.norm.joinSpaced(c.norm.appendNormalized(dst, s), from, nil)
	default:
		dst = c.norm.appendNormalized(dst, s)
	}
	if piled && c.fold >= fold.Tricks {
		dst = fold.DropMarks(dst, from)
	}
	if c.mask != nil {
		dst = dst[:from+len(c.mask.Apply(dst[from:]))]
	}
	if leet && c.fold >= fold.Tricks {
		fold.Leet(dst[from:]) // last: masks know digits by what they are
	}
	return dst
}

// enoughLetters must be left of an article of which something is masked, or nearly all of it is
// what does not count, and all articles of that kind would be the same.
const enoughLetters = 4

func fewLetters(s []byte) bool {
	n := 0
	for i := 0; i < len(s) && n < enoughLetters; {
		r, size := utf8.DecodeRune(s[i:])
		if unicode.IsLetter(r) {
			n++
		}
		i += size
	}
	return n < enoughLetters
}

// plainContent returns the text of a content, and links, as htmlMode.plainIn does. Of a whole page
// that is the article's text, where that is wanted and one is found.
func (c *Cleaner) plainContent(b *stripped, s string, found *links) string {
	if c.article && c.html != htmlNever && isPage(s) {
		if article, ok := mainText(s); ok {
			if found != nil {
				c.html.plain(s, found)
			}
			return article
		}
	}
	return c.html.plainIn(b, s, found)
}

// Identity names everything that changes what is made of a text, as in
//
//	norm=1,html=auto
//
// and, where articles are extracted, the release of what does that. Where look-alikes are folded,
// the version of that follows. Links and masks stand in it where they are on. It is the same on
// every machine.
func (c *Cleaner) Identity() string {
	identity := fmt.Sprintf("norm=%d,html=%s", normVersion, c.html)
	if c.article {
		identity += ",extract=article/" + extractVersion
	}
	if c.fold > 0 {
		identity += fmt.Sprintf(",fold=%d", c.fold)
	}
	if c.links != nil {
		identity += ",links=1"
	}
	if c.mask != nil {
		identity += "," + c.mask.Identity()
	}
	return identity
}
