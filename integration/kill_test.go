//go:build integration

package integration

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var (
	kills     = flag.Int("kills", 0, "kills of TestCampaign; 0 passes it over")
	instances = flag.Int("instances", 3, "instances of TestCampaign")
	roles     = flag.String("roles", "", "roles of the instances of TestCampaign, with commas "+
		"between: assign and fingerprint, at least one each; empty is -instances that do all")
	slow = flag.String("slow", "",
		"directory that keeps the logs of recoveries of TestCampaign that take longer than 5 s; empty "+
			"keeps none")
	each = flag.Int("each", 1, "how often TestFailpoints kills at each point")
)

// Without linger there is nearly always a transaction for a fault to hit.
const noLinger = "batch: {linger: 0s}\n"

// Instances that are killed at random moments, and a broker that is killed or frozen too, lose
// nothing, double nothing and change nothing.
func TestKilled(t *testing.T) {
	t.Parallel()
	c := newCampaign(t, ownBroker(t), labelled, 20, "", "")
	c.faults.every = 7
	c.run()
}

// The same of instances that divide the work.
func TestRolesKilled(t *testing.T) {
	t.Parallel()
	c := newCampaign(t, ownBroker(t), labelled, 16, "assign", "assign", "fingerprint", "fingerprint")
	c.faults.every = 6
	c.run()
}

// The same many times, by instances that also kill themselves at failpoints. The script campaign
// runs it.
func TestCampaign(t *testing.T) {
	if *kills == 0 {
		t.Skip("-kills says how many")
	}
	as := make([]string, *instances)
	if *roles != "" {
		as = strings.Split(*roles, ",")
	}
	c := newCampaign(t, shared, labelled, *kills, as...)
	c.faults.every, c.audits.every, c.mined = 20, 100, true
	c.run()
}

const (
	perSecond       = 160
	labelsPerSecond = 8
	aliveAtMost     = time.Second      // how long after progress the next kill comes
	slowRecovery    = 5 * time.Second  // of which the logs are kept
	frozenFor       = 12 * time.Second // longer than requests and sessions last
)

// campaign kills instances while articles stream and a witness reads.
type campaign struct {
	*world
	random     *rand.Rand
	kills      int
	faults     interval // of a broker
	struck     int      // how many brokers were
	away       []string // the broker that is away, as arguments of the script that brings it back
	audits     interval // while it all goes on
	mined      bool     // every other instance carries a failpoint
	live       []*instance
	deaths     int
	died       time.Time // of the latest death
	before     int64     // offsets committed then
	recovering []string  // who died since there was progress
	hits       map[string]int
	recoveries map[string][]time.Duration // by whether a broker was struck too
}

// interval says every how many kills something happens; 0 is never.
type interval struct{ every, last int }

func (i *interval) due(kills int) bool {
	if i.every == 0 || kills < i.last+i.every {
		return false
	}
	i.last = kills
	return true
}

// newCampaign starts an instance of each role; the empty one does all.
func newCampaign(
	t *testing.T, on *brokers, settings string, kills int, roles ...string,
) *campaign {
	t.Helper()
	c := &campaign{
		world: on.newWorld(t, 4, settings), random: seeded(t), kills: kills, hits: make(map[string]int),
		recoveries: make(map[string][]time.Duration),
	}
	c.carry()
	c.replace("level: debug", "level: info")
	if slices.Max(roles) != "" {
		c.divide()
	}
	for _, role := range roles {
		c.live = append(c.live, c.startAs(role, c.otherDir()))
	}
	return c
}

func (c *campaign) run() {
	c.Helper()
	stream := c.stream(perSecond)
	c.progress(0)
	witness := c.witness()
	moderator := c.moderate(rand.New(rand.NewPCG(*seed, 1)), labelsPerSecond)
	next := time.Now()
	for c.deaths < c.kills || len(c.recovering) > 0 {
		for slot, i := range c.live {
			if i.ended() {
				c.bury(slot, i.failpoints)
			}
		}
		switch {
		case len(c.recovering) > 0:
			if c.recovered() {
				next = time.Now().Add(time.Duration(c.random.Int64N(int64(aliveAtMost))))
			}
		case time.Now().After(next):
			c.strike()
		}
		time.Sleep(20 * time.Millisecond)
	}
	stream.stop()
	moderator.stop()
	for slot, i := range c.live { // without failpoints from now on
		i.kill()
		c.live[slot] = c.startAs(i.role, i.dir)
	}
	c.done()
	c.labelsDone()
	for _, i := range c.live {
		i.stop()
	}
	c.summary(c.audit("--aborted", "--seen", witness.end()), stream.sent.Load())
}

// strike kills an instance, mostly the one that works.
func (c *campaign) strike() {
	c.Helper()
	slot := c.random.IntN(len(c.live))
	what := "random moment, any instance"
	if owner := slices.IndexFunc(c.live,
		func(i *instance) bool { return i.readyz().State == "live" }); owner >= 0 &&
		c.random.IntN(4) > 0 {
		slot, what = owner, "random moment, the owner"
	}
	c.live[slot].kill()
	c.bury(slot, what)
	if c.faults.due(c.deaths) {
		c.strikeBroker()
	}
}

