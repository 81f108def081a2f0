package migrate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/cli/migrate/beside"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/sink"
	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
)

const topic = "articles"

// A pair is two spaces whose instances the test plays itself.
type pair struct {
	*testing.T
	beside.Two
	cluster *kfake.Cluster
	dir     string
}

func newPair(t *testing.T, scope string) *pair {
	t.Helper()
	p := &pair{T: t, dir: t.TempDir()}
	p.cluster = kafkatest.Start(t, 1, kfake.SeedTopics(3, topic),
		kfake.SeedTopics(4, "results", "letters"),
		kfake.SeedTopics(2, "results-clusterd-2", "letters-clusterd-2"),
		kfake.SeedTopics(3, "results-clusterd", "letters-clusterd"))
	text := fmt.Sprintf("kafka: {brokers: [\"%s\"], create_topics: true}\ninput: {topic: %s}\n"+
		"output: {topic: results, dead_letter_topic: letters, compression: none}\n"+
		"cluster: {scope: %s}\n", p.cluster.ListenAddrs()[0], topic, scope)
	if err := os.WriteFile(p.file("old"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p.Old = p.space("old")
	if _, err := Plan(p.Old, "", []string{"fingerprint.method=minhash"}, p.file("new")); err != nil {
		t.Fatal(err)
	}
	p.New = p.space("new")
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *pair) file(name string) string { return filepath.Join(p.dir, name+".yaml") }

func (p *pair) space(name string) beside.Space {
	p.Helper()
	c, err := config.Load(p.file(name))
	if err != nil {
		p.Fatal(err)
	}
	return beside.Space{
		Config: c, File: p.file(name), Log: slog.New(slog.DiscardHandler),
		Client: kafkatest.Connect(p.T, kafka.Options{Brokers: c.Kafka.Brokers}),
	}
}

// work writes what a space says of the articles of a partition from one offset to another, and
// commits that: of each seventh a dead letter, of the others a result.
func (p *pair) work(s *beside.Space, partition int, from, to int64) error {
	p.Helper()
	ids, owned, err := s.Owned(p.Context())
	if err != nil {
		p.Fatal(err)
	}
	id := ids[slices.IndexFunc(ids, func(id string) bool {
		return slices.Contains(owned[id], partition)
	})]
	producer, err := s.Producer(p.Context(), id, s.Output.Topic, s.Output.DeadLetterTopic)
	if err == nil {
		err = producer.Fence(p.Context())
	}
	if err != nil {
		p.Fatal(err)
	}
	parts, err := s.Partitions(p.Context(), s.Output.Topic)
	if err != nil {
		p.Fatal(err)
	}
	batch := sink.Batch{Offsets: []sink.Offset{{Topic: topic, Partition: partition, Offset: to}}}
	for offset := from; offset < to; offset++ {
		source := article.Address{Topic: topic, Partition: partition, Offset: offset}.String()
		r := kafka.Record{
			Topic: s.Output.DeadLetterTopic, Partition: partition % len(parts),
			Value:   fmt.Appendf(nil, "%s of %s", source, s.Input.Group),
			Headers: []kafka.Header{{Key: article.HeaderSource, Value: []byte(source)}},
		}
		if offset%7 != 0 {
			r.Topic = s.Output.Topic
			r.Key = fmt.Appendf(nil, "%s/%d/%d", topic, partition, offset/5*5)
			r.Partition = sink.PartitionOf(r.Key, parts)
			r.Value = fmt.Appendf(nil, `{"cluster_id":%q,"by":%q}`, r.Key, s.Input.Group)
		}
		batch.Records = append(batch.Records, r)
	}
	// As the daemon does: offsets with a mark are not gone on from.
	_, err = consumer.Committed(p.Context(), s.Client, s.Input.Group, topic, []int{partition})
	if err == nil {
		_, err = producer.Commit(p.Context(), batch)
	}
	return err
}

func (p *pair) mustWork(s *beside.Space, partition int, from, to int64) {
	p.Helper()
	if err := p.work(s, partition, from, to); err != nil {
		p.Fatal(err)
	}
}

// byArticle is who has said something of each article in some topics, in order.
func (p *pair) byArticle(s *beside.Space, topics ...string) map[string][]string {
	p.Helper()
	found := make(map[string][]string)
	for _, name := range topics {
		first, end, err := s.Offsets(p.Context(), name)
		if err == nil {
			err = s.Read(p.Context(), name, first, end, func(r *kafka.Record) error {
				at, ok := beside.SourceOf(r, topic)
				if !ok {
					return fmt.Errorf("%s is of no article", r.Value)
				}
				group := "clusterd"
				if strings.Contains(string(r.Value), "clusterd-2") {
					group = "clusterd-2"
				}
				found[at.String()] = append(found[at.String()], group)
				return nil
			})
		}
		if err != nil {
			p.Fatal(err)
		}
	}
	return found
}

// wantOnce fails unless readers find each article once: of the old space up to some offsets, of
// the new one from there up to others.
func (p *pair) wantOnce(from, to map[int]int64) {
	p.Helper()
	want := make(map[string][]string)
	for partition, end := range to {
		for offset := range end {
			group := "clusterd"
			if offset >= from[partition] {
				group = "clusterd-2"
			}
			source := article.Address{Topic: topic, Partition: partition, Offset: offset}
			want[source.String()] = []string{group}
		}
	}
	got := p.byArticle(&p.Old, "results", "letters")
	for _, source := range slices.Sorted(maps.Keys(want)) {
		if !slices.Equal(got[source], want[source]) {
			p.Errorf("%s is of %q, want %q", source, got[source], want[source])
		}
		delete(got, source)
	}
	if len(got) > 0 {
		p.Errorf("there are also %v", got)
	}
}

func quiet(string) {}

// Whatever the request at which a switch dies, and however often, the next one ends it: readers
// find each article once.
func TestSwitchThroughFaults(t *testing.T) {
	t.Parallel()
	for _, scope := range []string{"topic", "partition"} {
		for seed := range uint64(6) {
			t.Run(fmt.Sprintf("%s %d", scope, seed), func(t *testing.T) {
				t.Parallel()
				p, random := newPair(t, scope), rand.New(rand.NewPCG(seed, 0))
				from, to := map[int]int64{0: 120, 1: 60}, map[int]int64{0: 200, 1: 50, 2: 40}
				for partition, end := range from {
					p.mustWork(&p.Old, partition, 0, end/2)
					p.mustWork(&p.Old, partition, end/2, end)
				}
				for partition, end := range to {
					p.mustWork(&p.New, partition, 0, end/3)
					p.mustWork(&p.New, partition, end/3, end)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				cuts := rand.New(rand.NewPCG(seed, 1)) // of the broker's goroutine
				var left atomic.Int64
				var die atomic.Pointer[context.CancelFunc]
				p.cluster.Control(func(request kmsg.Request) (kmsg.Response, error, bool) {
					p.cluster.KeepControl()
					if left.Add(-1) == 0 {
						(*die.Load())()
						if cuts.IntN(2) == 0 { // the request gets no answer, and is not heeded
							return nil, errors.New("cut"), true
						}
					}
					return nil, nil, false
				})
				deaths := 0
				for err := errors.New("not yet"); err != nil; deaths++ {
					run, kill := context.WithCancel(ctx)
					die.Store(&kill)
					left.Store(1 + random.Int64N(60))
					if deaths > 6 {
						left.Store(-1)
					}
					err = Switch(run, p.Two, p.file("next"), true, quiet)
					if err != nil && deaths > 6 {
						t.Fatal(err)
					}
					if deaths == 3 { // the new space goes on meanwhile
						p.mustWork(&p.New, 1, 50, 75)
						to[1] = 75
					}
					kill()
				}
				left.Store(-1)
				p.wantOnce(from, to)
				p.afterSwitch(from, to)
			})
		}
	}
}

// afterSwitch fails unless the old instances end, the new ones write where readers read, and the
// way back is open.
func (p *pair) afterSwitch(from, to map[int]int64) {
	p.Helper()
	if err := p.work(&p.Old, 0, from[0], from[0]+5); !errors.Is(err, consumer.ErrHandedOver) {
		p.Errorf("an old instance: %v, want that its results were handed over", err)
	}
	next := p.space("next")
	if next.Output.Topic != "results" || next.Output.DeadLetterTopic != "letters" ||
		next.Input.Group != "clusterd-2" || next.Fingerprint.Method != "minhash" {
		p.Errorf("the configuration of after the switch: %+v", next.Output)
	}
	to[0] += 20
	p.mustWork(&next, 0, to[0]-20, to[0])
	p.wantOnce(from, to)

	if _, err := Back(p.Context(), p.Old, p.file("back")); err != nil {
		p.Fatal(err)
	}
	back := p.space("back")
	for partition, end := range to {
		if end > from[partition] {
			p.mustWork(&back, partition, from[partition], end+10)
		}
	}
	two := beside.Two{Old: next, New: back}
	if err := Switch(p.Context(), two, p.file("again"), false, quiet); err != nil {
		p.Fatal(err)
	}
	got := p.byArticle(&p.Old, "results", "letters")
	for partition, end := range to {
		if end <= from[partition] {
			continue
		}
		for offset := range end + 10 {
			source := article.Address{Topic: topic, Partition: partition, Offset: offset}.String()
			want := "clusterd"
			if offset >= from[partition] && offset < end {
				want = "clusterd-2"
			}
			if !slices.Equal(got[source], []string{want}) {
				p.Errorf("after the way back %s is of %q, want %s", source, got[source], want)
			}
		}
	}
	if again := p.space("again"); again.Output.Topic != "results" || again.Input.Group != "clusterd" {
		p.Errorf("the configuration of after the way back: %+v", again.Output)
	}
}

// A space whose results go to the partitions of their articles writes them there from the switch
// on, and is not switched to where they have none.
func TestSwitchPlacesBySource(t *testing.T) {
	t.Parallel()
	p := newPair(t, "topic")
	set := []string{"output.key=source", "output.partition=source"}
	if _, err := Plan(p.Old, "", set, p.file("placed")); err != nil {
		t.Fatal(err)
	}
	p.New = p.space("placed")
	for partition := range 3 {
		p.mustWork(&p.Old, partition, 0, 40)
		p.mustWork(&p.New, partition, 0, 60)
	}
	if err := p.cluster.CreateTopic("few", 2, nil); err != nil {
		t.Fatal(err)
	}
	few := p.Two
	few.Old.Output.Topic = "few"
	// The other one does not know the topic for a moment.
	few.Old.Client = kafkatest.Connect(t, kafka.Options{Brokers: p.cluster.ListenAddrs()})
	err := Switch(t.Context(), few, p.file("next"), false, quiet)
	if err == nil || !strings.Contains(err.Error(), "topic few has 2 partitions, and articles has 3") {
		t.Errorf("a switch to fewer partitions: %v", err)
	}
	if from, _, err := p.Old.HandedOver(t.Context()); err != nil || len(from) > 0 {
		t.Errorf("a refused switch marked %v, %v", from, err)
	}
	if err := Switch(t.Context(), p.Two, p.file("next"), false, quiet); err != nil {
		t.Fatal(err)
	}
	first, end, err := p.Old.Offsets(t.Context(), "results")
	if err != nil {
		t.Fatal(err)
	}
	copied := 0
	err = p.Old.Read(t.Context(), "results", first, end, func(r *kafka.Record) error {
		if at, _ := beside.SourceOf(r, topic); strings.Contains(string(r.Value), "clusterd-2") {
			copied++
			if r.Partition != at.Partition {
				t.Errorf("the result of %s is in partition %d", at, r.Partition)
			}
		}
		return nil
	})
	if err != nil || copied < 40 {
		t.Errorf("%d results were copied, %v", copied, err)
	}
}
