package answers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	v1 "github.com/clusterd/clusterd/internal/serve/http/v1"
	"github.com/clusterd/clusterd/internal/serve/lookup"
	"github.com/clusterd/clusterd/internal/serve/members"
	"github.com/clusterd/clusterd/internal/simhash/hamming"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/space/state"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

func TestMain(m *testing.M) { wait.Main(m) }

// results are a topic of results, and the view of it.
type results struct {
	*Members
	writer *kgo.Client
	n      int
}

func newResults(t *testing.T) *results {
	t.Helper()
	cluster := kafkatest.Start(t, 1, kfake.SeedTopics(1, "results"))
	view := members.New(members.Options{
		Client: kafkatest.Connect(t, kafka.Options{Brokers: cluster.ListenAddrs()}),
		Log:    slog.New(slog.DiscardHandler), Dir: t.TempDir(), Topic: "results", Input: "articles",
		Bytes: 64 << 20,
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		view.Run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
	writer, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(writer.Close)
	return &results{
		Members: &Members{View: view, Fresh: &Fresh{
			Spaces: lookup.New(lookup.Options{}), View: view,
		}},
		writer: writer,
	}
}

// write writes the result of a founder with this id, and returns its cluster and where it is.
func (r *results) write(t *testing.T, id string) (cluster string, result, source article.Address) {
	t.Helper()
	source = article.Address{Topic: "articles", Offset: int64(r.n)}
	cluster, distance := source.String(), 0.0
	value := article.Result{
		ArticleID: id, ClusterID: &cluster, Status: article.New, Distance: &distance, Size: 1,
		Source: source, Pipeline: "test", Representative: &article.Representative{ID: id},
	}
	number := strconv.AppendInt(nil, int64(r.n), 10)
	record := &kgo.Record{
		Topic: "results", Value: value.JSON(), Timestamp: time.UnixMilli(int64(r.n)),
		Headers: []kgo.RecordHeader{
			{Key: article.HeaderSource, Value: []byte(cluster)},
			{Key: article.HeaderPosition, Value: number},
			{Key: article.HeaderEventTime, Value: number},
		},
	}
	r.n++
	if err := r.writer.ProduceSync(t.Context(), record).FirstErr(); err != nil {
		t.Fatal(err)
	}
	return cluster, article.Address{Topic: "results", Offset: record.Offset}, source
}

// open waits until the view answers.
func (r *results) open(t *testing.T) {
	t.Helper()
	wait.Until(t, "the view is open", func() bool {
		_, _, _, err := r.Article(t.Context(), "none")
		return errors.Is(err, v1.ErrUnknown)
	})
}

// An article that has a result when the question comes is found, though the view has not read it
// then. Of two articles with one id, the one that somebody was told of is found.
func TestResultsThatAreCommittedAreFound(t *testing.T) {
	r := newResults(t)
	r.open(t)
	for i := range 60 {
		id := fmt.Sprint("id-", i)
		cluster, _, _ := r.write(t, id)
		if _, got, _, err := r.Article(t.Context(), id); err != nil || got != cluster {
			t.Errorf("article %s: %q, %v", id, got, err)
		}
		cluster, _, _ = r.write(t, "of a cluster")
		page, _, _, err := r.Members.Members(t.Context(), cluster, 0, 10)
		if err != nil || len(page) != 1 {
			t.Errorf("cluster %s: %v, %v", cluster, page, err)
		}
		cluster, result, source := r.write(t, "again")
		r.Fresh.note("again", result, source)
		if _, got, _, err := r.Article(t.Context(), "again"); err != nil || got != cluster {
			t.Errorf("the article that came again: %q, %v; want %q", got, err, cluster)
		}
	}
	if len(r.Fresh.results) > 0 {
		t.Errorf("kept though they were read: %v", r.Fresh.results)
	}
	began := time.Now()
	if _, _, _, err := r.Article(t.Context(), "none"); !errors.Is(err, v1.ErrUnknown) {
		t.Errorf("no article: %v", err)
	}
	if _, _, _, err := r.Members.Members(t.Context(), "articles/0/9999", 0, 10); !errors.Is(err,
		v1.ErrUnknown) {
		t.Errorf("no cluster: %v", err)
	}
	if took := time.Since(began); took > freshWait/2 {
		t.Errorf("to say that something is not there took %v", took)
	}
}

// A view that does not get there in time is no reason to say that there is nothing.
func TestViewThatIsLate(t *testing.T) {
	r := newResults(t)
	r.open(t)
	_, result, source := r.write(t, "a")
	result.Offset += 1000 // that the view will not read
	r.Fresh.note("a", result, source)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, _, err := r.Article(ctx, "a"); !errors.Is(err, v1.ErrLate) {
		t.Errorf("%v, want %v", err, v1.ErrLate)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, _, err := r.Article(gone, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("who asked has gone: %v", err)
	}
}

// A deskSpace is a space that answers.
type deskSpace struct {
	*Spaces
	*testing.T
	space *space.Space
	next  int64
}

func newDeskSpace(t *testing.T, end int64) *deskSpace {
	t.Helper()
	return deskSpaceOf(t, end, space.Options{})
}

// newMarkingSpace returns a space in which labels mark contacts.
func newMarkingSpace(t *testing.T) *deskSpace {
	t.Helper()
	d := deskSpaceOf(t, 100, space.Options{
		Labels: space.Labels{On: true, Allow: []string{"ham"}, Flood: 1}, Marks: true,
	})
	d.Allow = []string{"ham"}
	return d
}

func deskSpaceOf(t *testing.T, end int64, o space.Options) *deskSpace {
	t.Helper()
	o.Distance = func(a, b singlepass.Fingerprint) float64 { return 1 }
	store, err := state.OpenInMemory(state.Identity{Input: "articles"})
	if err != nil {
		t.Fatal(err)
	}
	s := space.New(hamming.Centres(hamming.NewBTree(0)), store, o, time.Now)
	if err := s.Load(t.Context(), func(singlepass.Fingerprint) error { return nil }); err != nil {
		t.Fatal(err)
	}
	c := config.Default()
	c.Input.Topic, c.Fingerprint.Method = "articles", "exact"
	service := lookup.New(lookup.Options{Config: c})
	made, err := fingerprint.New(c)
	if err != nil {
		t.Fatal(err)
	}
	service.Begin(made)
	service.Publish("all", s)
	t.Cleanup(func() {
		service.Withdraw("all")
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	fresh := &Fresh{
		Spaces: service, End: func(context.Context, int) (int64, error) { return end, nil },
	}
	return &deskSpace{Spaces: &Spaces{Lookup: service, Fresh: fresh}, T: t, space: s}
}

// commit takes an article in.
func (d *deskSpace) commit(hash uint64) {
	d.Helper()
	a := clustertest.Article(d.next, hash, time.Now())
	a.RecordedAt, a.Source = a.PublishedAt, article.Address{Topic: "articles", Offset: d.next}
	b, err := d.space.Assign(clustertest.Each([]fingerprint.Article{a}), 1)
	d.next++
	m := d.space.Meta()
	m.Checkpoint = &checkpoint.Record{
		Offsets: map[int]int64{0: d.next}, NextPosition: b.Next(), StreamTime: a.PublishedAt.UnixMilli(),
	}
	if err == nil {
		err = d.space.Commit(b, m)
	}
	if err != nil {
		d.Fatal(err)
	}
}

// soon calls do a moment later.
func soon(t *testing.T, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		time.Sleep(20 * time.Millisecond)
		do()
	}()
	t.Cleanup(func() { <-done })
}

// An answer waits for a cluster that its space has not stored yet, if its article is in the input.
// If the article is not in the input, the answer comes at once.
func TestClustersThatAreCommittedAreFound(t *testing.T) {
	d := newDeskSpace(t, 3)
	d.commit(1)
	soon(t, func() { d.commit(0xff00) })
	c, _, err := d.Cluster(t.Context(), "articles/0/1")
	if err != nil || c.ClusterID != "articles/0/1" {
		t.Errorf("%+v, %v", c, err)
	}
	soon(t, func() { d.commit(0xff00) })
	if _, _, err := d.Cluster(t.Context(), "articles/0/2"); !errors.Is(err, v1.ErrUnknown) {
		t.Errorf("an article that founds none: %v", err)
	}
	began := time.Now()
	for _, id := range []string{
		"articles/0/0", "articles/0/3", "articles/0/2", "others/0/7", "articles/x", "",
	} {
		_, _, err := d.Cluster(t.Context(), id)
		if there := id == "articles/0/0"; errors.Is(err, v1.ErrUnknown) == there {
			t.Errorf("%q: %v", id, err)
		}
		if _, err := d.Story(t.Context(), id, "", 10); !errors.Is(err, v1.ErrUnknown) {
			t.Errorf("story %q: %v", id, err)
		}
		if _, err := d.Part(t.Context(), id, id); !errors.Is(err, v1.ErrUnknown) {
			t.Errorf("part %q: %v", id, err)
		}
	}
	if took := time.Since(began); took > freshWait/2 {
		t.Errorf("these answers took %v", took)
	}
	late := newDeskSpace(t, 3)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := late.Cluster(ctx, "articles/0/1"); !errors.Is(err, v1.ErrLate) {
		t.Errorf("%v, want %v", err, v1.ErrLate)
	}
}

// A text is not new if somebody was told the result of a copy before it is asked for.
func TestCheckSeesWhatWasToldOf(t *testing.T) {
	d := newDeskSpace(t, 3)
	d.commit(1)
	text := []api.Text{{Content: "a text that nobody has sent before this test"}}
	by, err := fingerprint.New(func() config.Config {
		c := config.Default()
		c.Fingerprint.Method = "exact"
		return c
	}())
	if err != nil {
		t.Fatal(err)
	}
	made := by.One(article.Article{Content: text[0].Content})
	checked := func() article.Status {
		t.Helper()
		all, err := d.Check(t.Context(), text, api.CheckOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return all[0].Status
	}
	if got := checked(); got != article.New {
		t.Errorf("before: %s", got)
	}
	d.Fresh.note("a", article.Address{}, article.Address{Topic: "articles", Offset: 1})
	soon(t, func() { d.commit(made.Fingerprint.Hash) })
	if got := checked(); got != article.Joined {
		t.Errorf("after somebody was told: %s", got)
	}
}
