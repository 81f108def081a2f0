//go:build integration

package integration

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Times that cannot be right, in the article or on its record, move neither the clusters of the
// others nor their expiry further than a day.
func TestStrangeTimes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, "cluster: {window: 1h}\n")
	w.letTimestamps()
	now := time.Now()
	var records []*kgo.Record
	for _, at := range []time.Time{
		now, now.Add(-24 * time.Hour), now, now.Add(24 * time.Hour), now, time.Unix(0, 0),
		now.Add(23 * time.Hour),
		time.Date(2262, 4, 11, 0, 0, 0, 0, time.UTC), now.Add(24 * time.Hour),
		time.Date(1969, 7, 20, 0, 0, 0, 0, time.UTC), now,
	} {
		text := map[string]string{"content": "The clock over the northern harbour has stopped, and " +
			"nobody knows what time it is."}
		records = append(records, &kgo.Record{
			Value: mustJSON(t, text), Timestamp: time.UnixMilli(max(0, at.UnixMilli())),
		})
		text["published_at"] = at.UTC().Format(time.RFC3339)
		records = append(records, &kgo.Record{Value: mustJSON(t, text)})
	}
	for range 3 {
		w.produce(records...)
		running := w.start()
		w.done()
		running.stop()
	}
	w.audit()
}

// A hundred thousand clusters that expire at once are gone from the topic a hundred batches later.
// It says how long an article waited meanwhile.
func TestMassExpiry(t *testing.T) {
	t.Parallel()
	const clusters = 100_000
	w := newWorld(t, 1, "cluster: {window: 1h}\nbatch: {linger: 50ms}\n")
	random, begin := seeded(t), time.Now().Add(-12*time.Hour)
	records := make([]*kgo.Record, clusters)
	for i := range records {
		records[i] = &kgo.Record{Value: unlike(t, random, begin), Timestamp: begin}
	}
	w.produce(records...)
	running := w.start()
	w.done()

	p := w.prober()
	p.probe(unlike(t, random, begin)) // the first one pays for its connection
	slowest := time.Duration(0)
	for range clusters/1000 + 10 { // a batch takes a thousand away
		slowest = max(slowest, p.probe(unlike(t, random, begin.Add(2*time.Hour))))
	}
	t.Logf("while %d clusters expired, no article took longer than %s", clusters,
		slowest.Round(time.Millisecond))
	gone := 0
	for _, r := range w.read(w.clusters, kgo.ReadCommitted()) {
		if r.Value == nil {
			gone++
		}
	}
	if gone < clusters*99/100 {
		t.Errorf("%d tombstones for %d clusters", gone, clusters)
	}
	running.stop()
	w.audit()
}

// letTimestamps makes the input take records of any time; by default the broker refuses those an
// hour ahead.
func (w *world) letTimestamps() {
	w.Helper()
	most := fmt.Sprint(int64(1<<63 - 1))
	w.setTopic(w.input, "message.timestamp.after.max.ms", most)
	w.setTopic(w.input, "retention.ms", "-1") // or a record of 1970 is deleted
}

// unlike returns an article of random words, which is like no other.
func unlike(t *testing.T, random *rand.Rand, at time.Time) []byte {
	t.Helper()
	content := ""
	for range 12 {
		content += fmt.Sprintf("w%x ", random.Uint32())
	}
	return mustJSON(t, map[string]string{
		"content": content, "published_at": at.UTC().Format(time.RFC3339),
	})
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
