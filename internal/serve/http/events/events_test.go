package events

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

func result(n int, fields string) Event {
	return Event{
		Kind: Result, Source: article.Address{Topic: "results", Offset: int64(n)}, Position: uint64(n),
		Value: fmt.Appendf(nil, `{"article_id":"a%d"%s}`, n, fields),
	}
}

// listen serves a hub, and returns a client of it, that is there when listen returns.
func listen(t *testing.T, h *Hub, f Filter) *bufio.Reader {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.Serve(w, r, f)
	}))
	t.Cleanup(server.Close)
	t.Cleanup(stop)
	r, err := http.NewRequestWithContext(ctx, "GET", server.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	before, _ := h.Clients()
	answer, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	if got := answer.Header.Get("Content-Type"); got != "text/event-stream; charset=utf-8" {
		t.Errorf("Content-Type %q", got)
	}
	wait.Until(t, "the client to be there", func() bool { n, _ := h.Clients(); return n == before+1 })
	lines := bufio.NewReader(answer.Body)
	if got := next(t, lines); got != ": open\nretry: 2000\n" {
		t.Errorf("it begins with %q", got)
	}
	return lines
}

// next returns the next event, but no heartbeat.
func next(t *testing.T, lines *bufio.Reader) string {
	t.Helper()
	var all strings.Builder
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("%v after %q", err, all.String())
		}
		if line == "\n" {
			if text := all.String(); text != ":\n" {
				return text
			}
			all.Reset()
			continue
		}
		all.WriteString(line)
	}
}

