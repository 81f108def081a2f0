//go:build integration

package integration

import (
	"fmt"
	"testing"
)

// Every command of the guides works, in its order, and is answered as they show.
func TestGuides(t *testing.T) {
	t.Parallel()
	for name, least := range map[string]int{"docs/http.md": 15, "docs/news.md": 18} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broker := nobodys
			if name == "docs/news.md" { // its commands ask the embedded one
				broker = fmt.Sprintf("127.0.0.1:%d", freePort(t))
			}
			d := newDocument(t, name, broker)
			if blocks := d.follow(); blocks < least {
				t.Errorf("only %d blocks found", blocks)
			}
			d.interruptAll()
		})
	}
	t.Run("docs/comments.md", func(t *testing.T) {
		t.Parallel()
		d := newDocument(t, "docs/comments.md", shared.addresses[0])
		d.forget("clusterd-comments", "comments", "comment-clusters", "comment-cluster-state",
			"comments-dead", "comment-labels", "comment-corrections")
		if blocks := d.follow(); blocks < 5 {
			t.Errorf("only %d blocks found", blocks)
		}
		d.interruptAll()
	})
}
