package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/zeebo/xxh3"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/method/minhash"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/state"
	"github.com/clusterd/clusterd/internal/text"
)

var recordedMethod = sync.OnceValues(func() (*minhash.Method, error) {
	cleaner, err := text.NewArticleCleaner("auto", "all")
	if err != nil {
		return nil, err
	}
	return minhash.New(minhash.Options{Cleaner: cleaner, Size: 5, Signature: "fast", Hashes: 16, Recall: .99})
})

// recordedReplica is a replica of a method with sketches, minhash, that reads no more of its topic than it is given.
func recordedReplica(t testing.TB) *replica {
	t.Helper()
	m, err := recordedMethod()
	if err != nil {
		t.Fatal(err)
	}
	r := testReplica(t, time.Hour)
	r.identity, r.settings.check = m.Identity(), m.Check
	r.settings.Checkpoint = article.Checkpoint{
		Input: "articles", Group: "clusterd", Scope: "topic", Space: "all", Pipeline: m.Identity(), Threshold: m.Threshold(), Window: "1h0m0s",
	}
	r.config.Kafka.Brokers = []string{"broker:9092"}
	r.newIndex = func() (singlepass.Index, error) { return m.NewIndex(m.Bound()) }
	index, err := r.newIndex()
	if err != nil {
		t.Fatal(err)
	}
	store := r.space.store
	r.space = newSpace(index, time.Hour, r.identity, store, func() time.Time { return wallClock })
	if err := r.fill(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// soundCluster is one of two articles that minhash could have made.
func soundCluster(t testing.TB, r *replica) article.Cluster {
	t.Helper()
	cleaner, err := text.NewArticleCleaner("auto", "all")
	if err != nil {
		t.Fatal(err)
	}
	m, err := minhash.New(minhash.Options{Cleaner: cleaner, Size: 5, Signature: "fast", Hashes: 16, Recall: .99})
	if err != nil {
		t.Fatal(err)
	}
	f, _ := m.NewPrinter()("", "the harbour bridge opens after three years of work")
	return article.Cluster{
		ClusterID: "articles/4/7", Seq: 7, Fingerprint: article.Fingerprint(f.Hash), Sketch: []byte(f.Sketch), Size: 2,
		FirstSeen: wallClock.Add(-time.Hour), LastSeen: wallClock, Representative: article.Representative{ID: "a", Title: "Harbour bridge opens"},
		Pipeline: r.identity,
	}
}

// clusterRecord is the record of a cluster at an offset of partition 1, of three.
func clusterRecord(c article.Cluster, offset int64, position string) kafka.Record {
	return kafka.Record{
		Topic: "clusters", Partition: 1, Offset: offset, Time: wallClock, Key: []byte(c.ClusterID), Value: c.JSON(),
		Headers: []kafka.Header{{Key: article.HeaderPosition, Value: []byte(position)}},
	}
}

func takeAll(t testing.TB, r *replica, records ...kafka.Record) error {
	t.Helper()
	for _, record := range records {
		if _, err := r.take(t.Context(), consumer.Chunk{Partition: record.Partition, Records: []kafka.Record{record}, Next: record.Offset + 1}); err != nil {
			return err
		}
	}
	return nil
}

// Whatever is written to the clusters topic that clusterd cannot have written: it is refused, by its place and with what
// to do, and nothing of it reaches the disk or the index.
func TestUnexpectedRecords(t *testing.T) {
	type edit = func(*article.Cluster)
	times := func(first, last time.Time) edit {
		return func(c *article.Cluster) { c.FirstSeen, c.LastSeen = first, last }
	}
	replace := func(old, new string) func(*kafka.Record) {
		return func(r *kafka.Record) { r.Value = bytes.Replace(r.Value, []byte(old), []byte(new), 1) }
	}
	value := func(v string) func(*kafka.Record) { return func(r *kafka.Record) { r.Value = []byte(v) } }
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
		"size -1":                  {func(c *article.Cluster) { c.Size = -1 }, nil, "size -1"},
		"size 0":                   {func(c *article.Cluster) { c.Size = 0 }, nil, "size 0"},
		"size 2^63-1":              {func(c *article.Cluster) { c.Size = math.MaxInt }, nil, "size 9223372036854775807"},
		"size 2^63":                {nil, replace(`"size":2`, `"size":9223372036854775808`), "not a cluster"},
		"size 1.5":                 {nil, replace(`"size":2`, `"size":1.5`), "not a cluster"},
		"size in quotes":           {nil, replace(`"size":2`, `"size":"2"`), "not a cluster"},
		"size null":                {nil, replace(`"size":2`, `"size":null`), "a field is missing"},
		"no fingerprint":           {nil, replace(`"fingerprint"`, `"fungerprint"`), "a field is missing"},
		"more than positions":      {func(c *article.Cluster) { c.Size = 4 }, nil, "size 4"},
		"position 2^64-2":          {nil, headers("18446744073709551614"), "position 18446744073709551614"},
		"position 2^64":            {nil, headers("18446744073709551616"), "is no number"},
		"position -1":              {nil, headers("-1"), "is no number"},
		"position +9":              {nil, headers("+9"), "is no number"},
		"position 009":             {nil, headers("009"), "is no number"},
		"position nothing":         {nil, headers(""), "is no number"},
		"no position":              {nil, headers(), "there are 0 headers"},
		"two positions":            {nil, headers("9", "10"), "there are 2 headers"},
		"position below seq":       {nil, headers("6"), "is above 6"},
		"seq -1":                   {nil, replace(`"seq":7`, `"seq":-1`), "not a cluster"},
		"seq 2^64-1":               {func(c *article.Cluster) { c.Seq = math.MaxUint64 }, nil, "is above 9"},
		"seen in the year 9999":    {times(wallClock, time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)), nil, "9999-12-31T00:00:00Z is in the future"},
		"seen in the year 2262":    {times(wallClock, time.Date(2262, 1, 1, 0, 0, 0, 0, time.UTC)), nil, "is in the future"},
		"seen in a year":           {times(wallClock, time.Now().AddDate(1, 0, 0)), nil, "is in the future"},
		"seen in 1969":             {times(time.Date(1969, 1, 1, 0, 0, 0, 0, time.UTC), wallClock), nil, "1970"},
		"seen last before first":   {times(wallClock, wallClock.Add(-time.Hour)), nil, "1970"},
		"a sketch of 3 bytes":      {func(c *article.Cluster) { c.Sketch = []byte("abc") }, nil, "the sketch has 3 bytes"},
		"no sketch":                {func(c *article.Cluster) { c.Sketch = nil }, nil, "the sketch has 0 bytes"},
		"a sketch of 17 bytes":     {func(c *article.Cluster) { c.Sketch = append(c.Sketch, 0) }, nil, "the sketch has 17 bytes"},
		"another sketch":           {func(c *article.Cluster) { c.Sketch[3]++ }, nil, "that of the sketch"},
		"no base64":                {nil, replace(`"sketch":"`, `"sketch":"!!!!`), "not a cluster"},
		"a fingerprint of 15":      {nil, replace(`"fingerprint":"`, `"fingerprint":"f`), "not a cluster"},
		"an id of a megabyte":      {func(c *article.Cluster) { c.Representative.ID = strings.Repeat("i", 1<<20) }, nil, "id has 1048576 bytes"},
		"a long title":             {func(c *article.Cluster) { c.Representative.Title = strings.Repeat("t", 600) }, nil, "its title 600"},
		"another key":              {nil, func(r *kafka.Record) { r.Key = []byte("articles/4/8") }, "is not its key"},
		"no key":                   {nil, func(r *kafka.Record) { r.Key = nil }, "It has no key"},
		"a binary key":             {nil, func(r *kafka.Record) { r.Key = []byte("\xff\x00\x1b[2J") }, "a record with that key"},
		"an odd address":           {func(c *article.Cluster) { c.ClusterID = "articles/04/7" }, nil, "is not its key"},
		"no address":               {func(c *article.Cluster) { c.ClusterID = "articles/4" }, nil, "not an address"},
		"an offset of 2^63-1":      {func(c *article.Cluster) { c.ClusterID = "articles/4/9223372036854775807" }, nil, "the address of no record"},
		"an offset of 2^63":        {func(c *article.Cluster) { c.ClusterID = "articles/4/9223372036854775808" }, nil, "not an address"},
		"another topic":            {func(c *article.Cluster) { c.ClusterID = "comments/4/7" }, nil, "a cluster of topic comments, not of articles"},
		"another partition":        {func(c *article.Cluster) { c.ClusterID = "articles/5/7" }, nil, "in another partition than its founder's, 5"},
		"another pipeline":         {func(c *article.Cluster) { c.Pipeline = strings.ReplaceAll(c.Pipeline, "hashes=16", "hashes=64") }, nil, "hashes was 64 and is 16"},
		"no pipeline":              {func(c *article.Cluster) { c.Pipeline = "" }, nil, "made in another way"},
		"no JSON":                  {nil, value("港口"), "not a cluster"},
		"no value, but not null":   {nil, value(""), "not a cluster"},
		"JSON null":                {nil, value("null"), "not a cluster"},
		"a list":                   {nil, value("[1,2]"), "not a cluster"},
		"JSON of another kind":     {nil, value(`{"user":1}`), "a field is missing"},
		"a result":                 {nil, value(`{"article_id":"a","cluster_id":"articles/4/7","size":2}`), "a field is missing"},
		"very deep":                {nil, value(strings.Repeat("[", 100_000)), "not a cluster"},
		"cut off":                  {nil, func(r *kafka.Record) { r.Value = r.Value[:len(r.Value)/2] }, "not a cluster"},
		"more than a megabyte":     {nil, func(r *kafka.Record) { r.Cut = 1 << 30 }, "more than 1048576 bytes"},
		"a key of a megabyte":      {nil, func(r *kafka.Record) { r.Key = bytes.Repeat([]byte("k"), 1<<20+1) }, "more than 1048576 bytes"},
		"large, and without value": {nil, func(r *kafka.Record) { r.Value, r.Cut = nil, 5 }, "more than 1048576 bytes"},
		"a cluster as checkpoint":  {nil, func(r *kafka.Record) { r.Key = []byte("checkpoint:clusterd/all") }, "not a checkpoint"},
	} {
		t.Run(name, func(t *testing.T) {
			r := recordedReplica(t)
			c := soundCluster(t, r)
			if tt.cluster != nil {
				tt.cluster(&c)
			}
			record := clusterRecord(c, 12, "9")
			if tt.record != nil {
				tt.record(&record)
			}
			err := takeAll(t, r, record)
			wantErrorHas(t, err, "clusters/1/12", "output.clusters_topic", tt.want)
			if record.Key != nil {
				wantErrorHas(t, err, "a tombstone to its key takes it out")
			}
			if len(err.Error()) > 2000 || strings.ContainsAny(err.Error(), "\x1b\x00\n") {
				t.Errorf("an error of %d bytes, or with control characters: %.3000q", len(err.Error()), err)
			}
			if m := r.space.store.Meta(); r.space.store.Len() != 0 || r.space.rule.Len() != 0 || m.Next != 0 || m.Offsets[1] != 0 {
				t.Errorf("%d clusters on disk, %d centres, %+v: something of it was taken", r.space.store.Len(), r.space.rule.Len(), m)
			}
		})
	}
}

