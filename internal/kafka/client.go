// Package kafka is the connection to a Kafka cluster that the consumer and the sink share:
// dialling with TLS and SASL, requests with a time limit, retries, and what topics there are.
// Settings go in, a [Client] comes out. It knows nothing of articles or of transactions.
package kafka

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"

	"github.com/clusterd/clusterd/internal/config"
)

const (
	clientID = "clusterd"
	// dialTimeout is short: a broker that is there answers at once, and retries follow.
	dialTimeout = 5 * time.Second
	// requestTimeout bounds every request but fetches, which wait for data on purpose.
	requestTimeout = 30 * time.Second
	// metadataTTL is how stale the cached layout may be: kafka-go does not refresh it when a
	// broker says that it is not the leader.
	metadataTTL = time.Second
)

// Record is a Kafka record, read or to be written.
type Record struct {
	Topic     string
	Partition int
	Offset    int64     // of a record that was read
	Time      time.Time // of a record to be written: zero for now
	Key       []byte    // nil: none
	Value     []byte    // nil: none (a tombstone)
	Headers   []Header
	Cut       int // of a record that was read: how many bytes of the value were left out, since it is too large
}

// Header is a header of a [Record].
type Header = kafkago.Header

// Client is a connection to a cluster. It is safe for concurrent use. Close it when done.
type Client struct {
	Brokers   []string
	Dialer    *kafkago.Dialer // for kafka-go's consumer group, which takes no transport
	addr      net.Addr
	transport *kafkago.Transport
}

// NewClient prepares a connection; it dials at the first request. The error names the setting
// that cannot be used.
func NewClient(c config.Kafka) (*Client, error) {
	tlsConfig, err := TLS(c.TLS)
	if err != nil {
		return nil, err
	}
	mechanism, err := newSASL(c.SASL)
	if err != nil {
		return nil, err
	}
	return &Client{
		Brokers: c.Brokers,
		Dialer: &kafkago.Dialer{
			ClientID: clientID, Timeout: dialTimeout, DualStack: true, TLS: tlsConfig, SASLMechanism: mechanism,
		},
		addr: kafkago.TCP(c.Brokers...),
		transport: &kafkago.Transport{
			ClientID: clientID, DialTimeout: dialTimeout, MetadataTTL: metadataTTL, TLS: tlsConfig, SASL: mechanism,
		},
	}, nil
}

// Close ends the connections that are idle, and the others as they become idle.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Do sends a request to the broker that it is for and waits for the response, at most for the
// request timeout. Error codes inside the response are the caller's to read.
func Do[Response kafkago.Response](ctx context.Context, c *Client, request kafkago.Request) (Response, error) {
	return DoWithin[Response](ctx, c, request, requestTimeout)
}

// DoWithin is [Do] with another time limit.
func DoWithin[Response kafkago.Response](ctx context.Context, c *Client, request kafkago.Request, limit time.Duration) (Response, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var none Response
	response, err := c.transport.RoundTrip(ctx, c.addr, request)
	if err != nil {
		return none, fmt.Errorf("%s: %w", request.ApiKey(), err)
	}
	return response.(Response), nil
}

// admin is kafka-go's client over the same connections, for administrative requests.
func (c *Client) admin() *kafkago.Client {
	return &kafkago.Client{Addr: c.addr, Timeout: requestTimeout, Transport: c.transport}
}

// TLS is how connections are encrypted, nil where they are not. The error names the setting.
func TLS(c config.TLS) (*tls.Config, error) {
	if !c.Enabled {
		return nil, nil
	}
	t := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		ServerName:         c.ServerName,
		InsecureSkipVerify: c.InsecureSkipVerify, // the user's explicit choice, off by default
	}
	if c.CAFile != "" {
		pem, err := os.ReadFile(c.CAFile)
		if err != nil {
			return nil, fmt.Errorf("kafka.tls.ca_file: %w", err)
		}
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("kafka.tls.ca_file: %s holds no PEM certificate", c.CAFile)
		}
	}
	if c.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("kafka.tls.cert_file, kafka.tls.key_file: %w", err)
		}
		t.Certificates = []tls.Certificate{pair}
	}
	return t, nil
}

func newSASL(c config.SASL) (sasl.Mechanism, error) {
	switch c.Mechanism {
	case "", "none":
		return nil, nil
	case "plain":
		return plain.Mechanism{Username: c.Username, Password: c.Password.Reveal()}, nil
	case "scram-sha-256":
		return scram.Mechanism(scram.SHA256, c.Username, c.Password.Reveal())
	case "scram-sha-512":
		return scram.Mechanism(scram.SHA512, c.Username, c.Password.Reveal())
	default:
		return nil, fmt.Errorf("kafka.sasl.mechanism: %q: must be none, plain, scram-sha-256 or scram-sha-512", c.Mechanism)
	}
}
