// Package monitor keeps what an instance tells of itself. In: what the pipeline does, as it does
// it. Out: a [Status], which says whether the instance is ready and why, and metrics for
// Prometheus.
//
// It decides nothing and asks nobody: it knows what it was told, and when.
package monitor

import (
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/kafka"
)

const (
	// patience is how long the way to the brokers may give nothing, or fail, until the instance is not
	// ready. Fetches come back at least every half second.
	patience = 10 * time.Second
	// openLimit is how long an open transaction may hold a partition back until the instance is not
	// ready. Kafka ends those of dead producers after transaction.timeout.ms, a minute by default.
	openLimit = time.Minute
)

// Monitor is what is known of one instance. It is safe for concurrent use. A space is named as in
// the log: "all", or the number of its partition.
type Monitor struct {
	version string
	now     func() time.Time
	metrics *metrics

	mutex      sync.Mutex
	stopping   bool
	member     bool
	assigned   []int // partitions, by the group
	spaces     map[string]*space
	lag        map[int]int64
	lastPoll   time.Time
	lastCommit time.Time
	answered   bool // the brokers have, at least once
	trouble    trouble
	contact    contact
}

// New makes the monitor of an instance of this version of clusterd, which is joining.
func New(version string) *Monitor { return newMonitor(version, time.Now) }

func newMonitor(version string, now func() time.Time) *Monitor {
	m := &Monitor{version: version, now: now, spaces: make(map[string]*space), lag: make(map[int]int64)}
	m.metrics = newMetrics(version, m)
	return m
}

// Handler serves the metrics. It answers few requests at once and each within seconds.
func (m *Monitor) Handler() http.Handler { return m.metrics.handler() }

// Joining says that the instance is no member of the group yet, or any more. Its spaces may live
// on.
func (m *Monitor) Joining() {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.member, m.assigned = false, nil
}

// Joined says that the instance is a member of the group, which gave it these partitions of the
// input, perhaps none. It is called again when that changes.
func (m *Monitor) Joined(partitions []int) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.member, m.assigned, m.answered = true, slices.Clone(partitions), true
	m.contact.err = nil
}

// Stopping says that the instance was told to stop. There is no way back.
func (m *Monitor) Stopping() {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.stopping = true
}

// Recovering says that a space is not ready yet, and what is being done, as a gerund: "reading
// clusters back".
func (m *Monitor) Recovering(space, what string) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	s := m.enter(space, recovering)
	s.what, s.progress = what, progress{}
}

// Progress says how much of what a space recovers is done, in any unit. What is left is taken to go
// at the rate since the first call after Recovering.
func (m *Monitor) Progress(space string, done, total int64) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.answered = true
	if s := m.spaces[space]; s != nil {
		s.progress.set(m.now(), done, total)
	}
}

// Recovered counts a recovery: how long it took, and from where most came. How is "disk" where all
// was on disk, "tail" where the rest of the clusters topic was read, "topic" where all of it was.
func (m *Monitor) Recovered(took time.Duration, how string) {
	m.metrics.recovery.WithLabelValues(how).Observe(took.Seconds())
}

// Rebuilt counts clusters on disk that could not be used: "missing", "damaged", "foreign" or
// "stale".
func (m *Monitor) Rebuilt(reason string) { m.metrics.rebuilds.WithLabelValues(reason).Inc() }

// Standby says that a space is followed as it changes, ready to be taken over.
func (m *Monitor) Standby(space string) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.enter(space, standby)
	m.answered = true
	m.trouble = trouble{}
}

// Live says that this instance works on a space, which is these partitions of the input.
func (m *Monitor) Live(space string, partitions []int) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.enter(space, live).partitions = slices.Clone(partitions)
	m.answered = true
}

// Blocked says that a space cannot go on until somebody acts, and why.
func (m *Monitor) Blocked(space string, why error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.enter(space, blocked).what = why.Error()
	m.answered = true
}

// Gone says that the instance has given a space up.
func (m *Monitor) Gone(space string) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.leave(space)
	delete(m.spaces, space)
	m.metrics.clusters.DeleteLabelValues(space)
	m.metrics.waiting.DeleteLabelValues(space)
	m.trouble = trouble{} // that of whoever has the space now
}

