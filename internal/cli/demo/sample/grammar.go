package sample

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A words maps a symbol to the texts that may stand for it. A text may itself
// hold references in braces: {City} is the same city all through one article,
// {city} another than it and than the last one drawn, {3-20} a whole number,
// {1.5-9.9} a number with one decimal.
type words map[string][]string

// A grammar is words made ready for drawing.
type grammar struct {
	number map[string]int // of a symbol
	texts  [][]template   // by symbol number
}

// A template is a text cut at its references.
type template []piece

// A piece is either literal text or a reference.
type piece struct {
	kind      pieceKind
	text      string // literal
	symbol    int    // drawn, fixed
	low, high int    // whole; in tenths for decimal
}

type pieceKind uint8

const (
	literal pieceKind = iota
	drawn
	fixed
	whole
	decimal
)

func newGrammar(w words) *grammar {
	g := &grammar{number: make(map[string]int, len(w)), texts: make([][]template, len(w))}
	for symbol := range w {
		g.number[symbol] = len(g.number)
	}
	for symbol, texts := range w {
		g.texts[g.number[symbol]] = g.parseAll(texts)
	}
	return g
}

func (g *grammar) parseAll(texts []string) []template {
	t := make([]template, len(texts))
	for i, text := range texts {
		t[i] = g.parse(text)
	}
	return t
}

// parse cuts text into pieces. A reference to what is not there stays as it is
// written, braces included.
func (g *grammar) parse(text string) template {
	var t template
	for {
		before, rest, found := strings.Cut(text, "{")
		if before != "" {
			t = append(t, piece{text: before})
		}
		if !found {
			return t
		}
		name, after, _ := strings.Cut(rest, "}")
		t = append(t, g.reference(name))
		text = after
	}
}

func (g *grammar) reference(name string) piece {
	first, size := utf8.DecodeRuneInString(name)
	if p, ok := numbers(name); ok {
		return p
	}
	if symbol, ok := g.number[name]; ok {
		return piece{kind: drawn, symbol: symbol}
	}
	if symbol, ok := g.number[string(unicode.ToLower(first))+name[size:]]; ok {
		return piece{kind: fixed, symbol: symbol}
	}
	return piece{text: "{" + name + "}"}
}

// numbers reads "3-20" or "1.5-9.9".
func numbers(name string) (piece, bool) {
	low, high, _ := strings.Cut(name, "-")
	kind := whole
	if strings.Contains(name, ".") {
		kind = decimal
		low, high = strings.Replace(low, ".", "", 1), strings.Replace(high, ".", "", 1)
	}
	l, err := strconv.Atoi(low)
	if err != nil {
		return piece{}, false
	}
	h, err := strconv.Atoi(high)
	return piece{kind: kind, low: l, high: h}, err == nil && l <= h
}

// A draw writes the texts of one article.
type draw struct {
	*grammar
	dice  dice
	slots []slot // by symbol number
	buf   []byte
}

// A slot remembers what was drawn for a symbol.
type slot struct {
	fixed          string // "" if not yet drawn
	fixedAt, drawn int    // which of the texts, from 1; 0 if none yet
}

func (g *grammar) draw(d dice) *draw {
	return &draw{grammar: g, dice: d, slots: make([]slot, len(g.texts))}
}

// text returns t with every reference filled in.
func (d *draw) text(t template) string {
	start := len(d.buf)
	d.write(t)
	s := string(d.buf[start:])
	d.buf = d.buf[:start]
	return s
}

// one returns one of the texts, filled in.
func (d *draw) one(texts []template) string { return d.text(texts[d.dice.n(len(texts))]) }

// next returns a text of symbol that is neither the fixed one nor the last one
// drawn, as far as there are enough, and its number from 1.
func (d *draw) next(symbol int) (t template, number int) {
	texts, s := d.texts[symbol], d.slots[symbol]
	i := d.dice.n(len(texts))
	for range 2 {
		if i+1 == s.fixedAt || i+1 == s.drawn {
			i = (i + 1) % len(texts)
		}
	}
	return texts[i], i + 1
}

func (d *draw) write(t template) {
	for _, p := range t {
		switch p.kind {
		case literal:
			d.buf = append(d.buf, p.text...)
		case drawn:
			t, number := d.next(p.symbol)
			d.slots[p.symbol].drawn = number
			d.write(t)
		case fixed:
			s := &d.slots[p.symbol]
			if s.fixed == "" {
				t, number := d.next(p.symbol)
				s.fixed, s.fixedAt = d.text(t), number
			}
			d.buf = append(d.buf, s.fixed...)
		case whole:
			d.buf = strconv.AppendInt(d.buf, int64(d.dice.between(p.low, p.high)), 10)
		case decimal:
			n := d.dice.between(p.low, p.high)
			d.buf = strconv.AppendInt(d.buf, int64(n/10), 10)
			d.buf = append(d.buf, '.', byte('0'+n%10))
		}
	}
}
