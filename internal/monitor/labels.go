package monitor

import (
	"fmt"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/clusterd/clusterd/internal/message/label"
)

// Labels are what a transaction did about labels.
type Labels struct {
	Applied     map[string]int // label records that changed something, by action
	Articles    int            // whose results carry a label that is not on trial
	ByContact   int            // of these articles, how many carry a label by a contact
	EndedMarks  int            // marks that feedback has ended
	Corrections int            // that were written
}

// Labelling is how a space is with labels.
type Labelling struct {
	Flood   []string    // labels that hit too many articles, sorted
	Pending int         // changes for which corrections are still to be written
	Marks   label.Tally // of contacts
}

// Labelling reports how a space is with labels. It holds until the next one.
func (m *Monitor) Labelling(space string, l Labelling) {
	m.metrics.labelling(space, l)
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if s := m.spaces[space]; s != nil {
		s.flood = l.Flood
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
		"Articles committed whose results carry a label that is not on trial, and that their cluster "+
			"has by a contact of its founder.")
	m.endedMarks = r.counter("marks_ended_total",
		"Marks that label no longer, since somebody said that the contact is harmless.")
	m.marks = r.gauges("marks",
		"Marks of labels on contacts, by state: waiting (for more votes), labelling, used_up (it has "+
			"labelled as many clusters as it may, until somebody clicks again) or ended (by feedback).",
		"space", "state")
	m.reach = r.gauges("marks_reach_clusters",
		"Clusters that the marks which are labelling or used_up may label in all.", "space")
	m.used = r.gauges("marks_used_clusters",
		"Clusters that the marks which are labelling or used_up have labelled.", "space")
	m.corrections = r.counter("corrections_total",
		"Corrections written: articles that came before a change of their cluster's labels.")
	m.pending = r.gauges("corrections_pending",
		"Changes of labels of which not all earlier articles were told. At 100 no label is read.",
		"space")
	m.flood = r.gauges("labels_above_flood",
		"Labels that more of 1,000 articles carry than labels.flood.", "space")
}

// labelling sets what holds of a space until the next one.
func (m *metrics) labelling(space string, l Labelling) {
	m.flood.WithLabelValues(space).Set(float64(len(l.Flood)))
	m.pending.WithLabelValues(space).Set(float64(l.Pending))
	for _, s := range label.States {
		m.marks.WithLabelValues(space, string(s)).Set(float64(l.Marks.In(s)))
	}
	m.reach.WithLabelValues(space).Set(float64(l.Marks.Reach))
	m.used.WithLabelValues(space).Set(float64(l.Marks.Used))
}

// forgetLabelling removes what was said of a space that the instance has given up.
func (m *metrics) forgetLabelling(space string) {
	for _, of := range []*prometheus.GaugeVec{m.flood, m.pending, m.marks, m.reach, m.used} {
		of.DeletePartialMatch(prometheus.Labels{"space": space})
	}
}

func (m *metrics) addLabels(l Labels) {
	for action, n := range l.Applied {
		m.labels.WithLabelValues(action).Add(float64(n))
	}
	m.labelled.Add(float64(l.Articles))
	m.byContact.Add(float64(l.ByContact))
	m.endedMarks.Add(float64(l.EndedMarks))
	m.corrections.Add(float64(l.Corrections))
}
