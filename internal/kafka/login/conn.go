package login

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	clientID = "clusterd"
	// maxAnswer bounds what a broker says in a login, in bytes.
	maxAnswer = 1 << 20
	// soonest is how long a login is left alone: for a second, a broker takes no other one.
	soonest = 1100 * time.Millisecond
	// retryAfter is the pause after a login that could not be renewed for want of a token.
	retryAfter = time.Second
)

// conn is a connection to a broker. It explains errors that say that the settings are wrong, and
// renews its login before the broker ends it (KIP-368).
type conn struct {
	net.Conn
	dialer *Dialer
	broker string
	plain  bool // without TLS
	heard  bool // something, before
	// within bounds a login that is renewed, whose dial is long over.
	within func() (context.Context, context.CancelFunc)

	renewAt        time.Time // zero: the login does not end
	sent, received frames
}

// Read reads as the connection does. A broker that does not take the client's certificate says so
// only here: in TLS 1.3 the client's handshake is over before the broker's.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if !c.heard && c.plain {
		if n > 1 && isAlert(b) {
			return 0, &Error{Broker: c.broker, Advice: wantsTLS, Fatal: true, Err: errTLSAlert}
		}
		if n == 0 && errors.Is(err, io.EOF) {
			return 0, &Error{Broker: c.broker, Advice: maybeWantsTLS, Err: err}
		}
	}
	c.heard = c.heard || n > 0
	if !c.renewAt.IsZero() {
		c.received.pass(b[:n])
	}
	if err != nil && !c.plain {
		err = c.dialer.alertError(c.broker, err)
	}
	return n, err
}

// isAlert reports whether bytes begin as an alert of TLS does.
func isAlert(b []byte) bool { return b[0] == 21 && b[1] == 3 }

// Write writes as the connection does. Where the login ends soon and no answer is awaited, it is
// renewed before.
func (c *conn) Write(b []byte) (int, error) {
	if !c.renewAt.IsZero() {
		if idle := c.sent.whole() && c.sent.n.Load() == c.received.n.Load(); idle &&
			!time.Now().Before(c.renewAt) {
			if err := c.renew(); err != nil {
				return 0, err
			}
		}
		c.sent.pass(b)
	}
	return c.Conn.Write(b)
}

// renew logs in once more. Without a token it leaves things as they are: the login holds a while.
// That a broker does not take a login now says nothing of the settings, since it took one before.
func (c *conn) renew() error {
	ctx, cancel := c.within()
	defer cancel()
	err := c.login(ctx)
	var failed *Error
	if errors.As(err, &failed) && failed.ours {
		c.renewAt = time.Now().Add(retryAfter)
		return nil
	}
	if errors.Is(err, kerr.IllegalSaslState) {
		return fmt.Errorf("broker %s: renewing the login: %w", c.broker, net.ErrClosed)
	}
	return err
}

// login does the exchange of the mechanism, and learns for how long it holds.
func (c *conn) login(ctx context.Context) error {
	d := c.dialer
	session, message, err := d.mechanism.Authenticate(ctx, c.broker)
	if err != nil {
		return d.credentialError(c.broker, err)
	}
	began := time.Now()
	handshake := kmsg.NewPtrSASLHandshakeRequest()
	handshake.Version, handshake.Mechanism = 1, d.mechanism.Name()
	var accepted kmsg.SASLHandshakeResponse
	if err := c.ask(handshake, &accepted); err != nil {
		return err
	}
	if err := kerr.ErrorForCode(accepted.ErrorCode); err != nil {
		return mechanismError(c.broker, d.mechanism.Name(), accepted.SupportedMechanisms, err)
	}
	for {
		step := kmsg.NewPtrSASLAuthenticateRequest()
		step.Version, step.SASLAuthBytes = 1, message
		var answer kmsg.SASLAuthenticateResponse
		if err := c.ask(step, &answer); err != nil {
			return err
		}
		if err := kerr.ErrorForCode(answer.ErrorCode); err != nil {
			if answer.ErrorMessage != nil {
				err = fmt.Errorf("%w: %s", err, d.hide(*answer.ErrorMessage))
			}
			return d.refusal(c.broker, err)
		}
		done, next, err := session.Challenge(answer.SASLAuthBytes)
		if err != nil {
			return d.refusal(c.broker, err)
		}
		if message = next; done && len(next) == 0 {
			c.holdsFor(began, time.Duration(answer.SessionLifetimeMillis)*time.Millisecond)
			return nil
		}
	}
}

// holdsFor notes when a login is to be renewed: some time before it ends, which is not the same for
// all connections.
func (c *conn) holdsFor(began time.Time, lifetime time.Duration) {
	c.renewAt = time.Time{}
	if lifetime > 0 {
		c.renewAt = began.Add(max(lifetime*80/100+rand.N(lifetime/10+1), soonest))
	}
}

// ask sends a request of a login and reads the answer.
func (c *conn) ask(request kmsg.Request, response kmsg.Response) error {
	wrap := func(err error) error {
		var explained *Error
		if err == nil || errors.As(err, &explained) {
			return err
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return &Error{Broker: c.broker, Advice: closedAtLogin, Err: err}
		}
		return fmt.Errorf("broker %s: logging in: %w", c.broker, err)
	}
	renewing := c.renewAt
	c.renewAt = time.Time{} // neither the request nor its answer is the client's
	defer func() { c.renewAt = renewing }()
	return wrap(Exchange(c, request, response, maxAnswer))
}

// frames counts messages of Kafka's protocol, each of which begins with its size, in a stream.
type frames struct {
	n    atomic.Int64 // that were whole
	head [4]byte
	have int // bytes of head
	left int // bytes of the message in hand
}

// whole reports whether no message is in hand.
func (f *frames) whole() bool { return f.have == 0 && f.left == 0 }

// pass counts what is in the next bytes of the stream.
func (f *frames) pass(b []byte) {
	for len(b) > 0 {
		if f.left == 0 {
			n := copy(f.head[f.have:], b)
			f.have, b = f.have+n, b[n:]
			if f.have < len(f.head) {
				return
			}
			f.have, f.left = 0, int(binary.BigEndian.Uint32(f.head[:]))
		}
		n := min(f.left, len(b))
		f.left, b = f.left-n, b[n:]
		if f.left == 0 {
			f.n.Add(1)
		}
	}
}
