package audit

import (
	"fmt"
	"maps"
	"slices"
)

// An account is what went into a partition of the input, and what came out of it.
type account struct {
	in, out bitmap
	top     int64  // the highest offset that came out plus 1
	bad     bitmap // of out: what came out as a rest of a batch that cannot be read
	doubted bitmap // that may be in, in a batch that the audit cannot read
}

func (a *audit) account(partition int32) *account {
	if a.accounts[partition] == nil {
		a.accounts[partition] = &account{in: make(bitmap), out: make(bitmap), bad: make(bitmap), doubted: make(bitmap)}
	}
	return a.accounts[partition]
}

// came notes that a message speaks of an input record.
func (a *audit) came(source place, at string) {
	account := a.account(source.Partition)
	if !account.out.add(source.Offset) {
		a.once.violated(at, "the first and only message of "+source.in(a.config.Input.Topic), "another one of it")
	}
	account.top = max(account.top, source.Offset+1)
}

// compareAccounts holds what came out to what went in.
func (a *audit) compareAccounts() {
	a.once.Checked = a.report.Counts.Records
	for p, committed := range a.cut.committed {
		if end := a.cut.input.to[p]; committed > end {
			a.once.violated(place{p, committed}.in(a.cut.input.topic), "the partition to reach the offset that the group has committed",
				fmt.Sprintf("it ends at offset %d: the topic was made anew", end))
		}
	}
	_, _, lettersGone := a.cut.dead.begun()
	for _, p := range slices.Sorted(maps.Keys(a.accounts)) {
		if a.complete && !lettersGone {
			a.lost(p)
		}
		a.foreign(p)
		a.ahead(p)
	}
	if n := a.report.Counts.Deleted; n > 0 {
		a.input.notChecked(fmt.Sprintf("%d results and dead letters: retention has deleted their input records", n))
	}
	if a.unmeasured > 0 {
		a.rule.notChecked(fmt.Sprintf("%d distances: retention has deleted the input record of the article or of its cluster's founder", a.unmeasured))
	}
}

func (a *audit) lost(p int32) {
	for offset := range a.accounts[p].in.all() {
		if offset < a.cut.committed[p] && !a.accounts[p].out.has(offset) {
			a.once.violated(place{p, offset}.in(a.cut.input.topic), "a result or a dead letter", "none, though the group's offset is past it")
		}
	}
}

func (a *audit) foreign(p int32) {
	for offset := range a.accounts[p].out.all() {
		switch {
		case a.accounts[p].in.has(offset), a.accounts[p].doubted.has(offset):
		case offset < a.cut.input.from[p]:
			a.report.Counts.Deleted++
		default:
			a.once.violated(place{p, offset}.in(a.cut.input.topic), "a committed record, since there is a result or a dead letter of it", "none")
		}
	}
}

func (a *audit) ahead(p int32) {
	if top := a.accounts[p].top; top > a.cut.applied[p] {
		a.clusters.violated(place{p, top - 1}.in(a.cut.input.topic),
			fmt.Sprintf("nothing to come out of it while the group's offset is %d", a.cut.applied[p]), "a result or a dead letter")
	}
}
