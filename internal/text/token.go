package text

import (
	"bytes"
	"hash/maphash"
	"unsafe"
)

// A Token is a word of a text that counts.
type Token struct {
	Word  []byte // as normalised, in UTF-8
	Hash  uint64 // by [Options].Hash; 0 without one
	Count int    // how often it occurs, at least once
}

// A Counter counts the tokens of one text after the other, in memory that it uses
// again. It is not safe for concurrent use.
type Counter struct {
	tokenizer *Tokenizer
	segmenter segmenter
	text      []byte // normalised
	tokens    []Token
	table     table
}

// A giant article must not hold its memory for as long as the Counter lives: of what is
// longer a Counter lets go with the next call. Nearly all articles need less.
const (
	maxKeptText   = 1 << 20 // bytes
	maxKeptTokens = 1 << 14 // different ones
)

// NewCounter returns a Counter, which takes 0.4 MB; each goroutine needs its own.
func (t *Tokenizer) NewCounter() *Counter {
	return &Counter{tokenizer: t, segmenter: segmenter{lexicon: t.lexicon}}
}

// Tokens returns the tokens of a title and a content, which are compared as
// one text with a line break between them: each once, in the order in which they
// first occur. None is left of a text without words that count. Time and memory are
// near-linear in the length of the text, whatever it holds.
//
// What it returns is valid until the next call.
func (c *Counter) Tokens(title, content string) []Token {
	c.reset()
	c.text = c.tokenizer.AppendClean(c.text[:0], title, content)
	c.table.reset(len(c.text))
	for at := 0; at < len(c.text); {
		at = c.countRun(at)
	}
	// No look-up of a hash depends on another, so that those which miss the cache wait for memory all
	// at once.
	for i, key := range c.table.keys {
		c.tokens[i].Hash = c.hash(key, c.tokens[i].Word)
	}
	return c.tokens
}

func (c *Counter) reset() {
	if cap(c.text) > maxKeptText {
		c.text = nil
	}
	if cap(c.tokens) > maxKeptTokens {
		c.tokens, c.table = nil, table{}
	}
	c.tokens = c.tokens[:0]
}

// Words hands on the tokens of a title and a content one by one, in order, as often as they
// occur, each with its hash and a Count of 1. They are what [Counter.Tokens] counts. A Token is
// valid until the next call of a method of the Counter.
func (c *Counter) Words(title, content string, each func(Token)) {
	c.reset()
	c.text = c.tokenizer.AppendClean(c.text[:0], title, content)
	places := &c.segmenter.places
	for at := 0; at < len(c.text); {
		end, place := c.segmenter.run(c.text, at)
		for start := places[0].offset; place != 0; place = places[place].link {
			p := &places[place]
			if p.word < ignored {
				word := c.text[start:p.offset]
				each(Token{word, c.hash(p.word, word), 1})
			}
			start = p.offset
		}
		at = end
	}
}

// countRun counts the tokens of the first run at or after from, and returns where it ends.
func (c *Counter) countRun(from int) (end int) {
	end, place := c.segmenter.run(c.text, from)
	places := &c.segmenter.places
	for start := places[0].offset; place != 0; place = places[place].link {
		p := &places[place]
		if p.word < ignored {
			c.count(p.word, c.text[start:p.offset])
		}
		start = p.offset
	}
	return end
}

// count counts a token, by the number of its word where it has one.
func (c *Counter) count(number uint32, word []byte) {
	key := number
	if number == wordUnknown {
		key = unknownKey | uint32(maphash.Bytes(c.tokenizer.seed, word))
	}
	for i := c.table.home(key); ; i = c.table.next(i) {
		slot := c.table.slots[i]
		switch {
		case slot.key == 0:
			c.table.add(i, key)
			c.tokens = append(c.tokens, Token{Word: word, Count: 1})
			return
		case slot.key == key && (number != wordUnknown || bytes.Equal(c.tokens[slot.token].Word, word)):
			c.tokens[slot.token].Count++
			return
		}
	}
}

// hash returns the hash of a word, by its number or its key in the table.
func (c *Counter) hash(number uint32, word []byte) uint64 {
	if number != wordUnknown && number < unknownKey {
		return c.tokenizer.hashes[number]
	}
	return c.tokenizer.hash(view(word))
}

// view returns bytes as a string for [Options].Hash, which does not keep it: to copy them
// would be the only allocation.
func view(word []byte) string { return unsafe.String(unsafe.SliceData(word), len(word)) }
