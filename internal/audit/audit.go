// Package audit checks, on the topics of a clusterd that runs or has stopped, that it kept what it
// promises. Settings go in, a [report.Report] comes out. The audit reads with another Kafka client
// than the daemon (topics), states by itself what clusterd writes (wire), and has a model of its
// own of the order, the rule and expiry (model). With clusterd it shares what makes an article of
// a record, and what makes fingerprints of articles and compares two of them: it calls these
// again, on the input (expect).
//
//   - form: every message has the documented form.
//   - I1: every committed input record below the group's offsets came out exactly once, as a
//     result or as a dead letter, and nothing else did.
//   - input: a result has the id, time and fingerprint of its input record, a dead letter its
//     class and bytes; each is in the partition that its key or its article gives it, by
//     output.partition, and names the pipeline that the settings give. Of event times see
//     [expect.Outcome.CheckEventTime].
//   - I2: positions have no gap, and along them each input partition was taken in in its own
//     order. An article that was not clustered has the position of the next one that was.
//   - I3: a plain model that is fed the recorded order gives each article the same cluster,
//     distance and size. Of other methods than simhash the model does not look for the nearest:
//     see [model.NewFollowing].
//   - I4: the clusters topic says what the model says, in all fields, and nothing came out ahead
//     of the group's offsets.
//   - I9: every label record was applied once, at a position, and every result from there on, and
//     none before, carries it: see package labels.
//   - I10: what results and clusters say of publishers and recent articles is what a plain model
//     counts.
//   - I11: there is a correction for each member that came before a change of what its cluster
//     carries, once.
//   - I12: where instances fingerprint for others to assign, every committed input record below
//     their group's offsets is a fingerprinted article, once and in order, or a dead letter; no
//     result is of an article that the assigning group's offsets are not past. I1 asks for results
//     of what these are past.
//   - I13: the rule of stories, fed with the recorded order and the words of the input, gives each
//     cluster the story that results and clusters name; the state of each story, and what is told
//     of it, is what its articles come to: see package stories.
//   - I5: what somebody read earlier is still there, once, with the same cluster.
//
// Memory is some 2 bits for each input record, 2 for each result and 120 to 220 bytes for each
// cluster, beside what a fetch brings and the dictionary. Temporary files hold 400 bytes for each
// article, its sketch, and 13 bytes for each result that was read earlier.
package audit

import (
	"context"
	"fmt"
	"hash/maphash"
	"log/slog"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/audit/labels"
	"github.com/clusterd/clusterd/internal/audit/replay"
	"github.com/clusterd/clusterd/internal/audit/report"
	"github.com/clusterd/clusterd/internal/audit/spill"
	"github.com/clusterd/clusterd/internal/audit/stories"
	"github.com/clusterd/clusterd/internal/audit/topics"
	"github.com/clusterd/clusterd/internal/audit/wire"
	"github.com/clusterd/clusterd/internal/config"
)

// Options say what an audit does beyond its settings. Log must be set.
type Options struct {
	Seen     []Source                // results that were read earlier
	Show     int                     // violations of a promise that are reported one by one
	Aborted  bool                    // also count aborted records: reads the output topics twice
	TempDir  string                  // for temporary files; empty is the system's
	Log      *slog.Logger            // what it waits for
	Stage    func(what string)       // called when it begins with something else; nil is not called
	Progress func(done, total int64) // called now and then; nil is not called
}

// Run audits the topics that c names. An error means that the audit could not be done; what is
// wrong with the topics is in the report.
func Run(ctx context.Context, c config.Config, o Options) (*report.Report, error) {
	r, err := run(ctx, c, o, replay.New)
	return r, topics.Explain(err)
}

// A newOutcomes is [expect.New].
type newOutcomes func(
	c config.Config, dir *spill.Dir, seed maphash.Seed, from, to map[int32]int64,
) (*replay.Outcomes, error)

