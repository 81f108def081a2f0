//go:build integration

package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/cli/demo/sample"
)

// plight is a world in which somebody makes a mistake, and what a plain model knows of it: which
// records were sent, and which of them have the same text.
type plight struct {
	*world
	moment
	working *instance
	rounds  int
	wanted  map[string]bool            // ids of records that must come out, once each
	text    map[string]string          // by id
	outputs []string                   // topics of results and dead letters, earlier ones too
	before  map[string]map[int32]int64 // up to where these do not count
	cluster map[string]string          // by text, as far as it was seen
	excused map[string]bool            // promises that the mistake breaks, which the audit says
	ending  bool                       // it is to end, though all comes out
	warns   string                     // what is to be in the log
	deleted string                     // a topic
	apart   bool                       // copies may be in several clusters, as the advice has said
	undo    func()                     // sets the configuration back; nil: nothing was changed
}

// newPlight starts a clusterd that has labels, corrections and stories, and has it do something.
func newPlight(t *testing.T) *plight {
	t.Helper()
	p := &plight{
		world: newWorld(t, 1, labelled), wanted: make(map[string]bool), text: make(map[string]string),
		before: make(map[string]map[int32]int64), cluster: make(map[string]string),
		excused: make(map[string]bool),
	}
	p.outputs = []string{p.output, p.dead}
	p.working = p.start()
	p.more()
	p.more()
	if said := p.settles(p.working); said != "" {
		t.Fatal(said)
	}
	p.label(0)
	p.labelsDone()
	return p
}

// originals are texts of which each round has a copy.
var originals = func() (all []sample.Article) {
	for generator := sample.New(1, time.Now()); len(all) < 8; {
		if a := generator.Next(); a.Kind == sample.Original {
			all = append(all, a)
		}
	}
	return all
}()

// id returns the id of the last record that was sent with a text.
func (p *plight) id(n int) string { return fmt.Sprintf("%d-%d", p.rounds-1, n) }

// more sends a copy of each text, and a record that is no article, unless the topic is gone.
func (p *plight) more() {
	p.Helper()
	if p.deleted == p.input {
		return
	}
	p.rounds++
	var records []*kgo.Record
	add := func(id string, value []byte) {
		p.wanted[id] = true
		records = append(records, &kgo.Record{Topic: p.input, Key: []byte(id), Value: value})
	}
	for i := range originals {
		n := (i + p.rounds) % len(originals) // addresses of one round are those of other texts in another
		a := originals[n]
		a.ID = p.id(n)
		p.text[a.ID] = a.Content
		add(a.ID, a.JSON())
	}
	add(p.id(len(originals)), []byte("no article"))
	p.produce(records...)
}

// label labels the cluster of a text.
func (p *plight) label(n int) {
	p.Helper()
	for id, clusters := range p.outcomes() {
		if p.text[id] == originals[n].Content {
			p.produce(&kgo.Record{
				Topic: p.labels, Key: []byte(clusters[0]),
				Value: fmt.Appendf(nil, `{"cluster_id":%q,"label":"spam"}`, clusters[0]),
			})
			return
		}
	}
	p.Fatalf("text %d has no cluster", n)
}

// outcomes returns the clusters of each record, one for each of its results; that of a dead letter
// is empty.
func (p *plight) outcomes() map[string][]string {
	p.Helper()
	all := make(map[string][]string)
	for _, topic := range p.outputs {
		for id, clusters := range p.outcomesIn(topic) {
			all[id] = append(all[id], clusters...)
		}
	}
	return all
}

func (p *plight) outcomesIn(topic string) map[string][]string {
	p.Helper()
	all := make(map[string][]string)
	for _, r := range p.read(topic, kgo.ReadCommitted()) {
		var v struct {
			ID      string `json:"article_id"`
			Cluster string `json:"cluster_id"`
			Labels  []string
		}
		switch {
		case r.Offset < p.before[topic][r.Partition], header(r, "clusterd.stage") == "label":
			continue
		case header(r, "clusterd.error") != "":
			v.ID = string(r.Key)
		case json.Unmarshal(r.Value, &v) != nil || v.ID == "" || header(r, "clusterd.position") == "":
			continue // of a topic that was taken for another
		}
		if len(v.Labels) > 0 && p.text[v.ID] != originals[0].Content {
			p.Errorf("record %s is labelled as another text was", v.ID)
		}
		all[v.ID] = append(all[v.ID], v.Cluster)
	}
	return all
}

