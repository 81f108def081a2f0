//go:build integration

package integration

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// migration is two worlds that read the same articles, and the files of both.
type migration struct {
	*world        // the old one
	new    *world // its group and topics are those that the plan names
	live   []*instance
}

// beside returns the world of another configuration file of the same articles.
func (w *world) beside(name, group, suffix string) *world {
	w.Helper()
	other := *w
	other.config, other.dir, other.instances = filepath.Join(w.dir, name), w.T.TempDir(), nil
	other.group, other.output = group, w.output+suffix
	other.clusters, other.dead = w.clusters+"-"+group, w.dead+suffix
	return &other
}

// migrate runs a verb of clusterd migrate, which must succeed, and returns what it said.
func (w *world) migrate(args ...string) string {
	w.Helper()
	cmd := exec.Command(binary, append([]string{"migrate"}, args...)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		w.Fatalf("clusterd migrate %v: %v\n%s%s", args, err, out, errs.String())
	}
	return string(out)
}

// A migration from simhash to minhash under load, with kills of all that takes part: readers miss
// no result and get none twice, and the map of ids is that of a plain model.
func TestMigration(t *testing.T) {
	t.Parallel()
	w, random := newWorld(t, 4, noLinger), seeded(t)
	m := migration{world: w}
	stream := w.stream(perSecond)
	m.live = append(m.live, w.start(), w.start())
	w.progress(0)
	m.begin()
	for range 6 {
		slot := random.IntN(len(m.live))
		i := m.live[slot]
		i.kill()
		before := i.consumed()
		m.live[slot] = i.startIn(i.dir)
		i.progress(before)
	}
	follower := w.begin("", binary, "migrate", "map", w.config, m.new.config, "--topic", w.labels,
		"--follow")
	w.eventually("a map", func() bool { return len(w.ends(w.labels)) > 0 })
	m.ready()
	w.audit()

	m.dieSwitching()
	m.switched()
	m.new.audit()
	w.start().fails("its results were handed over to group " + m.new.group)
	if len(follower.exited) > 0 {
		t.Errorf("the map that follows has ended: %s", follower.said.String())
	}
	if err := follower.cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	boundary := w.committed()

	next := w.beside("next.yaml", m.new.group, "")
	before, began := next.consumed(), time.Now()
	for _, i := range m.live[2:] {
		next.startIn(i.dir)
	}
	next.progress(before)
	t.Logf("the new instances went on %s after they were started", time.Since(began))
	next.instances[random.IntN(2)].kill()
	next.send(500)
	stream.stop()
	next.done()
	for _, i := range next.instances {
		if !i.ended() {
			i.stop()
		}
	}
	m.check(boundary)
	w.migrate("map", w.config, m.new.config, "--topic", w.labels)
	m.checkMap(boundary)
}

// begin plans and starts the new space.
func (m *migration) begin() {
	m.Helper()
	m.new = m.beside("new.yaml", m.group+"-next", "-"+m.group+"-next")
	m.Cleanup(func() {
		_, _ = m.admin.DeleteTopics(m.Context(), m.new.output, m.new.clusters, m.new.dead)
	})
	said := m.world.migrate("plan", "-c", m.config, "-o", m.new.config, "--group", m.new.group,
		"--set", "fingerprint.method=minhash", "--set", "state.dir=${CLUSTERD_TEST_DIR:unused}",
		"--set", "http.listen=${CLUSTERD_TEST_LISTEN:}")
	for _, name := range []string{m.new.group, m.new.output, m.new.clusters} {
		if !strings.Contains(said, name) {
			m.Errorf("the plan does not name %s:\n%s", name, said)
		}
	}
	m.live = append(m.live, m.new.start(), m.new.start())
	m.new.progress(0)
}

// ready waits until the new space is about as far as the old one, and compares the two.
func (m *migration) ready() {
	m.Helper()
	var status struct {
		Ready bool `json:"ready"`
		New   struct {
			Members int   `json:"members"`
			Lag     int64 `json:"lag"`
		} `json:"new"`
	}
	m.eventually("ready", func() bool {
		said := m.world.migrate("status", m.config, m.new.config, "--json")
		if err := json.Unmarshal([]byte(said), &status); err != nil {
			m.Fatalf("%v: %s", err, said)
		}
		return status.Ready && status.New.Members >= 2 && status.New.Lag < 1000
	})
	var c struct {
		Articles int `json:"articles"`
		Pairs    struct {
			Precision float64 `json:"precision"`
			Recall    float64 `json:"recall"`
		} `json:"pairs"`
		Kinds map[string]int `json:"kinds"`
	}
	said := m.world.migrate("compare", m.config, m.new.config, "--last", "0", "--json")
	if err := json.Unmarshal([]byte(said), &c); err != nil || c.Articles < 100 ||
		c.Pairs.Recall < .5 || c.Pairs.Precision < .2 || c.Kinds["same"] == 0 {
		m.Errorf("%v, compare:\n%s", err, said)
	}
	said = m.world.migrate("compare", m.config, m.new.config, "--last", "400", "--json")
	if err := json.Unmarshal([]byte(said), &c); err != nil || c.Articles < 100 || c.Articles > 2000 {
		m.Errorf("%v, compare --last 400:\n%s", err, said)
	}
	m.Logf("%s", m.world.migrate("compare", m.config, m.new.config, "--for", "1h", "--examples", "1"))
}

