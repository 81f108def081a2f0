package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/quality/eval"
	"github.com/clusterd/clusterd/internal/quality/tune"
)

const (
	// fewest is of how many true clusters, or positive documents, a difference says anything.
	fewest = 30
	// mostHits is how many of a thousand honest documents may be hit.
	mostHits = 1.5
	// much is by how many times something must be faster, or smaller, to be worth a word: times and
	// memory are rough.
	much = 1.25
)

// A recommendation says which run to take, and why, or why none.
type recommendation struct {
	Take  string
	Why   []string
	YAML  string // to be put into the configuration; empty: none is recommended
	Table table
}

// A choice is what a run reaches, at its own threshold or at another one that was tried.
type choice struct {
	run       *eval.Run
	key       string // of the threshold, where it is another one
	value     string
	worth     float64
	quality   eval.Quality // where it is measured against a truth
	perSecond float64
}

// A measure is what choices are compared by.
type measure struct {
	name, of string // what it is, and what it was measured on
	count    int    // of these
}

// noise returns by how much another measure of as many may differ by chance: twice its standard
// error, if each counted for itself. Pairs of one cluster do not, so clusters are counted. No less
// than what eval tune takes for chance.
func (m measure) noise(worth float64) float64 {
	return max(tune.Gain, 2*math.Sqrt(worth*(1-worth)/float64(m.count)))
}

func none(format string, args ...any) recommendation {
	return recommendation{Take: "No run is recommended.", Why: []string{fmt.Sprintf(format, args...)}}
}

// recommend returns the cheapest of the runs that are as good as the best, but for what may be
// chance.
func (r Report) recommend() recommendation {
	m, choices, why := r.choices()
	if why != "" {
		return none("%s", why)
	}
	best := slices.MaxFunc(choices, func(a, b choice) int { return cmp.Compare(a.worth, b.worth) })
	switch {
	case m.count < fewest:
		return none("There are %d %s. With fewer than %d, which run is best may be chance.", m.count,
			m.of, fewest)
	case best.worth == 0:
		return none("Each has a %s of 0: on these documents, no run finds anything.", m.name)
	}
	noise := m.noise(best.worth)
	var good []choice
	for _, c := range choices {
		if c.worth >= best.worth-noise {
			good = append(good, c)
		}
	}
	taken := slices.MinFunc(good, func(a, b choice) int {
		return cmp.Or(cmp.Compare(a.cost(), b.cost()), cmp.Compare(b.worth, a.worth))
	})
	return recommendation{
		Take:  "Take " + taken.name() + ".",
		Why:   append(r.reasons(m, taken, best, good, noise), taken.losses(m, choices)...),
		YAML:  taken.yaml(),
		Table: beside(m, taken, choices),
	}
}

// choices returns one of each run that can be taken, or why there is none.
func (r Report) choices() (m measure, all []choice, why string) {
	switch {
	case len(r.Runs) == 0:
		return m, nil, "Nothing was measured."
	case r.Runs[0].Scores != nil:
		m = measure{"pair F1", "true clusters of two documents and more", r.Runs[0].Scores.TrueGroups}
		for i := range r.Runs {
			all = append(all, m.choose(&r.Runs[i]))
		}
		return m, all, ""
	case r.Runs[0].Moderation != nil:
		m = measure{"share of " + r.Positive + " caught", r.Positive + " documents", r.Positives}
		for i := range r.Runs {
			run := &r.Runs[i]
			if run.Moderation.HitPerThousand <= mostHits {
				all = append(all, choice{
					run: run, worth: run.Moderation.CaughtShare, perSecond: run.Cost.PerSecond,
				})
			}
		}
		if len(all) == 0 {
			why = fmt.Sprintf("Each hits more than %v of a thousand honest documents.", mostHits)
		}
		return m, all, why
	default:
		return m, nil, "It was not measured which documents belong together: give --clusters or " +
			"--truth, or --positive with labels."
	}
}

// choose returns a run as it is, or at the best of its thresholds, if that is better by more than
// chance and a configuration can have it.
func (m measure) choose(run *eval.Run) choice {
	q := run.Scores.Pairs
	own := choice{run: run, worth: q.F1, quality: q, perSecond: run.Cost.PerSecond}
	best := own
	if run.Curve == nil {
		return own
	}
	for _, p := range run.Curve.Points {
		c := run.Variant.Config
		key, value := eval.SettingOf(c.Fingerprint.Method, p.Threshold)
		if p.Pairs.F1 > best.worth && c.Set(key, value) == nil {
			best = choice{run, key, value, p.Pairs.F1, p.Pairs, p.PerSecond}
		}
	}
	if m.count > 0 && best.worth-own.worth > m.noise(best.worth) {
		return best
	}
	return own
}

