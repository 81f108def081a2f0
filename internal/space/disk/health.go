package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/clusterd/clusterd/internal/failpoint"
)

// health is whether a database can still be written to, and how Pebble says that it cannot: it is
// its logger, and listens to its events. Pebble itself does not give up.
type health struct {
	dir       string
	kind      Kind
	log       *slog.Logger
	fatal     func(error)
	guarded   atomic.Int32  // times that guard has begun and not ended
	compacted chan struct{} // gets a value when a compaction has ended

	once   sync.Once
	failed chan struct{} // closed at the first failure in the background
	err    error         // which that was, once failed is closed
}

// retryPause is how long Pebble is held up after each failure in the background. It would try again
// at once, until the store is closed.
const retryPause = 10 * time.Millisecond

func newHealth(dir string, o Options) *health {
	return &health{
		dir: dir, kind: o.Kind, log: o.Log, fatal: o.Fatal, compacted: make(chan struct{}, 1),
		failed: make(chan struct{}),
	}
}

// fatalError is why Pebble cannot go on: what it says, and the error in that, if there is one.
type fatalError struct {
	text  string
	cause error
}

func (e *fatalError) Error() string { return e.text }
func (e *fatalError) Unwrap() error { return e.cause }

// fail makes err, if it is the first, what the database says from now on.
func (h *health) fail(err error) {
	h.once.Do(func() {
		h.err = h.explain("writing to", err)
		h.log.Warn("the "+h.kind.Name+" on disk cannot be written any more", "dir", h.dir, "error", err)
		close(h.failed)
	})
}

// check returns the failure, if there was one.
func (h *health) check() error {
	select {
	case <-h.failed:
		return h.err
	default:
		return nil
	}
}

// await waits for done, nil for nothing, or for a failure.
func (h *health) await(done <-chan struct{}) error {
	if done == nil {
		return h.check()
	}
	select {
	case <-done:
		return h.check()
	case <-h.failed:
		return h.err
	}
}

// listener is told by Pebble, which may hold its locks meanwhile.
func (h *health) listener() *pebble.EventListener {
	return &pebble.EventListener{
		BackgroundError: func(err error) {
			h.fail(err)
			time.Sleep(retryPause)
		},
		DataCorruption: func(info pebble.DataCorruptionInfo) {
			h.fail(fmt.Errorf("%w: %w", h.kind.Damaged, info.Details))
		},
		FlushEnd: func(pebble.FlushInfo) { _ = failpoint.Hit(failpoint.AfterFlush) },
		CompactionEnd: func(pebble.CompactionInfo) {
			select {
			case h.compacted <- struct{}{}:
			default: // it is said already
			}
		},
	}
}

// Infof logs what Pebble says of its work.
func (h *health) Infof(format string, args ...any) {
	h.log.Debug("pebble: "+fmt.Sprintf(format, args...), "dir", h.dir)
}

// Errorf logs what Pebble finds worth a look.
func (h *health) Errorf(format string, args ...any) {
	h.log.Warn("pebble: "+fmt.Sprintf(format, args...), "dir", h.dir)
}

// A crash is what Fatalf panics with: its text is for whoever reads it when nothing recovers.
type crash struct {
	error
	cause *fatalError
}

func (c crash) Unwrap() error { return c.error }

// Fatalf does not return: Pebble relies on that, and has left its own structures half changed. In a
// call of guard the panic becomes an error. In a goroutine of Pebble's own it ends the process, and
// nothing is lost, since Kafka has all.
func (h *health) Fatalf(format string, args ...any) {
	err := &fatalError{text: fmt.Sprintf(format, args...)}
	for _, a := range args {
		if cause, ok := a.(error); ok {
			err.cause = cause
		}
	}
	c := crash{h.explain("writing to", err), err}
	if h.fatal != nil && h.guarded.Load() == 0 {
		h.fatal(c)
	}
	panic(c)
}

// guard begins calls of Pebble, and returns what to defer around them: it explains their error, and
// turns a panic into one. Pebble does not expect files that are damaged.
func (h *health) guard(doing string) (end func(err *error)) {
	h.guarded.Add(1)
	return func(err *error) {
		h.guarded.Add(-1)
		switch r := recover().(type) {
		case nil:
			*err = h.explain(doing, *err)
		case crash:
			*err = h.explain(doing, r.cause)
		case error:
			*err = h.explain(doing, r)
		default:
			*err = fmt.Errorf("%w: %s %s: %v", h.kind.Damaged, doing, h.dir, r)
		}
	}
}

// explain tells damage from what the system refuses.
func (h *health) explain(doing string, err error) error {
	var refused syscall.Errno
	switch {
	case err == nil, errors.Is(err, h.kind.Damaged):
		return err
	case pebble.IsCorruptionError(err), errors.Is(err, fs.ErrNotExist), !errors.As(err, &refused):
		return fmt.Errorf("%w: %s %s: %w", h.kind.Damaged, doing, h.dir, err)
	default:
		return h.advise(doing, err)
	}
}

// advise says what to do about what the system refuses.
func (h *health) advise(doing string, err error) error {
	advice := "see that the disk is well, and that no other clusterd uses this folder"
	switch {
	case errors.Is(err, fs.ErrPermission):
		advice = "let clusterd read and write this folder"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		advice = "free some space"
	case errors.Is(err, syscall.EMFILE):
		advice = "let clusterd open more files (ulimit -n)"
	}
	return fmt.Errorf("%s %s: %w. Nothing is lost, Kafka has all %s: %s, and start clusterd again",
		doing, h.dir, err, h.kind.Name, advice)
}
