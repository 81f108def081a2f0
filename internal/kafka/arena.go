package kafka

import "sync"

// An Arena is memory for the parts of many records, allocated in large blocks: a record has some
// six parts of a few bytes each. The zero value is empty.
type Arena struct {
	bytes   blocks[byte]
	headers blocks[Header]
}

// arenaBytes and arenaHeaders are how large a block is: what some 32 records take in the main.
const (
	arenaBytes   = 16 << 10
	arenaHeaders = 96
)

// Keep returns what write appends. A write that needs more than is left of a block leaves the block
// to the parts that are in it.
func (a *Arena) Keep(write func(b []byte) []byte) []byte {
	b := a.bytes.with(arenaBytes/16, arenaBytes)
	from := len(*b)
	*b = write(*b)
	return (*b)[from:len(*b):len(*b)]
}

// Headers returns an empty list with room for n headers.
func (a *Arena) Headers(n int) []Header {
	b := a.headers.with(n, max(n, arenaHeaders))
	from := len(*b)
	*b = (*b)[:from+n]
	return (*b)[from : from : from+n]
}

// reset makes an arena empty. What it has kept is overwritten from now on.
func (a *Arena) reset() {
	a.bytes.reset()
	a.headers.reset()
}

// blocks are filled one after the other.
type blocks[T any] struct {
	all  [][]T
	used int // of these; the last of the used is being filled
}

// with returns the block that is being filled, with room for n more; a new one has this size.
func (b *blocks[T]) with(n, size int) *[]T {
	for b.used > 0 || len(b.all) > 0 {
		if b.used > 0 && cap(b.all[b.used-1])-len(b.all[b.used-1]) >= n {
			return &b.all[b.used-1]
		}
		if b.used == len(b.all) {
			break
		}
		b.used++
	}
	b.all = append(b.all, make([]T, 0, size))
	b.used++
	return &b.all[b.used-1]
}

func (b *blocks[T]) reset() {
	for i := range b.all[:b.used] {
		clear(b.all[i]) // what it points to may go
		b.all[i] = b.all[i][:0]
	}
	b.used = 0
}

// Arenas are used for one batch after the other, so that their memory is. The zero value has none.
type Arenas struct {
	mu   sync.Mutex
	idle []*Arena
}

// Take returns an arena for one goroutine, until that gives it back.
func (a *Arenas) Take() *Arena {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := len(a.idle)
	if n == 0 {
		return new(Arena)
	}
	taken := a.idle[n-1]
	a.idle = a.idle[:n-1]
	return taken
}

// Give gives an arena back, in which all stays that it keeps.
func (a *Arenas) Give(taken *Arena) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.idle = append(a.idle, taken)
}

// Reset overwrites, from now on, what the arenas keep. All must have been given back.
func (a *Arenas) Reset() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, arena := range a.idle {
		arena.reset()
	}
}
