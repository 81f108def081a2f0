package offline

import (
	"fmt"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/space"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
)

// maxTrial is how many lines a trial is worth: it makes and compares each fingerprint once more.
const maxTrial = 10_000

// A Trial clusters the articles of a run by minhash, too, and counts the copies. It gives up a run
// of more than 10,000 lines. A nil Trial does nothing.
type Trial struct {
	fingerprinter *fingerprint.Fingerprinter
	space         *space.Space
	lines, copies int
	method        string // of the run
}

// NewTrial returns a trial for a run; nil where the configuration has what minhash refuses.
func NewTrial(c config.Config) *Trial {
	t := &Trial{method: c.Fingerprint.Method}
	c.Fingerprint.Method = "minhash"
	c.Stories = config.Default().Stories // they are not counted
	var err error
	if t.fingerprinter, err = fingerprint.New(c); err != nil {
		return nil
	}
	if t.space, err = newSpace(c, t.fingerprinter); err != nil {
		return nil
	}
	return t
}

// Close frees what the trial holds.
func (t *Trial) Close() {
	if t != nil {
		_ = t.space.Close() // nothing of it is kept
	}
}

// Compare says how many copies both methods have found; nothing where there was no article.
func (t *Trial) Compare(run Totals) string {
	if t == nil || run.New == 0 {
		return ""
	}
	text := "no method was chosen, so " + t.method + " compared"
	if t.lines <= maxTrial {
		text += fmt.Sprintf(": it finds %d copies, and minhash would find %d (--method minhash)",
			run.Joined, t.copies)
	}
	return text + "; " + config.MethodsPage + " says which method is for what"
}

// takes reports whether the trial takes the next lines.
func (t *Trial) takes(lines int) bool {
	if t == nil {
		return false
	}
	t.lines += lines
	return t.lines <= maxTrial
}

// article fingerprints an article. It is safe for concurrent use.
func (t *Trial) article(a article.Article, source article.Address) *fingerprint.Article {
	tried := t.fingerprinter.One(a)
	tried.Source = source
	return &tried
}

// assign assigns the articles of a chunk that were fingerprinted for the trial.
func (t *Trial) assign(chunk []item) error {
	if t == nil {
		return nil
	}
	batch, err := t.space.Assign(func(yield func(*fingerprint.Article) bool) {
		for i := range chunk {
			if chunk[i].tried != nil && !yield(chunk[i].tried) {
				return
			}
		}
	}, len(chunk))
	if err != nil {
		return err
	}
	t.copies += batch.Counts().Joined
	return t.space.Commit(batch, t.space.Meta())
}
