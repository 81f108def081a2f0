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
	"unsafe"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol/metadata"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"

	"github.com/clusterd/clusterd/internal/config"
)

const (
	clientID = "clusterd"
	// dialTimeout is short: a broker that is there answers at once, and retries follow.
	dialTimeout = 5 * time.Second
	// RequestTimeout bounds every request but those that carry much or wait for data on purpose: a broker that is
	// there answers in less, and one that hangs is not waited for when another could have taken its place.
	RequestTimeout = 10 * time.Second
	// slowest is the rate of a network, in bytes a second, below which requests with much data time out.
	slowest = 1 << 20
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
	// Unreadable is nil but where this stands for records that cannot be read: from Offset on, and the
	// value is the whole record batch as it came.
	Unreadable *Unreadable
}

// Unreadable says that the rest of a record batch cannot be read.
type Unreadable struct {
	Last   int64  // the last offset of the batch
	Reason string // for a person
}

// Next is the offset behind the record.
func (r *Record) Next() int64 {
	if r.Unreadable != nil {
		return r.Unreadable.Last + 1
	}
	return r.Offset + 1
}

// What a record and a header take in memory beside their bytes, about.
const (
	recordOverhead = int(unsafe.Sizeof(Record{})) + 16
	headerOverhead = int(unsafe.Sizeof(Header{})) + 24
)

// Memory is about how many bytes of memory the record holds.
func (r *Record) Memory() int {
	n := recordOverhead + len(r.Key) + len(r.Value)
	for i := range r.Headers {
		n += HeaderMemory(&r.Headers[i])
	}
	if r.Unreadable != nil {
		n += int(unsafe.Sizeof(Unreadable{})) + len(r.Unreadable.Reason)
	}
	return n
}

// HeaderMemory is about how many bytes of memory a header holds.
func HeaderMemory(h *Header) int { return headerOverhead + len(h.Key) + len(h.Value) }

// Header is a header of a [Record].
type Header = kafkago.Header

// Client is a connection to a cluster. It is safe for concurrent use. Close it when done.
type Client struct {
	Brokers []string
	Dialer  *kafkago.Dialer // for kafka-go's consumer group, which takes no transport
	// OnRequest, if it is set before the first request, is called with each, and what it returns with what came
	// of it: nil where a broker answered, whatever it says.
	OnRequest func() (done func(error))
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
	client := &Client{
		Brokers: c.Brokers,
		Dialer: &kafkago.Dialer{
			ClientID: clientID, Timeout: dialTimeout, DualStack: true, TLS: tlsConfig, SASLMechanism: mechanism,
		},
		addr: kafkago.TCP(c.Brokers...),
		transport: &kafkago.Transport{
			ClientID: clientID, DialTimeout: dialTimeout, MetadataTTL: metadataTTL, TLS: tlsConfig, SASL: mechanism,
		},
	}
	client.Dialer.DialFunc = watched{client}.dial
	return client, nil
}

// Close ends the connections that are idle, and the others as they become idle.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Do sends a request to the broker that it is for and waits for the response, at most for the
// request timeout. Error codes inside the response are the caller's to read.
func Do[Response kafkago.Response](ctx context.Context, c *Client, request kafkago.Request) (Response, error) {
	return DoWithin[Response](ctx, c, request, RequestTimeout)
}

// TimeToSend is the time limit of a request that carries so many bytes.
func TimeToSend(bytes int) time.Duration {
	return RequestTimeout + time.Duration(bytes)*time.Second/slowest
}

// DoWithin is [Do] with another time limit.
func DoWithin[Response kafkago.Response](ctx context.Context, c *Client, request kafkago.Request, limit time.Duration) (Response, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var none Response
	response, err := watched{c}.RoundTrip(ctx, c.addr, request)
	if err != nil {
		return none, fmt.Errorf("%s: %w", request.ApiKey(), err)
	}
	return response.(Response), nil
}

// admin is kafka-go's client over the same connections, for administrative requests.
func (c *Client) admin() *kafkago.Client {
	return &kafkago.Client{Addr: c.addr, Timeout: RequestTimeout, Transport: watched{c}}
}

// watched is the transport, with word of what it does.
type watched struct{ *Client }

// dial connects for the consumer group, whose requests nobody sees. That a broker takes the connection counts as an answer.
func (w watched) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if w.OnRequest == nil {
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	done := w.OnRequest()
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	done(err)
	return conn, err
}

// RoundTrip tells nothing of an answer about the layout, which is from memory.
func (w watched) RoundTrip(ctx context.Context, addr net.Addr, request kafkago.Request) (kafkago.Response, error) {
	if w.OnRequest == nil {
		return w.transport.RoundTrip(ctx, addr, request)
	}
	done := w.OnRequest()
	response, err := w.transport.RoundTrip(ctx, addr, request)
	if _, layout := request.(*metadata.Request); layout && err == nil {
		done(context.Canceled)
	} else {
		done(err)
	}
	return response, err
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
