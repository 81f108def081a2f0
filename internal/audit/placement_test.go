package audit

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/audit/report"
	"github.com/clusterd/clusterd/internal/audit/wire"
	"github.com/clusterd/clusterd/internal/config"
)

var placementTests = []struct {
	name string
	key  string
	keys bool
	seed func(*stage)
	want []string
}{
	{"the cluster id", "cluster", false, nil, nil},
	{"the cluster id, and the input has keys", "cluster", true, nil, nil},
	{"the input's key", "source", true, nil, nil},
	{"no key", "source", false, nil, nil},
	{
		"the cluster id, in another partition",
		"cluster", false, func(s *stage) { s.result(150).Partition ^= 1 },
		[]string{"input"},
	},
	{
		"the input's key, in another partition",
		"source", true, func(s *stage) { s.result(150).Partition ^= 1 },
		[]string{"input"},
	},
	{
		"the input's key for the cluster id",
		"cluster", true, func(s *stage) { s.result(150).Key = []byte("key-7") },
		[]string{"input"},
	},
	{"no key of an unclustered result", "cluster", false, func(s *stage) {
		for n := 50; ; n++ {
			if r := s.result(n); bytes.Contains(r.Value, []byte(`"unclustered"`)) {
				r.Key = nil
				return
			}
		}
	}, []string{"input"}},
	{
		"another input's key",
		"source", true, func(s *stage) { s.result(150).Key = []byte("key-7") },
		[]string{"input"},
	},
	{
		"no key for the input's",
		"source", true, func(s *stage) { s.result(150).Key = nil },
		[]string{"input"},
	},
	{"a dead letter elsewhere", "source", false, func(s *stage) {
		for n := 5; ; n++ {
			if r := s.record("articles-dead", n); r.Partition == 1 {
				r.Partition = 0
				return
			}
		}
	}, []string{"input"}},
	{"a topic of one partition once", "cluster", false, func(s *stage) {
		for i := range s.transactions[:40] {
			for _, r := range s.transactions[i].records {
				if r.Topic == s.config.Output.Topic {
					r.Partition = 0
				}
			}
		}
	}, nil},
}

// A message is where its key puts it, in a topic that may have been given more partitions
// meanwhile.
func TestPartitions(t *testing.T) {
	t.Parallel()
	for _, test := range some(6, placementTests) {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, func(c *config.Config) { c.Output.Key = test.key })
			s.keys = test.keys
			items := long(200)
			s.cluster(items, s.input(items))
			if test.seed != nil {
				test.seed(s)
			}
			s.write()
			found := s.audit(Options{})
			got := promises(found)
			if !slices.Equal(got, test.want) {
				t.Errorf("found:\n%s\nwant %q", strings.Join(violations(found), "\n"), test.want)
			}
		})
	}
}

// promises returns those that were not kept.
func promises(r *report.Report) (all []string) {
	for _, at := range firsts(r) {
		id, _, _ := strings.Cut(at, " ")
		all = append(all, id)
	}
	return all
}

// A change is that of output.partition before a transaction of the stage.
type change struct {
	before    int
	partition string
}

