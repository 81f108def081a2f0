package main

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/clusterd/clusterd/internal/document"
	"github.com/clusterd/clusterd/internal/files"
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

// sizeOf is how many bytes the files have in all, -1 where one of them does not say: a pipe.
func sizeOf(files []string) (total int64) {
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() {
			return -1
		}
		total += info.Size()
	}
	return total
}

// openArticles opens files of articles, and unpacks those with a name in .gz. The bar counts the bytes as they
// are on disk.
func openArticles(stdin io.Reader, names []string, bar io.Writer) (inputs []files.File, closeAll func(), err error) {
	opened, closeAll, err := openFiles(stdin, names)
	if err != nil {
		return nil, nil, err
	}
	for i, f := range opened {
		file := files.File{Name: f.Name, Lines: io.TeeReader(f, bar)}
		switch onDisk, ok := f.Reader.(*os.File); {
		case ok && document.Is(names[i]):
			var info os.FileInfo
			if info, err = onDisk.Stat(); err == nil {
				file = files.File{Name: f.Name, Document: io.NewSectionReader(shown{onDisk, bar}, 0, info.Size())}
			}
		case strings.EqualFold(filepath.Ext(names[i]), ".gz"):
			file.Lines, err = gzip.NewReader(bufio.NewReader(file.Lines))
		}
		if err != nil {
			closeAll()
			return nil, nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		inputs = append(inputs, file)
	}
	return inputs, closeAll, nil
}

// shown is a document that a bar counts what is read of.
type shown struct {
	io.ReaderAt
	bar io.Writer
}

func (s shown) ReadAt(p []byte, at int64) (int, error) {
	n, err := s.ReaderAt.ReadAt(p, at)
	_, _ = s.bar.Write(p[:n])
	return n, err
}
