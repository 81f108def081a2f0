package consumer

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/segmentio/kafka-go/compress"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
)

var zstdWriter = sync.OnceValue(func() *zstd.Encoder {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	return w
})

// A broker takes any of these from any producer, or another kind of broker might. What Java's
// clients read is read; the rest of the batch is one unreadable record.
func TestOddBatches(t *testing.T) {
	long := strings.Repeat("clusterd ", 20_000)
	longOnes := slices.Concat(record(0, withValue(sized(long))), record(1, withValue(sized(long))))
	for name, tt := range map[string]struct {
		set  []byte
		want string // offsets that are read, then first-last of what is not
		why  string
	}{
		// Offsets.
		"an offset beyond the last": {
			odd(compress.None, 2, records(0, 5)), "10 11-11",
			"record 2 of 2: it has offset 15, where 11 to 11 would do",
		},
		"the first beyond the last": {
			odd(compress.None, 2, records(7, 8)), "10-11",
			"record 1 of 2: it has offset 17, where 10 to 10 would do",
		},
		"a negative offset": {
			odd(compress.None, 3, records(0, -1, 2)), "10 11-12", "it has offset 9, where 11 to 11",
		},
		"equal offsets": {
			odd(compress.None, 2, records(0, 0)), "10 11-11", "it has offset 10, where 11 to 11",
		},
		"descending offsets": {
			odd(compress.None, 3, records(2, 1, 0)), "10-12", "it has offset 12, where 10 to 10",
		},
		"descending at the end": {
			odd(compress.None, 4, records(0, 1, 3, 2)), "10 11 12-13", "it has offset 13, where 12 to 12",
		},
		"all offsets the last": {
			odd(compress.None, 3, records(2, 2, 2)), "10-12", "offset 12",
		},
		"an offset of 2^31-1": {
			odd(compress.None, 2, records(0, math.MaxInt32)), "10 11-11", "offset 2147483657",
		},
		"an offset of -2^31": {
			odd(compress.None, 2, records(math.MinInt32, 1)), "10-11", "offset -2147483638",
		},
		"an offset of 33 bits": {
			odd(compress.None, 2, records(0, 1<<32)), "10 11-11", "a number in it is too long",
		},
		"gaps, as compaction leaves them": {
			odd(compress.None, 3, records(0, 4, 6), lastDelta(9)), "10 14 16", "",
		},
		"gaps without room for the rest": {
			odd(compress.None, 3, records(0, 9, 10), lastDelta(9)), "10 11-19", "where 11 to 18",
		},
		"gaps, then an offset again": {
			odd(compress.None, 3, records(0, 4, 4), lastDelta(9)), "10 14 15-19", "where 15 to 19",
		},
		"more records than offsets": {
			odd(compress.None, 3, records(0, 1, 2), lastDelta(1)), "10-11", "where 10 to 9",
		},
		"a last offset before the first":  {odd(compress.None, 1, records(0), lastDelta(-5)), "10", ""},
		"no records, and no bytes of any": {odd(compress.None, 0, nil, lastDelta(4)), "", ""},
		"no records, and bytes": {
			odd(compress.None, 0, records(0), lastDelta(4)), "10-14",
			"the batch claims 0 records, and has 8 bytes",
		},
		"a negative number of records": {
			odd(compress.None, -3, records(0), lastDelta(4)), "10-14", "the batch claims -3 records",
		},
		"two thousand million records": {
			odd(compress.None, math.MaxInt32, records(0, 1)), "10 11 12-2147483656",
			"record 3 of 2147483647: the data end within it",
		},
		"a last offset far behind": {odd(compress.None, 2, records(0, 1),
			lastDelta(math.MaxInt32)), "10 11", ""},
		"one record fewer than it claims": {
			odd(compress.None, 3, records(0, 1)), "10 11 12-12", "the data end within it",
		},
		"one record more than it claims": {
			odd(compress.None, 2, records(0, 1, 2)), "10 11-11", "more bytes come after it",
		},
		"a byte too many": {
			odd(compress.None, 2, append(records(0, 1), 0)), "10 11-11", "more bytes come after it",
		},
		"no bytes at all": {
			odd(compress.None, 2, nil), "10-11", "the data end within it",
		},
		"a record cut off": {
			odd(compress.None, 2, records(0, 1)[:13]), "10 11-11", "the data end within it",
		},
		"an attribute of a record": {odd(compress.None, 1,
			record(0, func(p *parts) { p.attributes = 0xff })), "10", ""},
		"a time that overflows": {
			odd(compress.None, 2,
				slices.Concat(record(0, withTime(math.MaxInt64)), record(1, withTime(math.MinInt64)))), "10 11",
			"",
		},
		"a time of eleven bytes": {
			odd(compress.None, 2,
				append(record(0),
					sized("\x00\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00\x02\x01\x02v\x00")...)), "10 11-11",
			"too long",
		},
		"a record length of 0": {
			odd(compress.None, 2, append(record(0), 0)), "10 11-11", "its length does not agree",
		},
		"a negative record length": {
			odd(compress.None, 2, append(record(0), varint(-7)...)), "10 11-11", "its length does not agree",
		},
		"a record length that is too short": {
			odd(compress.None, 1, append(varint(5), record(0)[1:]...)), "10-10", "its length does not agree",
		},
		"a record length that is too long": {odd(compress.None, 2,
			slices.Concat(varint(8), record(0)[1:], record(1))), "10-11", "its length does not agree"},
		"a record length of 2 GiB": {odd(compress.None, 1,
			slices.Concat(varint(math.MaxInt32), record(0)[1:])), "10-10", "its length does not agree"},
		"numbers longer than they need be": {odd(compress.None, 1,
			record(0, withKey(append(padded(1, 5), 'k')), withHeaders(padded(0, 4)))), "10", ""},
		"a length of six bytes": {odd(compress.None, 1,
			record(0, withKey(append(padded(1, 6), 'k')))), "10-10", "too long"},
		"a length of 33 bits": {
			odd(compress.None, 1, record(0, withKey(varint(1<<32)))), "10-10", "too long",
		},
		"a key longer than the record": {odd(compress.None, 2,
			slices.Concat(record(0, withKey(varint(9))), record(1))), "10-11", "its length does not agree"},
		"a value of 2 GiB": {odd(compress.None, 1,
			record(0, withValue(varint(math.MaxInt32)))), "10-10", "its length does not agree"},
		"a value that claims 2 GiB in a record that does": {
			odd(compress.Zstd, 1,
				zstandard(slices.Concat(varint(math.MaxInt32), []byte{0, 0, 0, 1}, varint(math.MaxInt32-20)))),
			"10-10", "the data end within it",
		},
		"lengths of -7": {odd(compress.None, 1,
			record(0, withKey(varint(-7)), withValue(varint(-7)))), "10", ""},
		"-1 headers": {
			odd(compress.None, 1, record(0, withHeaders(varint(-1)))), "10-10", "it claims -1 headers",
		},
		"two thousand million headers": {odd(compress.None, 1,
			record(0, withHeaders(varint(math.MaxInt32)))), "10-10", "it claims 2147483647 headers"},
		"one header fewer than it claims": {odd(compress.None, 1,
			record(0, withHeaders([]byte("\x04\x02k\x02v")))), "10-10", "its length does not agree"},
		"a header without a key": {odd(compress.None, 1,
			record(0, withHeaders([]byte("\x02\x01\x02v")))), "10-10", "a header has no key"},
		"a header without a value": {odd(compress.None, 1,
			record(0, withHeaders([]byte("\x02\x02k\x01")))), "10", ""},
		"a header key longer than the record": {odd(compress.None, 1,
			record(0, withHeaders([]byte("\x02\x40k\x01")))), "10-10", "its length does not agree"},

		// Compression.
		"codec 5":                {odd(5, 2, records(0, 1)), "10-11", "compression 5 is unknown"},
		"codec 7":                {odd(7, 2, records(0, 1)), "10-11", "compression 7 is unknown"},
		"no gzip":                {odd(compress.Gzip, 2, records(0, 1)), "10-11", "gzip"},
		"no snappy":              {odd(compress.Snappy, 2, records(0, 1)), "10-11", "corrupt input"},
		"no lz4":                 {odd(compress.Lz4, 2, records(0, 1)), "10-11", "lz4"},
		"no zstd":                {odd(compress.Zstd, 2, records(0, 1)), "10-11", "magic"},
		"an empty snappy stream": {odd(compress.Snappy, 2, nil), "10-11", "the data end within it"},
		"two snappy streams": {odd(compress.Snappy, 2,
			slices.Concat(kafkatest.SnappyJava(record(0)), kafkatest.SnappyJava(record(1)))), "10 11", ""},
		"a snappy stream, half a one": {
			odd(compress.Snappy, 2,
				slices.Concat(kafkatest.SnappyJava(record(0)), kafkatest.SnappyJava(record(1))[:12])),
			"10 11-11", "corrupt input",
		},
		"a record in two streams": {
			odd(compress.Snappy, 1,
				slices.Concat(kafkatest.SnappyJava(record(0)[:4]), kafkatest.SnappyJava(record(0)[4:]))), "10",
			"",
		},
		"snappy that claims 4 GiB": {odd(compress.Snappy, 2,
			binary.AppendUvarint(nil, math.MaxUint32)), "10-11", "corrupt input"},
		"snappy of one block": {
			odd(compress.Snappy, 2, snappy.Encode(nil, records(0, 1))), "10 11", "",
		},
		"two gzip members": {odd(compress.Gzip, 2,
			slices.Concat(deflated(record(0)), deflated(record(1)))), "10 11", ""},
		"gzip, and then no gzip": {
			odd(compress.Gzip, 2, append(deflated(records(0, 1)), "junk"...)), "10 11", "",
		},
		"gzip that ends early": {
			odd(compress.Gzip, 2, deflated(longOnes)[:500]), "10 11-11", "the data end within it",
		},
		"two lz4 frames": {odd(compress.Lz4, 2,
			slices.Concat(framed4(record(0)), framed4(record(1)))), "10 11", ""},
		"lz4, and then no lz4": {
			odd(compress.Lz4, 2, append(framed4(records(0, 1)), "junk"...)), "10 11", "",
		},
		"an lz4 frame to be skipped": {
			odd(compress.Lz4, 2,
				slices.Concat([]byte{0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3}, framed4(records(0, 1)))),
			"10 11", "",
		},
		"lz4 that ends early": {odd(compress.Lz4, 2, framed4(longOnes)[:200]), "10-11", ""},
		"two zstd frames": {odd(compress.Zstd, 2,
			slices.Concat(zstandard(record(0)), zstandard(record(1)))), "10 11", ""},
		"a zstd frame to be skipped": {
			odd(compress.Zstd, 2,
				slices.Concat([]byte{0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3}, zstandard(records(0, 1)))),
			"10 11", "",
		},
		"a zstd window of 2 GiB": {
			odd(compress.Zstd, 2, wideZstd(records(0, 1))), "10-11", "window",
		},
		"zstd that ends early": {odd(compress.Zstd, 2, zstandard(longOnes)[:40]), "10-11", ""},
		"packed, with a bad offset": {
			odd(compress.Zstd, 3, zstandard(records(0, 1, 1))), "10 11 12-12", "offset 11",
		},
		"packed, with bytes after it": {
			odd(compress.Gzip, 2, deflated(append(records(0, 1), 9))), "10 11-11",
			"more bytes come after it",
		},
		"packed, without a record": {
			odd(compress.Zstd, 0, zstandard(nil)), "10-10", "claims 0 records",
		},
	} {
		t.Run(name, func(t *testing.T) {
			// Good batches before and after it come whole.
			before, after := data(-1, 8, 9).bytes(), entry{
				first: 1 << 40, last: 1 << 40, producer: -1, kept: []int64{1 << 40},
			}.bytes()
			set := slices.Concat(before, tt.set, after)
			var got Chunk
			var err error
			n := allocated(func() { got, err = committed(8, set, nil, 1) })
			if err != nil {
				t.Fatal(err)
			}
			if have, want := summary(got.Records), strings.TrimSpace("8 9 "+tt.want+
				" 1099511627776"); strings.Join(strings.Fields(want), " ") != have || got.Next != 1<<40+1 {
				t.Errorf("got %s, then %d, want %s", have, got.Next, want)
			}
			for _, r := range got.Records {
				if r.Unreadable != nil && (!strings.Contains(r.Unreadable.Reason, tt.why) ||
					!bytes.Equal(r.Value, tt.set) || r.Key != nil || r.Headers != nil || r.Cut != 0) {
					t.Errorf("the rest is %+v because %q, want the batch and %q", r, r.Unreadable.Reason, tt.why)
				}
			}
			if n > 24<<20 {
				t.Errorf("%d MiB of memory", n>>20)
			}
			// Fetched from anywhere, also from the middle of the batch, it is the same.
			for next := int64(9); next <= min(got.Next, 24); next++ {
				again, err := committed(next, set, nil, 1<<20)
				if have, want := summary(again.Records), summary(since(next, got.Records)); err != nil ||
					have != want {
					t.Errorf("from %d: got %s, %v, want %s", next, have, err, want)
				}
			}
		})
	}
}

// summary returns the offsets of records.
func summary(records []kafka.Record) string {
	var all []string
	for i := range records {
		if r := &records[i]; r.Unreadable != nil {
			all = append(all, fmt.Sprintf("%d-%d", r.Offset, r.Unreadable.Last))
		} else {
			all = append(all, fmt.Sprint(r.Offset))
		}
	}
	return strings.Join(all, " ")
}

// since returns the records that a fetch from that offset on should bring.
func since(next int64, records []kafka.Record) (rest []kafka.Record) {
	for _, r := range records {
		if r.Next() > next {
			r.Offset = max(r.Offset, next)
			rest = append(rest, r)
		}
	}
	return rest
}
