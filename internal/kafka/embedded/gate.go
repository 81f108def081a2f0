package embedded

import (
	"encoding/binary"
	"errors"
	"io"
	"net"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// A gate is a listener that accepts no connection until it is open. It closes a connection before
// kfake sees a request that would harm it. A request of an unknown kind ends the process. A request
// that claims some gigabytes, as the first bytes of HTTP do, takes that much memory at once.
type gate struct {
	net.Listener
	open <-chan struct{}
}

func (g gate) Accept() (net.Conn, error) {
	<-g.open
	conn, err := g.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &requests{Conn: conn}, nil
}

const (
	// maxRequest is how large a request may be, in bytes: as socket.request.max.bytes of Kafka.
	maxRequest = 100 << 20
	// headBytes is how long the part of a request is that tells its size and its kind.
	headBytes = 6
)

// requests is a connection that checks each request. A request stands behind its size.
type requests struct {
	net.Conn
	head []byte // of the request at hand: bytes that are still to be handed on
	left int    // bytes of it behind the head
}

var errRequest = errors.New("this is no request of Kafka")

// Read implements [net.Conn]. It is not safe for concurrent use.
func (r *requests) Read(p []byte) (int, error) {
	if len(r.head) == 0 && r.left == 0 {
		if err := r.next(); err != nil {
			return 0, err
		}
	}
	if len(r.head) > 0 {
		n := copy(p, r.head)
		r.head = r.head[n:]
		return n, nil
	}
	n, err := r.Conn.Read(p[:min(len(p), r.left)])
	r.left -= n
	return n, err
}

// next reads the head of the next request.
func (r *requests) next() error {
	head := make([]byte, headBytes)
	if _, err := io.ReadFull(r.Conn, head); err != nil {
		return err
	}
	const sizeBytes, shortest = 4, 8 // kind, version and number
	size := binary.BigEndian.Uint32(head)
	kind := int16(binary.BigEndian.Uint16(head[sizeBytes:]))
	if size < shortest || size > maxRequest || kmsg.RequestForKey(kind) == nil {
		return errRequest
	}
	r.head, r.left = head, int(size)-(headBytes-sizeBytes)
	return nil
}
