package replay

import (
	"fmt"

	"github.com/clusterd/clusterd/internal/config"
)

// headersOf returns which headers of their input records results may have: those that the
// configuration names, and first. The others are by earlier settings or of an earlier version, as
// far as these are likely: those of the default, and all, which was the default before.
func headersOf(c config.Config) [3][]string {
	return [3][]string{c.Output.Headers, config.Default().Output.Headers, {"*"}}
}

// carried are headers of an input record.
type carried struct {
	Digest uint64 // 0 for none
	Bytes  int32
}

// least is how large a record may be in any topic, in bytes.
const least = 1000

// long are records that have so many headers that not all of them may be read.
type long struct {
	n     int64
	first string
}

// Limit says of which records no headers are compared; empty for none.
func (o *Outcomes) Limit() string {
	if o.long.n == 0 {
		return ""
	}
	return fmt.Sprintf("the headers of %d records, of which the first is %s: they are more than "+
		"input.max_bytes, and clusterd reads as many as that", o.long.n, o.long.first)
}

// Carries reports whether a result may have the headers of its input record with this digest, and
// whether the configuration names these. Size is the size of key and value of the result: if its
// topic would not take it with the headers, it goes without.
func (o *Outcome) Carries(digest uint64, size int) (ok, configured bool) {
	if o.LongHeaders {
		return true, true
	}
	for i, may := range o.Headers {
		if digest == may.Digest || digest == 0 && size+int(may.Bytes) > least {
			return true, i == 0
		}
	}
	return false, false
}
