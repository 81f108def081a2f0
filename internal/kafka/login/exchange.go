package login

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Exchange sends a request on a connection on which no other one is open, and reads the response of
// at most some bytes. The request says its version.
func Exchange(
	conn io.ReadWriter, request kmsg.Request, response kmsg.Response, maxBytes uint32,
) error {
	const correlation = 0 // any: a connection carries one request at a time
	formatter := kmsg.NewRequestFormatter(kmsg.FormatterClientID(clientID))
	if _, err := conn.Write(formatter.AppendRequest(nil, request, correlation)); err != nil {
		return err
	}
	var head [8]byte // size, correlation id
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return err
	}
	size, id := binary.BigEndian.Uint32(head[:]), binary.BigEndian.Uint32(head[4:])
	if size < 4 || size > maxBytes || id != correlation {
		return fmt.Errorf("a response of %d bytes to request %d instead of %d", size, id, correlation)
	}
	body := make([]byte, size-4)
	if _, err := io.ReadFull(conn, body); err != nil {
		return err
	}
	response.SetVersion(request.GetVersion())
	body, err := withoutTags(body, response)
	if err == nil {
		err = response.ReadFrom(body)
	}
	if err != nil {
		return fmt.Errorf("reading a response to %s: %w", kmsg.NameForKey(request.Key()), err)
	}
	return nil
}

// withoutTags returns what comes behind the tagged fields that end the header of a response
// (KIP-482). A response about versions has none: a broker answers before it knows what we take.
func withoutTags(body []byte, response kmsg.Response) ([]byte, error) {
	if !response.IsFlexible() || response.Key() == kmsg.ApiVersions.Int16() {
		return body, nil
	}
	tags := kbin.Reader{Src: body}
	kmsg.SkipTags(&tags)
	return tags.Src, tags.Complete()
}
