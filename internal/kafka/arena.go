package kafka

// An Arena is memory for the parts of many records, allocated in large blocks: a record has some
// six parts of a few bytes each. The zero value is empty.
type Arena struct {
	bytes   []byte
	headers []Header
}

// arenaBytes and arenaHeaders are how large a block is: what some 32 records take in the main.
const (
	arenaBytes   = 16 << 10
	arenaHeaders = 96
)

// Keep returns what write appends. A write that needs more than is left of a block leaves the block
// to the parts that are in it.
func (a *Arena) Keep(write func(b []byte) []byte) []byte {
	if cap(a.bytes)-len(a.bytes) < arenaBytes/16 {
		a.bytes = make([]byte, 0, arenaBytes)
	}
	from := len(a.bytes)
	a.bytes = write(a.bytes)
	return a.bytes[from:len(a.bytes):len(a.bytes)]
}

// Headers returns an empty list with room for n headers.
func (a *Arena) Headers(n int) []Header {
	if cap(a.headers)-len(a.headers) < n {
		a.headers = make([]Header, 0, max(n, arenaHeaders))
	}
	from := len(a.headers)
	a.headers = a.headers[:from+n]
	return a.headers[from : from : from+n]
}
