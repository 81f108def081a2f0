package events

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"time"
)

const (
	heartbeat = 10 * time.Second // between comments on a stream without events
	// A client waits for more events once there is one, so that very many wake it some times a second,
	// and not once for each: for leastPace, and the longer the more clients there are, so that in all
	// they write at most once in eachPace.
	leastPace = 20 * time.Millisecond
	eachPace  = time.Millisecond
	buffer    = 16 << 10 // bytes of a client's
	// atOnce is how many bytes of events a client takes out of the ring at once. What one holds that
	// does not read is as much.
	atOnce = 64 << 10
)

// Serve sends the events that match to a client as server-sent events, until it goes or the
// request's context ends. The connection's deadlines are for the caller.
func (h *Hub) Serve(w http.ResponseWriter, r *http.Request, f Filter) {
	header := w.Header()
	header.Set("Content-Type", "text/event-stream; charset=utf-8")
	header.Set("X-Accel-Buffering", "no") // or nginx keeps the events until it has many
	w.WriteHeader(http.StatusOK)
	s := stream{
		hub: h, out: bufio.NewWriterSize(w, buffer), filter: f,
		flush: http.NewResponseController(w).Flush,
	}
	s.next = h.enter()
	defer h.leave()
	_ = s.run(r.Context()) // that it cannot be written is how a stream ends
}

// A stream is one client.
type stream struct {
	hub    *Hub
	out    *bufio.Writer
	flush  func() error
	filter Filter
	next   uint64 // the seq of the next event
}

func (s *stream) run(ctx context.Context) error {
	if _, err := s.out.WriteString(": open\nretry: 2000\n\n"); err != nil {
		return err
	}
	beat, pause := time.NewTicker(heartbeat), time.NewTimer(leastPace)
	defer beat.Stop()
	defer pause.Stop()
	for {
		found, lost, more := s.hub.since(s.next, atOnce)
		if err := s.write(found, lost); err != nil {
			return err
		}
		s.next += lost + uint64(len(found))
		if len(found) > 0 {
			continue
		}
		select {
		case <-more:
			pause.Reset(s.hub.pace())
			select {
			case <-pause.C:
			case <-ctx.Done():
				return ctx.Err()
			}
		case <-beat.C:
			if _, err := s.out.WriteString(":\n\n"); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// write sends what was found, of that which matches, and what is in the buffer.
func (s *stream) write(found []*event, lost uint64) error {
	if lost > 0 {
		fmt.Fprintf(s.out, "event: dropped\ndata: {\"count\":%d}\n\n", lost)
	}
	for _, e := range found {
		if !s.filter.matches(e) {
			continue
		}
		if _, err := s.out.Write(e.sent()); err != nil {
			return err
		}
	}
	if s.out.Buffered() == 0 {
		return nil
	}
	if err := s.out.Flush(); err != nil {
		return err
	}
	return s.flush()
}
