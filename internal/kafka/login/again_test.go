package login

import (
	"encoding/binary"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// endingBroker takes logins that end, and answers any other request with its correlation id.
type endingBroker struct {
	*testing.T
	net.Listener
	connections, logins atomic.Int64
}

const (
	apiHandshake, apiAuthenticate, apiVersions = 17, 36, 18
	loginEnds                                  = 1300 * time.Millisecond
)

func (b *endingBroker) serve() {
	for {
		c, err := b.Accept()
		if err != nil {
			return // the test is over
		}
		b.connections.Add(1)
		go b.talk(c)
	}
}

func (b *endingBroker) talk(c net.Conn) {
	defer c.Close()
	for {
		var head [4]byte
		if _, err := io.ReadFull(c, head[:]); err != nil {
			return
		}
		request := make([]byte, binary.BigEndian.Uint32(head[:]))
		if _, err := io.ReadFull(c, request); err != nil {
			return
		}
		answer := append([]byte(nil), request[4:8]...)
		switch binary.BigEndian.Uint16(request) {
		case apiHandshake:
			b.logins.Add(1)
			answer = (&kmsg.SASLHandshakeResponse{Version: 1}).AppendTo(answer)
		case apiAuthenticate:
			answer = (&kmsg.SASLAuthenticateResponse{
				Version: 1, SessionLifetimeMillis: loginEnds.Milliseconds(),
			}).AppendTo(answer)
		}
		if _, err := c.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(answer))),
			answer...)); err != nil {
			return
		}
	}
}

// Before a login ends, the next request is preceded by another login, on the same connection, and
// gets its own answer (KIP-368).
func TestLoginIsRenewed(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	broker := &endingBroker{T: t, Listener: listener}
	go broker.serve()
	d, err := New(TLS{}, SASL{Mechanism: "plain", Username: "u", Password: "p"}, discard())
	if err != nil {
		t.Fatal(err)
	}
	c, err := d.Dial(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	began := time.Now()
	for id := uint32(1); broker.logins.Load() < 3; id++ {
		if time.Since(began) > 10*loginEnds {
			t.Fatalf("%d logins in %s", broker.logins.Load(), time.Since(began))
		}
		request := binary.BigEndian.AppendUint32(nil, 8)
		request = binary.BigEndian.AppendUint16(request, apiVersions)
		request = binary.BigEndian.AppendUint16(request, 0)
		request = binary.BigEndian.AppendUint32(request, id)
		for _, part := range [][]byte{request[:5], request[5:]} { // a login is not put into a request
			if _, err := c.Write(part); err != nil {
				t.Fatal(err)
			}
		}
		var answer [8]byte
		if _, err := io.ReadFull(c, answer[:]); err != nil {
			t.Fatal(err)
		}
		if got := binary.BigEndian.Uint32(answer[4:]); got != id {
			t.Fatalf("request %d got the answer of %d", id, got)
		}
	}
	if took := time.Since(began); took < 2*soonest || took > 2*loginEnds {
		t.Errorf("two renewals of a login of %s took %s", loginEnds, took)
	}
	if n := broker.connections.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}
