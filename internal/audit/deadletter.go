package audit

import (
	"context"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/audit/replay"
	"github.com/clusterd/clusterd/internal/audit/report"
	"github.com/clusterd/clusterd/internal/audit/spill"
	"github.com/clusterd/clusterd/internal/audit/wire"
)

func (a *audit) readDeadLetters(ctx context.Context) error {
	n, err := a.topics.ReadData(ctx, a.cut.DeadLetters, a.addDeadLetter)
	a.data += n
	return err
}

// addDeadLetter checks what a dead letter says by itself, and keeps what its input record is held
// to.
func (a *audit) addDeadLetter(r *kgo.Record) error {
	a.form.Checked++
	if a.isOfLabel(r) {
		return a.addLabelLetter(r)
	}
	if a.isOfFingerprint(r) {
		return nil
	}
	at := wire.AddressOf(r).In(r.Topic)
	source, err := wire.Source(r, a.config.Input.Topic)
	if err != nil {
		a.form.Violate(at, "the form of a dead letter", err.Error())
		return nil
	}
	class, ok := wire.Header(r, wire.HeaderError)
	if class != wire.BadBatch {
		a.noteOutput(source, at)
		a.noteLetter(source)
	} else if err := a.noteBadBatch(r, source, at); err != nil {
		a.form.Violate(at, "the form of a dead letter", err.Error())
		return nil
	}
	if classes := wire.Classes(); !ok || !slices.Contains(classes, class) {
		a.form.Violate(at, fmt.Sprintf("header %s to be one of %q", wire.HeaderError, classes),
			fmt.Sprintf("%q", class))
		return nil
	}
	row, ok := a.deadRow(r, class)
	if !ok || class == wire.BadBatch {
		return nil // there is no record to hold the latter to
	}
	if err := a.placements.AddDeadLetter(r, source); err != nil {
		return err
	}
	_, err = a.dead.Put(source.Partition, source.Offset, row)
	return err
}

// noteLetter notes that an input record came out as a dead letter, where that says that it was not
// fingerprinted.
func (a *audit) noteLetter(source wire.Address) {
	if a.divided == nil {
		return
	}
	if a.letters[source.Partition] == nil {
		a.letters[source.Partition] = make(spill.Bitmap)
	}
	a.letters[source.Partition].Add(source.Offset)
}

// deadRow counts a dead letter, and returns what its record is held to, if its headers say it.
func (a *audit) deadRow(r *kgo.Record, class string) (row letterRow, ok bool) {
	a.report.Counts.DeadLetters[class]++
	at := wire.AddressOf(r)
	truncated, err := wire.Truncated(r)
	if err != nil {
		a.form.Violate(at.In(r.Topic),
			fmt.Sprintf("header %s to be a length", wire.HeaderTruncated), err.Error())
		return row, false
	}
	for _, name := range []string{wire.HeaderReason, wire.HeaderStage} {
		if text, _ := wire.Header(r, name); text == "" {
			a.form.Violate(at.In(r.Topic), "header "+name, "none, or an empty one")
		}
	}
	return newLetterRow(a.seed, r, class, truncated), true
}

// noteBadBatch notes all offsets of which a dead letter says that they cannot be read.
func (a *audit) noteBadBatch(r *kgo.Record, first wire.Address, at string) error {
	last, err := wire.LastUnreadable(r, first.Offset, a.cut.Input.To[first.Partition])
	if err != nil {
		return err
	}
	for offset := first.Offset; offset <= last; offset++ {
		a.noteOutput(wire.Address{Partition: first.Partition, Offset: offset}, at)
		a.noteLetter(wire.Address{Partition: first.Partition, Offset: offset})
		a.account(first.Partition).bad.Add(offset)
	}
	return nil
}

// checkDeadLetter holds the dead letter of an input record, if there is one, to it.
func (a *audit) checkDeadLetter(r *kgo.Record, in *replay.Outcome) error {
	dead, ok, err := a.dead.Get(r.Partition, r.Offset)
	if !ok || err != nil {
		return err
	}
	a.input.Checked++
	at, source := dead.At.In(a.cut.DeadLetters.Topic), wire.AddressOf(r).In(r.Topic)
	if in.Kind != replay.Rejected {
		a.input.Violate(at, fmt.Sprintf("a result: %s is an article", source),
			"a dead letter of class "+wire.ClassName(dead.Class))
		return nil
	}
	var d report.Differences
	if dead.Class != in.Class {
		d.Add("class "+wire.ClassName(in.Class), wire.ClassName(dead.Class))
	}
	dead.Check(r, a.seed, a.config.Input.MaxBytes, &d)
	a.reportDifferences(at, source, d)
	return nil
}