var changeTests = []struct {
	name    string
	config  string   // output.partition
	changes []change // that results follow
	seed    func(*stage)
	want    []string // the promises that were not kept
	limit   bool     // it is said that the configuration is not in force
}{
	{name: "by source from the first record on", config: "source", changes: []change{{0, "source"}}},
	{
		name: "by source, in another partition", config: "source", changes: []change{{0, "source"}},
		seed: func(s *stage) { s.result(150).Partition ^= 1 }, want: []string{"input"},
	},
	{name: "by source later on", config: "source", changes: []change{{25, "source"}}},
	{
		name: "by source before it was so", config: "source", changes: []change{{25, "source"}},
		seed: func(s *stage) { s.result(20).Partition ^= 1 }, want: []string{"input"},
	},
	{
		name: "by key when it was not so any more", config: "source", changes: []change{{25, "source"}},
		seed: func(s *stage) { s.result(150).Partition ^= 1 }, want: []string{"input"},
	},
	{name: "there and back", config: "key", changes: []change{{15, "source"}, {30, "key"}}},
	{
		name: "by source when it was back", config: "key",
		changes: []change{{15, "source"}, {30, "key"}},
		seed:    func(s *stage) { s.result(170).Partition ^= 1 }, want: []string{"input"},
	},
	{
		name: "anywhere before the oldest change that is known", config: "key",
		changes: []change{
			{20, "source"},
			{22, "key"},
			{24, "source"},
			{26, "key"},
			{28, "source"},
			{30, "key"},
			{32, "source"},
			{34, "key"},
		},
		seed: func(s *stage) {
			for i := range 40 {
				s.result(i).Partition ^= 1
			}
		},
	},
	{name: "not in force yet", config: "source", limit: true},
}

// A result is where output.partition put it at its time, which the checkpoint says.
func TestChangesOfPlacement(t *testing.T) {
	t.Parallel()
	for _, scope := range []string{"topic", "partition"} {
		for _, test := range some(3, changeTests) {
			t.Run(scope+", "+test.name, func(t *testing.T) {
				t.Parallel()
				s := newStage(t, func(c *config.Config) {
					c.Cluster.Scope, c.Output.Partition = scope, test.config
				})
				s.keys = true
				items := long(200)
				s.cluster(items, s.input(items))
				s.place(test.changes)
				if test.seed != nil {
					test.seed(s)
				}
				s.write()
				found := s.audit(Options{})
				got := promises(found)
				if !slices.Equal(got, test.want) || (found.Limits != nil) != test.limit {
					t.Errorf("found:\n%s\nwant %q; limits %q", strings.Join(violations(found), "\n"), test.want,
						found.Limits)
				}
			})
		}
	}
}

// place moves results to the partitions of their articles where the changes say so, and adds
// checkpoints that say it, too.
func (s *stage) place(changes []change) {
	s.Helper()
	var placements []map[string]any
	for i := range s.transactions {
		if len(changes) > 0 && changes[0].before == i {
			from := make(map[int32]int64)
			if i > 0 {
				from = s.transactions[i-1].committed
			}
			placements = append(placements,
				map[string]any{"partition": changes[0].partition, "from": from})
			changes = changes[1:]
		}
		t := &s.transactions[i]
		bySource := len(placements) > 0 && placements[len(placements)-1]["partition"] == "source"
		for _, r := range t.records {
			if r.Topic != s.config.Output.Topic || !bySource {
				continue
			}
			source, err := wire.Source(r, s.config.Input.Topic)
			if err != nil {
				s.Fatal(err)
			}
			r.Partition = source.Partition
		}
		t.records = append(t.records, s.checkpoints(t.committed, placements)...)
	}
}

// checkpoints are those of all spaces.
func (s *stage) checkpoints(
	committed map[int32]int64, placements []map[string]any,
) (all []*kgo.Record) {
	s.Helper()
	spaces := map[string]int32{"all": 0}
	if s.config.Cluster.Scope != "topic" {
		spaces = map[string]int32{"0": 0, "1": 1}
	}
	for name, partition := range spaces {
		c := map[string]any{"group": s.config.Input.Group, "space": name, "offsets": committed}
		if placements != nil {
			c["placements"] = placements
		}
		if name != "all" {
			c["offsets"] = map[int32]int64{partition: committed[partition]}
		}
		value, err := json.Marshal(c)
		if err != nil {
			s.Fatal(err)
		}
		all = append(all, &kgo.Record{
			Topic: s.config.Output.ClustersTopic, Partition: partition,
			Key: []byte("checkpoint:" + s.config.Input.Group + "/" + name), Value: value,
		})
	}
	return all
}