func run(ctx context.Context, c config.Config, o Options, new newOutcomes) (*report.Report, error) {
	a := newAudit(c, o)
	var err error
	if a.topics, err = topics.NewClient(c.Kafka, o.Log, a.advance); err != nil {
		return nil, err
	}
	defer a.topics.Close()
	if a.dir, err = spill.NewDir(o.TempDir); err != nil {
		return nil, err
	}
	defer func() { _ = a.dir.Close() }() // what is left is of no use to anybody
	if a.cut, err = a.topics.Cut(ctx, c); err != nil {
		return nil, err
	}
	if err := a.run(ctx, new); err != nil {
		return nil, err
	}
	a.report.Counts.Spaces = len(a.spaces)
	a.report.Conclude()
	return a.report, nil
}

// audit is one audit on its way.
type audit struct {
	config  config.Config
	options Options
	topics  *topics.Client
	dir     *spill.Dir
	seed    maphash.Seed // of all digests
	cut     topics.Cut

	report                                   *report.Report
	form, once, input, order, rule, clusters *report.Check
	unchanged, applied, signals, told        *report.Check // nil where nothing is said of these
	divided                                  *report.Check // nil where one instance does all
	grouped                                  *report.Check // nil where there are no stories

	expected *replay.Outcomes // of the input up to read
	read     map[int32]int64  // offsets by input partition

	complete bool                   // no result has been deleted by retention
	accounts map[int32]*account     // by input partition
	letters  map[int32]spill.Bitmap // of what came out, dead letters
	// by partition, where articles are fingerprinted by other instances than assign them
	fingerprinted   map[int32]*fingerprints
	fingerprintedTo map[int32]int64         // offsets of the group that fingerprints
	spaces          map[int32]*replay.Space // by input partition, or all under 0
	positions       int64                   // no fewer than there can be: each has a result
	seen            *Seen
	dead            *spill.Partitions[letterRow]
	placements      *placements
	checkpoints     map[string]checkpoint  // by key
	intact          map[int32]int64        // below which none is missing of these, by partition
	there           map[int32]spill.Bitmap // offsets of the clusters topic, where there are labels
	labels          *labels.Labels         // nil where there are none
	stories         *stories.Stories       // nil where they are off
	labelled        map[int32]*labels.Space
	labelDead       *spill.Partitions[letterRow]
	// erased are the founders whose text is to be erased, and the label records that say so; erasable
	// is that some of these may have been deleted.
	erased     map[wire.Address]wire.Address
	erasable   bool
	unmeasured int64 // distances that are not known, since an input record is deleted

	done, all int64 // records read, and to be read
	data      int64 // committed records of the output topics
}

// newAudit returns an audit without topics and without temporary files.
func newAudit(c config.Config, o Options) *audit {
	a := &audit{
		config: c, options: o, seed: maphash.MakeSeed(), complete: true,
		report:   report.New(c.Input.Topic, c.Input.Group, o.Show),
		accounts: make(map[int32]*account), spaces: make(map[int32]*replay.Space),
		erased:      make(map[wire.Address]wire.Address),
		checkpoints: make(map[string]checkpoint), there: make(map[int32]spill.Bitmap),
		intact: make(map[int32]int64), letters: make(map[int32]spill.Bitmap),
		fingerprinted: make(map[int32]*fingerprints),
		labelled:      make(map[int32]*labels.Space),
	}
	a.form = a.report.Add("form", "every message has the documented form")
	a.once = a.report.Add("I1", "every committed input record came out exactly once, and nothing else")
	a.input = a.report.Add(
		"input", "every message says what its input record says, where its key puts it",
	)
	a.order = a.report.Add("I2", "positions have no gap, and each partition was taken in in its order")
	decides := "each article has the cluster that a plain model gives it"
	if !replay.HashIsAll(c) {
		decides = "each article joined a live cluster that is near enough, or founded one; " +
			"equal ones are in one"
		a.report.Limits = append(a.report.Limits, "with method "+c.Fingerprint.Method+
			": that the cluster an article joined is the nearest, and that a founder had none near enough")
	}
	a.rule = a.report.Add("I3", decides)
	a.clusters = a.report.Add(
		"I4", "the clusters topic agrees with the model, the group's offsets with both",
	)
	if len(o.Seen) > 0 {
		a.unchanged = a.report.Add("I5", "what was read earlier is still there, once and unchanged")
	}
	if c.Labels.Topic != "" {
		a.applied = a.report.Add("I9",
			"every label was applied once, and every result from there on, and none before, carries it")
	}
	if c.Signals.Enabled {
		a.signals = a.report.Add("I10", "publishers and recent articles are those of a plain model")
	}
	if c.Divided() {
		a.divided = a.report.Add("I12",
			"every committed input record was fingerprinted once and in order, or is a dead letter")
	}
	if c.Stories.Topic != "" {
		a.grouped = a.report.Add("I13",
			"each cluster has the story that the rule gives it, and each story is as its articles are")
	}
	if c.Labels.Corrections != "" {
		a.told = a.report.Add("I11",
			"each member before a change of what its cluster carries has a correction, once")
	}
	return a
}

