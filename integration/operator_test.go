//go:build integration

package integration

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
)

// role returns a topic by what it is for.
func (p *plight) role(name string) string {
	p.Helper()
	topic := map[string]string{
		"input": p.input, "results": p.output, "clusters": p.clusters, "dead letters": p.dead,
		"labels": p.labels, "corrections": p.corrections, "stories": p.stories,
	}[name]
	if topic == "" {
		p.Fatalf("no topic is for %s", name)
	}
	return topic
}

// acts are what somebody does to a topic.
var acts = map[string]func(p *plight, topic string){
	"deleted": (*plight).deletes,
	"recreated": func(p *plight, topic string) {
		p.deletes(topic)
		p.create("")
	},
	"truncated": func(p *plight, topic string) {
		end := p.ends(topic)[0]
		if topic == p.clusters {
			end -= 2 // the last record is a checkpoint, behind which a transaction ends
		}
		p.truncates(topic, end)
	},
	"emptied":                 func(p *plight, topic string) { p.truncates(topic, p.ends(topic)[0]) },
	"given another partition": (*plight).divides,
	"named wrongly": func(p *plight, topic string) {
		wrong := topic + "2"
		p.Cleanup(func() { _, _ = p.admin.DeleteTopics(context.WithoutCancel(p.Context()), wrong) })
		if slices.Contains(p.outputs, topic) {
			p.outputs = append(p.outputs, wrong)
		}
		p.change(topic, wrong)
	},
}

// mistakesWithTopics are what somebody does to a topic, or to two topics. Excused are the promises
// that the mistake breaks: records are gone, or are in a topic that the configuration does not
// name.
func mistakesWithTopics() (all []mistake) {
	const most = "form input I1 I2 I3 I4 I9 I10 I11 I13"
	for _, m := range []struct{ topic, act, cure, live, warns, excused string }{
		{topic: "input", act: "deleted", cure: "anew"},
		{topic: "input", act: "recreated", cure: "anew"},
		{topic: "input", act: "truncated"},
		{topic: "input", act: "given another partition"},
		{topic: "input", act: "named wrongly", cure: "undo"},
		{topic: "results", act: "deleted", live: "create"},
		{topic: "results", act: "recreated"},
		{topic: "results", act: "truncated"},
		{topic: "results", act: "given another partition", excused: "input"},
		{topic: "results", act: "named wrongly", warns: "output.topic has changed", excused: most},
		{topic: "clusters", act: "deleted", cure: "anew", live: "create anew"},
		{topic: "clusters", act: "recreated", cure: "anew"},
		{topic: "clusters", act: "truncated", cure: "accept"},
		{topic: "clusters", act: "emptied", cure: "anew"},
		{topic: "clusters", act: "given another partition"}, // partition 0 stays where it was
		{topic: "clusters", act: "named wrongly", cure: "undo"},
		{topic: "dead letters", act: "deleted", live: "create"},
		{topic: "dead letters", act: "recreated"},
		{topic: "dead letters", act: "truncated"},
		{topic: "dead letters", act: "given another partition"},
		{topic: "dead letters", act: "named wrongly", excused: "I1"},
		{topic: "labels", act: "deleted", cure: "labels"},
		{topic: "labels", act: "recreated", cure: "begin"},
		{topic: "labels", act: "truncated"},
		{topic: "labels", act: "given another partition"},
		{topic: "labels", act: "named wrongly", warns: "labels.topic has changed", excused: "I9 I11"},
		{topic: "corrections", act: "deleted"},
		{topic: "corrections", act: "recreated", warns: "the topic of corrections is empty"},
		{topic: "corrections", act: "truncated", excused: "I11"},
		{topic: "corrections", act: "given another partition"},
		{
			topic: "corrections", act: "named wrongly", warns: "the topic of corrections is empty",
			excused: "I11",
		},
		{topic: "stories", act: "deleted", live: "create"},
		{topic: "stories", act: "recreated"},
		{topic: "stories", act: "truncated"},
		{topic: "stories", act: "given another partition"},
		{topic: "stories", act: "named wrongly", excused: "I13"},
	} {
		all = append(all, mistake{
			name: m.topic + " " + m.act, cure: m.cure, live: m.live, warns: m.warns,
			does: func(p *plight) {
				p.excuse(m.excused)
				p.ending = m.topic == "labels" && m.cure != ""
				acts[m.act](p, p.role(m.topic))
			},
		})
	}
	for _, m := range []struct{ one, other, cure, warns, excused string }{
		{one: "input", other: "results", cure: "undo"},
		{one: "input", other: "labels", cure: "undo"},
		{one: "results", other: "clusters", cure: "undo"},
		{one: "results", other: "dead letters", warns: "output.topic has changed", excused: most},
		{one: "clusters", other: "stories", cure: "undo"},
		{
			one: "labels", other: "corrections", warns: "labels.topic has changed",
			excused: "form I9 I11",
		},
	} {
		all = append(all, mistake{
			name: m.one + " and " + m.other + " swapped", cure: m.cure, warns: m.warns,
			does: func(p *plight) {
				p.excuse(m.excused)
				one, other := p.role(m.one), p.role(m.other)
				p.change(one, "BETWEEN")
				p.replace(other, one)
				p.replace("BETWEEN", other)
			},
		})
	}
	return append(all,
		mistake{name: "clusters no longer compacted", cure: "obey", does: func(p *plight) {
			p.setTopic(p.clusters, "cleanup.policy", "delete")
		}},
		mistake{name: "too few partitions for output.partition", cure: "obey", does: func(p *plight) {
			p.excuse("input") // of results before it
			p.change("output: {", "output: {partition: source, ")
			p.divides(p.input)
		}},
		mistake{name: "deleted, and nobody may create it", cure: "obey", does: func(p *plight) {
			p.change("create_topics: true", "create_topics: false")
			p.deletes(p.dead)
		}},
		mistake{
			name: "input recreated and filled beyond the offset", cure: "anew",
			does: func(p *plight) {
				p.deletes(p.input)
				p.create("")
				for range p.rounds + 1 {
					p.more()
				}
			},
		},
		mistake{
			name: "labels recreated and filled beyond the offset", cure: "labels",
			does: func(p *plight) {
				p.ending = true
				p.deletes(p.labels)
				p.create("")
				p.label(1)
				p.label(2)
			},
		},
	)
}

