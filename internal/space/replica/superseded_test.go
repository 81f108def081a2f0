package replica

import (
	"context"
	"fmt"
	"os/exec"
	"testing"

	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
)

// A record that is wrong is passed over where a later one has its key, which is how it is taken
// out; and it stays refused where not, however the two come in chunks.
func TestSuperseded(t *testing.T) {
	base := minhashReplica(t)
	sound := soundCluster(t, base)
	junk, other := clusterRecord(sound, 12, "9"), clusterRecord(sound, 13, "9")
	junk.Value, other.Value, other.Key = []byte("junk"), []byte("junk"),
		[]byte("of another application")
	contrary := sound
	contrary.Seq = 8
	tombstone := func(of kafka.Record, offset int64) kafka.Record {
		of.Value, of.Headers, of.Offset = nil, nil, offset
		return of
	}
	for name, tt := range map[string]struct {
		records []kafka.Record
		taken   bool
		left    int // clusters
	}{
		"alone":                      {[]kafka.Record{junk}, false, 0},
		"a tombstone":                {[]kafka.Record{junk, tombstone(junk, 13)}, true, 0},
		"a tombstone of another key": {[]kafka.Record{junk, tombstone(other, 13)}, false, 0},
		"over a sound one": {[]kafka.Record{
			clusterRecord(sound, 11, "9"), junk, tombstone(junk, 13),
		}, true, 0},
		"a sound one later": {[]kafka.Record{junk, clusterRecord(sound, 13, "9")}, true, 1},
		"junk again after a tombstone": {[]kafka.Record{
			junk, tombstone(junk, 13), {
				Topic: "clusters", Partition: 1, Offset: 14, Key: junk.Key, Value: []byte("x"),
			},
		}, false, 0},
		"one of two is taken out": {[]kafka.Record{junk, other, tombstone(junk, 14)}, false, 0},
		"two are taken out": {[]kafka.Record{
			junk, other, tombstone(junk, 14), tombstone(other, 15),
		}, true, 0},
		"a contradiction": {[]kafka.Record{
			clusterRecord(sound, 11, "9"), clusterRecord(contrary, 12, "9"), tombstone(junk, 13),
		}, true, 0},
		"a contradiction stays": {[]kafka.Record{
			clusterRecord(sound, 11, "9"), clusterRecord(contrary, 12, "9"), tombstone(other, 13),
		}, false, 1},
	} {
		for _, size := range []int{1, 2, 10} {
			t.Run(fmt.Sprintf("%s, %d a chunk", name, size), func(t *testing.T) {
				r, looks := minhashReplica(t), 0
				r.scanTail = func(_ context.Context, _ int, from int64, each func(kafka.Record)) (int64,
					error,
				) {
					looks++
					for _, record := range tt.records {
						if record.Offset >= from {
							each(record)
						}
					}
					return 20, nil
				}
				var err error
				for rest := tt.records; len(rest) > 0 && err == nil; {
					n := min(size, len(rest))
					_, err = r.applyChunk(t.Context(), consumer.Chunk{
						Partition: 1, Records: rest[:n], Next: rest[n-1].Offset + 1,
					})
					rest = rest[n:]
				}
				if (err == nil) != tt.taken {
					t.Fatalf("error = %v, want it to be taken: %t", err, tt.taken)
				}
				if tt.taken && stored(t, r) != tt.left {
					t.Errorf("%d clusters, want %d", stored(t, r), tt.left)
				}
				if looks > 2 {
					t.Errorf("it looked ahead %d times", looks)
				}
			})
		}
	}
}

// However many records are wrong, the rest of the topic is looked at once.
func TestSupersededLooksOnce(t *testing.T) {
	const n = 1000
	r, looks := minhashReplica(t), 0
	var records []kafka.Record
	for i := range int64(2 * n) {
		record := kafka.Record{
			Topic: "clusters", Partition: 1, Offset: i, Key: fmt.Append(nil, i%n), Value: []byte("junk"),
		}
		if i >= n {
			record.Value = nil
		}
		records = append(records, record)
	}
	r.scanTail = func(_ context.Context, _ int, from int64, each func(kafka.Record)) (int64, error) {
		looks++
		for _, record := range records[from:] {
			each(record)
		}
		return 2 * n, nil
	}
	if err := applyAll(t, r, records...); err != nil || looks != 1 {
		t.Errorf("%v, after %d looks ahead", err, looks)
	}
}

// The shell gives kcat the key that the message names.
func TestShellQuoted(t *testing.T) {
	for _, key := range []string{
		"articles/0/7", "it's", "a b", "$(id)", "\xff\x01\x7f", "港口", "`x`\\",
		"-Z", "\x1b[2J",
	} {
		out, err := exec.Command("sh", "-c", "printf %s "+shellQuoted([]byte(key))).Output()
		if err != nil || string(out) != key {
			t.Errorf("%q comes as %q, %v", key, out, err)
		}
	}
}
