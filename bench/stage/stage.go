// Package stage is what bench holds clusterd to and what is made of clusterd's own parts: its
// fetches and transactions with nothing in between, and its fingerprint stage alone. A topic goes
// in; a topic, or a count, comes out.
package stage

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/sink"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
)

// Play plays a role until ctx ends: "ceiling" with the arguments input, output and group, or
// "fingerprint" with an input, which prints to out how many fingerprints there are so far.
func Play(
	ctx context.Context, role, brokers, method string, args []string, out io.Writer,
) error {
	want := map[string]int{"ceiling": 3, "fingerprint": 1}[role]
	if want == 0 {
		return fmt.Errorf("-role %q is neither ceiling nor fingerprint", role)
	}
	if len(args) != want {
		return fmt.Errorf("-role %s takes %d arguments, and has %q", role, want, args)
	}
	c := config.Default()
	c.Kafka.Brokers, c.Fingerprint.Method = strings.Split(brokers, ","), method
	client, err := kafka.NewClient(kafka.Options{Brokers: c.Kafka.Brokers})
	if err != nil {
		return err
	}
	defer client.Close()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if role == "ceiling" {
		err = ceiling(ctx, client, c, log, args[0], args[1], args[2])
	} else {
		err = printFingerprinted(ctx, client, c, log, args[0], out)
	}
	if ctx.Err() != nil {
		return nil // it was told to end
	}
	return err
}

// read reads all partitions of a topic from the start, as clusterd does, and hands chunks to do.
func read(
	ctx context.Context, client *kafka.Client, log *slog.Logger, topic string, maxBytes int,
	do func(context.Context, <-chan consumer.Chunk) error,
) error {
	partitions, err := client.Partitions(ctx, topic)
	if err != nil {
		return err
	}
	next := make(map[int]int64)
	for _, p := range partitions {
		next[p] = 0
	}
	chunks := make(chan consumer.Chunk)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(
		func() error { return consumer.NewLog(client, log, topic, next, maxBytes).Read(ctx, chunks) },
	)
	group.Go(func() error { return do(ctx, chunks) })
	return group.Wait()
}

// printFingerprinted fingerprints a topic on all cores, and prints how many records that are so
// far.
func printFingerprinted(
	ctx context.Context, client *kafka.Client, c config.Config, log *slog.Logger, topic string,
	out io.Writer,
) error {
	fingerprinter, err := fingerprint.New(c)
	if err != nil {
		return err
	}
	return read(ctx, client, log, topic, c.Batch.Bytes, func(
		ctx context.Context, chunks <-chan consumer.Chunk,
	) error {
		for n := 0; ; {
			select {
			case chunk := <-chunks:
				err := fingerprinter.ForEach(ctx, len(chunk.Records), func(w *fingerprint.Worker, i int) {
					r := &chunk.Records[i]
					_, _ = w.Record(r.Key, r.Value, article.Address{
						Topic: r.Topic, Partition: r.Partition, Offset: r.Offset,
					})
				})
				if err != nil {
					return err
				}
				n += len(chunk.Records)
				if _, err := fmt.Fprintln(out, n); err != nil {
					return err
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
}

// maxMessageBytes is below what Kafka's default allows.
const maxMessageBytes = 1 << 20

// ceiling copies a topic: for each record one of the size of a result, in transactions as large as
// clusterd's and with the offsets of the input. While one commits, the next is read.
func ceiling(
	ctx context.Context, client *kafka.Client, c config.Config, log *slog.Logger, input, output,
	group string,
) error {
	producer, err := sink.NewProducer(client, log, sink.Settings{
		TransactionalID: group, Group: group, Compression: "lz4",
		Limits: map[string]int{output: maxMessageBytes},
	})
	if err != nil {
		return err
	}
	if err := producer.Fence(ctx); err != nil {
		return err
	}
	return read(ctx, client, log, input, c.Batch.Bytes, func(
		ctx context.Context, chunks <-chan consumer.Chunk,
	) error {
		batches := make(chan *copied)
		tasks, ctx := errgroup.WithContext(ctx)
		tasks.Go(func() error { return collect(ctx, c, output, chunks, batches) })
		tasks.Go(func() error {
			for {
				select {
				case b := <-batches:
					if _, err := producer.Commit(ctx, b.batch(input)); err != nil {
						return err
					}
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		})
		return tasks.Wait()
	})
}

// copied is what a transaction of the ceiling carries.
type copied struct {
	records []kafka.Record
	bytes   int // of the input
	next    map[int]int64
}

func (b *copied) batch(input string) sink.Batch {
	batch := sink.Batch{Records: b.records}
	for p, next := range b.next {
		batch.Offsets = append(batch.Offsets, sink.Offset{Topic: input, Partition: p, Offset: next})
	}
	return batch
}

// collect makes batches of chunks. One grows until it is full or taken.
func collect(
	ctx context.Context, c config.Config, output string, chunks <-chan consumer.Chunk,
	batches chan<- *copied,
) error {
	waiting := &copied{next: make(map[int]int64)}
	for {
		receive, send := chunks, batches
		if len(waiting.records) == 0 {
			send = nil
		}
		if len(waiting.records) >= c.Batch.Records || waiting.bytes >= c.Batch.Bytes {
			receive = nil
		}
		select {
		case chunk := <-receive:
			for _, r := range chunk.Records {
				waiting.records = append(waiting.records,
					kafka.Record{Topic: output, Partition: r.Partition, Key: r.Key, Value: result(r)})
				waiting.bytes += len(r.Value)
			}
			waiting.next[chunk.Partition] = chunk.Next
		case send <- waiting:
			waiting = &copied{next: make(map[int]int64)}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// result returns bytes that have the form and, to a few bytes, the size of what clusterd writes for
// an article that founds a cluster.
func result(r kafka.Record) []byte {
	b := make([]byte, 0, 512)
	b = append(append(b, `{"article_id":"`...), r.Key...)
	b = append(append(b, `","cluster_id":"`...), r.Topic...)
	b = strconv.AppendInt(append(b, '/'), int64(r.Partition), 10)
	b = strconv.AppendInt(append(b, '/'), r.Offset, 10)
	b = append(append(b, `","status":"new","distance":0,"size":1,"representative":{"id":"`...),
		r.Key...)
	b = strconv.AppendInt(append(b,
		`","title":""},"fingerprint":"0123456789abcdef","source":{"topic":"articles","partition":0,"offset":`...), r.Offset, 10)
	return append(b,
		`},"pipeline":"method=simhash,hash=sdbm,weight=log,dict=983d9d68,stop=c9db4fa2,norm=1,html=auto"}`...)
}
