package main

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/clusterd/clusterd/internal/cli"
)

// newBar shows on a terminal how much of total is done, -1 where that is not known; elsewhere it
// shows nothing.
func newBar(
	w io.Writer, total int64, what string, options ...progressbar.Option,
) *progressbar.ProgressBar {
	return progressbar.NewOptions64(total, append([]progressbar.Option{
		progressbar.OptionSetWriter(w), progressbar.OptionSetVisibility(cli.IsTerminal(w)),
		progressbar.OptionSetDescription(what),
		progressbar.OptionThrottle(100 * time.Millisecond), progressbar.OptionSetPredictTime(true),
		progressbar.OptionFullWidth(),
		progressbar.OptionClearOnFinish(),
	}, options...)...)
}
