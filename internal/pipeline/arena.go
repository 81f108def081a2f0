package pipeline

import (
	"github.com/clusterd/clusterd/internal/fingerprint"
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

// list returns headers of an input record and then clusterd's own, in memory of the arena.
func (a *arena) list(foreign []fingerprint.Header, own ...kafka.Header) []kafka.Header {
	n := len(foreign) + len(own)
	if cap(a.headers)-len(a.headers) < n {
		a.headers = make([]kafka.Header, 0, max(n, arenaHeaders))
	}
	from := len(a.headers)
	for _, h := range foreign {
		a.headers = append(a.headers, kafka.Header(h))
	}
	a.headers = append(a.headers, own...)
	return a.headers[from:len(a.headers):len(a.headers)]
}
