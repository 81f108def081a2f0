package monitor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/clusterd/clusterd/internal/kafka"
)

// Status is what an instance answers when it is asked whether it is ready.
type Status struct {
	// Ready is whether the instance works on its spaces, or could at once.
	Ready bool `json:"ready"`
	// Reason says why, in words.
	Reason string `json:"reason"`
	// State is joining, standby, recovering, blocked, live or stopping.
	State string `json:"state"`
	// Spaces are those that the instance works on or follows, by name.
	Spaces []Space `json:"spaces"`
	// LastPoll is when a fetch last came back, of the input or of the clusters topic.
	LastPoll    time.Time `json:"last_poll,omitzero"`
	LastPollAgo *float64  `json:"last_poll_ago_seconds,omitempty"`
	// LastCommit is when a transaction was last committed.
	LastCommit    time.Time `json:"last_commit,omitzero"`
	LastCommitAgo *float64  `json:"last_commit_ago_seconds,omitempty"`
	// Lag is how many records each partition worked on has that were not fetched.
	Lag map[int]int64 `json:"lag"`
	// OpenTransactions are those that have held the reading of a partition back for some seconds.
	OpenTransactions []kafka.OpenTransaction `json:"open_transactions,omitempty"`
	// BrokerReachable is whether the brokers answer, by the latest that is known.
	BrokerReachable bool `json:"broker_reachable"`
	// Error is the latest, while it is not known to be over.
	Error   string `json:"error,omitempty"`
	Version string `json:"version"`
}

// Space is one of a [Status].
type Space struct {
	Space      string    `json:"space"`
	State      string    `json:"state"` // standby, recovering, blocked or live
	Partitions []int     `json:"partitions,omitempty"`
	Since      time.Time `json:"since"`
	Recovery   *Recovery `json:"recovery,omitempty"`
	// FloodLabels are those that more articles carry than labels.flood.
	FloodLabels []string `json:"flood_labels,omitempty"`
}

// Recovery is how far a space is with what it recovers.
type Recovery struct {
	Done    int64    `json:"done"`
	Total   int64    `json:"total"`
	Percent float64  `json:"percent"`
	ETA     *float64 `json:"eta_seconds,omitempty"` // once there is a rate
}

// Status returns how the instance is now.
func (m *Monitor) Status() Status {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	now := m.now()
	state := m.state()
	down, contact, open := m.down(now), m.contact.problem(now), m.open(now)
	heldBack := slices.ContainsFunc(
		open, func(t kafka.OpenTransaction) bool { return now.Sub(t.Since) >= openTimeout },
	)
	s := Status{
		Ready: down == "" && !heldBack &&
			(state == live || state == standby), State: string(state), Spaces: []Space{},
		LastPoll: stamp(m.lastPoll), LastPollAgo: ago(now, m.lastPoll),
		LastCommit: stamp(m.lastCommit), LastCommitAgo: ago(now, m.lastCommit),
		Lag: maps.Clone(m.lag), OpenTransactions: open, BrokerReachable: m.answered && down == "" &&
			contact == "",
		Error: contact, Version: m.version,
	}
	if m.failures.err != nil && contact == "" {
		s.Error = m.failures.err.Error()
	}
	for _, name := range slices.Sorted(maps.Keys(m.spaces)) {
		s.Spaces = append(s.Spaces, m.spaces[name].report(name, now))
	}
	s.Reason = m.reason(state, down, contact, s)
	for i := range s.Spaces {
		s.Reason += s.Spaces[i].floods()
	}
	for _, t := range open {
		s.Reason += fmt.Sprintf("; %s (%s)", t, t.Advice())
	}
	return s
}

