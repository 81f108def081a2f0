// Package kafka is the connection to a Kafka cluster that the consumer and the sink share:
// dialling with TLS and SASL, requests with a time limit, retries, and what topics there are.
// Settings go in, a [Client] comes out. It knows nothing of articles or of transactions.
package kafka

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol/metadata"
)

const (
	clientID = "clusterd"
	// dialTimeout is longer than package login takes, whose errors say more.
	dialTimeout = 6 * time.Second
	// RequestTimeout bounds every request but those that carry much or wait for data on purpose: a
	// broker that is there answers in less, and one that hangs is not waited for when another could
	// have taken its place.
	RequestTimeout = 10 * time.Second
	// slowest is the rate of a network, in bytes a second, below which requests with much data time
	// out.
	slowest = 1 << 20
	// metadataTTL is how stale the cached layout may be: kafka-go does not refresh it when a
	// broker says that it is not the leader.
	metadataTTL = time.Second
)

// A Client is a connection to a cluster. It is safe for concurrent use. Close it when done.
type Client struct {
	Brokers []string
	// OnRequest, if it is set before the first request, is called with each, and what it returns with
	// what came of it: nil where a broker answered, whatever it says.
	OnRequest func() (done func(error))
	// LongOpen, if it is set before the first request, is how long a transaction may be open until it
	// is reported, instead of the constant.
	LongOpen    time.Duration
	answered    atomic.Bool // a broker has, at least once
	fetchesByID atomic.Bool // see FetchesByID
	addr        net.Addr
	dial        func(ctx context.Context, network, address string) (net.Conn, error)
	dialer      *kafkago.Dialer
	transport   *kafkago.Transport
}

// NewClient prepares a connection; it dials at the first request. The error names the setting
// that cannot be used.
func NewClient(o Options) (*Client, error) {
	dialer, err := o.dialer()
	if err != nil {
		return nil, err
	}
	client := &Client{
		Brokers: o.Brokers,
		dial:    dialer.Dial,
		dialer:  &kafkago.Dialer{ClientID: clientID, Timeout: dialTimeout},
		addr:    kafkago.TCP(o.Brokers...),
		transport: &kafkago.Transport{
			ClientID: clientID, DialTimeout: dialTimeout, MetadataTTL: metadataTTL, Dial: dialer.Dial,
		},
	}
	client.dialer.DialFunc = watched{client}.connect
	return client, nil
}

// Dialer returns a dialer for kafka-go's consumer group, which takes no transport.
func (c *Client) Dialer() *kafkago.Dialer {
	dialer := *c.dialer
	return &dialer
}

// Close ends the connections that are idle, and the others as they become idle.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Do sends a request to the broker that it is for and waits for the response, at most for the
// request timeout. Error codes inside the response are the caller's to read.
func Do[Response kafkago.Response](
	ctx context.Context, c *Client, request kafkago.Request,
) (Response, error) {
	return DoWithin[Response](ctx, c, request, RequestTimeout)
}

// silent reports whether err is that of an address that did not answer in time.
func silent(err error) bool {
	var code kafkago.Error // an answer, and a net.Error all the same
	var network net.Error
	return !errors.As(err, &code) && errors.As(err, &network) && network.Timeout()
}

// TimeToSend returns the time limit of a request that carries so many bytes.
func TimeToSend(bytes int) time.Duration {
	return RequestTimeout + time.Duration(bytes)*time.Second/slowest
}

// DoWithin does what [Do] does, with another time limit.
func DoWithin[Response kafkago.Response](
	ctx context.Context, c *Client, request kafkago.Request, limit time.Duration,
) (Response, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var none Response
	response, err := watched{c}.RoundTrip(ctx, c.addr, request)
	if !c.answered.Load() && silent(err) {
		return none, fmt.Errorf("%s: nothing at %s has answered as a Kafka broker does: check "+
			"kafka.brokers: %w", request.ApiKey(), strings.Join(c.Brokers, ", "), err)
	}
	if err != nil {
		return none, fmt.Errorf("%s: %w", request.ApiKey(), err)
	}
	c.answered.Store(true)
	return response.(Response), nil
}

// admin returns kafka-go's client over the same connections, for administrative requests.
func (c *Client) admin() *kafkago.Client {
	return &kafkago.Client{Addr: c.addr, Timeout: RequestTimeout, Transport: watched{c}}
}

// watched is the transport, which reports what it does.
type watched struct{ *Client }

// connect connects for the consumer group, whose requests nobody sees. That a broker takes the
// connection counts as an answer.
func (w watched) connect(ctx context.Context, network, address string) (net.Conn, error) {
	if w.OnRequest == nil {
		return w.dial(ctx, network, address)
	}
	done := w.OnRequest()
	conn, err := w.dial(ctx, network, address)
	done(err)
	return conn, err
}

// RoundTrip reports nothing of an answer about the layout, which is from memory.
func (w watched) RoundTrip(
	ctx context.Context, addr net.Addr, request kafkago.Request,
) (kafkago.Response, error) {
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
