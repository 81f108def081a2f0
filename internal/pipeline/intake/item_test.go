package intake

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/monitor"
	"github.com/clusterd/clusterd/internal/parallel"
	"github.com/clusterd/clusterd/internal/testutil/texts"
)

// Of a record that is no article all is kept, and counts: what waits is bounded, whatever is large
// in it.
func TestWhatWaitsIsBounded(t *testing.T) {
	const maxBytes, records, large = 8 << 20, 3000, 1 << 20
	for name, record := range map[string]func() kafka.Record{
		"keys": func() kafka.Record { return kafka.Record{Key: make([]byte, large), Value: []byte("{")} },
		"headers": func() kafka.Record {
			return kafka.Record{Value: []byte("{"), Headers: []kafka.Header{{Value: make([]byte, large)}}}
		},
		"values": func() kafka.Record { return kafka.Record{Value: make([]byte, large)} },
		"batches": func() kafka.Record {
			return kafka.Record{Value: make([]byte, large), Unreadable: &kafka.Unreadable{Reason: "no"}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := testFingerprinter(t, config.Default())
			synctest.Test(t, func(t *testing.T) {
				r := &Reading{
					Space: "all", Monitor: monitor.New("test"), Batch: config.Default().Batch,
					Items: Records(f, &Carried{}),
				}
				r.Batch.Bytes = maxBytes
				ctx, cancel := context.WithCancel(t.Context())
				chunks, batches := make(chan consumer.Chunk), make(chan Batch)
				go r.Run(ctx, chunks, batches) //nolint:errcheck // it ends with the context
				taken := 0
			feed: // a record a chunk, so that nothing but the stages bounds them
				for ; taken < records; taken++ {
					r := record()
					r.Offset = int64(taken)
					select {
					case chunks <- consumer.Chunk{Records: []kafka.Record{r}, Next: r.Next()}:
					case <-time.After(time.Minute): // nobody takes a batch
						break feed
					}
				}
				if taken > maxBytes/large+3 {
					t.Errorf("%d records of 1 MiB were taken", taken)
				}
				for taken > 0 {
					b := <-batches
					if n := size(b.Items); n > maxBytes {
						t.Errorf("a batch of %d bytes", n)
					}
					taken -= len(b.Items)
				}
				cancel()
			})
		})
	}
}

func TestFingerprintPassesOverEmptyChunks(t *testing.T) {
	r := &Reading{
		Monitor: monitor.New("test"), Items: Records(testFingerprinter(t, config.Default()), &Carried{}),
	}
	ctx, cancel := context.WithCancel(t.Context())
	chunks, out, ended := make(chan consumer.Chunk), make(chan chunk), make(chan error, 1)
	go func() { ended <- r.makeItems(ctx, chunks, out) }()
	chunks <- consumer.Chunk{Next: 5} // control records alone
	// More than a core takes at a time, and not a multiple of it.
	records := make([]kafka.Record, 5*parallel.ChunkSize+3)
	for i := range records {
		records[i] = kafka.Record{
			Offset: int64(i) + 5, Value: texts.ArticleJSON(fmt.Sprint(i), "", "台风登陆"),
		}
	}
	chunks <- consumer.Chunk{Partition: 3, Records: records, Next: 900}
	got := <-out
	if len(got.items) != len(records) || got.partition != 3 || got.next != 900 {
		t.Errorf("%d records of partition %d up to %d", len(got.items), got.partition, got.next)
	}
	for i, r := range got.items {
		if r.Source.Offset != records[i].Offset || r.Representative.ID != fmt.Sprint(i) ||
			!r.Comparable || r.Fingerprint != got.items[0].Fingerprint {
			t.Fatalf("record %d: %+v", i, r)
		}
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("fingerprint ended with %v", err)
	}
}