func TestEvents(t *testing.T) {
	h := NewHub()
	lines := listen(t, h, Filter{})
	h.Publish(
		result(7, `,"x":"é"`),
		Event{
			Kind: Label, Source: article.Address{Topic: "labels", Partition: 1, Offset: 2},
			Value: []byte("{\r\n\"label\": \"a\\nb\"\n}"),
		},
		Event{Kind: Label, Value: []byte("{\"label\":\"\xff\"}")}, // what others write may be anything
		Event{Kind: Label, Value: []byte(`{"label":`)},
		Event{Kind: Label, Value: nil},
	)
	h.Publish(Event{Kind: Correction, Value: []byte(`{"labels":["spam"]}`)})
	for _, want := range []string{
		"event: result\nid: results/0/7\ndata: {\"article_id\":\"a7\",\"x\":\"é\",\"position\":7}\n",
		"event: label\nid: labels/1/2\ndata: {  \"label\": \"a\\nb\" }\n",
		"event: correction\nid: /0/0\ndata: {\"labels\":[\"spam\"]}\n",
	} {
		if got := next(t, lines); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestFilters(t *testing.T) {
	all := []Event{
		result(0, `,"cluster_id":"c/0/1","status":"new","publisher":"desk"`),
		result(1, `,"cluster_id":"c/0/1","status":"joined","labels":["ham","spam"]`),
		result(2, `,"cluster_id":"c/0/2","status":"joined","trial_labels":["spam"]`),
		result(3, `,"cluster_id":null,"status":"unclustered"`),
		{Kind: Label, Position: 4, Value: []byte(`{"cluster_id":"c/0/1","label":"spam"}`)},
		{Kind: Correction, Position: 5, Value: []byte(`{"cluster_id":"c/0/2","label":"spam","labels":[]}`)},
	}
	for _, tt := range []struct {
		Filter
		want string
	}{
		{Filter{}, "[0 1 2 3 4 5]"},
		{Filter{Label: "spam"}, "[1 2 4 5]"},
		{Filter{Label: "ham"}, "[1]"},
		{Filter{Label: "x"}, "[]"},
		{Filter{Cluster: "c/0/1"}, "[0 1 4]"},
		{Filter{Status: "joined"}, "[1 2]"},
		{Filter{Status: "unclustered"}, "[3]"},
		{Filter{Publisher: "desk"}, "[0]"},
		{Filter{Label: "spam", Cluster: "c/0/2"}, "[2 5]"},
		{Filter{Label: "spam", Cluster: "c/0/2", Status: "joined"}, "[2]"},
	} {
		got := []uint64{}
		for _, e := range all {
			if tt.matches(&event{Event: e}) {
				got = append(got, e.Position)
			}
		}
		if fmt.Sprint(got) != tt.want {
			t.Errorf("%+v: %v, want %s", tt.Filter, got, tt.want)
		}
	}
}

// Whoever cannot keep up is told how many events it missed, and gets those after.
func TestDropped(t *testing.T) {
	h := NewHub()
	from := h.enter()
	for i := range maxEvents + 5 {
		h.Publish(result(i, ""))
	}
	found, lost, more := h.since(from, 100)
	if lost != 5 || len(found) == 0 || found[0].Position != 5 || more != nil {
		t.Errorf("lost %d, found %d from %v on", lost, len(found), found[0])
	}
	if _, dropped := h.Clients(); dropped != 5 {
		t.Errorf("%d are counted", dropped)
	}
	big := strings.Repeat("x", maxBytes/4)
	for i := range 9 {
		h.Publish(result(i, `,"x":"`+big+`"`))
	}
	if h.bytes > maxBytes || len(h.ring) != 3 {
		t.Errorf("the ring has %d events of %d bytes", len(h.ring), h.bytes)
	}
	h.Lost(11)
	found, lost, more = h.since(from, 100)
	if want := uint64(maxEvents + 5 + 9 + 11); lost != want || found != nil || more == nil {
		t.Errorf("lost %d, want %d; found %d", lost, want, len(found))
	}
	h.Publish(result(1, ""))
	<-more
	found, lost, _ = h.since(from+lost, 100)
	if lost != 0 || len(found) != 1 {
		t.Errorf("then lost %d, found %d", lost, len(found))
	}
	h.leave()
	if h.Active() || h.ring != nil {
		t.Errorf("nobody is there, and it keeps %d events", len(h.ring))
	}
	h.Publish(result(1, ""))
	if h.ring != nil {
		t.Error("it keeps events for nobody")
	}
}

func TestDroppedIsTold(t *testing.T) {
	h := NewHub()
	lines := listen(t, h, Filter{Status: "new"})
	h.Lost(3)
	h.Publish(result(1, `,"status":"joined"`), result(2, `,"status":"new"`))
	for _, want := range []string{
		"event: dropped\ndata: {\"count\":3}\n",
		"event: result\nid: results/0/2\n" +
			"data: {\"article_id\":\"a2\",\"status\":\"new\",\"position\":2}\n",
	} {
		if diff := cmp.Diff(want, next(t, lines)); diff != "" {
			t.Error(diff)
		}
	}
}

// However many clients do not read: publishing does not wait for them, and what they hold is
// bounded.
func TestDeadClients(t *testing.T) {
	h := NewHub()
	const clients, published = 100, 2000
	stuck := make(chan struct{})
	done := make(chan error, clients)
	for range clients {
		s := stream{hub: h, out: bufio.NewWriter(blocked{stuck}), flush: func() error { return nil }}
		s.next = h.enter()
		go func() { done <- s.run(t.Context()) }()
	}
	value := strings.Repeat("x", 10_000)
	for i := range published {
		h.Publish(result(i, `,"x":"`+value+`"`))
	}
	if n, _ := h.Clients(); n != clients || h.bytes > maxBytes {
		t.Errorf("%d clients, %d bytes in the ring", n, h.bytes)
	}
	close(stuck)
	for range clients {
		if err := <-done; err != io.ErrClosedPipe {
			t.Errorf("a client ended with %v", err)
		}
	}
}

// blocked is a connection that takes nothing until it is closed.
type blocked struct{ closed chan struct{} }

func (b blocked) Write([]byte) (int, error) {
	<-b.closed
	return 0, io.ErrClosedPipe
}