func (c *choice) cost() float64 { return tune.CostOf(c.run.Cost.CentreBytes, c.perSecond) }

// name returns the run, and its threshold where it is not the run's own.
func (c *choice) name() string {
	if c.key == "" {
		return c.run.Name
	}
	return c.run.Name + " with " + c.key + "=" + c.value
}

// yaml returns what gives the choice to the configuration that was measured with. A similarity goes
// where the method has none, since it would be given in vain.
func (c *choice) yaml() string {
	keys, changed := slices.Clone(c.run.Variant.Given), c.run.Variant.Config
	if c.key != "" && changed.Set(c.key, c.value) == nil {
		keys = append(keys, c.key)
	}
	if changed.Cluster.Similarity != 0 &&
		config.Unused("cluster.similarity", changed.Fingerprint.Method) != "" {
		changed.Cluster.Similarity = 0
		keys = append(keys, "cluster.similarity")
	}
	return string(changed.Part(keys...))
}

// reasons says why a choice is taken.
func (r Report) reasons(m measure, taken, best choice, good []choice, noise float64) []string {
	figure := fmt.Sprintf("%s is %.3f", m.name, taken.worth)
	if taken.quality.F1 > 0 {
		figure += fmt.Sprintf(" (precision %.3f, recall %.3f)", taken.quality.Precision,
			taken.quality.Recall)
	}
	why := []string{fmt.Sprintf("Its %s, measured on %s %s.", figure, count(m.count), m.of)}
	var others []string
	for _, c := range good {
		if c.run != taken.run {
			others = append(others, c.name())
		}
	}
	same := strings.Join(others, ", ")
	chance := fmt.Sprintf("On so many, %.3f less may be chance", noise)
	switch {
	case len(r.Runs) == 1:
		why = append(why, "There is no other run to compare it with.")
	case len(good) == 1:
		why = append(why, "No run has more. "+chance+", and no other is as near.")
	case taken.run == best.run:
		why = append(why, "No run has more. "+chance+", but what is as near is not cheaper: "+same+".")
	default:
		why = append(why, fmt.Sprintf("%s has the most, %.3f. %s, and this is cheaper in memory and "+
			"time than what is as near: %s.", best.name(), best.worth, chance, same))
	}
	why = append(why, fmt.Sprintf("It does %s documents a second with %d threads, and takes %s bytes "+
		"of memory a centre: %s MB for a million clusters.", count(int(taken.perSecond)), r.Threads,
		count(int(taken.run.Cost.CentreBytes)), count(int(taken.run.Cost.CentreBytes))))
	if taken.key != "" {
		why = append(why, fmt.Sprintf("Its own threshold has %.3f. The other one was chosen on these "+
			"documents: measure it on others, too.", taken.run.Scores.Pairs.F1))
	}
	return why
}

// losses says what the others do better: the best, the fastest and the smallest of them.
func (c *choice) losses(m measure, all []choice) (says []string) {
	better := func(a, b choice) int { return cmp.Compare(a.worth, b.worth) }
	if best := slices.MaxFunc(all, better); best.worth-c.worth >= .001 {
		says = append(says, fmt.Sprintf("It loses %.3f of %s to %s.", best.worth-c.worth, m.name,
			best.name()))
	}
	faster := func(a, b choice) int { return cmp.Compare(a.perSecond, b.perSecond) }
	if f := slices.MaxFunc(all, faster); c.perSecond > 0 && f.perSecond >= much*c.perSecond {
		says = append(says, fmt.Sprintf("%s is %.1f times as fast, with a %s of %.3f.", f.name(),
			f.perSecond/c.perSecond, m.name, f.worth))
	}
	smaller := func(a, b choice) int {
		return cmp.Compare(a.run.Cost.CentreBytes, b.run.Cost.CentreBytes)
	}
	bytes := c.run.Cost.CentreBytes
	if s := slices.MinFunc(all, smaller); bytes >= much*max(1, s.run.Cost.CentreBytes) {
		says = append(says, fmt.Sprintf("%s takes %s bytes a centre, with a %s of %.3f.", s.name(),
			count(int(s.run.Cost.CentreBytes)), m.name, s.worth))
	}
	return says
}

// beside shows all choices, the taken one marked.
func beside(m measure, taken choice, all []choice) table {
	t := table{
		"What was compared",
		[]string{"run", m.name, "difference", "documents/s", "bytes/centre"},
		nil,
	}
	for _, c := range all {
		name := c.name()
		if c.run == taken.run {
			name = "▶ " + name
		}
		t.Rows = append(t.Rows, []string{
			name, share(c.worth), fmt.Sprintf("%+.3f", c.worth-taken.worth), count(int(c.perSecond)),
			count(int(c.run.Cost.CentreBytes)),
		})
	}
	return t
}
