package audit

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/audit/spill"
	"github.com/clusterd/clusterd/internal/audit/wire"
)

// fingerprints is what a partition of the topic of fingerprinted articles says.
type fingerprints struct {
	sources spill.Bitmap // offsets of the input
	last    int64        // of sources, -1 for none
	// waiting and pending are the first of those that the offsets of the assigning group are not past,
	// as of the beginning and of the end of the cut; -1 for none.
	waiting, pending int64
	rubbish          spill.Bitmap // offsets of records that are no fingerprinted articles
	letters          spill.Bitmap // of these, those that came out as dead letters
}

func (a *audit) fingerprintsOf(partition int32) *fingerprints {
	if a.fingerprinted[partition] == nil {
		a.fingerprinted[partition] = &fingerprints{
			sources: make(spill.Bitmap), last: -1, waiting: -1, pending: -1,
			rubbish: make(spill.Bitmap), letters: make(spill.Bitmap),
		}
	}
	return a.fingerprinted[partition]
}

// readFingerprints holds the topic of fingerprinted articles to its order, and finds out up to
// where the input is assigned: what is fingerprinted and waits need not have come out.
func (a *audit) readFingerprints(ctx context.Context) error {
	n, err := a.topics.ReadData(ctx, a.cut.Fingerprints, func(r *kgo.Record) error {
		a.divided.Checked++
		f, at := a.fingerprintsOf(r.Partition), wire.AddressOf(r).In(r.Topic)
		source, err := wire.Fingerprinted(r)
		if err != nil {
			f.rubbish.Add(r.Offset)
			return nil
		}
		if source.Offset <= f.last && a.cut.Fingerprints.From[r.Partition] == 0 {
			a.divided.Violate(at, "an article behind "+a.inputAt(r.Partition, f.last),
				a.inputAt(r.Partition, source.Offset))
		}
		f.last = max(f.last, source.Offset)
		f.sources.Add(source.Offset)
		if r.Offset >= a.cut.Read[r.Partition] && f.waiting < 0 {
			f.waiting = source.Offset
		}
		if r.Offset >= a.cut.ReadApplied[r.Partition] && f.pending < 0 {
			f.pending = source.Offset
		}
		return nil
	})
	a.data += n
	a.fingerprintedTo = maps.Clone(a.cut.Committed)
	for p, f := range a.fingerprinted {
		if f.waiting >= 0 {
			a.cut.Committed[p] = min(a.cut.Committed[p], f.waiting)
		}
	}
	return err
}

// isOfFingerprint reports whether a dead letter is of a record of the topic of fingerprinted
// articles, and notes it.
func (a *audit) isOfFingerprint(r *kgo.Record) bool {
	topic := a.cut.Fingerprints.Topic
	text, _ := wire.Header(r, wire.HeaderSource)
	if topic == "" || !strings.HasPrefix(text, topic+"/") {
		return false
	}
	at := wire.AddressOf(r).In(r.Topic)
	source, err := wire.Source(r, topic)
	if err != nil {
		a.form.Violate(at, "the form of a dead letter", err.Error())
		return true
	}
	class, _ := wire.Header(r, wire.HeaderError)
	a.report.Counts.DeadLetters[class]++
	f := a.fingerprintsOf(source.Partition)
	switch {
	case class == wire.BadBatch: // what the audit reads of such a batch may be another part of it
	case class != wire.BadFingerprint:
		a.form.Violate(at, "class "+wire.BadFingerprint, fmt.Sprintf("%q", class))
	case !f.rubbish.Has(source.Offset) && source.Offset >= a.cut.Fingerprints.From[source.Partition]:
		a.divided.Violate(at, "no dead letter: "+source.In(topic)+" is a fingerprinted article", "one")
	case !f.letters.Add(source.Offset):
		a.divided.Violate(at, "the only dead letter of "+source.In(topic), "another one")
	}
	return true
}

// checkFingerprints holds what was fingerprinted to the input, and what was assigned to that.
func (a *audit) checkFingerprints() {
	if a.divided == nil {
		return
	}
	topic := a.cut.Fingerprints.Topic
	for _, p := range slices.Sorted(maps.Keys(a.fingerprinted)) {
		f := a.fingerprinted[p]
		for offset := range f.rubbish.All() {
			if offset < a.cut.Read[p] && !f.letters.Has(offset) {
				a.divided.Violate(wire.Address{Partition: p, Offset: offset}.In(topic),
					"a dead letter: it is no fingerprinted article", "none")
			}
		}
		for offset := range f.sources.All() {
			if a.letters[p].Has(offset) {
				a.divided.Violate(a.inputAt(p, offset), "a fingerprint or a dead letter", "both")
			}
		}
	}
	for _, p := range slices.Sorted(maps.Keys(a.accounts)) {
		f, account := a.fingerprintsOf(p), a.accounts[p]
		if top := account.results - 1; f.pending >= 0 && top >= f.pending {
			a.divided.Violate(a.inputAt(p, top),
				fmt.Sprintf("no result while the offset of group %s is %d", a.config.AssignGroup(),
					a.cut.ReadApplied[p]), "one")
		}
		if a.cut.Fingerprints.From[p] > 0 {
			a.divided.Skip(fmt.Sprintf("the records of %s/%d below offset %d, which are deleted", topic,
				p, a.cut.Fingerprints.From[p]))
			continue
		}
		for offset := range account.in.All() {
			if offset < a.fingerprintedTo[p] && !f.sources.Has(offset) && !account.out.Has(offset) {
				a.divided.Violate(a.inputAt(p, offset), "a fingerprint or a dead letter", "neither")
			}
		}
	}
}
