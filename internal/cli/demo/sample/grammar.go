package sample

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A words maps a symbol to the texts that may stand for it.
type words map[string]texts

type texts []template

// A template is a text cut at its references: {City} is the same city all through one
// article, {city} another than it and than the last one drawn, {3-20} a whole number,
// {1.5-9.9} a number with one decimal.
type template []piece

// A piece is either literal text or a reference.
type piece struct {
	kind      pieceKind
	text      string // literal text, or the symbol of drawn and fixed
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

// UnmarshalYAML reads a list of texts, or a block of them, one a line.
func (t *texts) UnmarshalYAML(unmarshal func(any) error) error {
	var list []string
	var block string
	if unmarshal(&block) == nil {
		list = strings.Split(strings.TrimSuffix(block, "\n"), "\n")
	} else if err := unmarshal(&list); err != nil {
		return err
	}
	*t = parseAll(list...)
	return nil
}

// check returns an error that names the references of w and of other texts which stand
// for nothing.
func (w words) check(used ...texts) error {
	var errs []error
	for _, t := range slices.Concat(slices.Collect(maps.Values(w)), used) {
		for _, p := range slices.Concat(t...) {
			if (p.kind == drawn || p.kind == fixed) && len(w[p.text]) == 0 {
				errs = append(errs, fmt.Errorf("there are no words for {%s}", p.text))
			}
		}
	}
	return errors.Join(errs...)
}

func parseAll(list ...string) texts {
	t := make(texts, len(list))
	for i, text := range list {
		t[i] = parse(text)
	}
	return t
}

// parse cuts text into pieces.
func parse(text string) template {
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
		t = append(t, reference(name))
		text = after
	}
}

func reference(name string) piece {
	if p, ok := numbers(name); ok {
		return p
	}
	first, size := utf8.DecodeRuneInString(name)
	if unicode.IsUpper(first) {
		return piece{kind: fixed, text: string(unicode.ToLower(first)) + name[size:]}
	}
	return piece{kind: drawn, text: name}
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
	words words
	dice  dice
	slots map[string]slot // by symbol
	buf   []byte
}

// A slot remembers what was drawn for a symbol.
type slot struct {
	fixed          string // "" if not yet drawn
	fixedAt, drawn int    // which of the texts, from 1; 0 if none yet
}

func (w words) draw(d dice) *draw {
	return &draw{words: w, dice: d, slots: make(map[string]slot)}
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
func (d *draw) one(t texts) string { return d.text(t[d.dice.n(len(t))]) }

// next returns a text of symbol that is neither the fixed one nor the last one
// drawn, as far as there are enough, and its number from 1.
func (d *draw) next(symbol string) (t template, number int) {
	texts, s := d.words[symbol], d.slots[symbol]
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
			t, number := d.next(p.text)
			s := d.slots[p.text]
			s.drawn = number
			d.slots[p.text] = s
			d.write(t)
		case fixed:
			if d.slots[p.text].fixed == "" {
				t, number := d.next(p.text)
				text := d.text(t)
				s := d.slots[p.text]
				s.fixed, s.fixedAt = text, number
				d.slots[p.text] = s
			}
			d.buf = append(d.buf, d.slots[p.text].fixed...)
		case whole:
			d.buf = strconv.AppendInt(d.buf, int64(d.dice.between(p.low, p.high)), 10)
		case decimal:
			n := d.dice.between(p.low, p.high)
			d.buf = strconv.AppendInt(d.buf, int64(n/10), 10)
			d.buf = append(d.buf, '.', byte('0'+n%10))
		}
	}
}
