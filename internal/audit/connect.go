package audit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafka"
)

const (
	// answerLimit is how long a request is tried again, at one broker after the other; answerTimeout is how long one
	// of them may take, beside what it waits for on purpose. One may hang.
	answerLimit   = 20 * time.Second
	answerTimeout = 5 * time.Second
	// silence is how long records may fail to come that are known to be there.
	silence = time.Minute
	// fetchBytes bounds what one fetch brings into memory, where a record batch is not larger itself.
	fetchBytes = 8 << 20
)

// connection are the options of every client: how the brokers are reached.
func connection(c config.Kafka) ([]kgo.Opt, error) {
	options := []kgo.Opt{
		kgo.SeedBrokers(c.Brokers...), kgo.ClientID("clusterd-audit"), kgo.RetryTimeout(answerLimit), kgo.RequestTimeoutOverhead(answerTimeout),
	}
	if c.TLS.Enabled {
		t, err := kafka.TLS(c.TLS)
		if err != nil {
			return nil, err
		}
		options = append(options, kgo.DialTLSConfig(t))
	}
	user, password := c.SASL.Username, c.SASL.Password.Reveal()
	switch c.SASL.Mechanism {
	case "plain":
		options = append(options, kgo.SASL(plain.Auth{User: user, Pass: password}.AsMechanism()))
	case "scram-sha-256":
		options = append(options, kgo.SASL(scram.Auth{User: user, Pass: password}.AsSha256Mechanism()))
	case "scram-sha-512":
		options = append(options, kgo.SASL(scram.Auth{User: user, Pass: password}.AsSha512Mechanism()))
	}
	return options, nil
}

// read gives take every record of a span, in the order of each partition: data records of the level,
// which it counts, and the control records that end transactions. What comes after the span is not given.
//
// An aborted record at the very end is not returned by read_committed, but the control record that
// ended its transaction is: with it the reader knows that it is past the end.
func (a *audit) read(ctx context.Context, s span, level kgo.IsolationLevel, take func(*kgo.Record) error) (n int64, err error) {
	from := make(map[int32]kgo.Offset)
	for p, end := range s.to {
		if s.from[p] < end {
			from[p] = kgo.NewOffset().At(s.from[p])
		}
	}
	if len(from) == 0 {
		return 0, nil
	}
	client, err := kgo.NewClient(append([]kgo.Opt{
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{s.topic: from}), kgo.FetchIsolationLevel(level), kgo.KeepControlRecords(),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()), kgo.FetchMaxBytes(fetchBytes), kgo.FetchMaxPartitionBytes(fetchBytes / 8),
	}, a.connection...)...)
	if err != nil {
		return 0, err
	}
	defer client.Close()
	for len(from) > 0 {
		fetches, err := poll(ctx, client)
		if err != nil {
			return n, fmt.Errorf("reading %s: %w", s.topic, err)
		}
		for iter := fetches.RecordIter(); !iter.Done(); {
			r := iter.Next()
			if _, open := from[r.Partition]; !open {
				continue
			}
			if r.Offset < s.to[r.Partition] {
				if !r.Attrs.IsControl() {
					n++
				}
				if err := take(r); err != nil {
					return n, err
				}
			}
			if r.Offset >= s.to[r.Partition]-1 {
				delete(from, r.Partition)
				client.RemoveConsumePartitions(map[string][]int32{s.topic: {r.Partition}})
			}
		}
		a.advance(int64(fetches.NumRecords()))
	}
	return n, nil
}

// data is take without the control records.
func data(take func(*kgo.Record) error) func(*kgo.Record) error {
	return func(r *kgo.Record) error {
		if r.Attrs.IsControl() {
			return nil
		}
		return take(r)
	}
}

// poll waits for the next records.
func poll(ctx context.Context, client *kgo.Client) (kgo.Fetches, error) {
	limited, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	fetches := client.PollFetches(limited)
	err := fetches.Err()
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil, fmt.Errorf("no record came for %s, though there are some. Nothing is wrong with them that is known; run the audit again", silence)
	}
	return fetches, err
}
