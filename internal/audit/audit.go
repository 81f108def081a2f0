// Package audit checks, on the topics of a clusterd that runs or has stopped, that it kept what it
// promises. Settings go in, a [Report] comes out. It reads with another Kafka client, parses what clusterd wrote by
// what the README says of it, and has a model of its own of the order, the rule and expiry. With clusterd it
// shares what makes an article of a record, and what makes fingerprints of articles and compares two of them: functions
// of their arguments alone, which have tests of their own. The audit calls them again, on the input.
//
//   - form: every message has the documented form.
//   - I1: every committed input record below the group's offsets came out exactly once, as a result or
//     as a dead letter, and nothing else did.
//   - input: a result has the id, time and fingerprint of its input record, a dead letter its class and bytes; each is in the
//     partition that its key gives it, and names the pipeline that the settings give. Of event times see eventTime.
//   - I2: positions have no gap, and along them each input partition was taken in in its own order.
//   - I3: a plain model that is fed the recorded order gives each article the same cluster, distance and size.
//     Of other methods than simhash the model does not look for the nearest: see model.
//   - I4: the clusters topic says what the model says, in all fields, and nothing came out ahead of the group's offsets.
//   - I5: what somebody read earlier is still there, once, with the same cluster.
//
// Memory is some 2 bits for each input record, 2 for each result and 100 to 200 bytes for each cluster,
// beside what a fetch brings and the dictionary; temporary files hold 290 bytes for each article, its sketch, and 13 bytes
// for each result that was read earlier.
package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/method"
)

// Options say what an audit does beyond its settings. Log must be set.
type Options struct {
	Seen     []Seen                  // results that were read earlier
	Show     int                     // violations of a promise that are reported one by one
	Aborted  bool                    // also count the aborted records, which reads the output topics twice
	TempDir  string                  // for temporary files; empty is the system's place
	Log      *slog.Logger            // what it waits for
	Stage    func(what string)       // called when it begins with something else; nil is not called
	Progress func(done, total int64) // called now and then; nil is not called
}

// Seen are results that a reader got earlier: their values, one JSON object after the other.
type Seen struct {
	Name string // for messages
	io.Reader
}

// Run audits the topics that c names. An error means that the audit could not be done; what is wrong with
// the topics is in the report.
func Run(ctx context.Context, c config.Config, o Options) (*Report, error) {
	return run(ctx, c, o, method.New)
}

