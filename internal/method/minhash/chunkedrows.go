package minhash

// chunkLen rows make a chunk: so few that to make one is no pause, and that the last one does not
// count beside the rest.
const chunkLen = 1 << 10

// spare is how many rows more than needed there may be before memory is given back.
const spare = chunkLen / 4

// A chunkedRows is an array of rows of the same width. It grows and shrinks by a chunk at a time:
// nothing is copied, and of what it holds at most a chunk and the spare rows are empty.
type chunkedRows[T any] struct {
	width  int
	len    int // rows
	chunks [][]T
}

// at returns a row.
func (s *chunkedRows[T]) at(row int) []T {
	start := row % chunkLen * s.width
	return s.chunks[row/chunkLen][start : start+s.width : start+s.width]
}

// push adds a row at the end. What is in it is left from before.
func (s *chunkedRows[T]) push() []T {
	if s.len == len(s.chunks)*chunkLen {
		s.chunks = append(s.chunks, make([]T, chunkLen*s.width))
	}
	s.len++
	return s.at(s.len - 1)
}

// pop removes the last row. A chunk goes when spare rows more are gone, so that what comes and goes
// at the end of one does not make it again and again.
func (s *chunkedRows[T]) pop() {
	s.len--
	if needed := (s.len + spare + chunkLen - 1) / chunkLen; len(s.chunks) > needed {
		s.chunks[needed] = nil
		s.chunks = s.chunks[:needed]
	}
}
