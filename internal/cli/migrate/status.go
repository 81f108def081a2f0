package migrate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/clusterd/clusterd/internal/cli/migrate/beside"
	"github.com/clusterd/clusterd/internal/kafka"
)

// A Status says how far both spaces are.
type Status struct {
	Old   Progress `json:"old"`
	New   Progress `json:"new"`
	Ready bool     `json:"ready"` // the new one is about as far as the old one
	// Behind is how many articles the new one has to read to be where the old one is.
	Behind int64 `json:"behind"`
}

// Progress is how far a space is.
type Progress struct {
	Group      string     `json:"group"`
	Results    string     `json:"results"` // topic
	Members    int        `json:"members"`
	Lag        int64      `json:"lag"`                   // records of the input
	Since      *time.Time `json:"since,omitempty"`       // the first result that is still there
	HandedOver string     `json:"handed_over,omitempty"` // to this group
}

// StatusOf asks the brokers.
func StatusOf(ctx context.Context, t beside.Two) (s Status, err error) {
	if s.Old, err = progress(ctx, &t.Old); err != nil {
		return s, err
	}
	if s.New, err = progress(ctx, &t.New); err != nil {
		return s, err
	}
	o, err := t.Old.Commits(ctx, t.Old.Input.Topic)
	if err != nil {
		return s, err
	}
	n, err := t.New.Commits(ctx, t.New.Input.Topic)
	reached := make(map[int]int64)
	for p, c := range o {
		reached[p] = c.Offset
	}
	s.Behind = behind(n, reached)
	s.Ready = len(o) > 0 && len(n) > 0 && s.Behind <= maxBehind
	return s, err
}

func progress(ctx context.Context, s *beside.Space) (p Progress, err error) {
	p = Progress{Group: s.Input.Group, Results: s.Output.Topic}
	if p.Members, err = s.Members(ctx); err != nil {
		return p, err
	}
	first, end, err := s.Offsets(ctx, s.Input.Topic)
	if err != nil {
		return p, err
	}
	commits, err := s.Commits(ctx, s.Input.Topic)
	if err != nil {
		return p, err
	}
	for partition, to := range end {
		from := first[partition]
		if c, ok := commits[partition]; ok {
			from = c.Offset
		}
		p.Lag += max(0, to-from)
	}
	if _, p.HandedOver, err = s.HandedOver(ctx); err != nil {
		return p, err
	}
	p.Since, err = since(ctx, s)
	return p, err
}

// errEnough ends a reading.
var errEnough = errors.New("enough was read")

// since returns when the first result was written that is there, nil where there is none.
func since(ctx context.Context, s *beside.Space) (since *time.Time, err error) {
	first, end, err := s.Offsets(ctx, s.Output.Topic)
	if errors.Is(err, kafka.ErrNoTopic) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	for p := range first {
		err := s.Read(ctx, s.Output.Topic, map[int]int64{p: first[p]}, end, func(r *kafka.Record) error {
			if since == nil || r.Time.Before(*since) {
				at := r.Time.UTC()
				since = &at
			}
			return errEnough
		})
		if err != nil && !errors.Is(err, errEnough) {
			return nil, err
		}
	}
	return since, nil
}

// Write writes the status for people.
func (s Status) Write(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\tgroup\tresults\tinstances\tlag\tsince")
	for _, row := range []struct {
		name string
		Progress
	}{{"old", s.Old}, {"new", s.New}} {
		since := "–"
		if row.Since != nil {
			since = row.Since.Format(time.RFC3339)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%s\n", row.name, row.Group, row.Results, row.Members, row.Lag,
			since)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	text := fmt.Sprintf("not ready: the new space is %d articles behind the old one", s.Behind)
	switch {
	case s.Old.HandedOver != "":
		text = fmt.Sprintf("group %s has handed its results over to group %s", s.Old.Group,
			s.Old.HandedOver)
	case s.Ready:
		text = fmt.Sprintf("ready: the new space is %d articles behind the old one", s.Behind)
	}
	_, err := fmt.Fprintln(out, text)
	return err
}
