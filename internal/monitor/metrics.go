package monitor

import (
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/clusterd/clusterd/internal/message/article"
)

// metrics are those that only change with events; the rest follows from the Monitor when it is
// asked.
type metrics struct {
	registry *prometheus.Registry

	records, bytes    prometheus.Counter
	articles          *prometheus.CounterVec // by outcome
	fingerprinted     prometheus.Counter
	repeated          prometheus.Counter
	matched           *prometheus.CounterVec // by how
	deadLetters       *prometheus.CounterVec // by class
	transactions      *prometheus.CounterVec // by result
	transaction       prometheus.Histogram
	stages            *prometheus.CounterVec // by stage
	clusters, waiting *prometheus.GaugeVec   // by space
	expired           prometheus.Counter
	adjusted          *prometheus.CounterVec // by reason
	invalid           prometheus.Counter
	transcoded        *prometheus.CounterVec // by encoding
	fallbacks         *prometheus.CounterVec // by field and reason
	candidates        prometheus.Counter
	lag               *prometheus.GaugeVec     // by partition
	open              *prometheus.GaugeVec     // by topic and partition
	recovery          *prometheus.HistogramVec // by how
	rebuilds          *prometheus.CounterVec   // by reason
	membersLag        *prometheus.GaugeVec     // without labels: there is none without a view
	membersBytes      *prometheus.GaugeVec

	labels                *prometheus.CounterVec // by action
	labelled, corrections prometheus.Counter
	byContact, endedMarks prometheus.Counter
	pending, flood        *prometheus.GaugeVec // by space
	marks                 *prometheus.GaugeVec // by space and state
	reach, used           *prometheus.GaugeVec // by space
	errors                prometheus.Counter

	distance prometheus.Histogram
	requests *prometheus.CounterVec   // by route and code
	answers  *prometheus.HistogramVec // by route
}

func newMetrics(version string, monitor *Monitor) *metrics {
	r := register{prometheus.NewRegistry()}
	r.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	r.build(version)
	r.instance(monitor)
	m := &metrics{registry: r.Registry}
	m.registerInput(r)
	m.registerCommits(r)
	m.registerSpaces(r)
	m.registerLabels(r)
	m.registerRequests(r)
	m.errors = r.counter(
		"errors_total", "Errors of the way to the brokers or to the disk after which work began again.",
	)
	return m
}

// registerInput registers what was read, and what was odd about it.
func (m *metrics) registerInput(r register) {
	m.records = r.counter("input_records_total",
		"Records fetched from the input, again after a batch that was not committed.")
	m.bytes = r.counter("input_bytes_total", "Bytes of the records fetched.")
	m.lag = r.gauges(
		"input_lag_records",
		"Records of a partition that were not fetched yet, with those that an open transaction holds "+
			"back.",
		"partition",
	)
	m.open = r.gauges("open_transaction_seconds", "For how long an open transaction of somebody who "+
		"writes there has held back the reading of a partition, "+
		"of the input or of the clusters topic; 0 is not at all.", "topic", "partition")
	m.invalid = r.counter("invalid_encoding_total",
		"Articles with bytes that are no character of their encoding.")
	m.transcoded = r.counters("transcoded_articles_total",
		"Articles that were not in UTF-8, by encoding.", "encoding", "gb18030", "big5", "utf-16le",
		"utf-16be")
	m.fallbacks = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: namespace, Name: "field_fallbacks_total", Help: "Fields that could not be used, " +
			"and without which the articles were committed, by field and " +
			"reason: type, format or too_long.",
	}, []string{"field", "reason"})
	r.MustRegister(m.fallbacks)
	article.EachFallback(func(field, reason string) { m.fallbacks.WithLabelValues(field, reason) })
}

