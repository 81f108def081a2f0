// Package sample makes articles: an endless feed of invented news in Chinese
// and English with the near-duplicates that a real feed has, for the demo, for
// tests and for benchmarks. In goes a seed and a starting time; out comes one
// [Article] after the other, the same ones for the same seed and time on every
// machine, each with the truth about what it was made from.
//
// The texts are put together from the sentences and words in languages, adverts.yaml and
// traditional.txt. Whoever adds a language adds a file. Cities,
// organisations and products are invented; people appear by their role only.
package sample

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"
)

// A Kind says how an article came about.
type Kind string

// The kinds, with their share of the feed.
const (
	Original Kind = "original" // 35 %: news in words of its own
	Copy     Kind = "copy"     // 18 %: an original's exact words under another source and ID
	// Edit, 18 %, is an original with words changed, a line added or the last sentence cut.
	Edit    Kind = "edit"
	Reorder Kind = "reorder" // 7 %: an original's sentences after the first in another order
	HTML    Kind = "html"    // 9 %: an original in tags and character references, with a link
	// Variant, 3 %, is an original in traditional characters and full-width letters and digits.
	Variant Kind = "variant"
	// Spam, 7 %, is an advert of a running campaign, with other names, numbers and links.
	Spam    Kind = "spam"
	Comment Kind = "comment" // 3 %: a reader's short comment, an original
)

// The shares of the kinds, in percent.
const (
	originalShare = 35
	copyShare     = 18
	editShare     = 18
	reorderShare  = 7
	htmlShare     = 9
	variantShare  = 3
	spamShare     = 7
)

// MaxLate bounds how far an article's time may lie before the time of any
// article that came before it: feeds deliver some articles late.
const MaxLate = time.Minute

const (
	maxGap  = 8   // seconds between two articles, at most
	sources = 40  // site-01.example to site-40.example
	recent  = 200 // how many of the latest originals others are made from
)

// An Article is one article of the feed.
type Article struct {
	ID          string
	Title       string // "" for spam and comments
	Content     string // plain text, or an HTML fragment for the kind HTML
	Source      string // the site's host name
	PublishedAt time.Time
	Kind        Kind
	// Origin is the ID of the earlier article that this one was made from: a
	// original, or for spam the first advert of its campaign. It is "" for an
	// original.
	Origin string
}

// JSON returns a as a record value of the input topic: an object with the
// string members id, title, content, published_at (RFC 3339) and source.
func (a Article) JSON() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	// A struct of strings cannot fail to encode, nor can a buffer to be written.
	_ = e.Encode(struct {
		ID          string `json:"id"`
		Title       string `json:"title"`
		Content     string `json:"content"`
		PublishedAt string `json:"published_at"`
		Source      string `json:"source"`
	}{a.ID, a.Title, a.Content, a.PublishedAt.Format(time.RFC3339), a.Source})
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// A Generator makes a feed of articles. It is not safe for concurrent use.
type Generator struct {
	dice  dice
	seed  uint64
	count int
	clock time.Time

	originals []*original // the latest ones, a ring once it holds recent
	oldest    int
	adverts   campaigns
}

// New returns a generator whose feed begins at start, cut to whole seconds. The
// feed depends on seed and start alone.
func New(seed uint64, start time.Time) *Generator {
	return &Generator{
		dice:  dice{rand.NewPCG(seed, 0x636c7573746572)},
		seed:  seed,
		clock: start.UTC().Truncate(time.Second),
	}
}

// Next returns the next article. The feed has no end. Its times move on a few
// seconds an article; one in twenty is late, by [MaxLate] at most.
func (g *Generator) Next() Article {
	g.count++
	g.clock = g.clock.Add(time.Duration(g.dice.n(maxGap+1)) * time.Second)
	a := Article{
		ID:          fmt.Sprintf("%x-%07d", g.seed, g.count),
		Source:      source(g.dice.n(sources)),
		PublishedAt: g.clock,
	}
	if g.dice.n(20) == 0 {
		late := time.Duration(g.dice.n(int(MaxLate/time.Second)+1)) * time.Second
		a.PublishedAt = a.PublishedAt.Add(-late)
	}
	a.Kind = g.kind()
	g.fill(&a)
	return a
}

// kind draws a kind. Without an original yet there is nothing to make another from.
func (g *Generator) kind() Kind {
	n := g.dice.n(100)
	if len(g.originals) == 0 {
		return Original
	}
	for _, k := range [...]struct {
		kind  Kind
		share int
	}{
		{Original, originalShare},
		{Copy, copyShare},
		{Edit, editShare},
		{Reorder, reorderShare},
		{HTML, htmlShare},
		{Variant, variantShare},
		{Spam, spamShare},
	} {
		if n < k.share {
			return k.kind
		}
		n -= k.share
	}
	return Comment
}

// fill sets the title, the content and the origin that a's kind calls for.
func (g *Generator) fill(a *Article) {
	switch a.Kind {
	case Original:
		l := pick(g.dice, languages(), func(l *language) int { return l.Share })
		s := l.original(g.dice)
		s.id, s.source = a.ID, a.Source
		a.Title, a.Content = s.title, s.content()
		g.keep(s)
	case Spam:
		a.Content, a.Origin = g.adverts.next(g.dice, a.ID, g.count)
	case Comment:
		l := pick(g.dice, languages(), func(l *language) int { return l.CommentsShare })
		a.Content = l.comment(g.dice)
	default:
		s := g.originals[g.dice.n(len(g.originals))]
		a.Origin = s.id
		for a.Source == s.source {
			a.Source = source(g.dice.n(sources))
		}
		a.Title, a.Content = s.derive(g.dice, a.Kind, a.Source)
	}
}

func (g *Generator) keep(s *original) {
	if len(g.originals) < recent {
		g.originals = append(g.originals, s)
		return
	}
	g.originals[g.oldest] = s
	g.oldest = (g.oldest + 1) % recent
}

func source(n int) string { return fmt.Sprintf("site-%02d.example", n+1) }

// A dice draws the random numbers. It does not use [rand.Rand], whose methods may
// give other numbers where int has 32 bits.
type dice struct{ *rand.PCG }

// n returns a number in [0, limit), which must be positive and below 2³². It is
// uniform but for a bias below limit/2³².
func (d dice) n(limit int) int {
	return int((d.Uint64() >> 32) * uint64(limit) >> 32)
}

// between returns a number in [low, high].
func (d dice) between(low, high int) int { return low + d.n(high-low+1) }

// order returns the numbers below n in random order.
func (d dice) order(n int) []int {
	p := make([]int, n)
	for i := range p {
		j := d.n(i + 1)
		p[i], p[j] = p[j], i
	}
	return p
}
