package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/clusterd/clusterd/internal/files/document"
)

// A Raw is a file as it is, named for messages.
type Raw struct {
	Name string
	io.Reader
}

// Expand returns the names with those of all files below it, in lexical order, in place of each
// folder. What is hidden, and links to folders, are left out.
func Expand(names []string) (all []string, err error) {
	for _, name := range names {
		info, err := os.Stat(name)
		if name == "-" || err != nil || !info.IsDir() {
			all = append(all, name) // to open a file that is not there says so
			continue
		}
		before := len(all)
		if all, err = appendBelow(all, name); err != nil {
			return nil, err
		}
		if len(all) == before {
			return nil, fmt.Errorf("%s: there is no file in this folder that is not hidden", name)
		}
	}
	return all, nil
}

func appendBelow(all []string, folder string) ([]string, error) {
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == folder:
			return nil
		case strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			if info.Mode().IsRegular() {
				all = append(all, path)
			}
		case d.Type().IsRegular():
			all = append(all, path)
		}
		return nil
	})
	return all, err
}

// OpenRaw looks whether every file can be opened before the first is read, so that a misspelt name
// is known at once. A name of - is standard input.
func OpenRaw(stdin io.Reader, names []string) (opened []Raw, closeAll func(), err error) {
	var all []*onDisk
	closeAll = func() {
		for _, f := range all {
			_ = f.close() // only read from
		}
	}
	for _, name := range names {
		if name == "-" {
			opened = append(opened, Raw{"standard input", stdin})
			continue
		}
		f, err := find(name)
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		all = append(all, f)
		opened = append(opened, Raw{name, f})
	}
	return opened, closeAll, nil
}

// Open opens files of articles as [OpenRaw] does. A file with a name in .gz, .zst or .bz2 is
// unpacked; one with the extension of a document is one. What is read, as it is on disk, is also
// written to progress.
func Open(
	stdin io.Reader, names []string, progress io.Writer,
) (opened []File, closeAll func(), err error) {
	raw, closeRaw, err := OpenRaw(stdin, names)
	if err != nil {
		return nil, nil, err
	}
	var packed []*unpacked
	for i, f := range raw {
		file := File{Name: f.Name, Lines: io.TeeReader(f, progress), Kind: kindOf(names[i])}
		found, ok := f.Reader.(*onDisk)
		if ok && found.file == nil {
			file.again = func() (io.Reader, func()) { return openAgain(names[i]) }
		}
		if ok && document.Is(names[i]) {
			file = File{
				Name: f.Name, Document: io.NewSectionReader(teeReaderAt{found, progress}, 0, found.size),
			}
		} else if unpack := unpackerOf(names[i]); unpack != nil {
			u := &unpacked{file: file.Lines, open: unpack}
			file.Lines, packed = u, append(packed, u)
		}
		opened = append(opened, file)
	}
	return opened, func() {
		for _, u := range packed {
			u.close()
		}
		closeRaw()
	}, nil
}

// openAgain opens a regular file another time, unpacked, and returns what closes it.
func openAgain(name string) (lines io.Reader, closeFile func()) {
	file := &onDisk{name: name}
	unpack := unpackerOf(name)
	if unpack == nil {
		return file, func() { _ = file.close() } // only read from
	}
	u := &unpacked{file: file, open: unpack}
	return u, func() {
		u.close()
		_ = file.close() // only read from
	}
}

// An onDisk is a file that is open only while it is read, so that a folder may have more files than
// a process may have open. Only what is no regular file, such as a pipe, is open from the start.
type onDisk struct {
	name string
	size int64
	file *os.File // nil: not open
	done bool     // it was read to its end, or closed
}

func find(name string) (*onDisk, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if !info.Mode().IsRegular() {
		return &onDisk{name: name, file: file}, nil
	}
	return &onDisk{name: name, size: info.Size()}, file.Close()
}

// Read implements [io.Reader].
func (f *onDisk) Read(p []byte) (int, error) {
	if f.done {
		return 0, io.EOF
	}
	if f.file == nil {
		file, err := os.Open(f.name)
		if err != nil {
			return 0, err
		}
		f.file = file
	}
	n, err := f.file.Read(p)
	if errors.Is(err, io.EOF) {
		_ = f.close() // only read from
	}
	return n, err
}

// ReadAt implements [io.ReaderAt], for several goroutines at a time.
func (f *onDisk) ReadAt(p []byte, at int64) (int, error) {
	file, err := os.Open(f.name)
	if err != nil {
		return 0, err
	}
	defer func() { _ = file.Close() }() // only read from
	return file.ReadAt(p, at)
}

func (f *onDisk) close() error {
	f.done = true
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file = nil
	return err
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
