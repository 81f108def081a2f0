package monitor

import (
	"context"
	"errors"
	"time"

	"github.com/clusterd/clusterd/internal/kafka"
)

// answerTimeout is how long the brokers may leave requests without an answer until that is
// reported.
const answerTimeout = 5 * time.Second

// contact is whether the brokers answer what they are asked.
type contact struct {
	pending int       // requests without an answer
	quiet   time.Time // since when there was no answer, zero where nothing is asked
	err     error     // of the latest request, nil where it was answered
}

// Request reports that the brokers are asked something. The function that it returns says what came
// of it: nil for an answer, whatever that says; the end of a context, or that a topic is not known
// here, tells nothing of them.
func (m *Monitor) Request() (done func(error)) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	c := &m.contact
	c.pending++
	if c.quiet.IsZero() {
		c.quiet = m.now()
	}
	return func(err error) {
		m.mutex.Lock()
		defer m.mutex.Unlock()
		c.pending--
		switch {
		case err == nil:
			c.err, c.quiet = nil, m.now()
			m.answered = true
		case errors.Is(err, context.Canceled), kafka.NoTopic(err):
		default:
			c.err = err
		}
		if c.pending == 0 && c.err == nil {
			c.quiet = time.Time{}
		}
	}
}

// problem returns what is wrong with the brokers, "" where they answer.
func (c *contact) problem(now time.Time) string {
	switch {
	case c.err != nil:
		return kafka.Explain(c.err).Error()
	case c.pending > 0 && now.Sub(c.quiet) >= answerTimeout:
		return "the brokers have not answered for " + rounded(now.Sub(c.quiet))
	}
	return ""
}
