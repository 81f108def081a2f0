package article

import (
	"github.com/tidwall/gjson"
)

// Labels reads from records what their articles do not have. Only JSON has it.
type Labels struct {
	json      bool
	id, label string // gjson paths; no label if empty
}

// NewLabels returns Labels of records of a format whose ids and labels are at dotted paths. An
// empty label is none.
func NewLabels(format, id, label string) Labels {
	l := Labels{json: format == JSON, id: NewJSONPath(id).Query}
	if label != "" {
		l.label = NewJSONPath(label).Query
	}
	return l
}

// Label returns the label of a record, or an empty string.
func (l Labels) Label(value []byte) string {
	if !l.json || l.label == "" {
		return ""
	}
	return gjson.GetBytes(value, l.label).String()
}

// RejectedID returns the id of a record that is no article, or an empty string.
func (l Labels) RejectedID(value []byte) string {
	if !l.json || !gjson.ValidBytes(value) {
		return ""
	}
	return gjson.GetBytes(value, l.id).String()
}
