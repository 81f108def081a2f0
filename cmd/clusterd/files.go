package main

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
)

// opened is a file that a command reads, named for messages.
type opened struct {
	Name string
	io.Reader
}

// openFiles opens every file before the first is read, so that a misspelt name is known at once. A name
// of - is standard input.
func openFiles(stdin io.Reader, names []string) (files []opened, closeAll func(), err error) {
	var closers []io.Closer
	closeAll = func() {
		for _, c := range closers {
			_ = c.Close() // only read from
		}
	}
	for _, name := range names {
		if name == "-" {
			files = append(files, opened{"standard input", stdin})
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		closers = append(closers, f)
		files = append(files, opened{name, f})
	}
	return files, closeAll, nil
}

// newBar shows on a terminal how much of total is done, -1 where that is not known; elsewhere it shows
// nothing.
func newBar(w io.Writer, total int64, what string, options ...progressbar.Option) *progressbar.ProgressBar {
	return progressbar.NewOptions64(total, append([]progressbar.Option{
		progressbar.OptionSetWriter(w), progressbar.OptionSetVisibility(isTerminal(w)), progressbar.OptionSetDescription(what),
		progressbar.OptionThrottle(100 * time.Millisecond), progressbar.OptionSetPredictTime(true), progressbar.OptionFullWidth(),
		progressbar.OptionClearOnFinish(),
	}, options...)...)
}
