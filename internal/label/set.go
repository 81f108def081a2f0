// Package label is the rule of labels: what labels a cluster has after a label record, which of
// them its results carry, and which labels hit too many articles. Plain data goes in and comes out;
// the package knows neither Kafka nor clusters.
package label

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/clusterd/clusterd/internal/article"
)

// A Set is the labels of a cluster: a JSON array of [article.Label] in the order of their names, or
// an empty text for none. Two sets of the same labels are equal.
type Set string

// Of returns the set of labels, whose names are each different.
func Of(labels []article.Label) Set {
	if len(labels) == 0 {
		return ""
	}
	sorted := slices.SortedFunc(slices.Values(labels), byName)
	return Set(article.AppendLabels(nil, sorted))
}

func byName(a, b article.Label) int { return strings.Compare(a.Name, b.Name) }

// All returns the labels in the order of their names. A set that [Set.Check] refuses has none.
func (s Set) All() []article.Label {
	labels, _ := s.parse()
	return labels
}

func (s Set) parse() (labels []article.Label, err error) {
	if s != "" {
		err = json.Unmarshal([]byte(s), &labels)
	}
	return labels, err
}

// Check returns an error for a set that no label records can have made.
func (s Set) Check() error {
	if s == "" {
		return nil
	}
	labels, err := s.parse()
	switch {
	case err != nil:
		return fmt.Errorf("labels: %w", err)
	case len(labels) > article.MaxLabels:
		return fmt.Errorf("there are %d labels; at most %d are possible", len(labels),
			article.MaxLabels)
	}
	for i := range labels {
		if err := labels[i].Check(); err != nil {
			return fmt.Errorf("label %.80q: %w", labels[i].Name, err)
		}
		if i > 0 && labels[i].Name <= labels[i-1].Name {
			return errors.New("labels are not in order")
		}
	}
	if Of(labels) != s {
		return errors.New("labels are written in another way than clusterd writes them")
	}
	return nil
}

// ErrTooMany is the error of a label more than a cluster may have.
var ErrTooMany = errors.New("too many labels")

// Apply returns the set after a label record that takes effect at this position. A label that is
// there is not added again, unless one of the two is on trial and the other is not: then the new
// one replaces it. The error is [ErrTooMany].
func (s Set) Apply(r *article.LabelRecord, position uint64) (Set, error) {
	labels := s.All()
	at, found := slices.BinarySearchFunc(labels, r.Label, byName)
	added := r.Label
	added.Position = position
	switch {
	case r.Action == article.RemoveLabel && found:
		labels = slices.Delete(labels, at, at+1)
	case r.Action != article.AddLabel || found && labels[at].Trial == added.Trial:
		return s, nil
	case found:
		labels[at] = added
	case len(labels) == article.MaxLabels:
		return s, ErrTooMany
	default:
		labels = slices.Insert(labels, at, added)
	}
	return Of(labels), nil
}

// Carried are the names of the labels that results of a cluster carry, each sorted.
type Carried struct {
	Labels []string
	Trial  []string // of labels on trial, which have no effect
}

// Carried returns what results carry of the set: of the labels that are not on trial those in
// allow, if there are any, and else all.
func (s Set) Carried(allow []string) (c Carried) {
	allowed := func(name string) bool { return slices.Contains(allow, name) }
	for _, l := range s.All() {
		if l.Trial {
			c.Trial = append(c.Trial, l.Name)
		} else {
			c.Labels = append(c.Labels, l.Name)
		}
	}
	if slices.ContainsFunc(c.Labels, allowed) {
		c.Labels = slices.DeleteFunc(c.Labels, func(name string) bool { return !allowed(name) })
	}
	return c
}