// deletes deletes a topic; what it had is lost, which the audit says.
func (p *plight) deletes(topic string) {
	p.Helper()
	p.loses(topic)
	p.excused["all"], p.deleted = true, topic
	p.deleteTopic(topic)
}

// loses notes what was in a topic that is deleted.
func (p *plight) loses(topic string) {
	p.Helper()
	if !slices.Contains(p.outputs, topic) {
		return
	}
	for id, clusters := range p.outcomesIn(topic) {
		p.hold(id, clusters[0])
		delete(p.wanted, id)
	}
}

// create makes the topic again that was deleted.
func (p *plight) create(string) {
	p.Helper()
	settings := []string{"max.message.bytes", "9000000"}
	if p.deleted == p.clusters || p.deleted == p.stories {
		settings = []string{"cleanup.policy", "compact"}
	}
	p.createTopic(p.deleted, 1, settings...)
	p.deleted = ""
}

// excuse names promises that a mistake breaks, which is for the audit to say.
func (p *plight) excuse(promises string) {
	for id := range strings.FieldsSeq(promises) {
		p.excused[id] = true
	}
}

// truncates deletes the records of a topic before an offset.
func (p *plight) truncates(topic string, before int64) {
	p.Helper()
	p.loses(topic)
	compacted := topic == p.clusters || topic == p.stories
	if compacted {
		p.setTopic(topic, "cleanup.policy", "compact,delete")
	}
	p.deleteRecords(topic, before)
	if compacted {
		p.setTopic(topic, "cleanup.policy", "compact")
	}
}

// divides gives a topic one more partition.
func (p *plight) divides(topic string) {
	p.Helper()
	if _, err := p.admin.UpdatePartitions(p.Context(), 2, topic); err != nil {
		p.Fatal(err)
	}
	p.eventually("another partition", func() bool { return len(p.ends(topic)) == 2 })
}

// change replaces a text of the configuration, until it is set back.
func (p *plight) change(was, is string) {
	p.Helper()
	text, err := os.ReadFile(p.config)
	if err != nil {
		p.Fatal(err)
	}
	p.replace(was, is)
	p.undo = func() {
		if err := os.WriteFile(p.config, text, 0o600); err != nil {
			p.Fatal(err)
		}
	}
}

