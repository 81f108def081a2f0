package audit

import (
	"context"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/audit/replay"
	"github.com/clusterd/clusterd/internal/audit/topics"
	"github.com/clusterd/clusterd/internal/audit/wire"
)

// readInput works out again what every committed record must come out as, up to the group's
// offsets, and holds the dead letters to it. Offsets have gaps, so the records themselves must be
// seen.
func (a *audit) readInput(ctx context.Context) error {
	input := a.cut.Input
	input.To = a.read
	handle := topics.BatchHandler{
		MaxHeaders: a.config.Input.MaxBytes,
		Unreadable: a.noteUnreadable,
		Records: func(records []*kgo.Record) error {
			return a.expected.Add(records, func(r *kgo.Record, in *replay.Outcome) error {
				a.noteInput(r)
				return a.checkDeadLetter(r, in)
			})
		},
	}
	if err := a.topics.ReadBatches(ctx, input, handle); err != nil {
		return err
	}
	return a.expected.Flush()
}

// readRest notes the records that came out though the group's offsets are not past them.
func (a *audit) readRest(ctx context.Context) error {
	rest := a.cut.Input
	rest.From, rest.To = a.read, make(map[int32]int64)
	for p, end := range a.cut.Input.To {
		rest.To[p] = min(end, a.account(p).top)
	}
	handle := topics.BatchHandler{
		MaxHeaders: a.config.Input.MaxBytes,
		Unreadable: a.noteUnreadable,
		Records: func(records []*kgo.Record) error {
			for _, r := range records {
				a.noteInput(r)
			}
			return nil
		},
	}
	return a.topics.ReadBatches(ctx, rest, handle)
}

// noteInput notes a committed record of the input.
func (a *audit) noteInput(r *kgo.Record) {
	account := a.account(r.Partition)
	account.in.Add(r.Offset)
	if r.Offset < a.cut.Committed[r.Partition] {
		a.report.Counts.Records++
	}
	if account.bad.Has(r.Offset) {
		a.once.Violate(wire.AddressOf(r).In(r.Topic),
			"the record, which can be read", "a dead letter of class "+wire.BadBatch)
	}
}

// noteUnreadable notes records that the audit cannot read. Of these it asks only that each comes
// out once, as whatever.
func (a *audit) noteUnreadable(partition int32, first, last int64, gaps bool) error {
	account := a.account(partition)
	for offset := first; offset <= last; offset++ {
		if gaps {
			account.doubted.Add(offset)
			continue
		}
		account.in.Add(offset)
		if offset < a.cut.Committed[partition] {
			a.report.Counts.Records++
		}
	}
	return nil
}
