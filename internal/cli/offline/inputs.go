package offline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/files"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/monitor/tally"
)

// MaxReported is how many lines that are no article are logged one by one.
const MaxReported = 20

// A Bar shows how much was read. It may share a line of a terminal with the log.
type Bar interface {
	io.Writer
	Clear() error // takes it off the line
}

// Inputs are files of articles. They log the oddities of these articles.
type Inputs struct {
	Files []files.File
	Close func()
	Tally *tally.Tally

	log      *slog.Logger
	bar      Bar
	letters  *json.Encoder // nil: lines that are no article are only logged
	rejected int
}

// Open opens files of articles. The name - is standard input. If the articles are in other fields
// than the configuration says, it changes the configuration, and logs that.
func Open(
	ctx context.Context, c *config.Input, stdin io.Reader, names []string, bar Bar, log *slog.Logger,
) (*Inputs, error) {
	opened, closeAll, err := files.Open(stdin, names, bar)
	if err != nil {
		return nil, err
	}
	in := &Inputs{Files: opened, Close: closeAll, log: log, bar: bar}
	found, said := files.Look(ctx, *c, opened)
	if *c = found; said != "" {
		in.warn(said)
	}
	in.Tally = tally.New(c.Format, article.Fields(c.Fields), c.Encoding)
	return in, nil
}

func (in *Inputs) warn(what string, args ...any) {
	_ = in.bar.Clear()
	in.log.Warn(what, args...)
}

// Keep also writes the lines that are no article as JSON.
func (in *Inputs) Keep(w io.Writer) {
	in.letters = json.NewEncoder(w)
	in.letters.SetEscapeHTML(false)
}

// Observe logs what is odd about a line, if nothing like it has been before. It is an [Observer].
func (in *Inputs) Observe(line files.Entry, n *article.Notes, rejection *article.Rejection) {
	for _, what := range in.Tally.Add(n, rejection) {
		in.warn(what, "file", line.File, "line", line.Line)
	}
}

// Reject logs, and keeps, a line that is no article.
func (in *Inputs) Reject(line Rejected) error {
	in.rejected++
	switch {
	case in.rejected <= MaxReported:
		in.warn("no article", "file", line.File, "line", line.Line, "class", line.Class,
			"reason", line.Reason)
	case in.rejected == MaxReported+1:
		in.warn("more lines are no articles; they are counted, and kept with --dead-letters FILE")
	}
	if in.letters == nil {
		return nil
	}
	err := in.letters.Encode(struct {
		File   string `json:"file"`
		Line   int    `json:"line"`
		Error  string `json:"error"`
		Reason string `json:"reason"`
		Value  string `json:"value"`
	}{line.File, line.Line, string(line.Class), line.Reason, string(line.Value)})
	if err != nil {
		return fmt.Errorf("--dead-letters: %w", err)
	}
	return nil
}

// Rejected returns how many lines were no article.
func (in *Inputs) Rejected() int { return in.rejected }

// Oddities returns what was odd about the articles, for the end of a log line.
func (in *Inputs) Oddities() (args []any) {
	counts := in.Tally.Counts()
	for _, encoding := range slices.Sorted(maps.Keys(counts.Encodings)) {
		args = append(args, "from_"+encoding, counts.Encodings[encoding])
	}
	if counts.Invalid > 0 {
		args = append(args, "invalid_encoding", counts.Invalid)
	}
	fallbacks := make(map[string]int)
	for kind, n := range counts.Fallbacks {
		fallbacks["without_"+kind.Field] += n
	}
	for _, field := range slices.Sorted(maps.Keys(fallbacks)) {
		args = append(args, field, fallbacks[field])
	}
	return args
}

// Verdict returns an error if no line was an article, or if no article could be compared. Otherwise
// it logs what seems to be wrong.
func (in *Inputs) Verdict(compared bool) error {
	if reason := in.Tally.Incomparable(); !compared && reason != "" {
		return errors.New(reason)
	}
	warning := in.Tally.Warning()
	switch {
	case warning == "":
		return nil
	case in.Tally.Counts().Articles == 0:
		return errors.New(warning)
	}
	in.log.Warn(warning)
	return nil
}
