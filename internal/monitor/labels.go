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

// Labelling reports how a space is with labels: which hit too many articles, and how many changes
// are not told of to the end. It holds until the next one.
func (m *Monitor) Labelling(space string, flood []string, pending int) {
	m.metrics.flood.WithLabelValues(space).Set(float64(len(flood)))
	m.metrics.pending.WithLabelValues(space).Set(float64(pending))
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if s := m.spaces[space]; s != nil {
		s.flood = flood
	}
}

// floods says which labels hit too many articles, empty for none.
func (s *Space) floods() string {
	if len(s.FloodLabels) == 0 {
		return ""
	}
	return fmt.Sprintf("; in space %s more articles than labels.flood carry %s", s.Space,
		strings.Join(s.FloodLabels, ", "))
}

// registerLabels registers what is done about labels.
func (m *metrics) registerLabels(r register) {
	m.labels = r.counters("labels_applied_total",
		"Label records that changed something, by action: add or remove; of stories merge, "+
			"unmerge or split; and erase.", "action",
		"add", "remove", "merge", "unmerge", "split", "erase")
	m.labelled = r.counter("labelled_articles_total",
		"Articles committed whose results carry a label that is not on trial.")
	m.byContact = r.counter("labelled_by_contact_total",
		"Articles committed whose results carry a label by a contact of their cluster's founder.")
	m.corrections = r.counter("corrections_total",
		"Corrections written: articles that came before a change of their cluster's labels.")
	m.pending = r.gauges("corrections_pending",
		"Changes of labels of which not all earlier articles were told. At 100 no label is read.",
		"space")
	m.flood = r.gauges("labels_above_flood",
		"Labels that more of 1,000 articles carry than labels.flood.", "space")
}

func (m *metrics) addLabels(l Labels) {
	for action, n := range l.Applied {
		m.labels.WithLabelValues(action).Add(float64(n))
	}
	m.labelled.Add(float64(l.Articles))
	m.corrections.Add(float64(l.Corrections))
}