// open returns the transactions that have held a space back for long enough to be worth a word.
func (m *Monitor) open(now time.Time) (open []kafka.OpenTransaction) {
	for _, s := range m.spaces {
		for _, t := range s.open {
			if t.Long(now) {
				t.Since = stamp(t.Since)
				open = append(open, t)
			}
		}
	}
	slices.SortFunc(open, func(a, b kafka.OpenTransaction) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return open
}

// state of the instance: that of its space which is furthest from working.
func (m *Monitor) state() state {
	count := make(map[state]int)
	working := make(map[int]bool)
	for _, s := range m.spaces {
		count[s.state]++
		for _, p := range s.partitions {
			working[p] = true
		}
	}
	taken := !slices.ContainsFunc(m.assigned, func(p int) bool { return !working[p] })
	switch {
	case m.stopping:
		return stopping
	case count[blocked] > 0:
		return blocked
	case count[recovering] > 0 || !taken:
		return recovering
	case count[live] > 0: // also while joining anew
		return live
	case m.serving && len(m.spaces) == 0:
		return recovering
	case !m.member && !m.serving:
		return joining
	}
	return standby
}

// down returns what is wrong on the way to the brokers or the disk, "" where nothing that lasts is.
func (m *Monitor) down(now time.Time) string {
	fetching, answer := false, m.lastPoll // the latest answer, or when a space began to fetch
	for _, s := range m.spaces {
		if s.state == live || s.state == standby {
			fetching = true
			if s.since.After(answer) {
				answer = s.since
			}
		}
	}
	switch {
	case fetching && now.Sub(answer) >= failureTimeout:
		return "no fetch has come back for " + rounded(now.Sub(answer))
	case m.failures.lasts(now, m.lastPoll):
		return "failing for " + rounded(now.Sub(m.failures.first))
	}
	return ""
}

func (m *Monitor) reason(state state, down, contact string, s Status) string {
	reason, problem := "", s.Error
	switch {
	case state == stopping:
		return "stopping: finishing what is in hand"
	case state == blocked:
		reason, problem = m.blockades(), contact
	case down != "":
		reason = down
	case state == joining:
		reason = "joining the consumer group"
	case state == recovering:
		reason = m.recoveries(s.Spaces)
	case state == standby && m.serving:
		reason, problem = "answering: role serve never joins the group", contact
	case state == standby:
		reason, problem = "standing by: other members of the group own all partitions", contact
	default:
		reason, problem = "live", contact
	}
	if problem != "" {
		reason += ": " + problem
	}
	return reason
}

// blockades returns what each space waits for that is blocked.
func (m *Monitor) blockades() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(m.spaces)) {
		if s := m.spaces[name]; s.state == blocked {
			all = append(all, fmt.Sprintf("space %s: %s", name, s.what))
		}
	}
	return "blocked: " + strings.Join(all, "; ")
}

// recoveries returns what each space that recovers does, and how long that will take.
func (m *Monitor) recoveries(spaces []Space) string {
	var all []string
	for _, s := range spaces {
		if s.State != string(recovering) {
			continue
		}
		text := fmt.Sprintf("space %s: %s", s.Space, m.spaces[s.Space].what)
		if r := s.Recovery; r != nil {
			text += fmt.Sprintf(", %g %%", r.Percent)
			if r.ETA != nil {
				text += fmt.Sprintf(", about %.0f s left", *r.ETA)
			}
		}
		all = append(all, text)
	}
	switch {
	case len(all) == 0 && m.serving:
		return "looking for the topics"
	case len(all) == 0:
		return "taking over the partitions that the group gave"
	}
	return "recovering " + strings.Join(all, "; ")
}

func (s *space) report(name string, now time.Time) Space {
	r := Space{
		Space: name, State: string(s.state), Partitions: s.partitions, Since: stamp(s.since),
		FloodLabels: s.flood,
	}
	if s.state == recovering {
		r.Recovery = s.progress.report(now)
	}
	return r
}

// stamp returns a time for people and machines to read.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// ago returns how many seconds ago that was, nil for never.
func ago(now, then time.Time) *float64 {
	if then.IsZero() {
		return nil
	}
	seconds := tenths(now.Sub(then).Seconds())
	return &seconds
}

func rounded(d time.Duration) string { return d.Round(time.Second).String() }
