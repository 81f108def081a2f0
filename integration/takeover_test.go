//go:build integration

package integration

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

var (
	takeovers = flag.Int("takeovers", 2, "how often TestTakeOver takes the owner away in each way; "+
		"from 50 on, it is held to the session and a second")
	session = flag.Duration("session", 2*time.Second, "input.session_timeout of TestTakeOver")
)

// A standby takes over from an owner that is killed, that hangs, or that has lost its network,
// within little more than the session. Nothing is lost or doubled, the owner writes nothing when it
// is back, and the standby answers questions all the time.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	for name, ways := range map[string][]way{
		"killed": {{
			name: "killed", lose: func(p *pair) { p.owner.kill() },
			back: func(p *pair) { p.owner = p.startIn(p.owner.dir) },
		}},
		"hung": {{
			name: "hung", lose: func(p *pair) { p.owner.signal(syscall.SIGSTOP) },
			back: func(p *pair) { p.owner.signal(syscall.SIGCONT) },
		}},
		"without a network": {
			{name: "unheard", lose: (*pair).silence, back: func(p *pair) { p.network.heal() }},
			{name: "cut off", lose: (*pair).disconnect, back: (*pair).connect},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t, ways[0].name == "unheard")
			stream := p.stream(perSecond)
			if p.owner, p.standby = p.start(), p.startDirect(); p.network == nil {
				p.settle()
			} else {
				p.giveBack()
			}
			p.results = p.follow(p.output)
			for range *takeovers {
				for i := range ways {
					p.takeOver(&ways[i])
				}
			}
			stream.stop()
			p.done()
			p.owner.stop()
			p.standby.stop()
			p.audit()
			for _, w := range ways {
				p.report(w)
			}
		})
	}
}

// way is one in which an owner is lost, and comes back.
type way struct {
	name       string
	lose, back func(*pair)
	seen
}

// seen is what was seen of the losses: how long it took until a reader of committed records had a
// result of the standby, and how the questions were answered.
type seen struct {
	took             []time.Duration
	ofOwner, ofOther answers
}

// pair is one instance that works and one that stands by.
type pair struct {
	*world
	network        *network // on the way of the owner alone; nil if nothing is
	owner, standby *instance
	results        *follower
}

func newPair(t *testing.T, onNetwork bool) *pair {
	t.Helper()
	p := &pair{}
	if onNetwork {
		p.network = newNetwork(t, 1)
		p.world = p.network.newWorld(t, 4, fmt.Sprintf(
			"kafka: {brokers: [\"${CLUSTERD_TEST_BROKER:%s}\"], create_topics: true}\n",
			p.network.addresses[0]))
		p.env = []string{"CLUSTERD_TEST_BROKER=" + p.network.hatches[0].listener.Addr().String()}
	} else {
		p.world = newWorld(t, 4, "")
	}
	p.replace(p.group+"}", fmt.Sprintf("%s, session_timeout: %s}", p.group, *session))
	return p
}

// startDirect starts an instance that reaches the brokers by no proxy.
func (p *pair) startDirect() *instance {
	p.Helper()
	env := p.env
	defer func() { p.env = env }()
	p.env = nil
	return p.start()
}

// settle waits until one works and the other stands by.
func (p *pair) settle() {
	p.Helper()
	p.eventually("one works, and the other stands by", func() bool {
		if p.standby.readyz().State == "live" { // also one that hung may have it again
			p.owner, p.standby = p.standby, p.owner
		}
		return p.owner.readyz().State == "live" && p.standby.readyz().State == "standby"
	})
}

// giveBack has the instance work whose network can be lost. The other one is started again for it.
func (p *pair) giveBack() {
	p.Helper()
	p.settle()
	if slices.Contains(p.owner.cmd.Env, p.env[0]) {
		return
	}
	p.owner.stop()
	p.standby.waitLive()
	p.owner = p.startDirect()
	p.settle()
}

// takeOver has the owner lost once.
func (p *pair) takeOver(w *way) {
	p.Helper()
	owner, standby := p.owner.questions(), p.standby.questions()
	before, began := p.results.latest(), time.Now()
	w.lose(p)
	p.often("a result of the standby", func() bool { return p.results.latest() != before })
	took := time.Since(began)
	w.took = append(w.took, took)
	w.ofOwner.add(owner.end(), began)
	w.back(p)
	p.settle()
	w.ofOther.add(standby.end(), began)
	if p.network != nil {
		p.giveBack()
	}
	p.Logf("%s: a result of the standby after %.2f s", w.name, took.Seconds())
}

// report logs what was seen, and holds it to what was promised.
func (p *pair) report(w way) {
	p.Helper()
	slices.Sort(w.took)
	n := len(w.took)
	p50, p95 := w.took[(n*50+99)/100-1], w.took[(n*95+99)/100-1]
	p.Logf("session %s, %d owners that were %s: p50 %.2f s, p95 %.2f s, max %.2f s", *session, n,
		w.name, p50.Seconds(), p95.Seconds(), w.took[n-1].Seconds())
	p.Logf("questions to the owner: %s", w.ofOwner)
	p.Logf("questions to the standby: %s", w.ofOther)
	if p50 > *session+6*time.Second { // on a machine that does much else
		p.Errorf("taking over took %s", p50)
	}
	if n >= 50 && p95 > *session+time.Second {
		p.Errorf("of %d times taking over took %s and more 1 of 20 times", n, p95)
	}
	if w.ofOther.counts[answered] == 0 {
		p.Error("the standby answered no question")
	}
}

// silence has connections stay while nothing that is sent either way arrives.
func (p *pair) silence() {
	p.Helper()
	h := &hardship{world: p.world, network: p.network}
	h.both("timeout", `"timeout": 0`)
}

// disconnect ends all connections, and new ones at once.
func (p *pair) disconnect() {
	for _, proxy := range p.network.proxies {
		proxy.Stop()
	}
}

func (p *pair) connect() {
	p.Helper()
	for _, proxy := range p.network.proxies {
		if err := proxy.Start(); err != nil {
			p.Fatal(err)
		}
	}
}

// often is eventually, more often.
func (w *world) often(what string, condition func() bool) {
	w.Helper()
	for began := time.Now(); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > w.timeout {
			w.Fatalf("not within %s: %s", w.timeout, what)
		}
	}
}

// String says how many questions ended in which way.
func (a answers) String() string {
	var said []string
	for what, n := range a.counts {
		said = append(said, fmt.Sprintf("%d %s", n, what))
	}
	slices.Sort(said)
	return fmt.Sprintf("%s; longest time without an answer %.2f s, slowest answer %.3f s, the last "+
		"answer at most %.2f s after a loss", strings.Join(said, ", "), a.without.Seconds(),
		a.slowest.Seconds(), a.last.Seconds())
}
