package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/clusterd/clusterd/bench/process"
	"github.com/clusterd/clusterd/bench/usage"
	"github.com/clusterd/clusterd/internal/config"
)

const (
	// pollInterval is how exact times are.
	pollInterval = 10 * time.Millisecond
	// stallTimeout is how long nothing may move.
	stallTimeout = 2 * time.Minute
	// tail is the share of the records at the end that is not measured. When measuring begins, some
	// batches are read and fingerprinted already, which counts as nothing; so as many must be when it
	// ends.
	tail = 0.1
	// slowShare is how many times less a slow contender gets, so that a round stays short.
	slowShare = 4
)

// bench is a run: what it measures, with what, and what came out.
type bench struct {
	settings       settings
	root, dir      string // of the module, and for all that is written
	self           string // the path of this program
	prefix         string // of all topics and groups of this run
	kafka          *cluster
	news, comments []text
	report         report
}

// measurement is what one process did on one input, but for its beginning and its end.
type measurement struct {
	Records          int64   `json:"records"`
	Seconds          float64 `json:"seconds"`
	CPUSeconds       float64 `json:"cpu_seconds"`        // user and system, of the process
	BrokerCPUSeconds float64 `json:"broker_cpu_seconds"` // 0 where the broker is not ours
	PeakBytes        int64   `json:"peak_bytes"`         // resident, since it was started
}

// rate returns records a second, 0 where all came at once.
func (m measurement) rate() float64 {
	if m.Seconds == 0 {
		return 0
	}
	return float64(m.Records) / m.Seconds
}

// microseconds returns the processor time of a record.
func (m measurement) microseconds() float64 { return m.CPUSeconds / float64(m.Records) * 1e6 }

// brokerMicroseconds returns the broker's processor time of a record.
func (m measurement) brokerMicroseconds() float64 {
	return m.BrokerCPUSeconds / float64(m.Records) * 1e6
}

// reading is how far a process is at a time, and what it has cost by then.
type reading struct {
	at          time.Time
	records     int64
	cpu, broker time.Duration
}

func (from reading) to(until reading) measurement {
	return measurement{
		Records: until.records - from.records, Seconds: until.at.Sub(from.at).Seconds(),
		CPUSeconds:       (until.cpu - from.cpu).Seconds(),
		BrokerCPUSeconds: (until.broker - from.broker).Seconds(),
	}
}

// watch polls how many records are done until it is all of them. The readings are of the moments
// when a share skip of them was, or more, and when all but the last share tail were.
func watch(
	ctx context.Context, all int64, skip float64, poll func(context.Context) (reading, error),
) (from, until reading, err error) {
	moved := reading{at: time.Now()}
	for ticker := time.NewTicker(pollInterval); ; {
		now, err := poll(ctx)
		switch {
		case err != nil:
			return from, until, err
		case now.records > moved.records:
			moved = now
		case now.at.Sub(moved.at) > stallTimeout:
			return from, until, fmt.Errorf("nothing has moved for %s; %d of %d records are done",
				stallTimeout, now.records, all)
		}
		share := float64(now.records) / float64(all)
		if from.at.IsZero() && share >= skip {
			from = now
		}
		if until.at.IsZero() && share >= 1-tail {
			until = now
		}
		if now.records >= all {
			return from, until, nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return from, until, ctx.Err()
		}
	}
}

