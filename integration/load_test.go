//go:build integration

package integration

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// prober sends one article at a time and waits for its result.
type prober struct {
	*world
	sender, reader *kgo.Client
}

func (w *world) prober() *prober {
	w.Helper()
	from := make(map[int32]kgo.Offset)
	for p, end := range w.ends(w.output) {
		from[p] = kgo.NewOffset().At(end)
	}
	reader, err := kgo.NewClient(kgo.SeedBrokers(w.addresses[0]),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{w.output: from}))
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(reader.Close)
	return &prober{world: w, sender: w.producer(), reader: reader}
}

// probe returns how long an article takes from Kafka to Kafka.
func (p *prober) probe(value []byte) time.Duration {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.Context(), p.timeout)
	defer cancel()
	began := time.Now()
	sent, err := p.sender.ProduceSync(ctx, &kgo.Record{Value: value}).First()
	if err != nil {
		p.Fatal(err)
	}
	want := source{sent.Topic, sent.Partition, sent.Offset}.String()
	for {
		fetches := p.reader.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			p.Fatalf("waiting for the result of %s: %v", want, err)
		}
		for _, r := range fetches.Records() {
			if header(r, "clusterd.source") == want {
				return time.Since(began)
			}
		}
	}
}

// A record that is small on the wire and huge when it is unpacked is a dead letter, and does not
// take the memory of what it unpacks to.
func TestBombs(t *testing.T) {
	t.Parallel()
	const size, most = 160 << 20, 100 << 20
	w := newWorld(t, 1, "")
	running := w.start()
	w.send(2000)
	w.done()
	before := running.peak()
	for name, codec := range map[string]kgo.CompressionCodec{
		"gzip": kgo.GzipCompression(),
		"zstd": kgo.ZstdCompression(), "lz4": kgo.Lz4Compression(),
	} {
		client := w.producer(kgo.ProducerBatchCompression(codec), kgo.ProducerBatchMaxBytes(400_000_000),
			kgo.BrokerMaxWriteBytes(500_000_000), kgo.MaxBufferedBytes(0))
		if err := client.ProduceSync(t.Context(), &kgo.Record{
			Key:   []byte(name),
			Value: bytes.Repeat([]byte("a"), size),
		}).FirstErr(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	w.send(100)
	w.done()
	t.Logf("at most %d MiB of memory before, %d MiB after", before>>20, running.peak()>>20)
	if more := running.peak() - before; more > most {
		t.Errorf("bombs of %d MiB take %d MiB of memory", size>>20, more>>20)
	}
	running.stop()
	dead := w.deadLetters()
	if len(dead) != 3 {
		t.Errorf("%d dead letters of 3 bombs", len(dead))
	}
	for _, r := range dead {
		if class := header(r, "clusterd.error"); class != "too_large" {
			t.Errorf("%s: class %s", r.Key, class)
		}
	}
	w.audit()
}

// A hundred thousand articles with the same fingerprint are one cluster. It says how fast they
// went.
func TestSameFingerprint(t *testing.T) {
	t.Parallel()
	const articles = 100_000
	w := newWorld(t, 4, "")
	records := make([]*kgo.Record, articles)
	for i := range records {
		records[i] = &kgo.Record{Value: []byte(
			`{"content":"Win a prize on the northern harbour today, call now."}`)}
	}
	running := w.start()
	running.waitLive()
	began := time.Now()
	w.produce(records...)
	w.done()
	t.Logf("%.0f articles a second", articles/time.Since(began).Seconds())
	running.stop()
	w.audit()
}

// Where results can be written slowly only, articles wait in Kafka, not in memory.
func TestSlowOutput(t *testing.T) {
	t.Parallel()
	const articles, bytesPerSecond, most = 20_000, 200 << 10, 100 << 20
	w := ownBroker(t).newWorld(t, 4, "")
	running := w.start()
	w.send(articles)
	w.done()
	before := running.peak()
	w.limitOutput(bytesPerSecond)
	w.send(articles)
	began := time.Now()
	w.done()
	w.limitOutput(0)
	t.Logf("%d articles in %.1f s; at most %d MiB of memory before, %d MiB after", articles,
		time.Since(began).Seconds(), before>>20, running.peak()>>20)
	if more := running.peak() - before; more > most {
		t.Errorf("it took %d MiB more", more>>20)
	}
	running.stop()
	w.audit()
}

// limitOutput sets how much all instances on this broker may write together; 0 is no limit.
func (w *world) limitOutput(bytesPerSecond float64) {
	w.Helper()
	name := "clusterd" // the client id
	_, err := w.admin.AlterClientQuotas(w.Context(), []kadm.AlterClientQuotaEntry{{
		Entity: kadm.ClientQuotaEntity{{Type: "client-id", Name: &name}},
		Ops: []kadm.AlterClientQuotaOp{{
			Key: "producer_byte_rate", Value: bytesPerSecond, Remove: bytesPerSecond == 0,
		}},
	}})
	if err != nil {
		w.Fatal(err)
	}
}
