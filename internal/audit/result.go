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
	"github.com/clusterd/clusterd/internal/audit/model"
	"github.com/clusterd/clusterd/internal/audit/replay"
	"github.com/clusterd/clusterd/internal/audit/report"
	"github.com/clusterd/clusterd/internal/audit/wire"
)

func (a *audit) readResults(ctx context.Context) error {
	n, err := a.topics.ReadData(ctx, a.cut.Results, a.addResult)
	a.data += n
	return err
}

// addResult checks what a result says by itself and of its input record, and keeps what it says of
// its cluster for the replay.
func (a *audit) addResult(r *kgo.Record) error {
	a.form.Checked++
	input, at := a.config.Input.Topic, wire.AddressOf(r).In(r.Topic)
	source, err := wire.Source(r, input)
	if err != nil {
		a.form.Violate(at, "the form of a result", err.Error())
		return nil
	}
	a.noteOutput(source, at)
	account := a.account(source.Partition)
	account.results = max(account.results, source.Offset+1)
	result, err := wire.ParseResult(r.Value)
	if result.Source.Topic == "" && a.mayLack("source") {
		result.Source.Topic = input
		result.Source.Partition, result.Source.Offset = source.Partition, source.Offset
	}
	if err == nil && (result.Address() != source || result.Source.Topic != input) {
		err = fmt.Errorf("source %s in the value, and %s in header %s",
			result.SourceID(), source.In(input), wire.HeaderSource)
	}
	if err != nil {
		a.form.Violate(at, "the form of a result", err.Error())
		return nil
	}
	a.form.Unknown(at, "a result", result.Unknown)
	if err := a.seen.CheckResult(source, result.ID(), at); err != nil {
		return err
	}
	in, known, err := a.expected.Of(source)
	if err != nil {
		return err
	}
	if known {
		a.checkResult(r, &result, &in)
	}
	a.checkSettings(r, &result)
	if err := a.placements.AddResult(r, source, a.input); err != nil {
		return err
	}
	switch result.Status {
	case wire.StatusNew:
		a.report.Counts.New++
	case wire.StatusJoined:
		a.report.Counts.Joined++
	default:
		a.report.Counts.Unclustered++
		return a.addUnclustered(r, &result)
	}
	return a.addAssignment(r, &result, &in, known)
}

// mayLack reports whether results need not have one of the parts that output.fields names.
func (a *audit) mayLack(part string) bool { return !slices.Contains(a.config.Output.Fields, part) }

// addUnclustered keeps the position of an article that was not clustered.
func (a *audit) addUnclustered(r *kgo.Record, result *wire.Result) error {
	position, ok, err := result.Unclustered(r)
	if err != nil {
		a.form.Violate(wire.AddressOf(r).In(r.Topic), "the form of a result", err.Error())
		return nil
	}
	s, err := a.space(result.Source.Partition)
	if err != nil || !ok {
		return err
	}
	return s.PutUnclustered(result.Address(), wire.AddressOf(r), position)
}

// addAssignment keeps what a result says of its cluster.
func (a *audit) addAssignment(
	r *kgo.Record, result *wire.Result, in *replay.Outcome, known bool,
) error {
	at := wire.AddressOf(r).In(r.Topic)
	assignment, err := result.Assignment(r, a.config.Input.Topic)
	if err = cmp.Or(err, result.CheckParts(a.mayLack)); err != nil {
		a.form.Violate(at, "the form of a result", err.Error())
		return nil
	}
	if err := wire.CheckResultHeaders(r); err != nil {
		a.form.Violate(at, "the form of a result", err.Error())
	}
	if !known && result.Fingerprint == nil {
		return fmt.Errorf("%s: results have no fingerprint, which output.fields leaves out, and its "+
			"record %s is gone: nothing says any more what it is to be compared by", at, result.SourceID())
	}
	var representative uint64
	if result.Representative != nil {
		representative = a.represents(assignment.Cluster, *result.Representative)
	}
	if a.stories != nil {
		key := a.spaceKey(result.Source.Partition)
		if err := a.stories.Result(key, result, &assignment, wire.AddressOf(r)); err != nil {
			return err
		}
	}
	row := replay.ResultRow{
		At: wire.AddressOf(r), Size: result.Size, Representative: representative,
		Article: model.Article{
			Source: result.Address(), Space: a.digest(result.Space),
			EventTime: assignment.EventTime, Representative: representative,
			Fingerprint: model.Fingerprint{Hash: assignment.Fingerprint},
			Cluster:     assignment.Cluster, Distance: assignment.Distance,
			Joined: result.Status == wire.StatusJoined, Contact: a.digest(result.Contact),
		},
		Matched: replay.MatchOf(result.Matched),
		Earlier: wire.JoinedByContacts(result.Pipeline) && result.Pipeline != a.expected.Pipeline(),
		ID:      maphash.String(a.seed, result.ArticleID),
	}
	row.Article.Publisher = a.digest(result.Publisher)
	if s := result.Signals; s != nil {
		row.Article.Signals = true
		row.Publishers, row.Recent = int64(s.Publishers), s.Recent
		row.FirstSeen, row.LastSeen = s.FirstSeen.UnixMilli(), s.LastSeen.UnixMilli()
	}
	row.Shown = a.shown(result, at)
	if known && in.Kind == replay.Clustered {
		row.Article.Fingerprint = model.Fingerprint{
			Hash: in.Fingerprint, Sketch: in.Sketch, Contacts: in.Contacts, Known: true,
		}
		row.Article.Space = in.Space
		row.Article.Representative, row.Timeless = in.Representative, in.Timeless()
	}
	return a.addAt(assignment.Position, row, at)
}

