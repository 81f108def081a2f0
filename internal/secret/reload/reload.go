// Package reload follows files: names of files and a way to understand them go in; what they hold
// comes out, as of their last change that could be understood.
package reload

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	pause    = time.Second // between two looks at the files
	maxBytes = 1 << 20     // of one file
)

// Source is a file that is followed.
type Source struct {
	Path string
	// Private is whether other users of the machine should neither read nor write it.
	Private bool
}

// Value is what files hold. Get may be called by several goroutines at once.
type Value[T any] struct {
	key     string
	sources []Source
	parse   func(files [][]byte) (T, error)
	log     *slog.Logger
	current atomic.Pointer[T]

	mutex  sync.Mutex
	looked time.Time // at the files
	seen   string    // what was found then: a hash of the files, or an error
}

// New reads the files. Parse gets their bytes in the order of the sources; its error must hold no
// secret. Key is the configuration key that errors and the log name.
func New[T any](
	key string, sources []Source, parse func(files [][]byte) (T, error), log *slog.Logger,
) (*Value[T], error) {
	v := &Value[T]{key: key, sources: sources, parse: parse, log: log, looked: time.Now()}
	if err := v.look(); err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	return v, nil
}

// Get returns what the files hold. It looks at them at most once a second, and only when it is
// called. A file that was written within the last second may not be whole, and has to wait for the
// next look. Files that cannot be understood change nothing but the log.
func (v *Value[T]) Get() T {
	if v.mutex.TryLock() { // whoever else looks now does so for all
		if now := time.Now(); now.Sub(v.looked) >= pause {
			v.looked = now
			if v.settled(now) {
				v.lookAgain()
			}
		}
		v.mutex.Unlock()
	}
	return *v.current.Load()
}

// settled reports whether nobody has just written a file.
func (v *Value[T]) settled(now time.Time) bool {
	for _, source := range v.sources {
		info, err := os.Stat(source.Path)
		if err != nil {
			continue // which lookAgain says
		}
		if age := now.Sub(info.ModTime()); age >= 0 && age < pause {
			return false
		}
	}
	return true
}

// lookAgain looks at the files, and logs a change for the better or worse, once.
func (v *Value[T]) lookAgain() {
	before := v.seen
	switch err := v.look(); {
	case v.seen == before:
	case err != nil:
		v.log.Error(v.key+" has changed and cannot be used: what was read before stays in force; "+
			"mend the file", "error", err)
	default:
		v.log.Info(v.key + " was read again")
	}
}

// look takes what the files hold, if they have changed.
func (v *Value[T]) look() error {
	hash := sha256.New()
	files := make([][]byte, len(v.sources))
	for i, source := range v.sources {
		data, err := read(source)
		if err != nil {
			v.seen = err.Error()
			return err
		}
		files[i] = data
		sum := sha256.Sum256(data)
		_, _ = hash.Write(sum[:]) // never fails
	}
	seen := string(hash.Sum(nil))
	if seen == v.seen {
		return nil
	}
	v.seen = seen
	value, err := v.parse(files)
	if err != nil {
		return err
	}
	v.current.Store(&value)
	v.warn()
	return nil
}

// read returns the bytes of a file. It never waits, as opening a pipe would.
func read(source Source) ([]byte, error) {
	info, err := os.Stat(source.Path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", source.Path)
	}
	file, err := os.Open(source.Path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, maxBytes+1))
	if err == nil && len(data) > maxBytes {
		err = errors.New(source.Path + " has more than 1 MiB")
	}
	return data, err
}

// warn says which private files are open to others. Windows has other rights than Go's modes show.
func (v *Value[T]) warn() {
	for _, source := range v.sources {
		info, err := os.Stat(source.Path)
		if err != nil || !source.Private || runtime.GOOS == "windows" {
			continue
		}
		if mode := info.Mode().Perm(); mode&0o006 != 0 {
			v.log.Warn(v.key+": other users of this machine may read or write the file: chmod o-rwx",
				"file", source.Path, "mode", mode.String())
		}
	}
}
