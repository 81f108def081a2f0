package audit

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/audit/labels"
	"github.com/clusterd/clusterd/internal/audit/spill"
	"github.com/clusterd/clusterd/internal/audit/wire"
)

// prepareLabels makes the checks of labels, if there are any.
func (a *audit) prepareLabels() {
	of, span := a.config.Labels, a.cut.Labels
	if of.Topic == "" {
		return
	}
	rule := labels.Rule{
		Input: a.config.Input.Topic, Topic: of.Topic, Corrections: of.Corrections, Allow: of.Allow,
		Scopes: a.config.Cluster.Scope != "topic", Partitions: len(a.cut.Input.To),
	}
	if window := a.config.Cluster.Window; window > 0 {
		rule.Kept = max(0, of.Keep-window)
	}
	a.labels = labels.New(rule, a.dir, a.seed, span.From, span.To, a.applied, a.told)
	a.labelDead = spill.NewPartitions[deadRow](a.dir, span.From, span.To)
	if p, from, ok := span.Deleted(); ok {
		why := fmt.Sprintf("the records of %s/%d below offset %d have been deleted; "+
			"a topic that keeps all has retention.ms=-1 and retention.bytes=-1", span.Topic, p, from)
		a.applied.Skip(why)
		if a.told != nil {
			a.told.Skip(why)
		}
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
	if err == nil && !fresh {
		a.applied.Violate(at, "the first and only message of "+source.In(a.config.Labels.Topic),
			"another one of it")
	}
	return err
}

// readLabels reads the label records, and holds their dead letters to them.
func (a *audit) readLabels(ctx context.Context) error {
	n, err := a.topics.ReadData(ctx, a.cut.Labels, func(r *kgo.Record) error {
		dead, ok, err := a.labelDead.Get(r.Partition, r.Offset)
		if err != nil {
			return err
		}
		if a.stories != nil && !ok {
			a.stories.Label(r)
		}
		class := ""
		if ok {
			class = wire.ClassName(dead.Class)
			a.input.Checked++
			var d differences
			dead.check(r, a.seed, a.config.Input.MaxBytes, &d)
			a.reportDifferences(dead.At.In(a.cut.DeadLetters.Topic), wire.AddressOf(r).In(r.Topic), d)
		}
		return a.labels.Add(r, class)
	})
	a.report.Counts.Labels = n
	return err
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
		if err := a.checkMember(&c, r); err != nil {
			return err
		}
		return a.labels.AddCorrection(&c, r)
	})
	a.data += n
	a.report.Counts.Corrections = n
	return err
}

// checkMember holds what a correction says of its member to the member's result.
func (a *audit) checkMember(c *wire.Correction, r *kgo.Record) error {
	at := wire.AddressOf(r).In(r.Topic)
	founder, err := wire.ParseAddress(c.ClusterID, a.config.Input.Topic)
	if err != nil {
		a.form.Violate(at, "the form of a correction", err.Error())
		return nil
	}
	s, err := a.space(founder.Partition)
	if err != nil || !a.complete {
		return err
	}
	row, ok, err := s.Results.Get(c.MemberPosition)
	if err != nil {
		return err
	}
	source := wire.Address{Partition: c.Source.Partition, Offset: c.Source.Offset}
	if !ok || row.Article.Cluster != founder || row.Article.Source != source ||
		c.Source.Topic != a.config.Input.Topic || row.ID != maphash.String(a.seed, c.ArticleID) {
		a.told.Violate(at,
			fmt.Sprintf("a member of %s at position %d, as its result says", c.ClusterID,
				c.MemberPosition),
			fmt.Sprintf("article %q of %s", c.ArticleID, source.In(c.Source.Topic)))
	}
	return nil
}
