// Package doctor looks at what clusterd needs, before it runs or while it does: brokers, topics,
// rights, clock, disk, memory. A configuration goes in, a list of checks comes out, each with what
// was found and what to do. It changes nothing that anybody reads.
package doctor

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/clusterd/clusterd/internal/audit/topics"
	"github.com/clusterd/clusterd/internal/config"
)

// A Status says how a check ended.
type Status string

// How checks end.
const (
	OK      Status = "ok"
	Warning Status = "warning" // clusterd works, and something will hurt
	Failure Status = "failure" // clusterd does not work, or loses what it should keep
)

// A Check is one thing that was looked at.
type Check struct {
	Name   string `json:"name"` // what was looked at: "topic articles"
	Status Status `json:"status"`
	Found  string `json:"found"`
	Do     string `json:"do,omitempty"` // what to do; where it is well, a hint or empty
}

// A Report has all checks, in the order in which one would mend things.
type Report struct {
	Checks []Check `json:"checks"`
}

// Count returns how many checks ended so.
func (r *Report) Count(s Status) (n int) {
	for i := range r.Checks {
		if r.Checks[i].Status == s {
			n++
		}
	}
	return n
}

const (
	// patience bounds each question to a broker, and so to all that is asked of one that hangs.
	patience = 3 * time.Second
	// limit bounds all questions together.
	limit = 10 * time.Second
)

// examination is a doctor at work.
type examination struct {
	config config.Config
	client *kgo.Client
	admin  *kadm.Client
	report Report
	now    time.Time

	brokers int // that the cluster has
	topics  map[string]topic
	growth  float64 // records an hour that the input has got of late
	stored  int64   // records of the clusters topic: as many clusters there are at most
	unknown error   // why these two are not known; nil: they are
}

// Examine looks at all that a configuration needs, for ten seconds at most.
func Examine(ctx context.Context, c config.Config) *Report {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	e := &examination{config: c, now: time.Now(), topics: make(map[string]topic)}
	e.checkConfiguration()
	e.checkBrokers(ctx)
	e.checkDisk()
	e.checkMemory()
	e.checkFiles()
	e.checkHTTP(ctx)
	return &e.report
}

func (e *examination) add(name string, s Status, do, found string, args ...any) {
	if len(args) > 0 {
		found = fmt.Sprintf(found, args...)
	}
	e.report.Checks = append(e.report.Checks, Check{Name: name, Status: s, Found: found, Do: do})
}

func (e *examination) ok(name, found string, args ...any) { e.add(name, OK, "", found, args...) }

func (e *examination) warn(name, do, found string, args ...any) {
	e.add(name, Warning, do, found, args...)
}

func (e *examination) fail(name, do, found string, args ...any) {
	e.add(name, Failure, do, found, args...)
}

// checkConfiguration says what the configuration itself warns of. It has been read without error.
func (e *examination) checkConfiguration() {
	warnings := e.config.Warnings()
	for _, w := range warnings {
		e.warn("configuration", "change the key that it names", "%s", w)
	}
	if len(warnings) == 0 {
		e.ok("configuration", "role %s, method %s, scope %s", e.config.Role,
			e.config.Fingerprint.Method, e.config.Cluster.Scope)
	}
}

// connect makes a client, which dials at its first request.
func (e *examination) connect() error {
	options, err := topics.Connection(e.config.Kafka, "clusterd-doctor", slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	options = append(options, kgo.RetryTimeout(patience), kgo.RequestRetries(8),
		kgo.DisableClientMetrics(), kgo.MaxVersions(versions()),
		// A partition may end with a control record.
		kgo.KeepControlRecords(), kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	e.client, err = kgo.NewClient(options...)
	if err != nil {
		return err
	}
	e.admin = kadm.NewClient(e.client)
	e.admin.SetTimeoutMillis(int32(patience.Milliseconds()))
	return nil
}

// versions are those of requests that clients make: later ones of AddPartitionsToTxn are for
// brokers.
func versions() *kversion.Versions {
	const addPartitionsToTxn, clients = 24, 3
	all := kversion.Stable()
	all.SetMaxKeyVersion(addPartitionsToTxn, clients)
	return all
}
