// Package fresh keeps an answer from saying that something is not there only because it has just
// been committed. What answers follows the topics, and is a moment behind. What is there is
// answered at once; only an answer that there is none waits.
package fresh

import (
	"context"
	"errors"
	"time"

	"github.com/clusterd/clusterd/internal/serve/http/api"
)

// Wait is how long an answer waits at most.
const Wait = 5 * time.Second

// Ask asks. If there is none, it waits and asks once more.
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