// run checks the topics at the cut.
func (a *audit) run(ctx context.Context, new newOutcomes) (err error) {
	outputs := a.outputs()
	for _, s := range outputs {
		a.all += s.Size()
	}
	if len(a.cut.Committed) == 0 && a.all == 0 {
		a.report.Note = "nothing committed yet"
		err := a.readSeen(ctx)
		a.seen.CheckFound(a.complete)
		return err
	}
	for _, s := range append(outputs, a.cut.Input, a.cut.Labels) {
		if s.Missing {
			return fmt.Errorf("topic %s does not exist, and group %s has committed offsets: "+
				"is the configuration that of this clusterd?", s.Topic, a.config.Input.Group)
		}
	}
	a.all += a.cut.Labels.Size() + a.cut.Input.Size()
	if a.config.Labels.Topic != "" {
		a.all += a.cut.Clusters.Size() // they are gone through twice
	}
	a.all += a.cut.Results.Size() // they are gone through again, in order
	for _, end := range a.cut.Results.To {
		a.positions += end
	}
	a.reportDeleted()
	input := a.cut.Input
	a.read = make(map[int32]int64)
	for p, end := range input.To {
		a.read[p] = max(input.From[p], min(end, max(a.cut.Committed[p], a.cut.Applied[p])))
	}
	if a.expected, err = new(a.config, a.dir, a.seed, input.From, a.read); err != nil {
		return err
	}
	a.dead = spill.NewPartitions[letterRow](a.dir, input.From, input.To)
	a.placements = newPlacements(a.dir, input, &a.config)
	a.prepareLabels()
	if err := a.prepareStories(); err != nil {
		return err
	}
	if err := a.steps(ctx); err != nil {
		return err
	}
	a.checkAccounts()
	a.checkFingerprints()
	a.seen.CheckFound(a.complete)
	for _, limit := range []string{a.expected.Limit(), a.placements.Limit()} {
		if limit != "" {
			a.report.Limits = append(a.report.Limits, limit)
		}
	}
	return a.placements.Check(a.cut.Results, a.cut.DeadLetters, a.input)
}

// replayAll feeds the model with the articles of each space, in the recorded order.
func (a *audit) replayAll(ctx context.Context) error {
	for key := range a.labelled { // there may be labels before the first article
		if _, err := a.space(key); err != nil {
			return err
		}
	}
	if err := a.placeCheckpoints(); err != nil {
		return err
	}
	all := &replay.Audit{
		Config: a.config, Cut: a.cut, Expected: a.expected, Complete: a.complete,
		Counts: &a.report.Counts, Advance: a.advance, Order: a.order, Rule: a.rule,
		Clusters: a.clusters, Input: a.input, Signals: a.signals, Erased: a.erased,
	}
	for _, key := range slices.Sorted(maps.Keys(a.spaces)) {
		var of *labels.Space
		if a.labels != nil {
			of = a.labelSpace(key)
		}
		if err := replay.Run(ctx, all, a.spaces[key], of); err != nil {
			return err
		}
	}
	a.unmeasured = all.Unmeasured
	a.labels.Skip()
	return nil
}

