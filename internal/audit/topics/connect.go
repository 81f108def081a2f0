// Package topics reads the topics of a clusterd with franz-go, another Kafka client than the
// daemon's: a consistent cut of them while the daemon runs, the records of a part of a topic, and
// record batches where a client's records are not enough. Settings go in, records come out. It
// knows nothing of what is in them.
package topics

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/clusterd/clusterd/internal/config"
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
	options, err := Connection(c, "clusterd-audit")
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

// Connection returns how to reach the brokers of a configuration, under a client id. An error names
// the setting that cannot be used.
func Connection(c config.Kafka, id string) ([]kgo.Opt, error) {
	options := []kgo.Opt{
		kgo.SeedBrokers(c.Brokers...), kgo.ClientID(id),
		kgo.RetryTimeout(answerLimit), kgo.RequestTimeoutOverhead(answerTimeout),
	}
	if c.TLS.Enabled {
		t, err := tlsConfig(c.TLS)
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

// tlsConfig returns how connections are encrypted.
func tlsConfig(c config.TLS) (*tls.Config, error) {
	t := &tls.Config{
		MinVersion: tls.VersionTLS12, ServerName: c.ServerName, InsecureSkipVerify: c.InsecureSkipVerify,
	}
	if c.CAFile != "" {
		authorities, err := os.ReadFile(c.CAFile)
		if err != nil {
			return nil, fmt.Errorf("kafka.tls.ca_file: %w", err)
		}
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(authorities) {
			return nil, fmt.Errorf("kafka.tls.ca_file: %s holds no PEM certificate", c.CAFile)
		}
	}
	if c.CertFile != "" {
		own, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("kafka.tls.cert_file, kafka.tls.key_file: %w", err)
		}
		t.Certificates = []tls.Certificate{own}
	}
	return t, nil
}