// mistakesWithOffsets are changes of the offsets of the group, which Kafka refuses while clusterd
// runs.
func mistakesWithOffsets() (all []mistake) {
	for _, act := range []struct {
		name, cure string
		does       func(p *plight, end int64) error
	}{
		{"set back", "obey", func(p *plight, end int64) error { return p.commits(end - 3) }},
		{"set to the beginning", "obey", func(p *plight, _ int64) error { return p.commits(0) }},
		{"gone", "obey", func(p *plight, _ int64) error {
			responses, err := p.admin.DeleteGroups(p.Context(), p.group)
			if err == nil {
				err = responses.Error()
			}
			return err
		}},
		{"set forward", "", func(p *plight, end int64) error {
			return p.commits(end - 2) // behind a round that is not read yet
		}},
		// To the first record, and from there to where it was: each is safe by itself.
		{"set beyond the end", "obey obey", func(p *plight, end int64) error {
			return p.commits(end + 100)
		}},
	} {
		forward := act.name == "set forward"
		all = append(all, mistake{
			name: "offsets " + act.name, cure: act.cure, live: "none",
			does: func(p *plight) {
				if forward && !p.running {
					p.more()
					p.skips(len(originals) - 1)
				}
				end := p.ends(p.input)[0]
				if !p.running {
					p.eventually("the group to be empty", func() bool { return act.does(p, end) == nil })
				} else if act.does(p, end) == nil {
					p.Error("Kafka lets offsets be changed while somebody reads")
				}
			},
		})
	}
	return all
}

// skips says that the first records of the last round are passed over, which the log has to say.
func (p *plight) skips(records int) {
	p.warns, p.excused["I1"] = "articles were skipped", true
	for n := range records {
		delete(p.wanted, p.id((n+p.rounds)%len(originals)))
	}
}

// commits sets the group's offset.
func (p *plight) commits(at int64) error {
	var offsets kadm.Offsets
	offsets.AddOffset(p.input, 0, at, -1)
	return p.admin.CommitAllOffsets(p.Context(), p.group, offsets)
}

// mistakesWithKeys are changes of the configuration. While clusterd runs, two instances disagree.
// Excused are promises that the audit holds earlier results to by the configuration of now.
func mistakesWithKeys() (all []mistake) {
	for _, key := range []struct{ was, is, cure, excused string }{
		// How fingerprints are made, and which are the same.
		{"", "fingerprint: {method: minhash}", "undo", ""},
		{"", "fingerprint: {hash: xxh3}", "undo", ""},
		{"", "fingerprint: {weight: tf}", "undo", ""},
		{"", "fingerprint: {features: pairs}", "undo", ""},
		{"", "fingerprint: {secret: a-secret-of-16-bytes}", "undo", ""},
		{"", "text: {fold: true}", "undo", ""},
		{"", "cluster: {distance: 4}", "undo", ""},
		{"", "cluster: {window: 72h}", "undo", ""},
		{"", "cluster: {scope: partition}", "undo", ""},
		{"stories: {topic: STORIES}", "cluster: {scope: field, scope_field: source}", "undo", ""},
		{"group: ", "group: another-", "undo", ""},
		// What may change at any time.
		{"output: {", "output: {key: source, ", "", "input"},
		{"output: {", "output: {clusters_format: binary, ", "", ""},
		{"output: {", "output: {compression: none, ", "", ""},
		{"signals: {enabled: true, window: 1m}", "", "", ""},
		{"contacts: {join: true}", "", "", "I3"},
		{"labels: {topic: LABELS, corrections: CORRECTIONS, flood: 0.02}", "", "", "I4"},
		{", corrections: CORRECTIONS", "", "", ""},
		{"stories: {topic: STORIES}", "", "", ""},
	} {
		name := key.is
		if name == "" {
			name = "no " + strings.TrimPrefix(key.was, ", ")
		}
		all = append(all, mistake{name: name, cure: key.cure, does: func(p *plight) {
			p.excuse(key.excused)
			names := strings.NewReplacer("LABELS", p.labels, "CORRECTIONS", p.corrections, "STORIES",
				p.stories)
			if key.was == "" {
				p.change("log: {", key.is+"\nlog: {")
			} else {
				p.change(names.Replace(key.was), names.Replace(key.is))
			}
		}})
	}
	return all
}
