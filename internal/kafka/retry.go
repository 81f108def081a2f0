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
	// sayAfter is how long trouble must last to be logged: elections and first uses of a broker
	// are over before. remindAfter is how often it is logged again.
	sayAfter    = time.Second
	remindAfter = time.Minute
	// settleTime is how long a broker that is new may take to make its topics of groups and transactions.
	settleTime = 30 * time.Second
)

// Backoff waits longer after each failure in a row, with jitter, so that many instances do not ask a
// broker that comes back all at once. The zero value is ready. It is not safe for concurrent use.
type Backoff struct{ wait time.Duration }

// Wait waits before the next try. It returns an error only when ctx ends.
func (b *Backoff) Wait(ctx context.Context) error { return sleep(ctx, b.next()) }

// Reset says that it worked: the next wait is short again.
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

// Trouble keeps the tally of one thing that fails and is tried again: it waits as [Backoff] does, logs
// trouble that lasts, a reminder each minute, and the recovery. It is safe for concurrent use.
type Trouble struct {
	log  *slog.Logger
	what string

	mutex   sync.Mutex
	backoff Backoff
	since   time.Time // zero: all is well
	said    time.Time // zero: not logged yet
}

// NewTrouble makes the tally of what, a gerund for the log: "reading topic articles".
func NewTrouble(log *slog.Logger, what string) *Trouble { return &Trouble{log: log, what: what} }

// Over says that it worked.
func (t *Trouble) Over() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if !t.said.IsZero() {
		t.log.Info(t.what + " works again")
	}
	t.backoff.Reset()
	t.since, t.said = time.Time{}, time.Time{}
}

// Wait says that it failed with err, and waits before the next try. It returns an error only when ctx
// ends.
func (t *Trouble) Wait(ctx context.Context, err error) error { return sleep(ctx, t.failed(err)) }

func (t *Trouble) failed(err error) time.Duration {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.since.IsZero() {
		t.since = time.Now()
	}
	patience := sayAfter
	if settling(err) {
		patience = settleTime
	}
	if time.Since(t.since) >= patience && time.Since(t.said) >= remindAfter {
		t.log.Warn(t.what+" failed; trying again", "error", Explain(err))
		t.said = time.Now()
	}
	return t.backoff.next()
}

// Retry does what until it succeeds, until its error is one that waiting does not mend, or until
// ctx ends. Where its time is up, the error also says what the trouble was.
func Retry(ctx context.Context, log *slog.Logger, what string, do func() error) error {
	trouble := NewTrouble(log, what)
	var last error // that is not of the end of ctx
	for {
		err := do()
		switch {
		case err == nil:
			trouble.Over()
			return nil
		case ctx.Err() != nil:
			return timeUp(ctx, last)
		case !Transient(err):
			return Explain(err)
		}
		last = err
		if trouble.Wait(ctx, err) != nil {
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
