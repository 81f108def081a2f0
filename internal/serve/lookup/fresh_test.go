package lookup

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/serve/fresh"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

func TestMain(m *testing.M) { wait.Main(m) }

// A deskSpace is a space that answers.
type deskSpace struct {
	*Service
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
	d.options.Config.Labels.Allow = []string{"ham"}
	return d
}

func deskSpaceOf(t *testing.T, end int64, o space.Options) *deskSpace {
	t.Helper()
	o.Distance = func(a, b singlepass.Fingerprint) float64 { return 1 }
	s := openSpace(t, time.Now, o)
	c := config.Default()
	c.Input.Topic, c.Fingerprint.Method = "articles", "exact"
	service := New(Options{
		Config: c, End: func(context.Context, int) (int64, error) { return end, nil },
	})
	made, err := fingerprint.New(c)
	if err != nil {
		t.Fatal(err)
	}
	service.Begin(made)
	service.Publish("all", s)
	t.Cleanup(func() { service.Withdraw("all") })
	return &deskSpace{Service: service, T: t, space: s}
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
	if _, _, err := d.Cluster(t.Context(), "articles/0/2"); !errors.Is(err, api.ErrUnknown) {
		t.Errorf("an article that founds none: %v", err)
	}
	began := time.Now()
	for _, id := range []string{
		"articles/0/0", "articles/0/3", "articles/0/2", "others/0/7", "articles/x", "",
	} {
		_, _, err := d.Cluster(t.Context(), id)
		if there := id == "articles/0/0"; errors.Is(err, api.ErrUnknown) == there {
			t.Errorf("%q: %v", id, err)
		}
		if _, err := d.Story(t.Context(), id, "", 10); !errors.Is(err, api.ErrUnknown) {
			t.Errorf("story %q: %v", id, err)
		}
		if _, err := d.Part(t.Context(), id, id); !errors.Is(err, api.ErrUnknown) {
			t.Errorf("part %q: %v", id, err)
		}
	}
	if took := time.Since(began); took > fresh.Wait/2 {
		t.Errorf("these answers took %v", took)
	}
	late := newDeskSpace(t, 3)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := late.Cluster(ctx, "articles/0/1"); !errors.Is(err, api.ErrLate) {
		t.Errorf("%v, want %v", err, api.ErrLate)
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
	d.Told(article.Address{Topic: "articles", Offset: 1})
	soon(t, func() { d.commit(made.Fingerprint.Hash) })
	if got := checked(); got != article.Joined {
		t.Errorf("after somebody was told: %s", got)
	}
}
