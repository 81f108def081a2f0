// Package monitor keeps what an instance reports of itself. In: what the pipeline does, as it does
// it. Out: a [Status], which says whether the instance is ready and why, and metrics for
// Prometheus.
//
// It decides nothing and asks nobody: it knows what was reported to it, and when.
package monitor

import (
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
)

const (
	// failureTimeout is how long the way to the brokers may give nothing, or fail, until the instance
	// is not ready. Fetches come back at least every half second.
	failureTimeout = 7 * time.Second
	// calm is how long nothing must fail, while fetches come back, until errors are forgotten.
	calm = 10 * time.Second
	// openTimeout is how long an open transaction may hold a partition back until the instance is not
	// ready. Kafka ends those of dead producers after transaction.timeout.ms, a minute by default.
	openTimeout = time.Minute
)

// A Monitor is what is known of one instance. It is safe for concurrent use. A space is named as in
// the log: "all", or the number of its partition.
type Monitor struct {
	version string
	now     func() time.Time
	metrics *metrics

	mutex      sync.Mutex
	stopping   bool
	serving    bool // it never joins the group
	member     bool
	assigned   []int // partitions, by the group
	spaces     map[string]*space
	lag        map[int]int64
	lastPoll   time.Time
	lastCommit time.Time
	answered   bool // the brokers have, at least once
	failures   failures
	contact    contact
	counts     counts
}

// New returns the monitor of an instance of this version of clusterd, which is joining.
func New(version string) *Monitor { return newMonitor(version, time.Now) }

func newMonitor(version string, now func() time.Time) *Monitor {
	m := &Monitor{
		version: version, now: now, spaces: make(map[string]*space), lag: make(map[int]int64),
	}
	m.counts = newCounts(now())
	m.metrics = newMetrics(version, m)
	return m
}

// Handler serves the metrics. It answers few requests at once and each within seconds.
func (m *Monitor) Handler() http.Handler { return m.metrics.handler() }

// Serving reports that the instance only answers questions: it never joins the group.
func (m *Monitor) Serving() {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.serving = true
}

// Joining reports that the instance is no member of the group yet, or any more. Its spaces may live
// on.
func (m *Monitor) Joining() {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.member, m.assigned = false, nil
}

// Joined reports that the instance is a member of the group, which gave it these partitions of the
// input, perhaps none. It is called again when that changes.
func (m *Monitor) Joined(partitions []int) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.member, m.assigned, m.answered = true, slices.Clone(partitions), true
	m.contact.err = nil
}

// Stopping reports that the instance is to stop. There is no way back.
func (m *Monitor) Stopping() {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.stopping = true
}

// Recovering reports that a space is not ready yet, and what is being done, as a gerund: "reading
// clusters back".
func (m *Monitor) Recovering(space, what string) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	s := m.enter(space, recovering)
	s.what, s.progress = what, progress{}
}

// Progress reports how much of what a space recovers is done, in any unit. What is left is taken to
// go at the rate since the first call after Recovering.
func (m *Monitor) Progress(space string, done, total int64) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.answered = true
	if s := m.spaces[space]; s != nil {
		s.progress.set(m.now(), done, total)
	}
}

// A Source is where a recovery had most clusters from.
type Source string

// The sources.
const (
	FromDisk  Source = "disk"  // all were on disk
	FromTail  Source = "tail"  // the rest of the clusters topic was read
	FromTopic Source = "topic" // all of it was
)

// Recovered counts a recovery, and how long it took.
func (m *Monitor) Recovered(took time.Duration, from Source) {
	m.metrics.recovery.WithLabelValues(string(from)).Observe(took.Seconds())
}

// A Defect is why clusters on disk could not be used.
type Defect string

// The defects.
const (
	Missing Defect = "missing"
	Damaged Defect = "damaged"
	Foreign Defect = "foreign"
	Stale   Defect = "stale"
)

// Rebuilt counts clusters on disk that were read back from Kafka.
func (m *Monitor) Rebuilt(why Defect) { m.metrics.rebuilds.WithLabelValues(string(why)).Inc() }

// Standby reports that a space is followed as it changes, ready to be taken over.
func (m *Monitor) Standby(space string) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.enter(space, standby)
	m.answered = true
	m.failures = failures{}
}

// SpaceState returns the state of a space, empty of one that this instance does not have.
func (m *Monitor) SpaceState(space string) string {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if s := m.spaces[space]; s != nil {
		return string(s.state)
	}
	return ""
}

// Live reports that this instance works on a space, which is these partitions of the input.
func (m *Monitor) Live(space string, partitions []int) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.enter(space, live).partitions = slices.Clone(partitions)
	m.answered = true
}

// Blocked reports that a space cannot go on until somebody acts, and why.
func (m *Monitor) Blocked(space string, why error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.enter(space, blocked).what = why.Error()
	m.answered = true
}

// Gone reports that the instance has given a space up.
func (m *Monitor) Gone(space string) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.leave(space)
	delete(m.spaces, space)
	m.metrics.waiting.DeleteLabelValues(space)
	m.metrics.forgetLabelling(space)
	m.failures = failures{} // that of whoever has the space now
}

// Received counts records of the input, and the bytes of their values.
func (m *Monitor) Received(records int, bytes int64) {
	m.metrics.records.Add(float64(records))
	m.metrics.bytes.Add(float64(bytes))
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.fetched()
}

// PolledInput reports that a fetch of the input came back, with records or without, and where the
// partitions stand that a space reads.
func (m *Monitor) PolledInput(space string, positions []kafka.Position) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.fetched()
	for _, p := range positions {
		m.lag[p.Partition] = p.Lag()
		m.metrics.lag.WithLabelValues(partitionLabel(p.Partition)).Set(float64(p.Lag()))
	}
	m.heldBack(space, positions)
}

