package pipeline

import (
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/parallel"
)

// An arena is memory for the parts of many records, allocated in large blocks: a record has some
// six parts of a few bytes each.
type arena struct {
	bytes   []byte
	headers []kafka.Header
}

// arenaBytes and arenaHeaders are what a chunk of records takes in the main.
const (
	arenaBytes   = parallel.ChunkSize * 1024
	arenaHeaders = parallel.ChunkSize * 3
)

// keep returns what write appends. A write that needs more than is left of a block leaves the block
// to the parts that are in it.
func (a *arena) keep(write func(b []byte) []byte) []byte {
	if cap(a.bytes)-len(a.bytes) < arenaBytes/16 {
		a.bytes = make([]byte, 0, arenaBytes)
	}
	from := len(a.bytes)
	a.bytes = write(a.bytes)
	return a.bytes[from:len(a.bytes):len(a.bytes)]
}

// list returns the headers, in memory of the arena.
func (a *arena) list(headers ...kafka.Header) []kafka.Header {
	if cap(a.headers)-len(a.headers) < len(headers) {
		a.headers = make([]kafka.Header, 0, arenaHeaders)
	}
	from := len(a.headers)
	a.headers = append(a.headers, headers...)
	return a.headers[from:len(a.headers):len(a.headers)]
}
