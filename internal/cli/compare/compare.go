// Package compare judges two articles by each method, and finds which passages they share. Two
// articles go in; a report comes out, for a person or as JSON.
package compare

import (
	"math"
	"slices"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/text/diff"
)

// A Text is one of the two articles.
type Text struct {
	File string
	article.Article
}

// A Report says what each method makes of two articles, and where they differ.
type Report struct {
	A        About          `json:"a"`
	B        About          `json:"b"`
	Methods  []Verdict      `json:"methods"`
	Shared   []string       `json:"shared_contacts,omitempty"` // that both articles have
	Passages []diff.Passage `json:"passages"`
}

// About says which article one of the two is.
type About struct {
	File       string `json:"file"`
	Characters int    `json:"characters"` // of title and content, as they came
	// Contacts are the contacts that contacts.join finds.
	Contacts []string `json:"contacts,omitempty"`
}

// A Verdict is what a method says.
type Verdict struct {
	Method    string   `json:"method"`
	Distance  *float64 `json:"distance"` // nil where there is none
	Threshold float64  `json:"bound"`    // the threshold
	Same      bool     `json:"same"`
	Contained bool     `json:"contained,omitempty"` // the same by cluster.containment alone
	Why       string   `json:"why,omitempty"`       // there is no distance
}

// Articles compares two articles by every method, each as it is configured.
func Articles(c config.Config, a, b Text) (Report, error) {
	r := Report{A: about(a), B: about(b)}
	for _, name := range method.Names() {
		c.Fingerprint.Method = name
		m, err := method.New(c.MethodSettings())
		if err != nil {
			return Report{}, err
		}
		r.Methods = append(r.Methods, judge(name, m, a, b))
	}
	if err := r.findContacts(c.MethodSettings(), a, b); err != nil {
		return Report{}, err
	}
	clean, err := c.Text.CleanOptions()
	if err != nil {
		return Report{}, err
	}
	clean.Mask = nil // passages are shown whole
	comparer, err := diff.New(clean)
	if err != nil {
		return Report{}, err
	}
	r.Passages, err = comparer.Passages(a.Title, a.Content, b.Title, b.Content)
	return r, err
}

func about(t Text) About {
	return About{
		File:       t.File,
		Characters: utf8.RuneCountInString(t.Title) + utf8.RuneCountInString(t.Content),
	}
}

// findContacts finds the contacts of both articles, and those that they share.
func (r *Report) findContacts(s method.Settings, a, b Text) error {
	finder, err := method.NewContactFinder(s)
	if err != nil {
		return err
	}
	of := func(t Text) []string {
		contacts, _ := finder.Find(nil, t.Title, t.Content)
		return slices.Collect(contacts.All())
	}
	r.A.Contacts, r.B.Contacts = of(a), of(b)
	for _, contact := range r.A.Contacts {
		if slices.Contains(r.B.Contacts, contact) {
			r.Shared = append(r.Shared, contact)
		}
	}
	return nil
}

func judge(name string, m method.Method, a, b Text) Verdict {
	v, printer := Verdict{Method: name, Threshold: m.Threshold()}, m.NewFingerprinter()
	x, ok := printer(a.Title, a.Content)
	y, alsoOK := printer(b.Title, b.Content)
	if !ok || !alsoOK {
		v.Why = "nothing to compare"
		return v
	}
	distance := m.Distance(x, y)
	v.Same = method.Same(m, x, y)
	v.Contained = v.Same && distance > v.Threshold
	if math.IsInf(distance, 1) {
		v.Why = "ruled out"
	} else {
		v.Distance = &distance
	}
	return v
}