// PolledClusters reports the same of the clusters topic, or of that of labels, whose lag nobody
// counts.
func (m *Monitor) PolledClusters(space string, positions []kafka.Position) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.fetched()
	m.heldBack(space, positions)
}

// fetched notes that a fetch came back.
func (m *Monitor) fetched() {
	m.lastPoll, m.answered = m.now(), true
	// What fails again and again while fetches work, such as each transaction, goes on failing.
	if m.lastPoll.Sub(m.failures.last) >= calm {
		m.failures = failures{}
	}
}

// heldBack notes which partitions a space has read up to an open transaction, and which not.
func (m *Monitor) heldBack(space string, positions []kafka.Position) {
	s := m.spaces[space]
	if s == nil {
		return
	}
	for _, p := range positions {
		at, seconds := topicPartition{p.Topic, p.Partition}, 0.0
		delete(s.open, at)
		if p.Open != nil {
			s.open[at] = *p.Open
			seconds = m.now().Sub(p.Open.Since).Seconds()
		}
		s.read[at] = true
		m.metrics.open.WithLabelValues(p.Topic, partitionLabel(p.Partition)).Set(seconds)
	}
}

// Lags returns how many records some partitions of the input have in all that were not fetched, as
// far as it is known.
func (m *Monitor) Lags(partitions []int) (records int64) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for _, p := range partitions {
		records += m.lag[p]
	}
	return records
}

// Waiting reports how many bytes a space has fetched and not yet handed to a transaction.
func (m *Monitor) Waiting(space string, bytes int64) {
	m.metrics.waiting.WithLabelValues(space).Set(float64(bytes))
}

// Members reports how many results the view of members has not read, and how many bytes of disk it
// takes.
func (m *Monitor) Members(lag, bytes int64) {
	m.metrics.membersLag.WithLabelValues().Set(float64(lag))
	m.metrics.membersBytes.WithLabelValues().Set(float64(bytes))
}

// A Stage is a part of the work, by which its time is counted.
type Stage string

// The stages, in the order in which a batch goes through them.
const (
	Fingerprinting Stage = "fingerprint"
	Assigning      Stage = "assign"
	Encoding       Stage = "encode"
	Committing     Stage = "commit"
	Storing        Stage = "disk"
)

// Spent reports that a stage worked from then until now.
func (m *Monitor) Spent(stage Stage, since time.Time) {
	m.metrics.stages.WithLabelValues(string(stage)).Add(m.now().Sub(since).Seconds())
}

// A Commit is what a transaction did.
type Commit struct {
	Space       string
	Took        time.Duration // from the batch's first assignment
	New         int           // articles that founded a cluster
	Joined      int           // articles that joined one
	Contained   int           // of these, those that joined by containment
	Unclustered int           // articles without words to compare
	// Fingerprinted are articles that were written for others to assign, and Repeated those that had
	// been assigned before.
	Fingerprinted, Repeated int
	Rejected                map[string]int // dead letters by class
	Expired                 int            // clusters
	// articles that say a time too far in the future, and have an earlier event time
	TimesAhead int
	TimesOld   int    // articles that say a time too long ago, and have a later event time
	Candidates uint64 // centres that articles were compared with
	// Distances are those of articles that joined by their text, as a share of the largest allowed.
	Distances []float64
	Odd       Odd
	Labels    Labels
}

// Odd is what was odd about the articles of a transaction.
type Odd struct {
	Invalid    int            // articles with bytes that are no character
	Transcoded map[string]int // articles that were not in UTF-8, by encoding
	Fallbacks  map[[2]string]int
}

// Add counts an article. By field and reason, Fallbacks counts the fields that could not be used.
func (o *Odd) Add(n *article.Notes) {
	if n.Invalid {
		o.Invalid++
	}
	if n.Encoding != "" {
		if o.Transcoded == nil {
			o.Transcoded = make(map[string]int)
		}
		o.Transcoded[n.Encoding]++
	}
	for _, f := range n.Fallbacks {
		if o.Fallbacks == nil {
			o.Fallbacks = make(map[[2]string]int)
		}
		o.Fallbacks[[2]string{f.Field, f.Reason}]++
	}
}

// A Result is what became of a transaction.
type Result string

// The results.
const (
	Aborted   Result = "aborted" // it was not committed, or that is not known, and is done again
	Fenced    Result = "fenced"  // another instance has taken the space over
	committed Result = "committed"
)

// Committed reports that a transaction was committed.
func (m *Monitor) Committed(c Commit) {
	m.metrics.add(c)
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.lastCommit, m.answered = m.now(), true
	m.counts.add(m.lastCommit, &c)
	m.failures = failures{}
}

// NotCommitted counts a batch that was not committed, and why.
func (m *Monitor) NotCommitted(why Result) {
	m.metrics.transactions.WithLabelValues(string(why)).Inc()
}

// Failed reports that the way to the brokers or to the disk failed, and is tried again. The next
// commit ends it, and so do fetches that go on without another failure.
func (m *Monitor) Failed(err error) {
	m.metrics.errors.Inc()
	m.mutex.Lock()
	defer m.mutex.Unlock()
	now := m.now()
	if m.failures.err == nil {
		m.failures.first = now
	}
	m.failures.err, m.failures.last = err, now
}

// failures are a row of errors.
type failures struct {
	err         error // the latest; nil: none
	first, last time.Time
}

// lasts reports whether there is a row of errors, or one that no fetch has come after, and not a
// hiccup.
func (f failures) lasts(now, lastPoll time.Time) bool {
	unanswered := !lastPoll.After(f.last) && now.Sub(f.first) >= failureTimeout
	return f.err != nil && (unanswered || f.last.Sub(f.first) >= failureTimeout)
}