// registerCommits registers what became of articles, and how long it took.
func (m *metrics) registerCommits(r register) {
	m.articles = r.counters("articles_total", "Articles committed, by outcome: new (founded a "+
		"cluster), joined (one) or unclustered.",
		"outcome", string(article.New), string(article.Joined), string(article.Unclustered))
	m.fingerprinted = r.counter("fingerprinted_articles_total",
		"Articles fingerprinted and committed for others to assign, with role fingerprint.")
	m.repeated = r.counter("repeated_articles_total", "Fingerprinted articles passed over, since "+
		"they had been assigned before: the offsets of those that fingerprint were set back.")
	m.matched = r.counters("joined_total", "Articles committed that joined a cluster, by how they "+
		"matched it: text, or contained (the one text holds most of the other).",
		"matched", string(article.ByText), string(article.Contained))
	m.deadLetters = r.counters("dead_letters_total", "Records committed as dead letters, by class.",
		"class", classes()...)
	m.adjusted = r.counters("event_times_adjusted_total", "Articles with another event time than "+
		"they say, by reason: ahead (it is too far in the future) or "+
		"old (it is older than the window, or before 1970).", "reason", "ahead", "old")
	m.transactions = r.counters("transactions_total",
		"Transactions by result: committed, aborted (done again) or fenced (another instance took "+
			"over).",
		"result", string(committed), string(Aborted), string(Fenced))
	m.transaction = r.histogram("transaction_seconds",
		"From a batch's first assignment to its commit.",
		prometheus.ExponentialBucketsRange(0.001, 30, 14))
	m.stages = r.counters("stage_seconds_total", "Time that stages of the work took: fingerprint "+
		"(which goes on beside the others), assign, encode, "+
		"commit, disk. The one that comes near a second a second is what holds the rest up.",
		"stage", string(Fingerprinting), string(Assigning), string(Encoding), string(Committing),
		string(Storing))
	m.distance = r.histogram("join_distance_ratio", "Distances from the founder of articles that "+
		"joined a cluster by their text, as a share of what the configuration allows: 0 is a copy, 1 "+
		"is just near enough, and more joined by containment.",
		[]float64{0, .1, .2, .3, .4, .5, .6, .7, .8, .9, 1})
	m.candidates = r.counter("index_candidates_total", "Centres that articles were compared with. By "+
		"articles_total it is what finding the nearest costs: "+
		"where it grows faster than the clusters, fingerprints are uneven.")
}

// registerSpaces registers what spaces hold, and how they are recovered.
func (m *metrics) registerSpaces(r register) {
	m.clusters = r.gauges(
		"clusters",
		"Clusters of a space that this instance works on or follows, with expired ones that were not "+
			"taken away yet. A standby has them, too: over instances, take the max by space.",
		"space",
	)
	m.expired = r.counter("clusters_expired_total", "Clusters that expired.")
	m.waiting = r.gauges(
		"waiting_bytes",
		"Bytes that a space holds of what it has fetched and not yet handed to a transaction.", "space",
	)
	m.recovery = r.histograms("recovery_seconds",
		"Recoveries of a space, by how: disk, tail (the rest of the clusters topic was read) or "+
			"topic (all of it).",
		prometheus.ExponentialBucketsRange(0.1, 3600, 14), "how", string(FromDisk), string(FromTail),
		string(FromTopic))
	m.rebuilds = r.counters("disk_rebuilds_total",
		"Clusters on disk that could not be used, by reason: missing, damaged, foreign or stale.",
		"reason", string(Missing), string(Damaged), string(Foreign), string(Stale))
	m.membersLag = r.gauges("members_lag_records",
		"Records of the results topic that the view of members has not read, with serve.bytes.")
	m.membersBytes = r.gauges("members_bytes",
		"Bytes of disk that the view of members takes, with serve.bytes.")
}

