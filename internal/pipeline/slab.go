package pipeline

import "github.com/clusterd/clusterd/internal/kafka"

// A slab is memory for the parts of many records, taken in large blocks: a record has some six parts of
// a few bytes each.
type slab struct {
	bytes   []byte
	headers []kafka.Header
}

// slabBytes and slabHeaders are what a run of records takes in the main.
const (
	slabBytes   = piece * 1024
	slabHeaders = piece * 3
)

// keep is what write appends. A write that needs more than is left of a block leaves the block to the
// parts that are in it.
func (s *slab) keep(write func(b []byte) []byte) []byte {
	if cap(s.bytes)-len(s.bytes) < slabBytes/16 {
		s.bytes = make([]byte, 0, slabBytes)
	}
	from := len(s.bytes)
	s.bytes = write(s.bytes)
	return s.bytes[from:len(s.bytes):len(s.bytes)]
}

// list is the headers, in memory of the slab.
func (s *slab) list(headers ...kafka.Header) []kafka.Header {
	if cap(s.headers)-len(s.headers) < len(headers) {
		s.headers = make([]kafka.Header, 0, slabHeaders)
	}
	from := len(s.headers)
	s.headers = append(s.headers, headers...)
	return s.headers[from:len(s.headers):len(s.headers)]
}
