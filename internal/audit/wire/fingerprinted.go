package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/twmb/franz-go/pkg/kgo"
)

// BadFingerprint is the class of what is no fingerprinted article in the topic of these.
const BadFingerprint = "bad_fingerprint"

// The beginning of a fingerprinted article: version, flags, digest of the settings.
const (
	fingerprintedVersion = 1
	fingerprintedFlags   = 1<<7 - 1
	fingerprintedStart   = 1 + 1 + 8
)

// Fingerprinted returns the address of the input record that a fingerprinted article is of. It
// reads no more of it: results are held to the input itself.
func Fingerprinted(r *kgo.Record) (Address, error) {
	v := r.Value
	switch {
	case len(v) < fingerprintedStart:
		return Address{}, fmt.Errorf("%d bytes", len(v))
	case v[0] != fingerprintedVersion:
		return Address{}, fmt.Errorf("version %d", v[0])
	case v[1] > fingerprintedFlags:
		return Address{}, fmt.Errorf("flags %#x", v[1])
	}
	offset, n := binary.Uvarint(v[fingerprintedStart:])
	if n <= 0 || offset >= math.MaxInt64 {
		return Address{}, errors.New("no offset")
	}
	return Address{Partition: r.Partition, Offset: int64(offset)}, nil
}
