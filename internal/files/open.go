package files

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/clusterd/clusterd/internal/document"
)

// A Raw is a file as it is, named for messages.
type Raw struct {
	Name string
	io.Reader
}

// OpenRaw opens every file before the first is read, so that a misspelt name is known at once. A
// name of - is standard input.
func OpenRaw(stdin io.Reader, names []string) (opened []Raw, closeAll func(), err error) {
	var closers []io.Closer
	closeAll = func() {
		for _, c := range closers {
			_ = c.Close() // only read from
		}
	}
	for _, name := range names {
		if name == "-" {
			opened = append(opened, Raw{"standard input", stdin})
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		closers = append(closers, f)
		opened = append(opened, Raw{name, f})
	}
	return opened, closeAll, nil
}

// Open opens files of articles as [OpenRaw] does. A file with a name in .gz is unpacked; one with
// the extension of a document is one. What is read, as it is on disk, is also written to progress.
func Open(
	stdin io.Reader, names []string, progress io.Writer,
) (opened []File, closeAll func(), err error) {
	raw, closeAll, err := OpenRaw(stdin, names)
	if err != nil {
		return nil, nil, err
	}
	for i, f := range raw {
		file, err := open(f, names[i], progress)
		if err != nil {
			closeAll()
			return nil, nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		opened = append(opened, file)
	}
	return opened, closeAll, nil
}

func open(f Raw, name string, progress io.Writer) (File, error) {
	onDisk, ok := f.Reader.(*os.File)
	if ok && document.Is(name) {
		info, err := onDisk.Stat()
		if err != nil {
			return File{}, err
		}
		page := io.NewSectionReader(teeReaderAt{onDisk, progress}, 0, info.Size())
		return File{Name: f.Name, Document: page}, nil
	}
	file := File{Name: f.Name, Lines: io.TeeReader(f, progress)}
	var err error
	if strings.EqualFold(filepath.Ext(name), ".gz") {
		file.Lines, err = gzip.NewReader(bufio.NewReader(file.Lines))
	}
	return file, err
}

// A teeReaderAt writes to progress what is read.
type teeReaderAt struct {
	io.ReaderAt
	progress io.Writer
}

// ReadAt implements [io.ReaderAt].
func (t teeReaderAt) ReadAt(p []byte, at int64) (int, error) {
	n, err := t.ReaderAt.ReadAt(p, at)
	_, _ = t.progress.Write(p[:n])
	return n, err
}

// Size returns how many bytes the files have in all, or -1 where one of them does not say: a pipe.
func Size(names []string) (total int64) {
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() {
			return -1
		}
		total += info.Size()
	}
	return total
}
