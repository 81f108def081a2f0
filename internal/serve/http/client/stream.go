package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"time"
)

const (
	// silence is after how long without a byte a stream counts as broken: the server sends a comment
	// every ten seconds.
	silence = 30 * time.Second
	// maxEvent bounds a line of a stream: all that an event says is on one.
	maxEvent = 16 << 20
)

// A Filter says which events a stream has. What is empty does not choose.
type Filter struct{ Label, Cluster, Status, Publisher string }

func (f Filter) query() url.Values {
	q := make(url.Values)
	for name, value := range map[string]string{
		"label": f.Label, "cluster": f.Cluster, "status": f.Status, "publisher": f.Publisher,
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return q
}

// An Event is one of a stream.
type Event struct {
	Kind string // result, label, correction or dropped
	Data []byte // JSON in one line
}

// A BrokenError is why a stream ended that may be there again when it is asked for anew.
type BrokenError struct{ error }

// Unwrap returns what the network or the server said.
func (e BrokenError) Unwrap() error { return e.error }

// Stream calls opened once the server sends events, and each with every one. It returns the error
// of each, a [BrokenError], or another one if asking again would be answered in the same way. It
// never returns nil.
func (c *Client) Stream(
	ctx context.Context, f Filter, opened func(), each func(Event) error,
) error {
	asked, cancel := context.WithCancel(ctx)
	defer cancel()
	silent := time.AfterFunc(c.silence, cancel)
	defer silent.Stop()
	r, err := c.request(asked, http.MethodGet, "/v1/stream?"+f.query().Encode(), nil)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "text/event-stream")
	endless := c.http
	endless.Timeout = 0
	response, err := endless.Do(r)
	if err != nil {
		return BrokenError{c.unreachable(err)}
	}
	defer func() { _ = response.Body.Close() }()
	if err := c.checkStream(response); err != nil {
		return err
	}
	opened()
	err = readEvents(response.Body, func() { silent.Reset(c.silence) }, each)
	if asked.Err() != nil && ctx.Err() == nil {
		return BrokenError{fmt.Errorf("%s sent nothing for %v", c.server, c.silence)}
	}
	if errors.Is(err, errRead) {
		return BrokenError{fmt.Errorf("%s ended the stream: %w", c.server, err)}
	}
	return err
}

// checkStream returns an error for an answer that is no stream.
func (c *Client) checkStream(response *http.Response) error {
	if response.StatusCode >= http.StatusMultipleChoices {
		// what there is of the answer says more than that it broke off
		value, _ := io.ReadAll(io.LimitReader(response.Body, maxEvent))
		err := c.refused(response, value)
		switch status := response.StatusCode; {
		case status >= http.StatusInternalServerError, status == http.StatusTooManyRequests:
			return BrokenError{err}
		case status == http.StatusNotFound:
			return fmt.Errorf("%w: give --server the address of http.listen, without a path", err)
		}
		return err
	}
	if kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type")); err != nil ||
		kind != "text/event-stream" {
		return fmt.Errorf("asking %s: the answer is not that of clusterd: it has the type %q", c.server,
			response.Header.Get("Content-Type"))
	}
	return nil
}

// errRead is in the error of a stream that ended.
var errRead = errors.New("the connection is closed")

// readEvents reads server-sent events, calls heard after each line, and each with each event.
func readEvents(body io.Reader, heard func(), each func(Event) error) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxEvent)
	var e Event
	for lines.Scan() {
		heard()
		name, value, _ := bytes.Cut(lines.Bytes(), []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case string(name) == "event":
			e.Kind = string(value)
		case string(name) == "data":
			e.Data = bytes.Clone(value)
		case len(lines.Bytes()) == 0:
			if e.Data != nil {
				if err := each(e); err != nil {
					return err
				}
			}
			e = Event{}
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%w: %w", errRead, err)
	}
	return errRead
}