// missing returns the records that have not come out.
func (p *plight) missing() (ids []string) {
	outcomes := p.outcomes()
	for id := range p.wanted {
		if len(outcomes[id]) == 0 {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// settles waits until all that was sent has come out, and returns an empty text; or until the
// instance has ended, or waits for somebody, and returns what it says.
func (p *plight) settles(i *instance) (said string) {
	p.Helper()
	waits := time.Now().Add(10 * time.Second)
	p.eventually("that all comes out, or that it says why not", func() bool {
		switch {
		case i.ended():
			_, said, _ = strings.Cut(i.said(), "\nclusterd: ")
			if said == "" {
				said = i.said() // of a configuration that cannot be
			}
		case len(p.missing()) == 0:
			return !p.ending && i.readyz().State == "live"
		case time.Now().After(waits):
			said = i.complaints()
		}
		return said != ""
	})
	return said
}

// complaints are all warnings and errors that an instance has logged.
func (i *instance) complaints() (all string) {
	for line := range strings.Lines(i.said()) {
		if strings.Contains(line, "level=WARN") || strings.Contains(line, "level=ERROR") {
			all += line
		}
	}
	return all
}

// right holds all that came out to the plain model, and to that of the audit.
func (p *plight) right() {
	p.Helper()
	for id, of := range p.outcomes() {
		if len(of) != 1 || !p.wanted[id] {
			p.Errorf("record %s has %d outcomes", id, len(of))
		}
		p.hold(id, of[0])
	}
	if ids := p.missing(); len(ids) > 0 {
		p.Errorf("%v did not come out", ids)
	}
	if p.excused["all"] {
		return
	}
	report, said := p.tryAudit()
	for _, c := range report.Checks {
		if c.Verdict == "violated" && !p.excused[c.ID] {
			p.Errorf("clusterd audit, %s:\n%s", c.ID, said)
		}
	}
}

// hold fails if a copy is in another cluster than the copies before it.
func (p *plight) hold(id, cluster string) {
	p.Helper()
	text := p.text[id]
	if first, known := p.cluster[text]; known && first != cluster && !p.apart {
		p.Errorf("record %s is in cluster %s, and its copies are in %s", id, cluster, first)
	}
	p.cluster[text] = cluster
}

// anew starts with another group and another topic of clusters, as errors propose.
func (p *plight) anew(string) {
	p.Helper()
	for _, topic := range p.outputs {
		p.before[topic] = p.ends(topic)
	}
	was := p.clusters
	p.Cleanup(func() { _, _ = p.admin.DeleteTopics(context.WithoutCancel(p.Context()), was) })
	p.replace("group: "+p.group, "group: "+p.group+"-2")
	p.replace("clusters_topic: "+was, "clusters_topic: "+was+"2")
	p.group, p.clusters = p.group+"-2", was+"2"
	p.excused["all"] = true // the topics have what both groups have written
	clear(p.wanted)
	clear(p.cluster)
	for _, r := range p.read(p.input, kgo.ReadCommitted()) {
		p.wanted[string(r.Key)] = true
	}
}

// beginLabels reads the topic of labels from its beginning.
func (p *plight) beginLabels(said string) {
	p.Helper()
	p.ending = false
	for _, command := range proposed.FindAllString(said, -1) {
		if strings.Contains(command, "--from-beginning") {
			p.carryOut(command)
			return
		}
	}
	p.Fatalf("no command is in %s", said)
}

// otherLabels takes another topic of labels.
func (p *plight) otherLabels(string) {
	p.Helper()
	p.ending = false
	was := p.labels
	p.Cleanup(func() { _, _ = p.admin.DeleteTopics(context.WithoutCancel(p.Context()), was) })
	p.labels += "2"
	p.replace(was, p.labels)
}

// obey runs the commands that clusterd proposes.
func (p *plight) obey(said string) {
	p.Helper()
	commands := proposed.FindAllString(said, -1)
	if commands == nil {
		p.Fatalf("it proposes no command: %s", said)
	}
	p.carryOut(commands...)
}
