//go:build integration

package integration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

// tapped writes articles until a tap has shown one, since it may not be connected at once.
func (w *world) tapped(p *process, id string) {
	w.Helper()
	n := 0
	w.eventually("an event of "+id, func() bool {
		n++
		w.produce(&kgo.Record{Value: fmt.Appendf(nil,
			`{"id":"%s %d","title":"\u001b[31mOf %s","content":"%s","source":"desk"}`, id, n, id,
			"The bridge over the harbour opened today after six years of work, before noon")})
		return strings.Contains(p.said.String(), `"article_id":"`+id)
	})
}

// A tap shows what is committed, goes on when the daemon is there again, and ends by Ctrl-C.
func TestTap(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, "")
	w.listen = fmt.Sprintf("127.0.0.1:%d", freePort(t))
	daemon := w.start()
	daemon.waitLive()
	server := "http://" + w.listen
	lines := w.begin("", binary, "tap", "--server", server)
	values := w.begin("", binary, "tap", "--server", server, "--json", "--status", "joined")
	w.tapped(values, "before")
	if said := values.said.String(); !strings.HasPrefix(said, `{"article_id":"before `) ||
		!strings.Contains(said, `"status":"joined"`) || strings.Contains(said, `"status":"new"`) {
		t.Errorf("tap --json: %s", said)
	}
	w.eventually("a line", func() bool {
		return strings.Contains(lines.said.String(), `desk \x1b[31mOf before`)
	})
	daemon.kill()
	w.eventually("the end of the stream", func() bool {
		return strings.Contains(lines.said.String(), "connecting again in")
	})
	w.start().waitLive()
	w.eventually("the new one", func() bool {
		return strings.Contains(lines.said.String(), "connected again: the events of ") &&
			strings.Contains(values.said.String(), "connected again")
	})
	w.tapped(values, "after")
	w.interrupt(lines)
	w.interrupt(values)
	if strings.Contains(lines.said.String(), "\x1b") {
		t.Errorf("the title steers the terminal: %q", lines.said.String())
	}
}
