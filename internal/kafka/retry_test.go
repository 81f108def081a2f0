package kafka_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/clusterd/clusterd/internal/kafka"
)

func textLog(to io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(to, nil)) }

func TestRetryLoggerWaitsLongerEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		retries := kafka.NewRetryLogger(slog.New(slog.DiscardHandler), "reading")
		wait := func(want time.Duration) {
			t.Helper()
			start := time.Now()
			if err := retries.Wait(t.Context(), io.EOF); err != nil {
				t.Fatal(err)
			}
			if waited := time.Since(start); waited < want/2 || waited > want {
				t.Errorf("waited %v, want between half of %v and all of it", waited, want)
			}
		}
		for _, want := range []time.Duration{100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000} {
			wait(want * time.Millisecond)
		}
		retries.Succeeded()
		wait(100 * time.Millisecond)
	})
}

func TestRetryLoggerEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		start := time.Now()
		err := kafka.NewRetryLogger(slog.New(slog.DiscardHandler), "reading").Wait(ctx, io.EOF)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 10*time.Millisecond {
			t.Errorf("Wait = %v after %v", err, time.Since(start))
		}
	})
}

// A broker that is new has no coordinators at first: that is not worth a word for a while. One that
// is not there is.
func TestRetryLoggerOfANewBroker(t *testing.T) {
	for name, tt := range map[string]struct {
		err    error
		logged bool // after 20 s
	}{
		"no coordinator yet":      {kafkago.GroupCoordinatorNotAvailable, false},
		"not the coordinator yet": {fmt.Errorf("fencing: %w", kafkago.NotCoordinatorForGroup), false},
		"it loads":                {kafkago.GroupLoadInProgress, false},
		"as the group has it": {fmt.Errorf("%w (%w)", kafkago.GroupCoordinatorNotAvailable,
			kafkago.NotCoordinatorForGroup), false},
		"nobody listens, as the group has it": {
			fmt.Errorf("%w (%w)", kafkago.GroupCoordinatorNotAvailable,
				&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}), true,
		},
		"it hangs up, as the group has it": {fmt.Errorf("%w (%w)", kafkago.GroupCoordinatorNotAvailable,
			io.EOF), true},
		"no leader": {kafkago.LeaderNotAvailable, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				retries := kafka.NewRetryLogger(textLog(&log), "joining")
				failFor := func(d time.Duration) {
					for start := time.Now(); time.Since(start) < d; {
						if err := retries.Wait(t.Context(), tt.err); err != nil {
							t.Fatal(err)
						}
					}
				}
				failFor(20 * time.Second)
				if logged := log.Len() > 0; logged != tt.logged {
					t.Errorf("after 20 s: %q", log.String())
				}
				failFor(20 * time.Second)
				if log.Len() == 0 {
					t.Error("nothing is logged after 40 s")
				}
			})
		})
	}
}

// What soon passes, as in a rebalance or while a topic is created, is not worth a line.
func TestRetryLoggerLogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		retries := kafka.NewRetryLogger(textLog(&log), "reading topic articles")
		lines := func() []string {
			defer log.Reset()
			return strings.FieldsFunc(log.String(), func(r rune) bool { return r == '\n' })
		}
		failUntil := func(start time.Time, limit time.Duration) {
			t.Helper()
			for time.Since(start) < limit {
				if err := retries.Wait(t.Context(), kafkago.SASLAuthenticationFailed); err != nil {
					t.Fatal(err)
				}
			}
		}
		retries.Succeeded()
		failUntil(time.Now(), 200*time.Millisecond)
		retries.Succeeded()
		if got := lines(); len(got) != 0 {
			t.Errorf("log %q, want none of what soon passes", got)
		}
		start := time.Now()
		failUntil(start, 50*time.Second)
		got := lines()
		if len(got) != 1 || !strings.Contains(got[0], "level=WARN") ||
			!strings.Contains(got[0], "reading topic articles failed; trying again") ||
			!strings.Contains(got[0], "check kafka.sasl") {
			t.Errorf("log %q, want the error, explained, once within a minute", got)
		}
		failUntil(start, 110*time.Second)
		if got := lines(); len(got) != 1 || !strings.Contains(got[0], "failed; trying again") {
			t.Errorf("log %q, want one reminder in the second minute", got)
		}
		retries.Succeeded()
		retries.Succeeded()
		if got := lines(); len(got) != 1 || !strings.Contains(got[0], "level=INFO") ||
			!strings.Contains(got[0], "reading topic articles works again") {
			t.Errorf("log %q, want the recovery, once", got)
		}
	})
}

func TestRetry(t *testing.T) {
	other := errors.New("other")
	for name, tt := range map[string]struct {
		errs []error // of each try; nil after the last
		want error
	}{
		"at once": {nil, nil},
		"after some failures": {[]error{
			io.EOF, kafkago.LeaderNotAvailable, kafkago.ConcurrentTransactions,
		}, nil},
		"not of Kafka": {[]error{other}, other},
		"fatal": {
			[]error{kafkago.TopicAuthorizationFailed}, kafkago.TopicAuthorizationFailed,
		},
		"fatal in the end": {
			[]error{io.EOF, kafkago.SASLAuthenticationFailed}, kafkago.SASLAuthenticationFailed,
		},
		"canceled by somebody": {[]error{context.Canceled}, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				err := kafka.Retry(t.Context(), slog.New(slog.DiscardHandler), "asking", func() error {
					tries++
					if tries <= len(tt.errs) {
						return tt.errs[tries-1]
					}
					return nil
				})
				if !errors.Is(err, tt.want) {
					t.Errorf("error = %v, want %v", err, tt.want)
				}
				if want := kafka.Explain(tt.want); want != nil && err.Error() != want.Error() {
					t.Errorf("error = %q, want it explained: %q", err, want)
				}
				want := len(tt.errs)
				if tt.want == nil {
					want++
				}
				if tries != want {
					t.Errorf("%d tries, want %d", tries, want)
				}
			})
		})
	}
}

func TestRetryEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		tries := 0
		err := kafka.Retry(ctx, slog.New(slog.DiscardHandler), "asking",
			func() error { tries++; return io.EOF })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error = %v, want that of the context", err)
		}
		if !errors.Is(err, io.EOF) || !strings.Contains(err.Error(), "the broker closed the connection") {
			t.Errorf("error = %v, want what failed, explained", err)
		}
		if tries < 3600/5 || tries > 3600*2/5+10 {
			t.Errorf("%d tries in an hour, want one every 2.5 to 5 s", tries)
		}
	})
}

// A try that takes long by itself is logged when it has failed, not only when the next one has.
func TestRetryLogsALongTryAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		tries := 0
		err := kafka.Retry(t.Context(), textLog(&log), "asking", func() error {
			if tries++; tries > 1 {
				return nil
			}
			time.Sleep(kafka.RequestTimeout)
			return context.DeadlineExceeded
		})
		if err != nil || !strings.Contains(log.String(), "asking failed; trying again") {
			t.Errorf("error = %v, log %q", err, log.String())
		}
	})
}

func TestRetryThatIsCanceledSaysNothingElse(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	err := kafka.Retry(ctx, slog.New(slog.DiscardHandler), "asking",
		func() error { cancel(); return io.EOF })
	if err != context.Canceled {
		t.Errorf("error = %v, want that of the context alone", err)
	}
}
