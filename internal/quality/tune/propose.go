package tune

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/method"
)

const (
	// Price is by how much more F1, or a larger share caught, ten times the memory or a tenth of the
	// rate must be worth.
	Price = .05
	// Gain is by how much another threshold must be better than the configured one, and by how much
	// methods must differ for the dearer one to be taken. Less may be chance.
	Gain = .02
	// NewMethod is by how much another method must be better than the configured one: the rates and
	// bytes that it is compared by are rough, and all clusters begin anew.
	NewMethod = .05
	// Precise is the share of the pairs found that must be right: what puts more together that does
	// not belong there is worth nothing to a reader, however much it finds.
	Precise = .9
	// fastEnough is a rate, and smallEnough how many bytes a centre may take, beyond which there is no
	// gain: hardly a topic has as many articles, and the measures are rough.
	fastEnough, smallEnough = 10_000, 50
)

// CostOf returns what so many bytes a centre and so many documents a second cost, in the unit of
// what a method is worth: 0 of what is fast and small.
func CostOf(centreBytes, perSecond float64) float64 {
	return Price * (math.Log10(max(smallEnough, centreBytes)/smallEnough) +
		math.Log10(fastEnough/min(fastEnough, max(1, perSecond))))
}

func (p Point) cost() float64 { return CostOf(p.CentreBytes, p.PerSecond) }

// propose takes the point that is worth most less what it costs, or the cheapest of those that are
// about as good. It is proposed if it is ahead of what is configured by more than chance.
func (r *Report) propose(c config.Config) {
	var bests []*Point
	for i := range r.Points {
		p := &r.Points[i]
		p.Net = p.Worth - p.cost()
		if p.AsSet && p.Method == c.Fingerprint.Method {
			r.Configured = p
		}
		if p.Best {
			bests = append(bests, p)
		}
	}
	first := take(bests)
	ok, why := r.chosen(first)
	if !ok && first != r.Configured && first.Method != c.Fingerprint.Method {
		// Another threshold has less to make good than another method.
		own := bests[slices.IndexFunc(bests, func(p *Point) bool {
			return p.Method == r.Configured.Method
		})]
		if better, said := r.chosen(own); better {
			first, ok, why = own, true, said
		}
	}
	r.Why = why
	if ok {
		r.Proposed, r.Config = first, lines(*first, c)
	}
}

// take returns the one to take of the best points of methods: of those that do not hit too many, if
// there are any.
func take(bests []*Point) (first *Point) {
	highest := slices.MaxFunc(bests, func(p, q *Point) int {
		if p.TooManyHits != q.TooManyHits {
			if p.TooManyHits {
				return -1
			}
			return 1
		}
		return cmp.Compare(p.Net, q.Net)
	})
	for _, p := range bests {
		if p.TooManyHits == highest.TooManyHits && p.Net > highest.Net-Gain &&
			(first == nil || p.cost() < first.cost()) {
			first = p
		}
	}
	return first
}

// chosen reports whether a point is to be proposed in place of what is configured, and why.
func (r *Report) chosen(p *Point) (ok bool, why string) {
	now := r.Configured
	gain, dearer, needed := p.Net-now.Net, p.cost()-now.cost(), Gain
	if p.Method != now.Method {
		needed = NewMethod
	}
	switch {
	case p.TooManyHits:
		return false, keep("every method hits more than %v of a thousand honest articles", r.MaxHits)
	case p == now:
		return false, keep("none of the others is worth more, less what it costs")
	case now.TooManyHits:
		return true, fmt.Sprintf("Proposed: %s. What is configured hits %.2f of a thousand honest "+
			"articles, more than %v.", p.name(), now.Hits, r.MaxHits)
	case p.Precision > 0 && p.Precision < min(Precise, now.Precision):
		return false, keep("%s finds more, and of the pairs that it finds %.2f are right, fewer than %v",
			p.name(), p.Precision, Precise)
	case gain < needed:
		return false, keep("%s is ahead by %.3f, and should be by %v, since less may be chance", p.name(),
			gain, needed)
	case p.halves[0]-now.halves[0] <= dearer || p.halves[1]-now.halves[1] <= dearer:
		return false, keep("%s is ahead by %.3f, but not in each half by itself", p.name(), gain)
	default:
		return true, fmt.Sprintf("Proposed: %s. It is ahead of what is configured by %.3f, and in each "+
			"half by itself.", p.name(), gain)
	}
}

// name returns the method, with its threshold where it has one.
func (p Point) name() string {
	if s := p.setting(); s != "" {
		return p.Method + " at " + s
	}
	return p.Method
}

// setting returns the threshold, empty where the method has none.
func (p Point) setting() string {
	if spec, _ := method.SpecOf(p.Method); len(spec.Thresholds) == 0 {
		return ""
	}
	return p.Key + ": " + p.Value
}

// lines returns as YAML what the proposal changes in the configuration. The method is always in it,
// since a threshold belongs to one. A similarity goes where the method has none, since it would be
// given in vain.
func lines(p Point, c config.Config) string {
	text := "fingerprint:\n  method: " + p.Method + "\n"
	keys := ""
	if !p.AsSet {
		keys = "  " + strings.TrimPrefix(p.Key, "cluster.") + ": " + p.Value + "\n"
	}
	if config.Unused("cluster.similarity", p.Method) != "" && c.Cluster.Similarity != 0 {
		keys += "  similarity: auto\n"
	}
	if keys != "" {
		text += "cluster:\n" + keys
	}
	return text
}