// What is right by itself may contradict what was there before.
func TestContradictions(t *testing.T) {
	for name, tt := range map[string]struct {
		change   func(*article.Cluster)
		position string
		want     string
	}{
		"another fingerprint":     {func(c *article.Cluster) { c.Sketch[0]++; c.Fingerprint = article.Fingerprint(xxh3Of(c.Sketch)) }, "10", "centre or representative is another"},
		"another representative":  {func(c *article.Cluster) { c.Representative.ID = "b" }, "10", "centre or representative is another"},
		"another title":           {func(c *article.Cluster) { c.Representative.Title = "" }, "10", "centre or representative is another"},
		"another seq":             {func(c *article.Cluster) { c.Seq = 8 }, "10", "another founding order than before, 7"},
		"another founder":         {func(c *article.Cluster) { c.ClusterID = "articles/1/7" }, "10", "cluster articles/4/7 has the same founding order 7"},
		"position goes back":      {func(*article.Cluster) {}, "8", "goes back, from size 2 at position 9"},
		"size goes back":          {func(c *article.Cluster) { c.Seq, c.Size = 7, 1 }, "7", "goes back"},
		"first seen comes later":  {func(c *article.Cluster) { c.FirstSeen = c.LastSeen }, "10", "goes back"},
		"last seen comes earlier": {func(c *article.Cluster) { c.LastSeen = c.FirstSeen }, "10", "goes back"},
	} {
		for _, inOneChunk := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, in one chunk %t", name, inOneChunk), func(t *testing.T) {
				r := recordedReplica(t)
				c := soundCluster(t, r)
				sound := clusterRecord(c, 11, "9")
				tt.change(&c)
				bad := clusterRecord(c, 12, tt.position)
				var err error
				if inOneChunk {
					_, err = r.take(t.Context(), consumer.Chunk{Partition: 1, Records: []kafka.Record{sound, bad}, Next: 13})
				} else {
					err = takeAll(t, r, sound, bad)
				}
				wantErrorHas(t, err, "clusters/1/12", tt.want, "a tombstone to its key takes it out")
			})
		}
	}
	// The same again is no contradiction.
	r := recordedReplica(t)
	c := soundCluster(t, r)
	if err := takeAll(t, r, clusterRecord(c, 11, "9"), clusterRecord(c, 12, "9")); err != nil {
		t.Error(err)
	}
}

