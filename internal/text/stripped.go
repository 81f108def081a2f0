package text

import (
	"slices"
	"sync"

	"github.com/clusterd/clusterd/internal/text/markup"
)

// What texts with markup need is used again by all goroutines.
var (
	tokenizers = sync.Pool{New: func() any { return new(markup.Tokenizer) }}
	buffers    = sync.Pool{New: func() any { return new([]byte) }}
)

// tokenize returns a tokenizer that reads s, until it is released.
func tokenize(s string) *markup.Tokenizer {
	z := tokenizers.Get().(*markup.Tokenizer)
	z.Reset(s)
	return z
}

func release(z *markup.Tokenizer) {
	z.Reset("") // the page
	tokenizers.Put(z)
}

// stripped is memory for the texts of one article, which it takes when the first one has markup. Of
// a nil one each text is new.
type stripped struct{ buffer *[]byte }

// take returns memory for a text of some n bytes, to append to.
func (b *stripped) take(n int) []byte {
	if b == nil {
		return make([]byte, 0, n)
	}
	if b.buffer == nil {
		b.buffer = buffers.Get().(*[]byte)
	}
	// Where it moves, the texts before stay where they are.
	*b.buffer = slices.Grow(*b.buffer, n)
	return (*b.buffer)[len(*b.buffer):]
}

// keep returns the text that was appended to what take returned. It is valid until release.
func (b *stripped) keep(text []byte) string {
	if b != nil && cap(text) <= cap(*b.buffer)-len(*b.buffer) {
		*b.buffer = (*b.buffer)[:len(*b.buffer)+len(text)]
	}
	return view(text)
}

// release makes the memory free for other texts, but that of a giant article.
func (b *stripped) release() {
	if b.buffer != nil && cap(*b.buffer) <= maxKeptText {
		*b.buffer = (*b.buffer)[:0]
		buffers.Put(b.buffer)
	}
}
