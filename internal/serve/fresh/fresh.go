// Package fresh keeps an answer from saying that something is not there only because it has just
// been committed. The spaces and the view of members follow the topics, and are a moment behind. An
// answer that something is there comes at once; an answer that it is unknown waits.
package fresh

import (
	"context"
	"errors"
	"time"

	"github.com/clusterd/clusterd/internal/serve/http/api"
)

// Wait is how long an answer waits at most.
const Wait = 5 * time.Second

// Ask asks. If the error is [api.ErrUnknown], it waits and asks once more.
func Ask(ctx context.Context, ask func() error, wait func(context.Context) error) error {
	err := ask()
	if !errors.Is(err, api.ErrUnknown) {
		return err
	}
	if err := Within(ctx, wait); err != nil {
		return err
	}
	return ask()
}

// Within waits for [Wait] at most. The error is then [api.ErrLate].
func Within(ctx context.Context, wait func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, Wait)
	defer cancel()
	err := wait(limited)
	if errors.Is(err, context.DeadlineExceeded) {
		return api.ErrLate
	}
	return err
}
