// Package label is the rule of labels: what labels a cluster has after a label record, which of
// them its results carry, and which labels hit too many articles. Plain data goes in and comes out;
// the package knows neither Kafka nor clusters.
package label

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/clusterd/clusterd/internal/message/article"
)

// A Set is the labels of a cluster: a JSON array of [article.Label] in the order of their names,
// the real one before that on trial, or an empty text for none. Two sets of the same labels are
// equal.
type Set string

// Of returns the set of labels, each of another name, or once real and once on trial.
func Of(labels []article.Label) Set {
	if len(labels) == 0 {
		return ""
	}
	sorted := slices.SortedFunc(slices.Values(labels), byName)
	return Set(article.AppendLabels(nil, sorted))
}

func byName(a, b article.Label) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), compareTrial(a.Trial, b.Trial))
}

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
		if i > 0 && byName(labels[i-1], labels[i]) >= 0 {
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

// Get returns the label of a name, real or on trial, and whether the set has it.
func (s Set) Get(name string, trial bool) (article.Label, bool) {
	labels := s.All()
	at, found := slices.BinarySearchFunc(labels, article.Label{Name: name, Trial: trial}, byName)
	if !found {
		return article.Label{}, false
	}
	return labels[at], true
}

// With returns the set with a label in place of that of the same name, both real or both on trial.
// The error is [ErrTooMany].
func (s Set) With(l article.Label) (Set, error) {
	labels := s.All()
	at, found := slices.BinarySearchFunc(labels, l, byName)
	switch {
	case found:
		labels[at] = l
	case len(labels) == article.MaxLabels:
		return s, ErrTooMany
	default:
		labels = slices.Insert(labels, at, l)
	}
	return Of(labels), nil
}

// Without returns the set without the label of a name, real or on trial.
func (s Set) Without(name string, trial bool) Set {
	l := article.Label{Name: name, Trial: trial}
	return Of(slices.DeleteFunc(s.All(), func(other article.Label) bool {
		return byName(other, l) == 0
	}))
}

// Carried are the names of the labels that results of a cluster carry, each sorted.
type Carried struct {
	Labels []string
	Trial  []string // of labels on trial, which have no effect
	By     []article.LabelledBy
}

// Reaches returns how many of the first articles of a cluster with this many carry labels that
// later ones do not carry, ascending.
func Reaches(labels []article.Label, size int) (all []int) {
	for _, l := range labels {
		if l.Reach > 0 && l.Reach < size {
			all = append(all, l.Reach)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Carry returns what the results of a cluster with this many articles carry of its labels: of
// those that are not on trial the ones in allow, if there are any, and otherwise all.
func Carry(labels []article.Label, size int, allow []string) (c Carried) {
	allowed := func(name string) bool { return slices.Contains(allow, name) }
	reaches := func(l article.Label) bool { return l.Reach == 0 || size <= l.Reach }
	wins := slices.ContainsFunc(labels, func(l article.Label) bool {
		return !l.Trial && allowed(l.Name) && reaches(l)
	})
	for _, l := range labels {
		switch {
		case !reaches(l) || wins && !l.Trial && !allowed(l.Name):
			continue
		case l.Trial:
			c.Trial = append(c.Trial, l.Name)
		default:
			c.Labels = append(c.Labels, l.Name)
		}
		if l.Contact != "" {
			c.By = append(c.By, article.LabelledBy{Label: l.Name, Trial: l.Trial, Contact: l.Contact})
		}
	}
	return c
}