// shown returns what a result says of labels, and holds it to its form.
func (a *audit) shown(result *wire.Result, at string) (s labels.Shown) {
	err := cmp.Or(wire.CheckLabels(result.Labels), wire.CheckLabels(result.TrialLabels))
	if err != nil {
		a.form.Violate(at, "labels in their order", err.Error())
	}
	if a.labels == nil {
		return s
	}
	return labels.Shown{
		Labels: a.labels.Set(result.Labels), Trial: a.labels.Set(result.TrialLabels),
		By: a.labels.By(result.LabelledBy),
	}
}

// digest returns that of a text, 0 of an empty one.
func (a *audit) digest(text string) uint64 {
	if text == "" {
		return 0
	}
	return maphash.String(a.seed, text)
}

func (a *audit) reportDifferences(at, source string, d report.Differences) {
	if len(d.Want) > 0 {
		a.input.Violate(at, "of "+source+": "+strings.Join(d.Want, "; "), strings.Join(d.Got, "; "))
	}
}

// checkResult holds a result to its input record. What it says of its cluster is up to the replay.
func (a *audit) checkResult(r *kgo.Record, result *wire.Result, in *replay.Outcome) {
	a.input.Checked++
	at, source := wire.AddressOf(r).In(r.Topic), result.SourceID()
	if in.Kind == replay.Rejected {
		a.input.Violate(at, fmt.Sprintf("a dead letter of class %s: %s is no article",
			wire.ClassName(in.Class), source), "a result")
		return
	}
	var d report.Differences
	switch unclustered := result.Status == wire.StatusUnclustered; {
	case unclustered && in.Kind == replay.Clustered:
		d.Add(fmt.Sprintf("a cluster for fingerprint %016x", in.Fingerprint), "status unclustered")
	case !unclustered && in.Kind == replay.Unclustered:
		d.Add("status unclustered", "status "+result.Status)
	}
	if maphash.String(a.seed, result.ArticleID) != in.ID {
		d.Add("its article_id", fmt.Sprintf("%q", result.ArticleID))
	}
	want := fmt.Sprintf("%016x", in.Fingerprint)
	if in.Kind == replay.Clustered && result.Fingerprint != nil && *result.Fingerprint != want {
		d.Add("fingerprint "+want, *result.Fingerprint)
	}
	if result.PublishedAt != nil || !a.mayLack("published_at") {
		if want, got := in.ComparePublished(result.PublishedAt); want != got {
			d.Add(want, got)
		}
	}
	a.checkCarried(r, result, in, &d)
	if a.config.Output.Key == "source" {
		a.checkSourceKey(r, result, in, &d)
	}
	eventTime, err := wire.NumberHeader(r, wire.HeaderEventTime)
	if err == nil {
		if err := in.CheckEventTime(eventTime, r.Timestamp, a.config.Cluster.Window); err != nil {
			d.Add(in.EventTimes(), err.Error())
		}
	}
	a.reportDifferences(at, source, d)
}

// checkCarried holds what a result repeats of its input record to that.
func (a *audit) checkCarried(
	r *kgo.Record, result *wire.Result, in *replay.Outcome, d *report.Differences,
) {
	if a.digest(result.Publisher) != in.Publisher {
		d.Add("its publisher", fmt.Sprintf("%q", result.Publisher))
	}
	if a.digest(result.Space) != in.Space {
		d.Add("the space of its record", fmt.Sprintf("%q", result.Space))
	}
	if a.digest(string(result.Copied)) != in.Copied {
		d.Add("copied, of its fields", fmt.Sprintf("%.200s", result.Copied))
	}
	headers, n := wire.Passed(r)
	switch ok, configured := in.Carries(a.digest(headers), len(r.Key)+len(r.Value)); {
	case !ok:
		d.Add(fmt.Sprintf("headers of its record, of %d bytes", in.Headers[0].Bytes),
			fmt.Sprintf("others, of %d bytes", n))
	case !configured:
		a.report.Counts.OtherHeaders++
	}
}

// checkSourceKey holds a result to the key that output.key: source gives it.
func (a *audit) checkSourceKey(
	r *kgo.Record, result *wire.Result, in *replay.Outcome, d *report.Differences,
) {
	switch {
	case in.KeyKind == replay.LongKey:
		checkClusterKey(r, result, d)
	case in.KeyKind == replay.NoKey && r.Key != nil,
		in.KeyKind == replay.WholeKey && (r.Key == nil || maphash.Bytes(a.seed, r.Key) != in.Key):
		d.Add("its key", fmt.Sprintf("%q", r.Key))
	}
}

// checkClusterKey holds a result to the key that output.key: cluster gives it.
func checkClusterKey(r *kgo.Record, result *wire.Result, d *report.Differences) {
	if want := result.Key(); string(r.Key) != want {
		d.Add("key "+want, fmt.Sprintf("%q", r.Key))
	}
}

// checkSettings holds a result to what it must say whatever its input record is.
func (a *audit) checkSettings(r *kgo.Record, result *wire.Result) {
	var d report.Differences
	want := a.expected.Pipeline()
	if !wire.SamePipeline(result.Pipeline, want) && (result.Pipeline != "" || !a.mayLack("pipeline")) {
		d.Add("pipeline "+want, fmt.Sprintf("%q", result.Pipeline))
	}
	if a.config.Output.Key == "cluster" {
		checkClusterKey(r, result, &d)
	}
	a.reportDifferences(wire.AddressOf(r).In(r.Topic), result.SourceID(), d)
}
