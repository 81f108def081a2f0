package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	firstBackoff = 100 * time.Millisecond
	lastBackoff  = 5 * time.Second
	// reportAfter is how long failures must go on to be logged: elections and first uses of a
	// broker are over before. reportInterval is how often they are logged again.
	reportAfter    = time.Second
	reportInterval = time.Minute
	// loadingGrace is how long a broker that is new may take to make its topics of groups and
	// transactions.
	loadingGrace = 30 * time.Second
)

// A Backoff waits longer after each failure in a row, with jitter, so that many instances do not
// ask a broker that comes back all at once. The zero value is ready. It is not safe for concurrent
// use.
type Backoff struct{ wait time.Duration }

// Wait waits before the next try. It returns an error only when ctx ends.
func (b *Backoff) Wait(ctx context.Context) error { return sleep(ctx, b.next()) }

// Reset reports that it worked: the next wait is short again.
func (b *Backoff) Reset() { b.wait = 0 }

func (b *Backoff) next() time.Duration {
	b.wait = min(max(2*b.wait, firstBackoff), lastBackoff)
	return b.wait/2 + rand.N(b.wait/2)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A RetryLogger follows one thing that fails and is tried again: it waits as [Backoff] does, and
// logs failures that go on, a reminder each minute, and the recovery. It is safe for concurrent
// use.
type RetryLogger struct {
	log  *slog.Logger
	what string

	mutex   sync.Mutex
	backoff Backoff
	since   time.Time // zero: all is well
	logged  time.Time // zero: not yet
}

// NewRetryLogger returns the logger of what, a gerund for the log: "reading topic articles".
func NewRetryLogger(log *slog.Logger, what string) *RetryLogger {
	return &RetryLogger{log: log, what: what}
}

// Succeeded reports that it worked.
func (l *RetryLogger) Succeeded() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if !l.logged.IsZero() {
		l.log.Info(l.what + " works again")
	}
	l.backoff.Reset()
	l.since, l.logged = time.Time{}, time.Time{}
}

// Wait reports that it failed with err, and waits before the next try. It returns an error only
// when ctx ends.
func (l *RetryLogger) Wait(ctx context.Context, err error) error {
	return sleep(ctx, l.failed(err))
}

// failing reports when the try began that has failed: one may take long, such as at an address that
// does not answer.
func (l *RetryLogger) failing(began time.Time) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.since.IsZero() {
		l.since = began
	}
}

func (l *RetryLogger) failed(err error) time.Duration {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.since.IsZero() {
		l.since = time.Now()
	}
	grace := reportAfter
	if coordinatorLoading(err) {
		grace = loadingGrace
	}
	if time.Since(l.since) >= grace && time.Since(l.logged) >= reportInterval {
		l.log.Warn(l.what+" failed; trying again", "error", Explain(err))
		l.logged = time.Now()
	}
	return l.backoff.next()
}

// Retry does what until it succeeds, until its error is one that waiting does not mend, or until
// ctx ends. Where its time is up, the error also says what failed.
func Retry(ctx context.Context, log *slog.Logger, what string, do func() error) error {
	logger := NewRetryLogger(log, what)
	var last error // that is not of the end of ctx
	for {
		began := time.Now()
		err := do()
		switch {
		case err == nil:
			logger.Succeeded()
			return nil
		case ctx.Err() != nil:
			return timeUp(ctx, last)
		case !Retriable(err):
			return Explain(err)
		}
		last = err
		logger.failing(began)
		if logger.Wait(ctx, err) != nil {
			return timeUp(ctx, last)
		}
	}
}

func timeUp(ctx context.Context, last error) error {
	if last == nil || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err()
	}
	return fmt.Errorf("%w: %w", ctx.Err(), Explain(last))
}
