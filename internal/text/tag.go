package text

import (
	"regexp"
	"slices"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// A tag is one of a page, with those of its attributes by which the article is found.
type tag struct {
	atom   atom.Atom
	name   string // of an element that HTML does not know
	attr   []html.Attribute
	closed bool // it ends in "/>"
	image  bool // an attribute says where there is an image
	tiny   bool // of an image: it is a single dot, which counts readers
}

// What is kept of a tag, in bytes.
const (
	maxName  = 64      // of the name of an element
	maxValue = 1 << 10 // of the value of an attribute
	maxWord  = 64      // of one that is a single word
	maxTitle = 512     // of the title of the page
)

var (
	// imageFile and video are what go-readability knows images and videos by.
	imageFile = regexp.MustCompile(`(?i)\.(jpg|jpeg|png|webp)`)
	video     = regexp.MustCompile(
		`(?i)//(www\.)?((dailymotion|youtube|youtube-nocookie|player\.vimeo|v\.qq|bilibili|live\.bilibili)\.com|(archive|upload\.wikimedia)\.org|player\.twitch\.tv)`)
	hiding = regexp.MustCompile(`(?i)display\s*:\s*none|visibility\s*:\s*hidden`)
	// credit is in the names of metadata that say what the title is, and who wrote the article.
	credit = regexp.MustCompile(`(?i)title|author|creator`)
)

// readTag reads the tag that z is at.
func readTag(z *html.Tokenizer, kind html.TokenType) tag {
	name, more := z.TagName()
	t := tag{atom: atom.Lookup(name), closed: kind == html.SelfClosingTagToken}
	switch t.atom {
	case 0:
		t.name = string(cut(name, maxName))
	case atom.Image:
		t.atom = atom.Img
	}
	dots := 0
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		if k := string(key); (k == "width" || k == "height") && string(value) == "1" {
			dots++
		}
		t.keep(atom.String(key), value)
	}
	t.tiny = dots == 2
	switch {
	case t.image && t.atom == atom.Img:
		t.set("src", []byte("x"))
	case t.atom == atom.Meta && !t.isCredit():
		t.attr = nil
	}
	return t
}

// keep keeps an attribute if it can make a difference to which text is the article's, and only so
// much of it.
func (t *tag) keep(key string, value []byte) {
	switch key {
	case "class", "id", "data-latex":
		t.set(key, cut(value, maxValue))
	case "role", "rel", "itemprop", "aria-modal", "aria-hidden", "display", "encoding":
		t.set(key, cut(value, maxWord))
	case "rowspan", "colspan", "datatable", "summary":
		t.set(key, cut(value, 8))
	case "hidden":
		t.set(key, nil)
	case "style":
		if hiding.Match(value) {
			t.set(key, []byte("display:none"))
		}
	}
	switch t.atom {
	case atom.A:
		if key == "href" {
			t.set(key, cut(value, maxWord))
		}
	case atom.Meta:
		switch key {
		case "name", "property":
			t.set(key, cut(value, maxWord))
		case "content":
			t.set(key, cut(value, maxTitle))
		}
	case atom.Img:
		switch key {
		case "src", "data-src", "srcset", "data-srcset":
			t.image = true
		default:
			t.image = t.image || imageFile.Match(value)
		}
	case atom.Figure:
		// A figure without an image gets this one.
		if !t.image && key != "alt" && len(value) <= maxValue && imageFile.Match(value) {
			t.image = true
			t.set("data-src", value)
		}
	case atom.Object, atom.Embed, atom.Iframe, atom.Param:
		if match := video.Find(value); match != nil && !t.image {
			t.image = true
			t.set("data", match)
		}
	}
}

func (t *tag) set(key string, value []byte) {
	t.attr = append(t.attr, html.Attribute{Key: key, Val: string(value)})
}

// isCredit reports whether metadata say what the title is, or who wrote the article.
func (t *tag) isCredit() bool {
	return slices.ContainsFunc(t.attr, func(a html.Attribute) bool {
		return a.Key != "content" &&
			credit.MatchString(a.Val)
	})
}

// addAttributes adds to an element those attributes that it does not have.
func addAttributes(n *html.Node, attr []html.Attribute) {
	for _, a := range attr {
		if !slices.ContainsFunc(n.Attr, func(b html.Attribute) bool { return a.Key == b.Key }) {
			n.Attr = append(n.Attr, a)
		}
	}
}

// cut cuts s to at most n bytes, and not within a character.
func cut(s []byte, n int) []byte {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