// strikeBroker kills a broker, or freezes it for a while, by turns. A broker alone comes back
// before anything else happens, and time counts from then. Of several, the one that was struck
// comes back when there is progress without it.
func (c *campaign) strikeBroker() {
	c.Helper()
	what, back := "kill", []string{"start"}
	if c.struck++; c.struck%2 == 0 {
		what, back = "pause", []string{"continue"}
	}
	which := []string{"--broker", strconv.Itoa(1 + c.random.IntN(len(c.addresses)))}
	c.do(append([]string{what}, which...)...)
	c.away = append(back, which...)
	c.recovering = append(c.recovering, "broker: "+what)
	if len(c.addresses) == 1 {
		if what == "pause" {
			time.Sleep(frozenFor)
		}
		c.bringBack()
	}
	c.died = time.Now()
}

// bringBack brings the broker back that is away.
func (c *campaign) bringBack() {
	c.Helper()
	if c.away != nil {
		c.do(c.away...)
		c.away = nil
	}
}

// bury starts an instance anew that has died of a SIGKILL.
func (c *campaign) bury(slot int, what string) {
	c.Helper()
	if i := c.live[slot]; !i.killed() {
		c.Fatalf("an instance ended by itself: %v", i.err)
	}
	c.died = time.Now()
	c.before = c.consumed()
	c.deaths++
	c.recovering = append(c.recovering, what)
	c.live[slot] = c.startAs(c.live[slot].role, c.live[slot].dir, c.mine()...)
}

// mine returns a failpoint for an instance to carry.
func (c *campaign) mine() []string {
	if !c.mined || c.random.IntN(2) == 0 {
		return nil
	}
	point := failpoints[c.random.IntN(len(failpoints))]
	return []string{fmt.Sprintf("%s=%d:kill", point.name, 1+c.random.IntN(point.within))}
}

// recovered reports whether there is progress since the latest death.
func (c *campaign) recovered() bool {
	c.Helper()
	now := c.consumed()
	took := time.Since(c.died)
	if now <= c.before {
		if took > c.timeout {
			c.Fatalf("no progress %s after the deaths of %q", took, c.recovering)
		}
		return false
	}
	c.Logf("kill %d of %d: %q; %d offsets committed before, progress after %.1f s", c.deaths, c.kills,
		c.recovering, c.before, took.Seconds())
	for _, what := range c.recovering {
		point, _, _ := strings.Cut(what, "=")
		c.hits[point]++
	}
	if c.audits.due(c.deaths) {
		c.audit()
	}
	c.bringBack()
	kind := "instances alone"
	if slices.ContainsFunc(c.recovering,
		func(what string) bool { return strings.HasPrefix(what, "broker") }) {
		kind = "a broker too"
	}
	c.recoveries[kind] = append(c.recoveries[kind], took)
	if took > slowRecovery {
		c.keepLogs()
	}
	c.recovering = nil
	return true
}

// keepLogs copies what the instances said that are alive or died of late.
func (c *campaign) keepLogs() {
	c.Helper()
	if *slow == "" {
		return
	}
	dir := filepath.Join(*slow, fmt.Sprintf("kill-%d", c.deaths))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		c.Fatal(err)
	}
	for _, i := range c.instances[max(0, len(c.instances)-2*len(c.live)):] {
		name := filepath.Join(dir, fmt.Sprintf("%s-process-%d.log", filepath.Base(i.dir),
			i.cmd.Process.Pid))
		if err := os.WriteFile(name, []byte(i.said()), 0o600); err != nil {
			c.Fatal(err)
		}
	}
	c.Logf("the logs of this slow recovery are in %s", dir)
}

// summary logs what was hit, and that the campaign hit something.
func (c *campaign) summary(r report, sent int64) {
	c.Helper()
	c.Logf("%d articles, %d kills, %d faults of %d brokers; %d records of aborted transactions", sent,
		c.deaths, c.struck, len(c.addresses), r.Counts.Aborted)
	for kind, took := range c.recoveries {
		slices.Sort(took)
		at := func(p float64) float64 { return took[int(p*float64(len(took)-1))].Seconds() }
		c.Logf("progress after deaths of %s, %d times: p50 %.1f s, p95 %.1f s, max %.1f s", kind,
			len(took), at(.5), at(.95), at(1))
	}
	for _, what := range slices.Sorted(maps.Keys(c.hits)) {
		c.Logf("%5d %s", c.hits[what], what)
	}
	for _, check := range r.Checks {
		c.Logf("%s %s, %d checked, %d violations", check.ID, check.Verdict, check.Checked,
			check.Violations)
	}
	if r.Counts.Aborted == 0 {
		c.Error("no kill hit a transaction: the test proves nothing")
	}
}
