package replica

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
)

// Whatever is written to the clusters topic that clusterd cannot have written: it is refused, by
// its place and with what to do, and nothing of it reaches the disk or the index.
func TestUnexpectedRecords(t *testing.T) {
	type edit = func(*article.Cluster)
	times := func(first, last time.Time) edit {
		return func(c *article.Cluster) { c.FirstSeen, c.LastSeen = first, last }
	}
	replace := func(old, new string) func(*kafka.Record) {
		return func(r *kafka.Record) { r.Value = bytes.Replace(r.Value, []byte(old), []byte(new), 1) }
	}
	value := func(v string) func(*kafka.Record) {
		return func(r *kafka.Record) {
			r.Value = []byte(v)
		}
	}
	headers := func(values ...string) func(*kafka.Record) {
		return func(r *kafka.Record) {
			r.Headers = nil
			for _, v := range values {
				r.Headers = append(r.Headers, kafka.Header{Key: article.HeaderPosition, Value: []byte(v)})
			}
		}
	}
	for name, tt := range map[string]struct {
		cluster edit
		record  func(*kafka.Record)
		want    string
	}{
		"size -1": {func(c *article.Cluster) { c.Size = -1 }, nil, "size -1"},
		"size 0":  {func(c *article.Cluster) { c.Size = 0 }, nil, "size 0"},
		"size 2^63-1": {
			func(c *article.Cluster) { c.Size = math.MaxInt }, nil, "size 9223372036854775807",
		},
		"size 2^63": {
			nil, replace(`"size":2`, `"size":9223372036854775808`), "not a cluster",
		},
		"size 1.5":       {nil, replace(`"size":2`, `"size":1.5`), "not a cluster"},
		"size in quotes": {nil, replace(`"size":2`, `"size":"2"`), "not a cluster"},
		"size null":      {nil, replace(`"size":2`, `"size":null`), "a field is missing"},
		"no fingerprint": {
			nil, replace(`"fingerprint"`, `"fungerprint"`), "a field is missing",
		},
		"more than positions": {func(c *article.Cluster) { c.Size = 4 }, nil, "size 4"},
		"position 2^64-2": {
			nil, headers("18446744073709551614"), "position 18446744073709551614",
		},
		"position 2^64":      {nil, headers("18446744073709551616"), "is no number"},
		"position -1":        {nil, headers("-1"), "is no number"},
		"position +9":        {nil, headers("+9"), "is no number"},
		"position 009":       {nil, headers("009"), "is no number"},
		"position nothing":   {nil, headers(""), "is no number"},
		"no position":        {nil, headers(), "there are 0 headers"},
		"two positions":      {nil, headers("9", "10"), "there are 2 headers"},
		"position below seq": {nil, headers("6"), "is above 6"},
		"seq -1":             {nil, replace(`"seq":7`, `"seq":-1`), "not a cluster"},
		"seq 2^64-1": {
			func(c *article.Cluster) { c.Seq = math.MaxUint64 }, nil, "is above 9",
		},
		"seen in the year 9999": {
			times(wallClock, time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)), nil,
			"9999-12-31T00:00:00Z is in the future",
		},
		"seen in the year 2262": {
			times(wallClock, time.Date(2262, 1, 1, 0, 0, 0, 0, time.UTC)), nil, "is in the future",
		},
		"seen in a year": {
			times(wallClock, time.Now().AddDate(1, 0, 0)), nil, "is in the future",
		},
		"seen in 1969": {
			times(time.Date(1969, 1, 1, 0, 0, 0, 0, time.UTC), wallClock), nil, "1970",
		},
		"seen last before first": {times(wallClock, wallClock.Add(-time.Hour)), nil, "1970"},
		"a sketch of 3 bytes": {
			func(c *article.Cluster) { c.Sketch = []byte("abc") }, nil, "the sketch has 3 bytes",
		},
		"no sketch": {
			func(c *article.Cluster) { c.Sketch = nil }, nil, "the sketch has 0 bytes",
		},
		"a sketch of 17 bytes": {
			func(c *article.Cluster) { c.Sketch = append(c.Sketch, 0) }, nil, "the sketch has 17 bytes",
		},
		"another sketch": {
			func(c *article.Cluster) { c.Sketch[3]++ }, nil, "that of the sketch",
		},
		"no base64": {nil, replace(`"sketch":"`, `"sketch":"!!!!`), "not a cluster"},
		"a fingerprint of 15": {
			nil, replace(`"fingerprint":"`, `"fingerprint":"f`), "not a cluster",
		},
		"an id of a megabyte": {func(c *article.Cluster) {
			c.Representative.ID = strings.Repeat("i",
				1<<20)
		}, nil, "id has 1048576 bytes"},
		"a long title": {func(c *article.Cluster) {
			c.Representative.Title = strings.Repeat(
				"t", 600)
		}, nil, "title has 600"},
		"another key": {
			nil, func(r *kafka.Record) { r.Key = []byte("articles/4/8") }, "is not its key",
		},
		"no key": {nil, func(r *kafka.Record) { r.Key = nil }, "It has no key"},
		"a binary key": {
			nil, func(r *kafka.Record) { r.Key = []byte("\xff\x00\x1b[2J") }, "a record with that key",
		},
		"an odd address": {
			func(c *article.Cluster) { c.ClusterID = "articles/04/7" }, nil, "is not its key",
		},
		"no address": {
			func(c *article.Cluster) { c.ClusterID = "articles/4" }, nil, "not an address",
		},
		"an offset of 2^63-1": {func(c *article.Cluster) {
			c.ClusterID = "articles/4/9223372036854775807"
		}, nil, "the address of no record"},
		"an offset of 2^63": {func(c *article.Cluster) {
			c.ClusterID = "articles/4/9223372036854775808"
		}, nil, "not an address"},
		"another topic": {
			func(c *article.Cluster) { c.ClusterID = "comments/4/7" }, nil,
			"a cluster of topic comments, and input.topic is articles",
		},
		"another partition": {
			func(c *article.Cluster) { c.ClusterID = "articles/5/7" }, nil,
			"in another partition than its founder's, 5",
		},
		"another pipeline": {func(c *article.Cluster) {
			c.Pipeline = strings.ReplaceAll(
				c.Pipeline, "hashes=16", "hashes=64")
		}, nil, "hashes was 64 and is 16"},
		"no pipeline": {
			func(c *article.Cluster) { c.Pipeline = "" }, nil, "made in another way",
		},
		"no JSON":                {nil, value("港口"), "not a cluster"},
		"no value, but not null": {nil, value(""), "not a cluster"},
		"JSON null":              {nil, value("null"), "not a cluster"},
		"a list":                 {nil, value("[1,2]"), "not a cluster"},
		"JSON of another kind":   {nil, value(`{"user":1}`), "a field is missing"},
		"a result": {
			nil, value(`{"article_id":"a","cluster_id":"articles/4/7","size":2}`), "a field is missing",
		},
		"very deep": {nil, value(strings.Repeat("[", 100_000)), "not a cluster"},
		"cut off": {
			nil, func(r *kafka.Record) { r.Value = r.Value[:len(r.Value)/2] }, "not a cluster",
		},
		"more than a megabyte": {
			nil, func(r *kafka.Record) { r.Cut = 1 << 30 }, "more than 1048576 bytes",
		},
		"a key of a megabyte": {
			nil, func(r *kafka.Record) { r.Key = bytes.Repeat([]byte("k"), 1<<20+1) },
			"more than 1048576 bytes",
		},
		"large, and without value": {
			nil, func(r *kafka.Record) { r.Value, r.Cut = nil, 5 }, "more than 1048576 bytes",
		},
		"a cluster as checkpoint": {
			nil, func(r *kafka.Record) { r.Key = []byte("checkpoint:clusterd/all") }, "not a checkpoint",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := minhashReplica(t)
			c := soundCluster(t, r)
			if tt.cluster != nil {
				tt.cluster(&c)
			}
			record := clusterRecord(c, 12, "9")
			if tt.record != nil {
				tt.record(&record)
			}
			err := applyAll(t, r, record)
			check.ErrorHas(t, err, "clusters/1/12", "output.clusters_topic", tt.want)
			// What this clusterd writes by another configuration is not to be taken out.
			var bad *unexpected
			if errors.As(err, &bad) && errors.As(bad.reason, new(misfit)) {
				if strings.Contains(err.Error(), "tombstone") {
					t.Error(err)
				}
			} else if record.Key != nil {
				check.ErrorHas(t, err, "a tombstone to its key takes it out")
			}
			if len(err.Error()) > 2000 || strings.ContainsAny(err.Error(), "\x1b\x00\n") {
				t.Errorf("an error of %d bytes, or with control characters: %.3000q", len(err.Error()), err)
			}
			if m := r.space.Meta(); stored(t, r) != 0 || r.space.Len() != 0 || m.Next != 0 ||
				m.Offsets[1] != 0 {
				t.Errorf("%d clusters on disk, %d centres, %+v: something of it was taken", stored(t, r),
					r.space.Len(), m)
			}
		})
	}
}

