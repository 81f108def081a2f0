package paper

import (
	"slices"

	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/quality/eval"
	"github.com/clusterd/clusterd/internal/simhash/hamming"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/text"
)

// Runs returns what is measured if nothing else is said, as [eval.ParseVariant] reads it: the
// methods as configured, and beside simhash what it is with the paper's settings, to the letter and
// with the token hash mended, and at its widest.
func Runs() []string {
	return slices.Insert(method.Names(), 1,
		"simhash,fingerprint.hash=sdbm-raw,fingerprint.weight=tf",
		"simhash,fingerprint.weight=tf", "simhash,cluster.distance=6")
}

// NewVariants returns variants that share a method where their fingerprints are the same:
// dictionaries are large.
func NewVariants(configured []eval.Variant) ([]Variant, error) {
	var variants []Variant
	made := make(map[string]method.Method) // by identity
	for _, c := range configured {
		m, err := method.New(c.Config.MethodSettings())
		if err != nil {
			return nil, err
		}
		bound := m.Threshold()
		if same := made[m.Identity()]; same != nil {
			m = same
		}
		made[m.Identity()] = m
		v := Variant{Name: c.Name, Method: m, Threshold: bound}
		if spec, _ := method.SpecOf(c.Config.Fingerprint.Method); spec.HashIsAll {
			v.OtherIndex = func() (singlepass.Index, error) {
				return hamming.Centres(hamming.NewMIH(int(bound))), nil
			}
		}
		variants = append(variants, v)
	}
	return variants, nil
}

// NewArticles returns the documents that are articles, cleaned as the configuration says.
func NewArticles(c method.TextSettings, documents []eval.Document) ([]Article, error) {
	options, err := c.CleanOptions()
	if err != nil {
		return nil, err
	}
	cleaner, err := text.NewCleaner(options)
	if err != nil {
		return nil, err
	}
	var articles []Article
	for _, d := range documents {
		if !d.Rejected {
			clean := string(cleaner.AppendClean(nil, d.Title, d.Content))
			articles = append(articles, Article{Title: d.Title, Content: d.Content, Text: clean})
		}
	}
	return articles, nil
}