func checkpointOf(r *replica, offsets map[int]int64) article.Checkpoint {
	c := r.settings.Checkpoint
	c.Offsets, c.NextPosition, c.StreamTime = offsets, 20, wallClock.UnixMilli()
	return c
}

func checkpointRecord(c article.Checkpoint, offset int64) kafka.Record {
	return kafka.Record{Topic: "clusters", Partition: 0, Offset: offset, Time: wallClock, Key: []byte(c.Key()), Value: c.JSON()}
}

func TestCheckpoints(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*article.Checkpoint)
		record func(*kafka.Record)
		want   string // empty: it is taken
	}{
		"as it is":             {nil, nil, ""},
		"another group":        {func(c *article.Checkpoint) { c.Group = "other" }, nil, `its clusters are those of group "other", and this is group clusterd`},
		"another distance":     {func(c *article.Checkpoint) { c.Threshold = "similarity=0.9" }, nil, "cluster.similarity was 0.9 and is 0.77"},
		"another window":       {func(c *article.Checkpoint) { c.Window = "0s" }, nil, `cluster.window was "0s" and is 1h0m0s`},
		"another pipeline":     {func(c *article.Checkpoint) { c.Pipeline = strings.ReplaceAll(c.Pipeline, "minhash", "exact") }, nil, "method was exact and is minhash"},
		"another input":        {func(c *article.Checkpoint) { c.Input = "comments" }, nil, `input.topic was "comments" and is articles`},
		"another scope":        {func(c *article.Checkpoint) { c.Scope, c.Space, c.Offsets = "partition", "0", map[int]int64{0: 5} }, nil, `cluster.scope was "partition" and is topic`},
		"a scope that is none": {func(c *article.Checkpoint) { c.Scope = "galaxy" }, nil, `space "all" with scope "galaxy"`},
		"a space that is none": {func(c *article.Checkpoint) { c.Scope, c.Space = "partition", "-1" }, nil, `space "-1"`},
		"a position too high":  {func(c *article.Checkpoint) { c.NextPosition = math.MaxUint64 }, nil, "next_position 18446744073709551615"},
		"a time to come":       {func(c *article.Checkpoint) { c.StreamTime = math.MaxInt64 }, nil, "is in the future"},
		"a time before":        {func(c *article.Checkpoint) { c.StreamTime = math.MinInt64 }, nil, "stream_time"},
		"an offset too low":    {func(c *article.Checkpoint) { c.Offsets[1] = -1 }, nil, "offset -1 of partition 1"},
		"an offset too high":   {func(c *article.Checkpoint) { c.Offsets[1] = math.MaxInt64 }, nil, "offset 9223372036854775807 of partition 1"},
		"no offsets":           {func(c *article.Checkpoint) { c.Offsets = nil }, nil, "offsets are missing"},
		"it goes back":         {func(c *article.Checkpoint) { c.Offsets[0] = 4 }, nil, "the input goes back, from offset 5 of partition 0 to 4"},
		"a partition is gone":  {func(c *article.Checkpoint) { delete(c.Offsets, 1) }, nil, "the input goes back, from offset 9 of partition 1 to 0"},
		"a later version": {nil, func(r *kafka.Record) {
			r.Value = bytes.Replace(r.Value, []byte(`"version":1`), []byte(`"version":2`), 1)
		}, "version 2, and this one writes 1"},
		"another partition":     {nil, func(r *kafka.Record) { r.Partition = 1 }, "belongs into partition 0"},
		"another key":           {nil, func(r *kafka.Record) { r.Key = []byte("checkpoint:clusterd/7") }, "its key is that of another"},
		"no JSON":               {nil, func(r *kafka.Record) { r.Value = []byte("{") }, "not a checkpoint"},
		"an empty value":        {nil, func(r *kafka.Record) { r.Value = []byte{} }, "not a checkpoint"},
		"offsets of no numbers": {nil, func(r *kafka.Record) { r.Value = bytes.Replace(r.Value, []byte(`{"0":`), []byte(`{"x":`), 1) }, "not a checkpoint"},
	} {
		t.Run(name, func(t *testing.T) {
			r := recordedReplica(t)
			before := checkpointOf(r, map[int]int64{0: 5, 1: 9})
			c := checkpointOf(r, map[int]int64{0: 7, 1: 9, 2: 1})
			if tt.change != nil {
				tt.change(&c)
			}
			record := checkpointRecord(c, 12)
			if tt.record != nil {
				tt.record(&record)
			}
			err := takeAll(t, r, checkpointRecord(before, 11), record)
			m := r.space.store.Meta()
			if tt.want == "" {
				if err != nil || m.Checkpoint == nil || m.Checkpoint.Offsets[0] != 7 || m.Next != 20 || m.StreamTime != wallClock.UnixMilli() {
					t.Errorf("%v; meta %+v", err, m)
				}
				return
			}
			wantErrorHas(t, err, tt.want, "/12, with the key", "a tombstone to its key")
			if m.Checkpoint.Offsets[0] != 5 {
				t.Errorf("taken: %+v", m.Checkpoint)
			}
		})
	}
}

