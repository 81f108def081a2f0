package demo

import (
	"fmt"
	"math"

	"github.com/clusterd/clusterd/internal/cli/demo/sample"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/singlepass"
)

// A nearness says how far an article is from the one that it was made from.
type nearness struct {
	method      method.Method
	fingerprint func(title, content string) (singlepass.Fingerprint, bool)
	bits        bool // distances are whole numbers of bits
}

func newNearness(s method.Settings) (*nearness, error) {
	m, err := method.New(s)
	if err != nil {
		return nil, err
	}
	n := &nearness{method: m, fingerprint: m.NewFingerprinter()}
	for _, spec := range method.Specs() {
		if spec.Name == s.Fingerprint.Method && len(spec.Thresholds) > 0 {
			n.bits = spec.Thresholds[0].Unit == method.Bits
		}
	}
	return n, nil
}

// miss says how far an article is from a cluster that it missed; nothing where nobody can tell.
func (n *nearness) miss(name string, made, origin sample.Article) string {
	a, ok := n.fingerprint(made.Title, made.Content)
	b, alsoOK := n.fingerprint(origin.Title, origin.Content)
	if !ok || !alsoOK {
		return ""
	}
	distance, limit := n.method.Distance(a, b), n.method.Threshold()
	switch {
	case distance <= limit || math.IsInf(distance, 1):
		return ""
	case n.bits:
		return fmt.Sprintf("%.0f bits from %s, limit %.0f", distance, name, limit)
	}
	return fmt.Sprintf("%.3f from %s, limit %.2f", distance, name, limit)
}

// nearMiss says how far the founder of a cluster is from the article that it was made from; nothing
// of one that is an original.
func (v *view) nearMiss(r *article.Result) string {
	v.mutex.Lock()
	made, known := v.made[r.ArticleID]
	origin, alsoKnown := v.made[made.Origin]
	v.mutex.Unlock()
	if !known || !alsoKnown {
		return ""
	}
	return v.nearness.miss(short(origin.ID), made, origin)
}
