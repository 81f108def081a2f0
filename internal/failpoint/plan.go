//go:build failpoints

package failpoint

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
)

var (
	points = []string{
		Assigned, Prepared, BeforeProduce, AfterProduce, AfterOffsets, BeforeEnd, AfterEnd,
		BeforeDisk, AfterDisk, BeforeFlush, AfterFlush, Fenced, Recovering,
	}
	bugs = []string{
		Drop, Duplicate, EarlyOffset, SkipDisk, StaleDisk, Swap, FingerprintLost, FingerprintTwice,
		LabelLost, LabelLate, LabelAgain, MarkLost, MarkUnused, ContactKept, ExceptionLost,
		CorrectionLost, CorrectionTwice, Publisher,
		StoryOwn, StoryUntold, StoryState, StoryDisk, StoryLeft,
		ArticleID, Title, Fingerprint, Distance, EventTime, Key, Partition, Sketch, LetterClass,
		LetterBytes,
	}
	actions = []string{"kill", "pause", "error"}
)

// A plan is what shall happen at which point. It is safe for concurrent use.
type plan struct {
	mu     sync.Mutex
	faults map[string]*fault
	seeded map[string]bool
}

// A fault is what shall happen at one point.
type fault struct {
	action string
	at     uint64 // the hit at which it happens; 0 if it is drawn
	chance float64
	random *rand.Rand
	hits   uint64
}

// parse reads a plan in the format of the package comment.
func parse(text string) (*plan, error) {
	p := &plan{faults: make(map[string]*fault), seeded: make(map[string]bool)}
	if text == "" {
		return p, nil
	}
	for item := range strings.SplitSeq(text, ",") {
		name, what, _ := strings.Cut(item, "=")
		switch {
		case name == "seeded" && slices.Contains(bugs, what):
			p.seeded[what] = true
		case slices.Contains(points, name):
			f, err := parseFault(what)
			if err != nil {
				return nil, fmt.Errorf("CLUSTERD_FAILPOINT: %q: %w", item, err)
			}
			p.faults[name] = f
		default:
			return nil, fmt.Errorf("CLUSTERD_FAILPOINT: %q: no such point or bug; there are the points "+
				"%s, and seeded= one of %s",
				item, strings.Join(points, ", "), strings.Join(bugs, ", "))
		}
	}
	return p, nil
}

// parseFault reads WHEN:ACTION.
func parseFault(text string) (*fault, error) {
	when, action, _ := strings.Cut(text, ":")
	if !slices.Contains(actions, action) {
		return nil, fmt.Errorf("no such action: want WHEN:%s", strings.Join(actions, "|"))
	}
	if chance, seed, drawn := strings.Cut(when, "@"); drawn {
		c, err := strconv.ParseFloat(chance, 64)
		s, err2 := strconv.ParseUint(seed, 10, 64)
		if err != nil || err2 != nil || !(c > 0 && c <= 1) {
			return nil, fmt.Errorf(
				"want PROBABILITY@SEED as in 0.01@7, the probability above 0 and at most 1",
			)
		}
		return &fault{action: action, chance: c, random: rand.New(rand.NewPCG(s, 0))}, nil
	}
	at, err := strconv.ParseUint(when, 10, 64)
	if err != nil || at == 0 {
		return nil, fmt.Errorf("want the number of a hit, from 1 on, or PROBABILITY@SEED")
	}
	return &fault{action: action, at: at}, nil
}

// hit counts a hit and returns the action that is due, or "".
func (p *plan) hit(name string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.faults[name]
	if f == nil {
		return ""
	}
	f.hits++
	if f.at == f.hits || f.random != nil && f.random.Float64() < f.chance {
		return f.action
	}
	return ""
}
