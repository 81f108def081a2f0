package audit

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/audit/labels"
	"github.com/clusterd/clusterd/internal/audit/replay"
	"github.com/clusterd/clusterd/internal/audit/report"
	"github.com/clusterd/clusterd/internal/audit/spill"
	"github.com/clusterd/clusterd/internal/audit/wire"
	"github.com/clusterd/clusterd/internal/config"
)

// prepareLabels makes the checks of labels, if there are any.
func (a *audit) prepareLabels() {
	of, span := a.config.Labels, a.cut.Labels
	if of.Topic == "" {
		return
	}
	rule := labels.Rule{
		Input: a.config.Input.Topic, Topic: of.Topic, Corrections: of.Corrections, Allow: of.Allow,
		Marks: a.config.Contacts.Join, Contacts: a.expected.Contacts,
		Scopes: a.config.Cluster.Scope != config.ByTopic, Partitions: len(a.cut.Input.To),
	}
	if window := a.config.Cluster.Window; window > 0 {
		rule.Kept = max(0, of.Keep-window)
	}
	a.labels = labels.New(rule, a.dir, a.seed, span.From, span.To, a.applied, a.told)
	a.labelDead = spill.NewPartitions[letterRow](a.dir, span.From, span.To)
	if p, from, ok := span.Deleted(); ok {
		why := fmt.Sprintf("the records of %s/%d below offset %d have been deleted; "+
			"a topic that keeps all has retention.ms=-1 and retention.bytes=-1", span.Topic, p, from)
		a.erasable = true
		a.labels.CannotCheck(why)
	}
	if p, from, ok := a.cut.Corrections.Deleted(); ok {
		a.told.Skip(fmt.Sprintf("the records of %s/%d below offset %d have been deleted",
			of.Corrections, p, from))
	}
}

// isOfLabel reports whether a dead letter is of a label record.
func (a *audit) isOfLabel(r *kgo.Record) bool {
	source, _ := wire.Header(r, wire.HeaderSource)
	return a.labels != nil && strings.HasPrefix(source, a.config.Labels.Topic+"/")
}

// addLabelLetter keeps the dead letter of a label record until that is read.
func (a *audit) addLabelLetter(r *kgo.Record) error {
	at := wire.AddressOf(r).In(r.Topic)
	source, err := wire.Source(r, a.config.Labels.Topic)
	if err != nil {
		a.form.Violate(at, "the form of a dead letter", err.Error())
		return nil
	}
	class, _ := wire.Header(r, wire.HeaderError)
	if classes := append(wire.LabelClasses(), wire.BadBatch); !slices.Contains(classes, class) {
		a.form.Violate(at, fmt.Sprintf("header %s to be one of %q", wire.HeaderError, classes),
			fmt.Sprintf("%q", class))
		return nil
	}
	row, ok := a.deadRow(r, class)
	if !ok || class == wire.BadBatch {
		return nil
	}
	fresh, err := a.labelDead.Put(source.Partition, source.Offset, row)
	if err == nil && !fresh && source.Offset >= a.cut.Labels.From[source.Partition] {
		a.applied.Violate(at, "the first and only message of "+source.In(a.config.Labels.Topic),
			"another one of it")
	}
	return err
}

// readLabels reads the label records, and holds their dead letters to them.
func (a *audit) readLabels(ctx context.Context) error {
	n, err := a.topics.ReadAny(ctx, a.cut.Labels, a.config.Input.MaxBytes, func(r *kgo.Record) error {
		dead, ok, err := a.labelDead.Get(r.Partition, r.Offset)
		if err != nil {
			return err
		}
		if a.stories != nil {
			a.stories.Label(r)
		}
		class := ""
		if ok {
			class = wire.ClassName(dead.Class)
			a.input.Checked++
			var d report.Differences
			dead.Check(r, a.seed, a.config.Input.MaxBytes, &d)
			a.reportDifferences(dead.At.In(a.cut.DeadLetters.Topic), wire.AddressOf(r).In(r.Topic), d)
		} else {
			a.addErasure(r)
		}
		return a.labels.Add(r, class)
	})
	a.report.Counts.Labels = n
	return err
}