// A checkpoint on disk is held to the settings too, since the topic is not read again.
func TestCheckpointOnDisk(t *testing.T) {
	r := recordedReplica(t)
	c := checkpointOf(r, map[int]int64{0: 5})
	if err := takeAll(t, r, checkpointRecord(c, 11)); err != nil {
		t.Fatal(err)
	}
	r.settings.Window = "3h0m0s"
	wantErrorHas(t, r.sameSettings(r.space.store.Meta().Checkpoint), `cluster.window was "1h0m0s" and is 3h0m0s`)
	// A tombstone takes it away.
	gone := checkpointRecord(c, 12)
	gone.Value = nil
	if err := takeAll(t, r, gone); err != nil || r.space.store.Meta().Checkpoint != nil {
		t.Errorf("after a tombstone: %v, %+v", err, r.space.store.Meta().Checkpoint)
	}
}

// Partitions whose clusters topic partition is shared are spaces of one group; each has its own checkpoint.
func TestCheckpointOfAnotherSpace(t *testing.T) {
	r := recordedReplica(t)
	r.name, r.settings.Scope, r.settings.Space = "1", "partition", "1"
	r.owns = func(p int) bool { return p == 1 }
	own, other := checkpointOf(r, map[int]int64{1: 5}), checkpointOf(r, map[int]int64{4: 9})
	other.Space = "4"
	a, b := checkpointRecord(own, 11), checkpointRecord(other, 12)
	a.Partition, b.Partition = 1, 1
	if err := takeAll(t, r, a, b); err != nil {
		t.Fatal(err)
	}
	if c := r.space.store.Meta().Checkpoint; c == nil || c.Space != "1" || len(c.Offsets) != 1 || c.Offsets[1] != 5 {
		t.Errorf("checkpoint %+v", c)
	}
	other.Threshold = "similarity=0.1"
	b = checkpointRecord(other, 13)
	b.Partition = 1
	wantErrorHas(t, takeAll(t, r, b), "cluster.similarity was 0.1 and is 0.77")
}

