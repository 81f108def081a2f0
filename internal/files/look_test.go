package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/clusterd/clusterd/internal/config"
)

// commentsInput is an input whose articles are one level down.
func commentsInput() config.Input {
	c := config.Default().Input
	c.Fields.Content = "comment.text"
	return c
}

// Whatever is found, files are read as if nobody had looked, also those that can be read only once.
func TestLook(t *testing.T) {
	t.Parallel()
	const (
		configured = `{"comment":{"text":"x"}}` + "\n"
		other      = `{"title":"","body":"x"}` + "\n"
		nothing    = `{"verdict":"x"}` + "\n"
	)
	text := config.Default().Input
	text.Format = "text"
	large := strings.Repeat(other, 200) // more than is held
	for name, tt := range map[string]struct {
		config config.Input
		files  []string
		want   string // the field of the content
	}{
		"as configured":            {commentsInput(), []string{configured + other}, "comment.text"},
		"elsewhere":                {commentsInput(), []string{other + nothing}, "body"},
		"nowhere":                  {commentsInput(), []string{nothing}, "comment.text"},
		"no file":                  {commentsInput(), nil, "comment.text"},
		"empty":                    {commentsInput(), []string{"", "\n"}, "comment.text"},
		"with lines of no article": {commentsInput(), []string{"{\n\n[]\n" + other}, "body"},
		"as configured at the end": {commentsInput(), []string{other + configured}, "comment.text"},
		"in another file":          {commentsInput(), []string{other, configured, other}, "comment.text"},
		"in each file":             {commentsInput(), []string{nothing, other}, "body"},
		"an array":                 {commentsInput(), []string{"[" + other + "," + other + "]"}, "body"},
		"plain texts":              {text, []string{other}, "content"},
		"a document": {
			commentsInput(), []string{"<p>A document has no fields.</p>", other}, "body",
		},
		"much": {commentsInput(), []string{large, other}, "body"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var names []string
			for i, content := range tt.files {
				path := filepath.Join(dir, fmt.Sprintf("%d.jsonl", i))
				if strings.HasPrefix(content, "<") {
					path = filepath.Join(dir, fmt.Sprintf("%d.html", i))
				}
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
				names = append(names, path)
			}
			opened, closeAll, err := Open(nil, names, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			defer closeAll()
			found := lookAndRead(t, tt.config, opened, tt.files)
			if found.Fields.Content != tt.want {
				t.Errorf("content from %s, want %s", found.Fields.Content, tt.want)
			}
			var pipes []File
			for i, content := range tt.files {
				pipe := File{Name: names[i], Lines: iotest.HalfReader(strings.NewReader(content))}
				if strings.HasPrefix(content, "<") {
					pipe = File{Name: names[i], Document: page(content)}
				}
				pipes = append(pipes, pipe)
			}
			if name == "much" {
				tt.want = "comment.text" // of a pipe not all can be held
			}
			found = lookAndRead(t, tt.config, pipes, tt.files)
			if found.Fields.Content != tt.want {
				t.Errorf("pipes: content from %s, want %s", found.Fields.Content, tt.want)
			}
		})
	}
}

// lookAndRead looks through files, and checks that they have what they had.
func lookAndRead(t *testing.T, c config.Input, files []File, want []string) config.Input {
	t.Helper()
	found, said := lookHolding(t.Context(), c, files, 4096)
	if (said != "") != (found.Fields != c.Fields) {
		t.Errorf("said %q, and took %+v", said, found.Fields)
	}
	if c.Fields.Content = found.Fields.Content; found != c {
		t.Errorf("found %+v, want %+v", found, c)
	}
	for i, file := range files {
		var from io.Reader = file.Document
		if file.Document == nil {
			from = file.Lines
		}
		got, err := io.ReadAll(from)
		if err != nil || string(got) != want[i] {
			t.Errorf("%s: %d bytes, %v; want %d bytes", file.Name, len(got), err, len(want[i]))
		}
	}
	return found
}

// What cannot be read is reported by who reads the articles, and nothing is guessed of the rest.
func TestLookLeavesErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	const begin = `{"body":"x"}` + "\n"
	files := []File{{
		Name:  "a.jsonl",
		Lines: io.MultiReader(strings.NewReader(begin), iotest.ErrReader(broken)),
	}}
	if found, said := Look(t.Context(), commentsInput(), files); said != "" ||
		found != commentsInput() {
		t.Errorf("took %+v, said %q", found.Fields, said)
	}
	if got, err := io.ReadAll(files[0].Lines); string(got) != begin || !errors.Is(err, broken) {
		t.Errorf("read %q, %v", got, err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	files[0].Lines = strings.NewReader(begin)
	if _, said := Look(canceled, commentsInput(), files); said != "" {
		t.Errorf("interrupted, and said %q", said)
	}
}
