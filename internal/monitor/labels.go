package monitor

import (
	"fmt"
	"strings"
)

// Labels are what a transaction did about labels.
type Labels struct {
	Applied     map[string]int // label records that changed something, by action
	Articles    int            // whose results carry a label that is not on trial
	Corrections int            // that were written
}

// Labelling reports how a space is with labels: which are suspended, and how many changes are not
// told of to the end. It holds until the next one.
func (m *Monitor) Labelling(space string, suspended []string, pending int) {
	m.metrics.suspended.WithLabelValues(space).Set(float64(len(suspended)))
	m.metrics.pending.WithLabelValues(space).Set(float64(pending))
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if s := m.spaces[space]; s != nil {
		s.suspended = suspended
	}
}

// floods says which labels are suspended, empty for none.
func (s *Space) floods() string {
	if len(s.SuspendedLabels) == 0 {
		return ""
	}
	return fmt.Sprintf("; results of space %s go without %s, which hit too many articles "+
		"(labels.flood)",
		s.Space, strings.Join(s.SuspendedLabels, ", "))
}

// registerLabels registers what is done about labels.
func (m *metrics) registerLabels(r register) {
	m.labels = r.counters("labels_applied_total",
		"Label records that changed something, by action: add, remove or resume; of stories merge, "+
			"unmerge or split.", "action",
		"add", "remove", "resume", "merge", "unmerge", "split")
	m.labelled = r.counter("labelled_articles_total",
		"Articles committed whose results carry a label that is not on trial.")
	m.corrections = r.counter("corrections_total",
		"Corrections written: articles that came before a change of their cluster's labels.")
	m.pending = r.gauges("corrections_pending",
		"Changes of labels of which not all earlier articles were told. At 100 no label is read.",
		"space")
	m.suspended = r.gauges("labels_suspended",
		"Labels that hit more articles than labels.flood allows, so that results go without them until "+
			"somebody resumes them.", "space")
}

func (m *metrics) addLabels(l Labels) {
	for action, n := range l.Applied {
		m.labels.WithLabelValues(action).Add(float64(n))
	}
	m.labelled.Add(float64(l.Articles))
	m.corrections.Add(float64(l.Corrections))
}
