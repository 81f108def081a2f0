package ask

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/cli"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/serve/http/client"
	"github.com/clusterd/clusterd/internal/testutil/golden"
	"github.com/clusterd/clusterd/internal/testutil/wait"
	"github.com/clusterd/clusterd/internal/text/printable"
)

// feed are events of every kind, some of them hostile.
func feed() []client.Event {
	return []client.Event{
		{Kind: "result", Data: []byte(`{"article_id":"1","cluster_id":"articles/0/0","status":"new",` +
			`"distance":0,"size":1,"publisher":"Harbour Desk","representative":{"id":"1",` +
			`"title":"The bridge over the harbour opened today after six years of work"}}`)},
		{Kind: "result", Data: []byte(`{"article_id":"2","cluster_id":"articles/0/0","status":"joined",` +
			`"distance":0.123456,"matched":"distance","size":12345,"representative":{"id":"1",` +
			`"title":"港口大桥今天通车，历时三年的工程建成，居民沿着河岸庆祝，市长剪彩"},"position":7}`)},
		{Kind: "result", Data: []byte(`{"article_id":"3","cluster_id":"comments.of.the.long.topic/11/1234567",` +
			`"status":"new","distance":0,"size":1,"labels":["spam"],"trial_labels":["x"],` +
			`"labelled_by":[{"label":"spam","contact":"name:alexis17"}],"representative":{"id":"1","title":"",` +
			`"excerpt":"\u001b]0;owned\u0007Best\u202e watches\r\nin town"}}`)},
		{Kind: "result", Data: []byte(`{"article_id":"4\u009b2J","cluster_id":null,"status":"unclustered",` +
			`"size":0,"representative":null}`)},
		{Kind: "label", Data: []byte(`{"cluster_id":"articles/0/0","label":"spam","by":"bob","note":"again"}`)},
		{Kind: "label", Data: []byte(`{"cluster_id":5,"label":"\u001b[2J"}`)},
		{Kind: "correction", Data: []byte(`{"article_id":"1","cluster_id":"articles/0/0","label":"spam",` +
			`"action":"add","labels":["spam"],"by":"bob"}`)},
		{Kind: "correction", Data: []byte(`{"article_id":"1","cluster_id":"articles/0/0","label":"spam",` +
			`"action":"remove","labels":[]}`)},
		{Kind: "later", Data: []byte(`{"a":"\u001b[2J"}`)},
	}
}

// A line fits where there is a width, is whole where there is none, and never steers a terminal.
func TestEventLines(t *testing.T) {
	at := time.Date(2026, 5, 1, 9, 30, 0, 0, time.UTC)
	for _, width := range []int{0, 60, 80, 120} {
		var all bytes.Buffer
		view := newEventView(io.Discard)
		for _, e := range feed() {
			line := view.line(at, parseEvent(e), width)
			if width > 0 && uniseg.StringWidth(line) >= width {
				t.Errorf("%d cells do not fit on %d: %s", uniseg.StringWidth(line), width, line)
			}
			if line != printable.Text(line) {
				t.Errorf("%q steers a terminal", line)
			}
			all.WriteString(line + "\n")
		}
		golden.Check(t, filepath.Join("testdata", fmt.Sprintf("tap%d.txt", width)), all.Bytes())
	}
	view := newEventView(io.Discard)
	view.colour = true
	line := view.line(at, parseEvent(feed()[0]), 80)
	if !strings.HasPrefix(line, "09:30:00 "+cli.Green+"new        1"+cli.Plain+" articles") {
		t.Errorf("with colours: %q", line)
	}
}

// script is a server whose streams are what functions say, one after the other; the last goes on.
func script(t *testing.T, parts ...http.HandlerFunc) (url string) {
	t.Helper()
	requests := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		part := parts[min(requests, len(parts)-1)]
		requests++
		part(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func opens(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	_, _ = io.WriteString(w, ": open\nretry: 2000\n\n")
}

// sends answers with events, and ends the stream.
func sends(events ...client.Event) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		opens(w)
		for _, e := range events {
			fmt.Fprintf(w, "event: %s\nid: results/0/7\ndata: %s\n\n:\n\n", e.Kind, e.Data)
		}
	}
}

// waits answers with events, and then sends nothing.
func waits(events ...client.Event) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		sends(events...)(w, r)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
}

func refuses(status int, detail string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { api.WriteProblem(w, status, "", detail) }
}

// shell runs a verb, and returns what it writes.
func shell(t *testing.T, ctx context.Context, args ...string) (out, errs *wait.Buffer, err error) {
	t.Helper()
	root := &cobra.Command{Use: "clusterd", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(Commands(Shell{
		Usage: func(err error) error { return fmt.Errorf("usage: %w", err) }, NoArguments: cobra.NoArgs,
		JSON: func(cmd *cobra.Command) io.Writer { return cmd.OutOrStdout() },
	})...)
	out, errs = new(wait.Buffer), new(wait.Buffer)
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errs)
	return out, errs, root.ExecuteContext(ctx)
}

