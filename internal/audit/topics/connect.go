// Package topics reads the topics of a clusterd with franz-go, another Kafka client than the
// daemon's: a consistent cut of them while the daemon runs, the records of a part of a topic, and
// record batches where a client's records are not enough. Settings go in, records come out. It
// knows nothing of what is in them.
package topics

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafka/login"
)

const (
	// answerLimit is how long a request is tried again, at one broker after the other. answerTimeout
	// is how long one of them may take, beside what it waits for on purpose: one may hang.
	answerLimit   = 20 * time.Second
	answerTimeout = 5 * time.Second
	// silence is how long records may fail to come that are known to be there.
	silence = time.Minute
	// fetchBytes bounds what one fetch brings into memory, where a record batch is not larger itself.
	fetchBytes = 8 << 20
)

// A Client reads topics. Close it when done.
type Client struct {
	options []kgo.Opt // of every connection
	client  *kgo.Client
	admin   *kadm.Client
	log     *slog.Logger
	advance func(n int64)
}

// NewClient prepares a connection. It calls advance with the number of records or offsets that each
// fetch brought, and logs what it waits for. An error names the setting that cannot be used.
func NewClient(c config.Kafka, log *slog.Logger, advance func(n int64)) (*Client, error) {
	options, err := Connection(c, "clusterd-audit", log)
	if err != nil {
		return nil, err
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		return nil, err
	}
	return &Client{
		options: options, client: client, admin: kadm.NewClient(client), log: log, advance: advance,
	}, nil
}

// Close ends the connections.
func (c *Client) Close() { c.client.Close() }

// Connection returns how to reach the brokers of a configuration, under a client id. It logs when a
// certificate or a token has changed. An error names the setting that cannot be used.
func Connection(c config.Kafka, id string, log *slog.Logger) ([]kgo.Opt, error) {
	dialer, err := login.New(login.TLS(c.TLS), login.SASL(c.SASL), log)
	if err != nil {
		return nil, err
	}
	return []kgo.Opt{
		kgo.SeedBrokers(c.Brokers...), kgo.ClientID(id), kgo.Dialer(dialer.Dial),
		kgo.RetryTimeout(answerLimit), kgo.RequestTimeoutOverhead(answerTimeout),
	}, nil
}

// Explain adds to an error what to do about it, where brokers refused a login or a right.
func Explain(err error) error {
	var failed *login.Error
	switch {
	case errors.As(err, &failed):
		return fmt.Errorf("%s (%w)", failed.Advice, err)
	case errors.Is(err, kerr.TopicAuthorizationFailed):
		return fmt.Errorf("grant Read on all topics of the configuration (%w)", err)
	case errors.Is(err, kerr.GroupAuthorizationFailed):
		return fmt.Errorf("grant Read on the group input.group (%w)", err)
	}
	return err
}
