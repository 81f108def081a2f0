package monitor

import (
	"math"
	"time"

	"github.com/clusterd/clusterd/internal/kafka"
)

// state is that of a space, and with three more that of an instance.
type state string

const (
	joining    state = "joining"
	standby    state = "standby"
	recovering state = "recovering"
	blocked    state = "blocked"
	live       state = "live"
	stopping   state = "stopping"
)

// space is what is known of one space.
type space struct {
	state      state
	since      time.Time
	partitions []int    // while live
	flood      []string // labels, sorted
	what       string   // while recovering, and why while blocked
	progress   progress // while recovering
	read       map[topicPartition]bool
	open       map[topicPartition]kafka.OpenTransaction // those that hold it back
}

type topicPartition struct {
	topic     string
	partition int
}

// enter returns the space of a name, which from now on is in state s.
func (m *Monitor) enter(name string, s state) *space {
	m.leave(name)
	if known := m.spaces[name]; known == nil || known.state != s {
		m.spaces[name] = &space{
			state: s, since: m.now(), read: make(map[topicPartition]bool),
			open: make(map[topicPartition]kafka.OpenTransaction),
		}
	}
	return m.spaces[name]
}

// leave forgets what is known of the partitions that a space reads: from now on somebody else knows
// it.
func (m *Monitor) leave(name string) {
	known := m.spaces[name]
	if known == nil {
		return
	}
	for _, p := range known.partitions {
		delete(m.lag, p)
		m.metrics.lag.DeleteLabelValues(partitionLabel(p))
	}
	for at := range known.read {
		m.metrics.open.DeleteLabelValues(at.topic, partitionLabel(at.partition))
	}
}

// progress is how far something is, and since when from where.
type progress struct {
	began       time.Time
	from        int64 // what was done then
	done, total int64
}

func (p *progress) set(now time.Time, done, total int64) {
	if p.began.IsZero() {
		p.began, p.from = now, done
	}
	p.done, p.total = min(done, total), total
}

// report returns nil where nothing is known yet.
func (p *progress) report(now time.Time) *Recovery {
	if p.total <= 0 {
		return nil
	}
	r := &Recovery{
		Done: p.done, Total: p.total, Percent: tenths(100 * float64(p.done) / float64(p.total)),
	}
	if since := now.Sub(p.began).Seconds(); p.done > p.from && since > 0 {
		eta := tenths(since * float64(p.total-p.done) / float64(p.done-p.from))
		r.ETA = &eta
	}
	return r
}

// tenths leaves one digit after the point, for people to read.
func tenths(x float64) float64 { return math.Round(x*10) / 10 }