// add counts what a transaction did.
func (m *metrics) add(c Commit) {
	m.transactions.WithLabelValues(string(committed)).Inc()
	m.transaction.Observe(c.Took.Seconds())
	m.articles.WithLabelValues(string(article.New)).Add(float64(c.New))
	m.articles.WithLabelValues(string(article.Joined)).Add(float64(c.Joined))
	m.articles.WithLabelValues(string(article.Unclustered)).Add(float64(c.Unclustered))
	m.fingerprinted.Add(float64(c.Fingerprinted))
	m.repeated.Add(float64(c.Repeated))
	m.matched.WithLabelValues(string(article.ByText)).Add(float64(c.Joined - c.Contained))
	m.matched.WithLabelValues(string(article.Contained)).Add(float64(c.Contained))
	for class, n := range c.Rejected {
		m.deadLetters.WithLabelValues(class).Add(float64(n))
	}
	m.expired.Add(float64(c.Expired))
	m.adjusted.WithLabelValues("ahead").Add(float64(c.TimesAhead))
	m.adjusted.WithLabelValues("old").Add(float64(c.TimesOld))
	m.invalid.Add(float64(c.Odd.Invalid))
	for encoding, n := range c.Odd.Transcoded {
		m.transcoded.WithLabelValues(encoding).Add(float64(n))
	}
	for kind, n := range c.Odd.Fallbacks {
		m.fallbacks.WithLabelValues(kind[0], kind[1]).Add(float64(n))
	}
	m.candidates.Add(float64(c.Candidates))
	for _, d := range c.Distances {
		m.distance.Observe(d)
	}
	m.addLabels(c.Labels)
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(
		m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 10 * time.Second},
	)
}

// classes returns those of dead letters.
func classes() []string {
	var names []string
	for _, c := range slices.Concat(article.Classes, article.FingerprintClasses,
		article.LabelClasses) {
		names = append(names, string(c))
	}
	return names
}

func partitionLabel(partition int) string { return strconv.Itoa(partition) }

// register makes metrics of clusterd and registers them. A label that has few values has them from
// the beginning, so that a rate sees the first event.
type register struct{ *prometheus.Registry }

const namespace = "clusterd"

func (r register) counter(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help})
	r.MustRegister(c)
	return c
}

func (r register) counters(name, help, label string, values ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help},
		[]string{label})
	r.MustRegister(c)
	for _, v := range values {
		c.WithLabelValues(v)
	}
	return c
}

func (r register) gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help},
		labels)
	r.MustRegister(g)
	return g
}

func (r register) histogram(name, help string, buckets []float64) prometheus.Histogram {
	h := prometheus.NewHistogram(
		prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets},
	)
	r.MustRegister(h)
	return h
}

func (r register) histograms(
	name, help string, buckets []float64, label string, values ...string,
) *prometheus.HistogramVec {
	h := prometheus.NewHistogramVec(
		prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets},
		[]string{label},
	)
	r.MustRegister(h)
	for _, v := range values {
		h.WithLabelValues(v)
	}
	return h
}

// function registers a gauge whose value is asked for.
func (r register) function(name, help string, labels prometheus.Labels, value func() float64) {
	r.MustRegister(
		prometheus.NewGaugeFunc(
			prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help, ConstLabels: labels}, value,
		),
	)
}

func (r register) build(version string) {
	r.function("build_info", "1, with the version of clusterd and of the Go that built it.",
		prometheus.Labels{
			"version": version, "goversion": runtime.Version(),
		}, func() float64 { return 1 })
}

// instance registers what follows from the status.
func (r register) instance(m *Monitor) {
	r.function("ready", "1 while /readyz says yes, else 0.", nil,
		func() float64 { return zeroOrOne(m.Status().Ready) })
	for _, s := range []state{joining, standby, recovering, blocked, live, stopping} {
		r.function("state", "1 for the state that the instance is in, 0 for the others.",
			prometheus.Labels{
				"state": string(s),
			}, func() float64 { return zeroOrOne(m.Status().State == string(s)) })
	}
	r.function("last_poll_timestamp_seconds",
		"Unix time when a fetch last came back, with records or without; 0 is never.", nil,
		func() float64 { return unix(m.Status().LastPoll) })
	r.function("last_commit_timestamp_seconds", "Unix time of the last commit; 0 is never.", nil,
		func() float64 { return unix(m.Status().LastCommit) })
}

func zeroOrOne(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func unix(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}