// outputs returns the topics that clusterd writes to.
func (a *audit) outputs() []topics.Span {
	outputs := []topics.Span{a.cut.Clusters, a.cut.Results, a.cut.DeadLetters}
	if a.cut.Corrections.Topic != "" {
		outputs = append(outputs, a.cut.Corrections)
	}
	if a.cut.Fingerprints.Topic != "" {
		outputs = append(outputs, a.cut.Fingerprints)
	}
	if a.cut.Stories.Topic != "" {
		outputs = append(outputs, a.cut.Stories)
	}
	return outputs
}

// steps reads the topics. Each step needs those before it.
func (a *audit) steps(ctx context.Context) error {
	steps := []struct {
		what   string
		wanted bool
		do     func(context.Context) error
	}{
		{"reading what was read earlier", a.unchanged != nil, a.readSeen},
		{"reading fingerprinted articles", a.divided != nil, a.readFingerprints},
		{"reading dead letters", true, a.readDeadLetters},
		{"reading the input", true, a.readInput},
		{"reading labels", a.labels != nil, a.readLabels},
		{"looking for gaps in clusters", a.labels != nil, a.noteThere},
		{"reading clusters", true, a.readClusters},
		{"reading results", true, a.readResults},
		{"reading corrections", a.cut.Corrections.Topic != "", a.readCorrections},
		{"reading the rest of the input", true, a.readRest},
		{"feeding the model", true, a.replayAll},
		{"reading stories", a.stories != nil, a.readStories},
		{"counting aborted records", a.options.Aborted, a.countAborted},
	}
	for _, step := range steps {
		if !step.wanted {
			continue
		}
		if a.options.Stage != nil {
			a.options.Stage(step.what)
		}
		if err := step.do(ctx); err != nil {
			return err
		}
	}
	return nil
}

// reportDeleted reports which promises cannot be checked, since retention has deleted what they are
// about.
func (a *audit) reportDeleted() {
	for _, s := range []topics.Span{a.cut.Results, a.cut.DeadLetters} {
		p, from, ok := s.Deleted()
		if !ok {
			continue
		}
		why := fmt.Sprintf("the records of %s/%d below offset %d have been deleted; "+
			"a topic that keeps all has retention.ms=-1 and retention.bytes=-1", s.Topic, p, from)
		a.once.Skip("whether records are lost: " + why)
		if s.Topic == a.cut.Results.Topic {
			a.complete = false
			a.order.Skip("whether positions have gaps: " + why)
			a.rule.Skip("the model needs all results from the first one on: " + why)
			a.clusters.Skip("the model needs all results from the first one on: " + why)
		}
	}
}

// readSeen reads what was read earlier.
func (a *audit) readSeen(ctx context.Context) error {
	if a.unchanged == nil {
		return nil
	}
	a.seen = newSeen(a.unchanged, a.config.Input.Topic, a.dir, a.cut.Input.To)
	return a.seen.Read(ctx, a.options.Seen)
}

// countAborted reads the output topics as one who does not care whether a record is committed.
func (a *audit) countAborted(ctx context.Context) error {
	aborted := -a.data
	for _, s := range a.outputs() {
		n, err := a.topics.Read(ctx, s, kgo.ReadUncommitted(), func(*kgo.Record) error { return nil })
		if err != nil {
			return err
		}
		aborted += n
	}
	aborted = max(0, aborted) // compaction may have taken some away meanwhile
	a.report.Counts.Aborted = &aborted
	return nil
}

// advance counts records for whoever watches.
func (a *audit) advance(n int64) {
	a.done += n
	if a.options.Progress != nil {
		a.options.Progress(min(a.done, a.all), a.all)
	}
}