// Polled says that a fetch came back: with some records of the input of so many bytes; or with
// none, which is also said of fetches of the clusters topic, since what counts is that the brokers
// answer.
func (m *Monitor) Polled(records int, bytes int64) {
	m.metrics.records.Add(float64(records))
	m.metrics.bytes.Add(float64(bytes))
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.lastPoll, m.answered = m.now(), true
	// What fails again and again while fetches work, such as each transaction, is still trouble.
	if m.lastPoll.Sub(m.trouble.last) >= patience {
		m.trouble = trouble{}
	}
}

// Lag says how many records a partition of the input has that were not fetched.
func (m *Monitor) Lag(partition int, records int64) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.lag[partition] = records
	m.metrics.lag.WithLabelValues(partitionLabel(partition)).Set(float64(records))
}

// Lags is how many records some partitions of the input have in all that were not fetched, as far
// as it is known.
func (m *Monitor) Lags(partitions []int) (records int64) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for _, p := range partitions {
		records += m.lag[p]
	}
	return records
}

// Open says that a space has read a partition up to an open transaction, or, with nil, that nothing
// holds it back.
func (m *Monitor) Open(space, topic string, partition int, t *kafka.OpenTransaction) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	s := m.spaces[space]
	if s == nil {
		return
	}
	at, seconds := topicPartition{topic, partition}, 0.0
	delete(s.open, at)
	if t != nil {
		s.open[at] = *t
		seconds = m.now().Sub(t.Since).Seconds()
	}
	s.read[at] = true
	m.metrics.open.WithLabelValues(topic, partitionLabel(partition)).Set(seconds)
}

// Waiting says how many bytes a space has fetched and not yet handed to a transaction.
func (m *Monitor) Waiting(space string, bytes int64) {
	m.metrics.waiting.WithLabelValues(space).Set(float64(bytes))
}

// Stage is a part of the work, by which its time is told.
type Stage string

// The stages, in the order in which a batch goes through them.
const (
	Fingerprinting Stage = "fingerprint"
	Assigning      Stage = "assign"
	Encoding       Stage = "encode"
	Committing     Stage = "commit"
	Storing        Stage = "disk"
)

// Spent says that a stage worked from then until now.
func (m *Monitor) Spent(stage Stage, since time.Time) {
	m.metrics.stages.WithLabelValues(string(stage)).Add(m.now().Sub(since).Seconds())
}

// Commit is what a transaction did.
type Commit struct {
	Space       string
	Took        time.Duration  // from the batch's first assignment
	New         int            // articles that founded a cluster
	Joined      int            // articles that joined one
	Unclustered int            // articles without words to compare
	Rejected    map[string]int // dead letters by class
	Expired     int            // clusters
	TimesAhead  int            // articles that say a time too far in the future, and have an earlier event time
	TimesOld    int            // articles that say a time too long ago, and have a later event time
	Candidates  uint64         // centres that articles were compared with
	Clusters    int            // now, with those that have expired and were not taken away yet
	Odd         Odd
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

// Committed says that a transaction was committed.
func (m *Monitor) Committed(c Commit) {
	m.metrics.add(c)
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.lastCommit, m.answered = m.now(), true
	m.trouble = trouble{}
}

// Aborted counts a batch that was not committed, or of which it is not known, and which is done
// again.
func (m *Monitor) Aborted() { m.metrics.transactions.WithLabelValues("aborted").Inc() }

// Fenced counts a batch that was not committed because another instance has taken the space over.
func (m *Monitor) Fenced() { m.metrics.transactions.WithLabelValues("fenced").Inc() }

// Trouble says that the way to the brokers or to the disk failed, and is tried again. The next
// commit ends it, and so do fetches that go on without more of it.
func (m *Monitor) Trouble(err error) {
	m.metrics.troubles.Inc()
	m.mutex.Lock()
	defer m.mutex.Unlock()
	now := m.now()
	if m.trouble.err == nil {
		m.trouble.first = now
	}
	m.trouble.err, m.trouble.last = err, now
}

// trouble is a row of errors.
type trouble struct {
	err         error // the latest; nil: none
	first, last time.Time
}

// lasts tells a row of errors, or one that no fetch has come after, from a hiccup.
func (t trouble) lasts(now, lastPoll time.Time) bool {
	unanswered := !lastPoll.After(t.last) && now.Sub(t.first) >= patience
	return t.err != nil && (unanswered || t.last.Sub(t.first) >= patience)
}