// measure runs a contender over the n records of a topic, and checks that it has written as many.
func (b *bench) measure(ctx context.Context, c contender, j job, n int) (m measurement, err error) {
	all := int64(n)
	if c.assigns {
		if all, err = b.fingerprinted(ctx, &j, n); err != nil {
			return m, err
		}
	}
	p, err := b.start(ctx, c, j)
	if err != nil {
		return m, err
	}
	from, until, err := watch(ctx, all, b.settings.skip,
		func(ctx context.Context) (reading, error) { return b.poll(ctx, c, j, p) })
	m = from.to(until)
	if err == nil {
		m.PeakBytes, err = usage.PeakMemory(p.PID())
	}
	if stopErr := p.Stop(); err == nil {
		err = stopErr
	}
	if err != nil {
		return m, fmt.Errorf("%s on %s (log %s): %w", c.name, j.input, p.Log(), err)
	}
	if c.writes {
		if err := b.checkResults(ctx, j, int64(n)); err != nil {
			return m, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return m, b.finish(ctx, j)
}

// poll reads how far a process is. Where it has ended, that is the error.
func (b *bench) poll(
	ctx context.Context, c contender, j job, p *process.Process,
) (r reading, err error) {
	r.records = p.Progress()
	if c.writes {
		r.records, err = b.kafka.committed(ctx, j.group, j.read)
	}
	r.at = time.Now()
	if err == nil {
		r.cpu, err = usage.CPUTime(p.PID())
	}
	if err == nil && b.kafka.pid != 0 {
		r.broker, err = usage.CPUTime(b.kafka.pid)
	}
	if ended := p.Ended(); ended != nil {
		err = ended
	}
	return r, err
}

// fingerprinted has the job read the fingerprinted articles of its input, which it makes the first
// time, and returns up to which offsets in all. Markers of transactions are among these: some in
// ten thousand.
func (b *bench) fingerprinted(ctx context.Context, j *job, n int) (all int64, err error) {
	j.read, j.group = j.input+".fingerprints", j.id+"-assign"
	topics, err := b.kafka.admin.ListTopics(ctx)
	if err == nil && !topics.Has(j.read) {
		err = b.fingerprint(ctx, *j, n)
	}
	if err != nil {
		return 0, err
	}
	ends, err := b.kafka.admin.ListEndOffsets(ctx, j.read)
	for _, end := range ends[j.read] {
		all += end.Offset - 1 // the marker of the last transaction is behind the last article
	}
	return all, cmp.Or(err, ends.Error())
}

// fingerprint fingerprints the input of a job, to the topic that it reads.
func (b *bench) fingerprint(ctx context.Context, j job, n int) error {
	j.id, j.group, j.output, j.read = j.id+"-first", j.id+"-first", j.read, j.input
	if err := b.kafka.createTopic(ctx, j.output, b.settings.partitions); err != nil {
		return err
	}
	say("fingerprinting %d records for %s", n, roleAssign)
	c := contender{name: roleFingerprint, command: roleCommand(config.FingerprintOnly), writes: true}
	p, err := b.start(ctx, c, j)
	if err != nil {
		return err
	}
	_, _, err = watch(ctx, int64(n), 0,
		func(ctx context.Context) (reading, error) { return b.poll(ctx, c, j, p) })
	return errors.Join(err, p.Stop(), os.RemoveAll(filepath.Join(j.dir, "state")))
}

func (b *bench) checkResults(ctx context.Context, j job, want int64) error {
	n, err := b.kafka.count(ctx, j.output)
	if err == nil && n != want {
		err = fmt.Errorf("%d results in %s, want %d", n, j.output, want)
	}
	return err
}

// throughput measures all contenders in turns, on each input.
func (b *bench) throughput(ctx context.Context) error {
	for _, in := range []struct {
		name   string
		corpus corpus
		n      int
	}{
		{"news", newCorpus("n", b.news, newsSize, true), b.settings.news},
		{"comments", newCorpus("c", b.comments, commentSize, false), b.settings.comments},
	} {
		if !slices.Contains(b.settings.inputs, in.name) {
			continue
		}
		result, err := b.onInput(ctx, in.name, in.corpus, in.n)
		if err != nil {
			return err
		}
		b.report.Inputs = append(b.report.Inputs, result)
	}
	return nil
}

// onInput makes an input topic, and measures the contenders on it.
func (b *bench) onInput(ctx context.Context, name string, in corpus, n int) (inputReport, error) {
	topic := b.prefix + name
	say("%s: producing %d records", name, n)
	bytes, err := b.kafka.produce(ctx, topic, b.settings.partitions, in, n)
	if err != nil {
		return inputReport{}, err
	}
	result := inputReport{Name: name, Records: n, Bytes: bytes}
	contenders := b.settings.wanted()
	few, part := topic+"-few", max(1, n/slowShare)
	if slices.ContainsFunc(contenders, func(c contender) bool { return c.slow }) {
		if _, err := b.kafka.produce(ctx, few, b.settings.partitions, in, part); err != nil {
			return result, err
		}
	}
	for _, c := range contenders {
		result.Roles = append(result.Roles, roleReport{Role: c.name})
	}
	for round := range b.settings.rounds {
		for i, c := range contenders {
			from, all := topic, n
			if c.slow {
				from, all = few, part
			}
			m, err := b.one(ctx, c, fmt.Sprintf("%s-%s-%d", name, c.name, round+1), from,
				b.settings.partitions, all)
			if err != nil {
				return result, err
			}
			say("%s, round %d of %d: %s %.0f records/s", name, round+1, b.settings.rounds, c.name, m.rate())
			result.Roles[i].Rounds = append(result.Roles[i].Rounds, m)
		}
	}
	return result, b.kafka.dropTopics(ctx, topic)
}

// one returns one measurement, with a job of its own.
func (b *bench) one(
	ctx context.Context, c contender, id, input string, partitions, n int, env ...string,
) (measurement, error) {
	j, err := b.newJob(ctx, id, input, partitions)
	if err != nil {
		return measurement{}, err
	}
	j.env = env
	return b.measure(ctx, c, j, n)
}
