package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/files"
	"github.com/clusterd/clusterd/internal/offline"
	"github.com/clusterd/clusterd/internal/tally"
)

// oddities returns what a tally has counted, for the end of a log line.
func oddities(t *tally.Tally) (args []any) {
	counts := t.Counts()
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

// reportedRejections is how many lines that are no article are logged one by one.
const reportedRejections = 20

// rejections reports the lines that are no article, and what is odd about those that are.
type rejections struct {
	log   *slog.Logger
	tally *tally.Tally
	clear func()        // takes the progress bar off the line
	file  *json.Encoder // nil: only logged
	count int
}

// observe reports what is odd about a line, if nothing like it has been before.
func (r *rejections) observe(line files.Entry, n *article.Notes, rejection *article.Rejection) {
	for _, what := range r.tally.Add(n, rejection) {
		r.clear()
		r.log.Warn(what, "file", line.File, "line", line.Line)
	}
}

// verdict returns an error if nothing could be read, and else logs what seems to be wrong.
func (r *rejections) verdict() error {
	warning := r.tally.Warning()
	switch {
	case warning == "":
		return nil
	case r.tally.Counts().Articles == 0:
		return errors.New(warning)
	}
	r.log.Warn(warning)
	return nil
}

func (r *rejections) add(line offline.Rejected) error {
	r.count++
	switch {
	case r.count <= reportedRejections:
		r.clear()
		r.log.Warn("no article", "file", line.File, "line", line.Line,
			"class", line.Class, "reason", line.Reason)
	case r.count == reportedRejections+1:
		r.clear()
		r.log.Warn("more lines are no articles; they are counted, and kept with --dead-letters FILE")
	}
	if r.file == nil {
		return nil
	}
	err := r.file.Encode(struct {
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