func TestTap(t *testing.T) {
	t.Setenv(TokenVariable, "canary")
	dropped := client.Event{Kind: "dropped", Data: []byte(`{"count":3}`)}
	var asked string
	url := script(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.Header.Get("Authorization") + " " + r.Header.Get("Accept") + " " + r.URL.String()
		sends(append([]client.Event{dropped}, feed()...)...)(w, r)
	})
	out, errs, err := shell(t, t.Context(), "tap", "--server", url, "--count", "2", "--label", "a b",
		"--cluster", "articles/0/0", "--status", "new", "--publisher", "é")
	if err != nil || strings.Count(out.String(), "\n") != 2 ||
		!strings.Contains(out.String(), " 12345 articles/0/0 0.123 ") {
		t.Errorf("%v: %s", err, out)
	}
	said := "clusterd tap: 3 events were not sent, since they were read too slowly\n"
	if errs.String() != said {
		t.Errorf("errors %q", errs)
	}
	if want := "Bearer canary text/event-stream " +
		"/v1/stream?cluster=articles%2F0%2F0&label=a+b&publisher=%C3%A9&status=new"; asked != want {
		t.Errorf("asked %s", asked)
	}

	out, _, err = shell(t, t.Context(), "tap", "--server", url, "--count", "9", "--json")
	var want strings.Builder
	for _, e := range feed() {
		want.Write(append(e.Data, '\n'))
	}
	if err != nil || out.String() != want.String() {
		t.Errorf("%v: %s", err, out)
	}
}

// Ctrl-C is how one ends it: it is no error.
func TestTapEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	url := script(t, func(w http.ResponseWriter, r *http.Request) {
		opens(w)
		_ = http.NewResponseController(w).Flush()
		cancel()
		<-r.Context().Done()
	})
	if out, errs, err := shell(t, ctx, "tap", "--server", url); err != nil || out.String() != "" ||
		errs.String() != "" {
		t.Errorf("%v, output %q, errors %q", err, out, errs)
	}
}

// A server that goes away is asked again, later and later; and what that costs is said.
func TestTapConnectsAgain(t *testing.T) {
	e := feed()
	url := script(t, sends(e[0]), refuses(503, "starting"), refuses(503, "starting"), sends(e[1]),
		refuses(429, "too many"), waits(e[2]))
	c, err := client.New(url, "")
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	var errs bytes.Buffer
	clock := time.Date(2026, 5, 1, 9, 30, 0, 0, time.UTC)
	follow := tap{
		stream: func(ctx context.Context, opened func(), each func(client.Event) error) error {
			return c.Stream(ctx, client.Filter{}, opened, each)
		},
		out: func(e client.Event) error {
			shown = append(shown, string(e.Data))
			return nil
		},
		errs: &errs, count: 3, pause: time.Millisecond,
		now: func() time.Time { clock = clock.Add(time.Second); return clock },
	}
	if err := follow.follow(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(shown) != 3 || shown[2] != string(e[2].Data) {
		t.Errorf("shown %q", shown)
	}
	var said []string
	for line := range strings.Lines(strings.ReplaceAll(errs.String(), url, "URL")) {
		said = append(said, strings.TrimSuffix(line, "\n"))
	}
	want := []string{
		"clusterd tap: URL ended the stream: the connection is closed; connecting again in 1ms",
		"clusterd tap: URL refuses: starting; connecting again in 2ms",
		"clusterd tap: URL refuses: starting; connecting again in 4ms",
		"clusterd tap: connected again: the events of 1s were not seen",
		"clusterd tap: URL ended the stream: the connection is closed; connecting again in 1ms",
		"clusterd tap: URL refuses: too many; connecting again in 2ms",
		"clusterd tap: connected again: the events of 1s were not seen",
	}
	if got := strings.Join(said, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("said:\n%s", got)
	}
}

// What asking again does not change, and a server that was never there, are errors at once.
func TestTapFails(t *testing.T) {
	for name, tt := range map[string]struct {
		first http.HandlerFunc
		want  string
	}{
		"401": {refuses(401, "no such token"), "give one by CLUSTERD_TOKEN or --token-file"},
		"403": {refuses(403, "use a token that has it"), "refuses: use a token that has it"},
		"404": {
			refuses(404, "there is nothing here"),
			"there is nothing here: give --server the address of http.listen, without a path",
		},
		"not yet": {refuses(503, "starting"), "refuses: starting"},
		"another server": {
			func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
			`the answer is not that of clusterd: it has the type "text/html; charset=utf-8"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := shell(t, t.Context(), "tap", "--server", script(t, tt.first))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
	_, _, err := shell(t, t.Context(), "tap", "--server", "http://127.0.0.1:1")
	if err == nil || !strings.Contains(err.Error(), "is clusterd running there") {
		t.Errorf("nobody there: %v", err)
	}
	if _, _, err = shell(t, t.Context(), "tap", "--count", "-1"); err == nil ||
		!strings.Contains(err.Error(), "usage: --count -1: must not be negative") {
		t.Errorf("got %v", err)
	}
	full := errors.New("no space left")
	c, err := client.New(script(t, waits(feed()...)), "")
	if err != nil {
		t.Fatal(err)
	}
	err = c.Stream(t.Context(), client.Filter{}, func() {}, func(client.Event) error { return full })
	if !errors.Is(err, full) || errors.As(err, new(client.BrokenError)) {
		t.Errorf("what cannot be written gives %v", err)
	}
}
