package audit

import (
	"fmt"
	"maps"
	"slices"

	"github.com/clusterd/clusterd/internal/audit/spill"
	"github.com/clusterd/clusterd/internal/audit/wire"
)

// An account is what went into a partition of the input, and what came out of it.
type account struct {
	in, out spill.Bitmap
	top     int64        // the highest offset that came out plus 1
	results int64        // of these, the highest of a result
	bad     spill.Bitmap // of out: what came out as a rest of a batch that cannot be read
	doubted spill.Bitmap // that may be in, in a batch that the audit cannot read
}

func (a *audit) account(partition int32) *account {
	if a.accounts[partition] == nil {
		a.accounts[partition] = &account{
			in: make(spill.Bitmap), out: make(spill.Bitmap),
			bad: make(spill.Bitmap), doubted: make(spill.Bitmap),
		}
	}
	return a.accounts[partition]
}

// noteOutput notes that there is a message of an input record.
func (a *audit) noteOutput(source wire.Address, at string) {
	account := a.account(source.Partition)
	if !account.out.Add(source.Offset) {
		a.once.Violate(at,
			"the first and only message of "+source.In(a.config.Input.Topic), "another one of it")
	}
	account.top = max(account.top, source.Offset+1)
}

// checkAccounts holds what came out to what went in.
func (a *audit) checkAccounts() {
	a.once.Checked = a.report.Counts.Records
	for p, committed := range a.cut.Committed {
		if end := a.cut.Input.To[p]; committed > end {
			a.once.Violate(a.inputAt(p, committed),
				"the partition to reach the offset that the group has committed",
				fmt.Sprintf("it ends at offset %d: the topic was made anew", end))
		}
	}
	_, _, deadLettersDeleted := a.cut.DeadLetters.Deleted()
	for _, p := range slices.Sorted(maps.Keys(a.accounts)) {
		if a.complete && !deadLettersDeleted {
			a.checkLost(p)
		}
		a.checkForeign(p)
		a.checkAhead(p)
	}
	if n := a.report.Counts.Deleted; n > 0 {
		a.input.Skip(fmt.Sprintf(
			"%d results and dead letters: retention has deleted their input records", n))
	}
	if a.unmeasured > 0 {
		a.rule.Skip(fmt.Sprintf("%d distances: retention has deleted the input record of the article "+
			"or of its cluster's founder", a.unmeasured))
	}
}

// checkLost reports records of which nothing came out.
func (a *audit) checkLost(p int32) {
	for offset := range a.accounts[p].in.All() {
		if offset < a.cut.Committed[p] && !a.accounts[p].out.Has(offset) {
			a.once.Violate(a.inputAt(p, offset),
				"a result or a dead letter", "none, though the group's offset is past it")
		}
	}
}

// checkForeign reports messages of records that are not there.
func (a *audit) checkForeign(p int32) {
	for offset := range a.accounts[p].out.All() {
		switch {
		case a.accounts[p].in.Has(offset), a.accounts[p].doubted.Has(offset):
		case offset < a.cut.Input.From[p]:
			a.report.Counts.Deleted++
		default:
			a.once.Violate(a.inputAt(p, offset),
				"a committed record, since there is a result or a dead letter of it", "none")
		}
	}
}

// checkAhead reports the last message of a record that the group's offsets are not past.
func (a *audit) checkAhead(p int32) {
	if top := a.accounts[p].top; top > a.cut.Applied[p] {
		a.clusters.Violate(a.inputAt(p, top-1),
			fmt.Sprintf("nothing to come out of it while the group's offset is %d", a.cut.Applied[p]),
			"a result or a dead letter")
	}
}

func (a *audit) inputAt(partition int32, offset int64) string {
	return wire.Address{Partition: partition, Offset: offset}.In(a.cut.Input.Topic)
}
