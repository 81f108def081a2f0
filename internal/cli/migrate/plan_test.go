package migrate

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/cli/migrate/beside"
	"github.com/clusterd/clusterd/internal/cli/migrate/overlap"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/testutil/schematest"
)

func TestNextGroup(t *testing.T) {
	for group, want := range map[string]string{
		"clusterd": "clusterd-2", "clusterd-2": "clusterd-3", "a-9": "a-10", "a-b": "a-b-2",
	} {
		if got := NextGroup(group); got != want {
			t.Errorf("after %s comes %s, want %s", group, got, want)
		}
	}
}

// A plan changes what is asked for, and what an instance has of its own; the plan of a plan has no
// names that grow.
func TestPlan(t *testing.T) {
	t.Parallel()
	p := newPair(t, "topic")
	got := p.New.Config
	if got.Input.Group != "clusterd-2" || got.Output.Topic != "results-clusterd-2" ||
		got.Output.ClustersTopic != "clusters-clusterd-2" ||
		!strings.HasSuffix(got.State.Dir, "-clusterd-2") || got.HTTP.Listen != "127.0.0.1:8081" ||
		got.Fingerprint.Method != "minhash" || got.Labels.Topic != "" {
		t.Errorf("planned: %+v", got)
	}
	third, err := Plan(p.New, "", []string{"cluster.similarity=0.9"}, p.file("third"))
	if err != nil || third.Output.Topic != "results-clusterd-3" ||
		third.Output.ClustersTopic != "clusters-clusterd-3" {
		t.Errorf("%v, %+v", err, third.Output)
	}
	same := beside.Two{Old: p.Old, New: p.Old}
	if err := same.Check(); err == nil {
		t.Error("a space was taken beside itself")
	}
	if _, err := Plan(p.Old, "", nil, p.file("new")); err == nil ||
		!strings.Contains(err.Error(), "the file is there") {
		t.Errorf("over another plan: %v", err)
	}
	if _, err := Plan(p.Old, "", nil, t.TempDir()+"/x.yaml"); err == nil {
		t.Error("a plan was written into another folder")
	}
	c := p.Old.Config
	c.Labels = config.Labels{Topic: "labels", Corrections: "told"}
	set := strings.Join(apart(&c, "g"), " ")
	if !strings.Contains(set, "labels.topic=labels-g") ||
		!strings.Contains(set, "labels.corrections=told-g") {
		t.Errorf("with labels: %s", set)
	}
}

// A space begins at a time, and never behind what the old one has read.
func TestStartAt(t *testing.T) {
	t.Parallel()
	p := newPair(t, "partition")
	producer, err := kgo.NewClient(kgo.SeedBrokers(p.cluster.ListenAddrs()...),
		kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	began := time.Now().Add(-time.Hour)
	for n := range 60 {
		r := &kgo.Record{
			Topic: topic, Partition: int32(n % 2), Timestamp: began.Add(time.Duration(n) * time.Minute),
		}
		if err := producer.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	p.mustWork(&p.Old, 0, 0, 30)
	p.mustWork(&p.Old, 1, 0, 4)
	from, err := StartAt(t.Context(), p.Two, began.Add(20*time.Minute))
	if want := map[int]int64{0: 10, 1: 4, 2: 0}; err != nil || !maps.Equal(from, want) {
		t.Fatalf("%v, %v; want %v", from, err, want)
	}
	commits, err := p.New.Commits(t.Context(), topic)
	if err != nil || len(commits) != 3 || commits[0].Offset != 10 || commits[1].Offset != 4 {
		t.Errorf("%v, %v", commits, err)
	}
	if _, err := StartAt(t.Context(), p.Two, began); err == nil {
		t.Error("a group that has offsets was set to others")
	}
	status, err := StatusOf(t.Context(), p.Two)
	if err != nil || status.Behind != 20 || !status.Ready || status.Old.Lag != 26 ||
		status.New.Lag != 46 || status.Old.Since == nil || status.New.Since != nil {
		t.Errorf("%+v, %v", status, err)
	}
}

// The map is written once for each change, also by a run that begins anew, and takes of the old
// topic what the old space wrote.
func TestMapIsWrittenOnce(t *testing.T) {
	t.Parallel()
	p := newPair(t, "topic")
	p.mustWork(&p.Old, 0, 0, 100)
	p.mustWork(&p.New, 0, 0, 80)
	write := func() int {
		n, err := overlap.Map(t.Context(), p.Two, "ids", false, quiet)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	first := write()
	if again := write(); first != 32 || again != 0 {
		t.Errorf("%d records, then %d; want 16 clusters of each side, then none", first, again)
	}
	p.mustWork(&p.New, 0, 80, 103)
	if n := write(); n != 8 {
		t.Errorf("%d records of 4 more clusters, want 8", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if err := Switch(ctx, p.Two, p.file("next"), false, quiet); err != nil {
		t.Fatal(err)
	}
	if n := write(); n != 0 {
		t.Errorf("%d records after the switch, want none", n)
	}
	next := p.space("next")
	p.mustWork(&next, 0, 103, 120)
	if n := write(); n != 0 {
		t.Errorf("%d records of what is after the switch, want none", n)
	}
	first64, end, err := p.New.Offsets(t.Context(), "ids")
	if err != nil {
		t.Fatal(err)
	}
	err = p.New.Read(t.Context(), "ids", first64, end, func(r *kafka.Record) error {
		if err := schematest.Check("mapping", r.Value); err != nil {
			t.Error(err)
		}
		var m overlap.Mapping
		if err := json.Unmarshal(r.Value, &m); err != nil || string(r.Key) != m.Side+":"+m.ID ||
			m.Kind != overlap.Same || len(m.To) != 1 || m.To[0].ID != m.ID ||
			m.Articles != m.To[0].Articles {
			t.Errorf("%s: %s, %v", r.Key, r.Value, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	for _, window := range []overlap.Window{{Last: 1 << 40}, {For: time.Hour}} {
		if c, err := overlap.Compare(t.Context(), p.Two, window, 3); err != nil || c.Articles != 85 {
			t.Errorf("%+v: %+v, %v", window, c, err)
		}
	}
	c, err := overlap.Compare(t.Context(), p.Two, overlap.Window{}, 3)
	if err != nil || c.Articles != 85 || c.Pairs.F1 != 1 || c.Kinds[overlap.Same] != 20 ||
		len(c.Splits) > 0 {
		t.Errorf("compared: %+v, %v", c, err)
	}
}

// A switch to a space that has not begun, or is far behind, is refused, and so is one over a file
// that says something else.
func TestSwitchRefuses(t *testing.T) {
	t.Parallel()
	p := newPair(t, "topic")
	refused := func(why string) {
		t.Helper()
		if err := Switch(t.Context(), p.Two, p.file("next"), false, quiet); err == nil ||
			!strings.Contains(err.Error(), why) {
			t.Errorf("switch: %v, want %q", err, why)
		}
	}
	refused("group clusterd has no offsets")
	p.mustWork(&p.Old, 0, 0, 10_100)
	refused("group clusterd-2 has no offsets")
	p.mustWork(&p.New, 0, 0, 20)
	refused("is 10080 articles behind")
	if from, _, err := p.Old.HandedOver(t.Context()); err != nil || len(from) > 0 {
		t.Errorf("a refused switch marked %v, %v", from, err)
	}
	if _, err := Back(t.Context(), p.Old, p.file("back")); err == nil ||
		!strings.Contains(err.Error(), "handed nothing over") {
		t.Errorf("back: %v", err)
	}
	if err := os.WriteFile(p.file("next"), []byte("# mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused("the file is there")
}