func TestCheckOffsets(t *testing.T) {
	r := recordedReplica(t)
	if err := r.checkOffsets(nil); err != nil {
		t.Errorf("without a checkpoint: %v", err)
	}
	if err := takeAll(t, r, checkpointRecord(checkpointOf(r, map[int]int64{0: 20, 1: 7}), 11)); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		committed map[int]int64
		want      []string // empty: it may go on
	}{
		"the same":            {map[int]int64{0: 20, 1: 7}, nil},
		"a partition more":    {map[int]int64{0: 20, 1: 7, 2: 3}, nil},
		"set forward":         {map[int]int64{0: 25, 1: 7}, nil},
		"set back":            {map[int]int64{0: 15, 1: 7}, []string{"is at offset 15 of articles/0, of which it has made clusters up to offset 20", "--group clusterd --topic articles:0 --reset-offsets --to-offset 20 --execute"}},
		"set back by one":     {map[int]int64{0: 20, 1: 6}, []string{"articles:1 --reset-offsets --to-offset 7"}},
		"to the beginning":    {map[int]int64{0: 0, 1: 0}, []string{"articles:0 ", "articles:1 "}},
		"gone":                {nil, []string{"has no offset of articles/0", "has no offset of articles/1"}},
		"one gone, one ahead": {map[int]int64{0: 99}, []string{"has no offset of articles/1"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := r.checkOffsets(tt.committed)
			if tt.want == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantErrorHas(t, err, append(tt.want, "nothing was read", "start anew")...)
		})
	}
}

