//go:build integration

package integration

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
)

var allMistakes = flag.Bool("mistakes", false,
	"have TestMistakes make all mistakes of its lists, not a few of them")

// fewMistakes is how many TestMistakes makes without -mistakes.
const fewMistakes = 10

// A cure is what an error proposes, and what the operator of a test does.
type cure struct {
	says string // is in the error
	live bool   // while clusterd runs, and waits for it
	do   func(p *plight, said string)
}

// What errors propose, by the names that mistakes have for it.
var cures = map[string]cure{
	"undo":   {says: "back", do: func(p *plight, _ string) { p.undo() }},
	"anew":   {says: "another input.group and another output.clusters_topic", do: (*plight).anew},
	"labels": {says: "set labels.topic to another topic", do: (*plight).otherLabels},
	"begin":  {says: "--from-beginning", do: (*plight).beginLabels},
	"obey":   {says: "kafka-", do: (*plight).obey},
	"create": {says: "if it was deleted, create it again", live: true, do: (*plight).create},
	"accept": {says: "clusterd state accept", do: func(p *plight, said string) {
		p.apart, p.excused["all"] = true, true // clusters are lost, as it says
		p.obey(said)
	}},
}

// A mistake is what somebody does to topics, offsets or keys.
type mistake struct {
	name string
	does func(p *plight)
	// cure is what clusterd is to propose when it refuses to go on; empty where it goes on, and all is
	// right. Several are proposed one after the other. Live is the same where the mistake is made
	// while it runs, if that is another; it is "none" where nothing is proposed then.
	cure, live string
	// warns is what clusterd says where it goes on; empty for nothing.
	warns string
}

// A moment is when a mistake is made, and whether the disk is there after that.
type moment struct {
	running, disk bool
}

func (m moment) String() string {
	return map[bool]string{true: "running", false: "stopped"}[m.running] +
		map[bool]string{true: ", disk", false: ", no disk"}[m.disk]
}

// Operators make mistakes. Each ends in an error with the right advice, or in what is right by a
// plain model and by that of the audit; and who follows the advice loses nothing.
func TestMistakes(t *testing.T) {
	t.Parallel()
	type one struct {
		mistake
		moment
	}
	var all []one
	for _, m := range slices.Concat(mistakesWithTopics(), mistakesWithOffsets(), mistakesWithKeys()) {
		for _, running := range []bool{false, true} {
			for _, disk := range []bool{true, false} {
				all = append(all, one{m, moment{running, disk}})
			}
		}
	}
	t.Logf("there are %d mistakes", len(all))
	if !*allMistakes {
		seeded(t).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:fewMistakes]
	}
	for _, m := range all {
		t.Run(fmt.Sprint(m.name, ", ", m.moment), func(t *testing.T) {
			t.Parallel()
			m.make(t, m.moment)
		})
	}
}

// make makes the mistake.
func (m mistake) make(t *testing.T, at moment) {
	t.Helper()
	p := newPlight(t)
	p.moment, p.warns = at, m.warns
	dir := p.working.dir
	if !at.running {
		p.working.stop()
	}
	m.does(p)
	said, cure := "", m.cure
	if at.running {
		if said = p.goesOn(); m.live != "" {
			cure = strings.TrimPrefix(m.live, "none")
		}
	}
	if !at.disk {
		dir = p.TempDir()
	}
	if said == "" {
		p.more()
		p.working = p.startIn(dir)
		said = p.settles(p.working)
	}
	for name := range strings.FieldsSeq(cure) {
		if said == "" {
			t.Errorf("it goes on without a word, and not with advice to %s", name)
			break
		}
		said = p.heal(cures[name], said, dir)
	}
	if said != "" {
		t.Fatalf("it says %s", said)
	}
	if p.warns != "" && !slices.ContainsFunc(p.instances, func(i *instance) bool {
		return i.complains(p.warns)
	}) {
		t.Errorf("no warning says %q", p.warns)
	}
	p.working.stop()
	p.right()
}

// goesOn has the instance that runs meet the mistake; of a mistake in the configuration, another
// one that is started beside it, and takes over.
func (p *plight) goesOn() (said string) {
	p.Helper()
	if p.undo == nil {
		p.more()
		if said = p.settles(p.working); said == "" {
			p.working.stop()
		}
		return said
	}
	second := p.startIn(p.otherDir())
	p.eventually("the second one to stand by or to end", func() bool {
		return second.ended() || second.readyz().State == "standby"
	})
	p.working.stop()
	if second.ended() {
		return p.settles(second)
	}
	p.working = second
	p.more()
	if said = p.settles(second); said == "" {
		second.stop()
	}
	return said
}

// heal does what clusterd has proposed, and returns what it says then.
func (p *plight) heal(c cure, said, dir string) string {
	p.Helper()
	p.Logf("it says: %s", said)
	if !strings.Contains(said, c.says) {
		p.Fatalf("it does not propose %q: %s", c.says, said)
	}
	if c.live {
		c.do(p, said)
		return p.settles(p.working)
	}
	for _, i := range p.instances {
		if !i.ended() {
			i.stop()
		}
	}
	c.do(p, said)
	p.more()
	p.working = p.startIn(dir)
	return p.settles(p.working)
}
