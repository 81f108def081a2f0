package kafka

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/fetch"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A FetchRequest is kafka-go's fetch request, but its response is a [*FetchResponse]: record
// batches stay as they came. In kafka-go's own they are decompressed whole, however large they
// become.
type FetchRequest struct {
	fetch.Request
	version int16 // the highest that the broker and kafka-go both know
}

// A FetchResponse is what a broker answers to a [FetchRequest].
type FetchResponse struct{ kmsg.FetchResponse }

// ApiKey returns the key of fetch requests.
func (r *FetchResponse) ApiKey() protocol.ApiKey { return protocol.Fetch }

// Required makes kafka-go leave the exchange to [FetchRequest.RawExchange].
func (r *FetchRequest) Required(versions map[protocol.ApiKey]int16) bool {
	r.version = versions[protocol.Fetch]
	return true
}

// RawExchange sends the request and reads the response, which share no connection with others.
func (r *FetchRequest) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	const correlation = 1 // any: a connection carries one request at a time
	if err := protocol.WriteRequest(rw, r.version, correlation, clientID, &r.Request); err != nil {
		return nil, err
	}
	var head [8]byte
	if _, err := io.ReadFull(rw, head[:]); err != nil {
		return nil, err
	}
	size, id := int32(binary.BigEndian.Uint32(head[:])), binary.BigEndian.Uint32(head[4:])
	if size < 4 || id != correlation {
		return nil, fmt.Errorf("reading a fetch response: size %d, correlation id %d instead of %d", size,
			id, correlation)
	}
	body := make([]byte, size-4)
	if _, err := io.ReadFull(rw, body); err != nil {
		return nil, err
	}
	response := &FetchResponse{}
	response.Version = r.version
	if err := response.ReadFrom(body); err != nil {
		return nil, fmt.Errorf("reading a fetch response: %w", err)
	}
	return response, nil
}

var _ protocol.RawExchanger = (*FetchRequest)(nil)
