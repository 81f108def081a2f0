package events

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/clusterd/clusterd/internal/message/article"
)

// The kinds of events.
const (
	Result     = "result"
	Label      = "label"
	Correction = "correction"
)

// An Event is a record that was committed.
type Event struct {
	Kind   string
	Source article.Address // of the record itself
	Value  []byte          // JSON; it is not written to any more
	// Position is that of a result, which its record has in a header.
	Position uint64
}

// An event is one in the ring, and what is looked up in it, once somebody asks.
type event struct {
	Event

	checked sync.Once
	line    []byte // the value as one line; nil: it cannot be sent

	framed sync.Once
	frame  []byte // as it is sent

	parsed    sync.Once
	cluster   string
	status    string
	publisher string
	labels    []string
}

// readable reports whether an event can be sent, and makes it one line: anybody can write to the
// topic of labels. It is called by who reads: of what nobody reads in time, nothing is looked at.
func (e *event) readable() bool {
	e.checked.Do(func() {
		v := e.Value
		if len(v) < 2 || v[0] != '{' || !utf8.Valid(v) || !gjson.ValidBytes(v) {
			return
		}
		if bytes.ContainsAny(v, "\r\n") { // outside of its strings: within, they are escaped
			v = bytes.Map(func(r rune) rune {
				if r == '\r' || r == '\n' {
					return ' '
				}
				return r
			}, v)
		}
		e.line = v
	})
	return e.line != nil
}

// parse looks up what filters compare.
func (e *event) parse() {
	e.parsed.Do(func() {
		found := gjson.GetManyBytes(e.Value, "cluster_id", "status", "publisher", "label", "labels",
			"trial_labels")
		e.cluster, e.status, e.publisher = found[0].String(), found[1].String(), found[2].String()
		if found[3].Exists() {
			e.labels = append(e.labels, found[3].String())
		}
		for _, list := range found[4:] {
			for _, label := range list.Array() {
				e.labels = append(e.labels, label.String())
			}
		}
	})
}

// JSON returns the event's value, with the position of a result in it.
func (e *Event) JSON() []byte {
	if e.Kind != Result {
		return e.Value
	}
	value := append(slices.Clone(e.Value[:len(e.Value)-1]), `,"position":`...)
	return append(strconv.AppendUint(value, e.Position, 10), '}')
}

// sent returns a readable event as server-sent events are written: once for all clients.
func (e *event) sent() []byte {
	e.framed.Do(func() {
		shown := e.Event
		shown.Value = e.line
		e.frame = fmt.Appendf(nil, "event: %s\nid: %s\ndata: %s\n\n", e.Kind, e.Source, shown.JSON())
	})
	return e.frame
}

// A Filter says which events are sent. Each part that is set must be as in the event; what an
// event does not have, it does not match.
type Filter struct{ Label, Cluster, Status, Publisher string }

// matches reports whether an event is sent. None is that cannot be.
func (f Filter) matches(e *event) bool {
	if !e.readable() {
		return false
	}
	if f == (Filter{}) {
		return true
	}
	e.parse()
	return (f.Cluster == "" || f.Cluster == e.cluster) &&
		(f.Status == "" || f.Status == e.status) &&
		(f.Publisher == "" || f.Publisher == e.publisher) &&
		(f.Label == "" || slices.Contains(e.labels, f.Label))
}