// FuzzDecode: whatever is in the clusters topic, it is taken or refused with what to do. What was
// taken can be read back from disk, searched, and gone on from.
func FuzzDecode(f *testing.F) {
	r := minhashReplica(f)
	c := soundCluster(f, r)
	f.Add([]byte(c.ClusterID), c.JSON(), "9", int64(1))
	c.Size = -1
	f.Add([]byte(c.ClusterID), c.JSON(), "18446744073709551614", int64(1))
	checkpoint := checkpointOf(r, map[int]int64{0: 5})
	f.Add([]byte(checkpoint.Key()), checkpoint.JSON(), "", int64(0))
	f.Fuzz(func(t *testing.T, key, value []byte, position string, partition int64) {
		r := minhashReplica(t)
		sound := soundCluster(t, r)
		record := kafka.Record{
			Topic: "clusters", Partition: int(uint64(partition) % 3), Offset: 12, Time: wallClock, Key: key,
			Value: value,
		}
		if position != "" {
			record.Headers = []kafka.Header{{Key: article.HeaderPosition, Value: []byte(position)}}
		}
		if err := applyAll(t, r, clusterRecord(sound, 11, "9")); err != nil {
			t.Fatal(err)
		}
		if err := applyAll(t, r, record); err != nil {
			if unusable(err) {
				t.Fatalf("it would be tried for ever: %v", err)
			}
			check.ErrorHas(t, err, fmt.Sprintf("clusters/%d/12", record.Partition))
			return
		}
		said, err := r.decode(record)
		if err != nil {
			t.Fatalf("it was taken, and now it is not: %v", err)
		}
		if c := said.cluster; c != nil {
			if got, ok, err := r.space.Get(c.Seq); got != *c || !ok || err != nil {
				t.Fatalf("it is on disk as %+v, %t, %v", got, ok, err)
			}
		}
		before := r.space.Len()
		reopen(t, r)
		if r.space.Len() != before {
			t.Fatalf("%d centres, and %d after a restart", before, r.space.Len())
		}
		a := clustertest.Article(20, uint64(sound.Fingerprint), wallClock)
		a.Fingerprint.Sketch = string(sound.Sketch)
		b := mustAssign(t, r.space, []fingerprint.Article{a})
		for i := range b.Touched {
			b.Touched[i].AppendJSON(nil, r.Options.Space.Pipeline)
		}
	})
}