// A record that is wrong is passed over where a later one has its key, which is how it is taken out; and it stays
// refused where not, however the two come in chunks.
func TestSuperseded(t *testing.T) {
	base := recordedReplica(t)
	sound := soundCluster(t, base)
	junk, other := clusterRecord(sound, 12, "9"), clusterRecord(sound, 13, "9")
	junk.Value, other.Value, other.Key = []byte("junk"), []byte("junk"), []byte("of another application")
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
		"alone":                        {[]kafka.Record{junk}, false, 0},
		"a tombstone":                  {[]kafka.Record{junk, tombstone(junk, 13)}, true, 0},
		"a tombstone of another key":   {[]kafka.Record{junk, tombstone(other, 13)}, false, 0},
		"over a sound one":             {[]kafka.Record{clusterRecord(sound, 11, "9"), junk, tombstone(junk, 13)}, true, 0},
		"a sound one later":            {[]kafka.Record{junk, clusterRecord(sound, 13, "9")}, true, 1},
		"junk again after a tombstone": {[]kafka.Record{junk, tombstone(junk, 13), {Topic: "clusters", Partition: 1, Offset: 14, Key: junk.Key, Value: []byte("x")}}, false, 0},
		"one of two is taken out":      {[]kafka.Record{junk, other, tombstone(junk, 14)}, false, 0},
		"two are taken out":            {[]kafka.Record{junk, other, tombstone(junk, 14), tombstone(other, 15)}, true, 0},
		"a contradiction":              {[]kafka.Record{clusterRecord(sound, 11, "9"), clusterRecord(contrary, 12, "9"), tombstone(junk, 13)}, true, 0},
		"a contradiction stays":        {[]kafka.Record{clusterRecord(sound, 11, "9"), clusterRecord(contrary, 12, "9"), tombstone(other, 13)}, false, 1},
	} {
		for _, size := range []int{1, 2, 10} {
			t.Run(fmt.Sprintf("%s, %d a chunk", name, size), func(t *testing.T) {
				r, looks := recordedReplica(t), 0
				r.tail = func(_ context.Context, _ int, from int64, each func(kafka.Record)) (int64, error) {
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
					_, err = r.take(t.Context(), consumer.Chunk{Partition: 1, Records: rest[:n], Next: rest[n-1].Offset + 1})
					rest = rest[n:]
				}
				if (err == nil) != tt.taken {
					t.Fatalf("error = %v, want it to be taken: %t", err, tt.taken)
				}
				if tt.taken && r.space.store.Len() != tt.left {
					t.Errorf("%d clusters, want %d", r.space.store.Len(), tt.left)
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
	r, looks := recordedReplica(t), 0
	var records []kafka.Record
	for i := range int64(2 * n) {
		record := kafka.Record{Topic: "clusters", Partition: 1, Offset: i, Key: fmt.Append(nil, i%n), Value: []byte("junk")}
		if i >= n {
			record.Value = nil
		}
		records = append(records, record)
	}
	r.tail = func(_ context.Context, _ int, from int64, each func(kafka.Record)) (int64, error) {
		looks++
		for _, record := range records[from:] {
			each(record)
		}
		return 2 * n, nil
	}
	if err := takeAll(t, r, records...); err != nil || looks != 1 {
		t.Errorf("%v, after %d looks ahead", err, looks)
	}
}

// A record of which the key is no text is known again after a restart, like any other: else the disk would be made anew
// at each start.
func TestLastRecordIsKnownAgain(t *testing.T) {
	for name, key := range map[string][]byte{
		"binary": {0xff, 0xfe, 0}, "long": bytes.Repeat([]byte("k"), 1<<20), "a checkpoint": []byte("checkpoint:other/1"), "nothing": {},
	} {
		t.Run(name, func(t *testing.T) {
			r, disk := testReplica(t, 0), vfs.NewMem()
			reopen(t, r, disk)
			last := kafka.Record{Topic: "clusters", Offset: 5, Key: key}
			if err := takeAll(t, r, last); err != nil {
				t.Fatal(err)
			}
			reopen(t, r, disk)
			if err := takeAll(t, r, last); err != nil {
				t.Error(err)
			}
			if n := len(r.space.store.Meta().Last[0].Key); n > 2*maxKeyBytes {
				t.Errorf("%d bytes of it are kept", n)
			}
		})
	}
}

// A sketch on disk that the method cannot have made is damage, not a panic.
func TestFillChecksSketches(t *testing.T) {
	r, disk := testReplica(t, 0), vfs.NewMem()
	reopen(t, r, disk)
	c := testCluster(1, 7)
	c.Sketch = "abc"
	meta := r.space.store.Meta()
	meta.Next = 1000
	if err := r.space.store.Apply([]state.Cluster{c}, nil, meta); err != nil {
		t.Fatal(err)
	}
	if err := r.fill(t.Context()); !errors.Is(err, state.ErrDamaged) {
		t.Errorf("error = %v, want damage", err)
	}
}

// The shell gives kcat the key that the message names.
func TestShellQuoted(t *testing.T) {
	for _, key := range []string{"articles/0/7", "it's", "a b", "$(id)", "\xff\x01\x7f", "港口", "`x`\\", "-Z", "\x1b[2J"} {
		out, err := exec.Command("sh", "-c", "printf %s "+shellQuoted([]byte(key))).Output()
		if err != nil || string(out) != key {
			t.Errorf("%q comes as %q, %v", key, out, err)
		}
	}
}

// FuzzRecorded: whatever is in the clusters topic, it is taken or refused with what to do; and what was taken can be
// read back from disk, searched, and gone on from.
func FuzzRecorded(f *testing.F) {
	r := recordedReplica(f)
	c := soundCluster(f, r)
	f.Add([]byte(c.ClusterID), c.JSON(), "9", int64(1))
	c.Size = -1
	f.Add([]byte(c.ClusterID), c.JSON(), "18446744073709551614", int64(1))
	checkpoint := checkpointOf(r, map[int]int64{0: 5})
	f.Add([]byte(checkpoint.Key()), checkpoint.JSON(), "", int64(0))
	f.Fuzz(func(t *testing.T, key, value []byte, position string, partition int64) {
		r := recordedReplica(t)
		sound := soundCluster(t, r)
		record := kafka.Record{Topic: "clusters", Partition: int(uint64(partition) % 3), Offset: 12, Time: wallClock, Key: key, Value: value}
		if position != "" {
			record.Headers = []kafka.Header{{Key: article.HeaderPosition, Value: []byte(position)}}
		}
		if err := takeAll(t, r, clusterRecord(sound, 11, "9")); err != nil {
			t.Fatal(err)
		}
		if err := takeAll(t, r, record); err != nil {
			if unusable(err) {
				t.Fatalf("it would be tried for ever: %v", err)
			}
			wantErrorHas(t, err, fmt.Sprintf("clusters/%d/12", record.Partition))
			return
		}
		n := 0
		if err := r.space.store.Centres(t.Context(), func(seq, _ uint64, _ string) error {
			n++
			_, _, err := r.space.store.Get(seq)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if n != r.space.rule.Len() {
			t.Fatalf("%d clusters on disk, %d centres", n, r.space.rule.Len())
		}
		a := art(20, uint64(sound.Fingerprint), wallClock)
		a.fingerprint.Sketch = string(sound.Sketch)
		out := mustAssign(t, r.space, []fingerprinted{a})
		for i := range out.touched {
			testOutputs(3).live(&slab{}, &out.touched[i])
		}
	})
}

func xxh3Of(sketch []byte) uint64 { return xxh3.Hash(sketch) }