// addErasure notes that a record of the topic of labels erases the text of a founder.
func (a *audit) addErasure(r *kgo.Record) {
	l, err := wire.ParseLabelRecord(r)
	if err != nil || l.Action != wire.ActionErase || l.Source != l.ClusterID {
		return
	}
	founder, err := wire.ParseAddress(l.ClusterID, a.config.Input.Topic)
	if _, earlier := a.erased[founder]; err == nil && !earlier {
		a.erased[founder] = wire.AddressOf(r)
		if a.stories != nil {
			a.stories.Erased = true
		}
	}
}

// represents returns a digest of the representative of a founder's cluster.
func (a *audit) represents(founder wire.Address, r wire.Representative) uint64 {
	_, erased := a.erased[founder]
	if (erased || a.erasable) && r.Title == "" && r.Excerpt == "" {
		return replay.ErasedText
	}
	return maphash.Comparable(a.seed, r)
}

// labelSpace returns the labels of a space.
func (a *audit) labelSpace(partition int32) *labels.Space {
	if a.labelled[partition] == nil {
		a.labelled[partition] = a.labels.Space(partition)
	}
	return a.labelled[partition]
}

// readCorrections holds each correction to its label record and to the result of its member.
func (a *audit) readCorrections(ctx context.Context) error {
	n, err := a.topics.ReadData(ctx, a.cut.Corrections, func(r *kgo.Record) error {
		a.form.Checked++
		c, err := wire.ParseCorrection(r)
		if err == nil {
			err = wire.CheckHeaders(r)
		}
		if err != nil {
			a.form.Violate(wire.AddressOf(r).In(r.Topic), "the form of a correction", err.Error())
			return nil
		}
		print, err := a.checkMember(&c, r)
		if err != nil {
			return err
		}
		return a.labels.AddCorrection(&c, print, r)
	})
	a.data += n
	a.report.Counts.Corrections = n
	return err
}

// checkMember holds what a correction says of its member to the member's result. It returns the
// fingerprint of the member.
func (a *audit) checkMember(c *wire.Correction, r *kgo.Record) (print uint64, err error) {
	at := wire.AddressOf(r).In(r.Topic)
	founder, err := wire.ParseAddress(c.ClusterID, a.config.Input.Topic)
	if err != nil {
		a.form.Violate(at, "the form of a correction", err.Error())
		return 0, nil
	}
	s, err := a.space(founder.Partition)
	if err != nil || !a.complete {
		return 0, err
	}
	row, ok, err := s.Results.Get(c.MemberPosition)
	if err != nil {
		return 0, err
	}
	source := wire.Address{Partition: c.Source.Partition, Offset: c.Source.Offset}
	if !ok || row.Article.Cluster != founder || row.Article.Source != source ||
		c.Source.Topic != a.config.Input.Topic || row.ID != maphash.String(a.seed, c.ArticleID) {
		a.told.Violate(at,
			fmt.Sprintf("a member of %s at position %d, as its result says", c.ClusterID,
				c.MemberPosition),
			fmt.Sprintf("article %q of %s", c.ArticleID, source.In(c.Source.Topic)))
	}
	return row.Article.Fingerprint.Hash, nil
}

// addContact takes up the record of a contact, which labels have marked.
func (a *audit) addContact(r *kgo.Record) error {
	a.form.Checked++
	at := wire.AddressOf(r).In(r.Topic)
	c, err := wire.ParseContact(r)
	if err = cmp.Or(err, wire.CheckOwn(r, wire.OwnContact)); err != nil {
		a.form.Violate(at, "the form of a contact", err.Error())
		return nil
	}
	a.checkSpacePartition(r, c.Partition())
	if a.labels == nil {
		return nil
	}
	return a.labelSpace(c.Partition()).AddContact(&c, at)
}