func run(ctx context.Context, c config.Config, o Options, newMethod func(config.Config) (method.Method, error)) (*Report, error) {
	connection, err := connection(c.Kafka)
	if err != nil {
		return nil, err
	}
	client, err := kgo.NewClient(connection...)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	dir, err := os.MkdirTemp(o.TempDir, "clusterd-audit-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for temporary files: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // of no use to anybody else
	a := &audit{
		config: c, options: o, connection: connection, admin: kadm.NewClient(client), dir: dir,
		newMethod: newMethod,
		accounts:  make(map[int32]*account), spaces: make(map[int32]*space), early: make(map[int32]*table[earlyRow]), found: make(map[int32]bitmap),
		inputs: make(map[int32]*table[inputRow]), dead: make(map[int32]*table[deadRow]), placements: make(map[int32]*table[placement]),
		checkpoints: make(map[string]checkpoint),
	}
	a.begin()
	defer a.closeTables()
	if err := a.run(ctx); err != nil {
		return nil, err
	}
	return a.finish(), nil
}

// audit is one audit on its way.
type audit struct {
	config     config.Config
	options    Options
	connection []kgo.Opt
	admin      *kadm.Client
	dir        string

	newMethod func(config.Config) (method.Method, error)
	method    method.Method
	pipeline  string // what every message must say of how fingerprints are made

	report                                          *Report
	form, once, input, order, rule, clusters, again *Check

	cut        cut
	complete   bool               // no result has been deleted by retention
	accounts   map[int32]*account // by input partition
	spaces     map[int32]*space   // by input partition, or all under 0
	positions  int64              // more than there can be: each has a result, at an offset of its own
	early      map[int32]*table[earlyRow]
	found      map[int32]bitmap           // what of early is still there
	inputs     map[int32]*table[inputRow] // these three by input partition, and by the offset from where that begins
	dead       map[int32]*table[deadRow]
	placements map[int32]*table[placement]
	sketches   *blobs
	unmeasured int64 // distances that are not known, since an input record is deleted
	done, all  int64 // records read, and to be read
	data       int64 // committed records of the output topics

	checkpoints map[string]checkpoint // by key
}

func (a *audit) begin() {
	a.report = &Report{Input: a.config.Input.Topic, Group: a.config.Input.Group, Counts: Counts{DeadLetters: make(map[string]int64)}}
	a.form = a.check("form", "every message has the documented form")
	a.once = a.check("I1", "every committed input record came out exactly once, and nothing else")
	a.input = a.check("input", "every message says what its input record says, where its key puts it")
	a.order = a.check("I2", "positions have no gap, and each partition was taken in in its order")
	decides := "each article has the cluster that a plain model gives it"
	if a.config.Fingerprint.Method != "simhash" {
		decides = "each article joined a live cluster that is near enough, or founded one; equal ones are in one"
		a.report.Limits = append(a.report.Limits, "with method "+a.config.Fingerprint.Method+": that the cluster an article joined is the nearest, and that a founder had none near enough")
	}
	a.rule = a.check("I3", decides)
	a.clusters = a.check("I4", "the clusters topic agrees with the model, the group's offsets with both")
	if len(a.options.Seen) > 0 {
		a.again = a.check("I5", "what was read earlier is still there, once and unchanged")
	}
}

func (a *audit) check(id, promise string) *Check {
	c := &Check{ID: id, Promise: promise, show: a.options.Show}
	a.report.Checks = append(a.report.Checks, c)
	return c
}

func (a *audit) run(ctx context.Context) (err error) {
	for began := time.Now(); ; {
		a.cut, err = a.takeCut(ctx)
		// The client asks again wherever it failed, but not where a broker hangs.
		if !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) > answerLimit {
			break
		}
	}
	if err != nil {
		return err
	}
	outputs := []span{a.cut.clusters, a.cut.results, a.cut.dead}
	a.complete = true
	if len(a.cut.committed) == 0 && outputs[0].size()+outputs[1].size()+outputs[2].size() == 0 {
		a.report.Note = "nothing committed yet"
		err := a.readEarly(ctx)
		a.compareEarly()
		return err
	}
	for _, s := range append(outputs, a.cut.input) {
		if s.missing {
			return fmt.Errorf("topic %s does not exist, and group %s has committed offsets: is the configuration that of this clusterd?", s.topic, a.config.Input.Group)
		}
		a.all += s.size()
	}
	for _, end := range a.cut.results.to {
		a.positions += end
	}
	a.all += a.cut.results.size() // which are gone through again, in order
	a.whatIsGone()
	if a.method, err = a.newMethod(a.config); err != nil {
		return err
	}
	a.pipeline = a.method.Identity()
	steps := []struct {
		what   string
		wanted bool
		do     func(context.Context) error
	}{
		{"reading what was read earlier", len(a.options.Seen) > 0, a.readEarly},
		{"reading dead letters", true, a.readDead},
		{"reading the input", true, a.readInput},
		{"reading clusters", true, a.readClusters},
		{"reading results", true, a.readResults},
		{"reading the rest of the input", true, a.readRest},
		{"feeding the model", true, a.replayAll},
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
	a.compareAccounts()
	a.compareCheckpoints()
	a.compareEarly()
	return a.comparePlaces()
}

// whatIsGone says which promises cannot be checked, since retention has deleted what they are about.
func (a *audit) whatIsGone() {
	for _, s := range []span{a.cut.results, a.cut.dead} {
		p, from, ok := s.begun()
		if !ok {
			continue
		}
		why := fmt.Sprintf("the records of %s/%d below offset %d have been deleted; a topic that keeps all has retention.ms=-1 and retention.bytes=-1",
			s.topic, p, from)
		a.once.notChecked("whether records are lost: " + why)
		if s.topic == a.cut.results.topic {
			a.complete = false
			a.order.notChecked("whether positions have gaps: " + why)
			a.rule.notChecked("the model needs all results from the first one on: " + why)
			a.clusters.notChecked("the model needs all results from the first one on: " + why)
		}
	}
}

func (a *audit) readResults(ctx context.Context) error {
	n, err := a.read(ctx, a.cut.results, kgo.ReadCommitted(), data(a.takeResult))
	a.data += n
	return err
}

func (a *audit) takeResult(r *kgo.Record) error {
	a.form.Checked++
	input, at := a.config.Input.Topic, placeOf(r).in(r.Topic)
	source, err := sourceHeader(r, input)
	if err != nil {
		a.form.violated(at, "the form of a result", err.Error())
		return nil
	}
	a.came(source, at)
	m, err := parseMessage(r.Value)
	if err == nil && (m.source() != source || m.Source.Topic != input) {
		err = fmt.Errorf("source %s in the value, and %s in header clusterd.source", m.source().in(m.Source.Topic), source.in(input))
	}
	if err != nil {
		a.form.violated(at, "the form of a result", err.Error())
		return nil
	}
	if err := a.compareWithEarly(source, m.clusterID(), at); err != nil {
		return err
	}
	in, known, err := a.inputOf(source)
	if err != nil {
		return err
	}
	if known {
		a.compareResult(r, &m, &in)
	}
	a.common(r, &m)
	if err := a.placed(source, placement{At: placeOf(r), Hash: hashOf(r, source)}); err != nil {
		return err
	}
	switch m.Status {
	case "new":
		a.report.Counts.New++
	case "joined":
		a.report.Counts.Joined++
	default:
		a.report.Counts.Unclustered++
		if err := m.unclustered(r); err != nil {
			a.form.violated(at, "the form of a result", err.Error())
		}
		return nil
	}
	row, position, err := m.clustered(r, input)
	if err != nil {
		a.form.violated(at, "the form of a result", err.Error())
		return nil
	}
	if err := headersAre(r, article.HeaderSource, article.HeaderPosition, article.HeaderEventTime); err != nil {
		a.form.violated(at, "the form of a result", err.Error())
	}
	if known && in.Kind == clusteredKind {
		row.know(&in)
	}
	return a.place(row, position, at)
}

// countAborted reads the output topics as one who does not care whether a record is committed.
func (a *audit) countAborted(ctx context.Context) error {
	aborted := -a.data
	for _, s := range []span{a.cut.clusters, a.cut.results, a.cut.dead} {
		n, err := a.read(ctx, s, kgo.ReadUncommitted(), func(*kgo.Record) error { return nil })
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

func (a *audit) closeTables() {
	for _, s := range a.spaces {
		s.results.close()
		s.clusters.close()
	}
	for _, t := range a.early {
		t.close()
	}
	for _, t := range a.inputs {
		t.close()
	}
	for _, t := range a.dead {
		t.close()
	}
	for _, t := range a.placements {
		t.close()
	}
	if a.sketches != nil {
		a.sketches.close()
	}
}

func (a *audit) finish() *Report {
	a.report.Counts.Spaces = len(a.spaces)
	for _, c := range a.report.Checks {
		c.close()
	}
	return a.report
}