// dieSwitching stops the old instances, and lets the switch die at each step.
func (m *migration) dieSwitching() {
	m.Helper()
	m.live[0].stop()
	m.live[1].kill() // its session must time out
	for _, at := range []string{
		"before-produce=1", "before-end=1", "after-end=1", "after-produce=2", "after-offsets=3",
		"before-end=2", "after-end=4",
	} {
		cmd := exec.Command(hurting, "migrate", "switch", m.config, m.new.config,
			"-o", filepath.Join(m.dir, "next.yaml"))
		cmd.Env = append(os.Environ(), "CLUSTERD_FAILPOINT="+at+":kill")
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.Exited() {
			m.Fatalf("a switch that was to die at %s: %v\n%s", at, err, out)
		}
	}
	i := m.live[2]
	i.kill()
	m.live[2] = i.startIn(i.dir)
}

// switched lets the switch end.
func (m *migration) switched() {
	m.Helper()
	began := time.Now()
	p := m.world.begin("", binary, "migrate", "switch", m.config, m.new.config,
		"-o", filepath.Join(m.dir, "next.yaml"))
	m.eventually("the new results are there", func() bool {
		return strings.Contains(p.said.String(), "Stop the instances")
	})
	m.Logf("all that waited was there %s after the switch began", time.Since(began))
	began = time.Now()
	for _, i := range m.live[2:] {
		i.stop()
	}
	if err := <-p.exited; err != nil || !strings.Contains(p.said.String(), "Done") {
		m.Fatalf("switch: %v\n%s", err, p.said.String())
	}
	m.Logf("%s after the new instances were told to stop: %s", time.Since(began), p.said.String())
}

// check fails unless readers have each article once: of simhash up to the boundary, then of
// minhash, as the new space has it, and the members of its clusters count up.
func (m *migration) check(boundary map[int32]int64) {
	m.Helper()
	own := make(map[string]*kgo.Record)
	sizes := make(map[string][]int)
	add := func(r *kgo.Record) {
		if found := parseResult(m.T, r.Value); found.ClusterID != nil {
			sizes[*found.ClusterID] = append(sizes[*found.ClusterID], found.Size)
		}
	}
	for _, r := range m.read(m.new.output, kgo.ReadCommitted()) {
		own[header(r, "clusterd.source")] = r
		add(r)
	}
	seen, later := make(map[string]int), 0
	for _, r := range m.read(m.output, kgo.ReadCommitted()) {
		found := parseResult(m.T, r.Value)
		at := found.Source.String()
		seen[at]++
		want := "method=simhash,"
		if found.Source.Offset >= boundary[found.Source.Partition] {
			want = "method=minhash,"
			if same := own[at]; same == nil {
				later++
				add(r)
			} else if !bytes.Equal(same.Key, r.Key) || !bytes.Equal(same.Value, r.Value) ||
				!reflect.DeepEqual(same.Headers, r.Headers) {
				m.Errorf("%s was copied as another:\n%s\n%s", at, same.Value, r.Value)
			}
		}
		if !bytes.Contains(r.Value, []byte(`"pipeline":"`+want)) {
			m.Errorf("%s is not of %s: %s", at, want, r.Value)
		}
	}
	for _, r := range m.deadLetters() {
		seen[header(r, "clusterd.source")]++
	}
	articles := 0
	for p, end := range m.ends(m.input) {
		for offset := range end {
			at := source{m.input, p, offset}.String()
			if articles++; seen[at] != 1 {
				m.Errorf("%s came out %d times", at, seen[at])
			}
			delete(seen, at)
		}
	}
	for cluster, counted := range sizes {
		slices.Sort(counted)
		for i, size := range counted {
			if size != i+1 {
				m.Fatalf("the sizes of %s are %v", cluster, counted)
			}
		}
	}
	if m.Logf("%d articles, boundary %v, %d results after the switch", articles, boundary, later); len(
		seen) > 0 || later < 100 {
		m.Errorf("%d results of no article, %d results after the switch", len(seen), later)
	}
}

// checkMap compares the map with what both topics say.
func (m *migration) checkMap(boundary map[int32]int64) {
	m.Helper()
	clusters := make(map[string][2]string)
	for s, w := range []*world{m.world, m.new} {
		for _, r := range w.results() {
			if r.ClusterID != nil && r.Source.Offset < boundary[r.Source.Partition] {
				both := clusters[r.Source.String()]
				both[s] = *r.ClusterID
				clusters[r.Source.String()] = both
			}
		}
	}
	want := make(map[string]map[string]int) // by key, the articles in each cluster of the other side
	for _, both := range clusters {
		if both[0] == "" || both[1] == "" {
			continue
		}
		for s, name := range []string{"old:", "new:"} {
			key := name + both[s]
			if want[key] == nil {
				want[key] = make(map[string]int)
			}
			want[key][both[1-s]]++
		}
	}
	got, kinds := make(map[string]map[string]int), make(map[string]int)
	for _, r := range m.read(m.labels, kgo.ReadCommitted()) {
		var record struct {
			Side, Kind string
			To         []struct {
				ID       string
				Articles int
			}
		}
		if err := json.Unmarshal(r.Value, &record); err != nil {
			m.Fatal(err)
		}
		of := make(map[string]int)
		for _, to := range record.To {
			of[to.ID] = to.Articles
		}
		got[string(r.Key)] = of
		kinds[record.Side+" "+record.Kind]++
	}
	if !reflect.DeepEqual(got, want) {
		for key := range want {
			if !reflect.DeepEqual(got[key], want[key]) {
				m.Fatalf("%s: the map says %v, both topics %v", key, got[key], want[key])
			}
		}
		m.Errorf("the map has %d keys, both topics %d", len(got), len(want))
	}
	m.Logf("%d ids of both sides; records written: %v", len(want), kinds)
	if strconv.Itoa(kinds["old merged"]) == "0" {
		m.Error("minhash merges no clusters of simhash: the test shows little")
	}
}
