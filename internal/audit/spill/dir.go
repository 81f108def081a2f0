// Package spill keeps what an audit notes of each record in temporary files, so that memory does
// not grow with it: rows of one size by number, and strings of bytes. It knows nothing of topics.
package spill

import (
	"errors"
	"fmt"
	"os"
)

// A Dir is a temporary directory. What is in it is of no use after the audit.
type Dir struct {
	path  string
	files []*os.File
}

// NewDir makes a temporary directory in parent; empty is the system's directory.
func NewDir(parent string) (*Dir, error) {
	path, err := os.MkdirTemp(parent, "clusterd-audit-")
	if err != nil {
		return nil, fmt.Errorf("making a directory for temporary files: %w", err)
	}
	return &Dir{path: path}, nil
}

// Close removes the directory with all that is in it.
func (d *Dir) Close() error {
	var failed []error
	for _, file := range d.files {
		failed = append(failed, file.Close())
	}
	return errors.Join(append(failed, os.RemoveAll(d.path))...)
}

func (d *Dir) create(name string) (*os.File, error) {
	file, err := os.CreateTemp(d.path, name+"-")
	if err != nil {
		return nil, fmt.Errorf("making a temporary file: %w", err)
	}
	d.files = append(d.files, file)
	return file, nil
}
