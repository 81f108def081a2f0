package minhash

// rowsChunk rows make a chunk: so few that to make one is no pause, and that the last one does not
// count beside the rest.
const rowsChunk = 1 << 10

// spare is how many rows more than needed there may be before memory is given back.
const spare = rowsChunk / 4

// Rows are an array of rows of the same width. It grows and shrinks by a chunk at a time: nothing
// is copied, and of what it holds at most a chunk and the spare rows are empty.
type Rows[T any] struct {
	width  int
	len    int // rows
	chunks [][]T
}

// NewRows returns an array of no rows yet, of so many elements each.
func NewRows[T any](width int) Rows[T] { return Rows[T]{width: width} }

// Len returns how many rows there are.
func (s *Rows[T]) Len() int { return s.len }

// Width returns how many elements a row has.
func (s *Rows[T]) Width() int { return s.width }

// At returns a row, which stays where it is.
func (s *Rows[T]) At(row int) []T {
	start := row % rowsChunk * s.width
	return s.chunks[row/rowsChunk][start : start+s.width : start+s.width]
}

// Push adds a row at the end. What is in it is left from before.
func (s *Rows[T]) Push() []T {
	if s.len == len(s.chunks)*rowsChunk {
		s.chunks = append(s.chunks, make([]T, rowsChunk*s.width))
	}
	s.len++
	return s.At(s.len - 1)
}

// Pop removes the last row. A chunk goes when spare rows more are gone, so that what comes and goes
// at the end of one does not make it again and again.
func (s *Rows[T]) Pop() {
	s.len--
	if needed := (s.len + spare + rowsChunk - 1) / rowsChunk; len(s.chunks) > needed {
		s.chunks[needed] = nil
		s.chunks = s.chunks[:needed]
	}
}
