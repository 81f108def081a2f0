package space

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/simhash/hamming"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/space/state"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

// secret is a text that is to be erased. It does not compress away.
const secret = "Quartz-7Zebra: call 07700 900123"

// holds reports whether a file below dir has the secret.
func holds(t *testing.T, dir string) (found bool) {
	t.Helper()
	return holdsText(t, dir, "Quartz-7Zebra")
}

// holdsText reports whether a file below dir has a text.
func holdsText(t *testing.T, dir, text string) (found bool) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) { // the database has removed it meanwhile
			return nil
		}
		found = found || bytes.Contains(content, []byte(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// diskSpace opens the space in dir, with its clusters.
func diskSpace(t *testing.T, dir string) *Space {
	t.Helper()
	store, err := state.Open(dir, state.Identity{Input: "articles"}, state.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := New(hamming.Centres(hamming.NewBTree(3)), store, Options{
		Rule: singlepass.Rule{Window: time.Hour}, Labels: Labels{On: true},
	}, func() time.Time { return at(24 * time.Hour) })
	err = s.Load(context.Background(), func(singlepass.Fingerprint) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// erasure is a record that erases an article of a cluster.
func erasure(cluster, source article.Address) article.LabelRecord {
	return article.LabelRecord{
		Action: article.Erase, Cluster: cluster,
		Targeted: article.Targeted{Target: article.TargetArticle, Source: source},
	}
}

// secretSpace is a space on disk of many clusters, of which the first has the secret.
func secretSpace(t *testing.T, dir string) (s *Space, founder article.Address) {
	t.Helper()
	s = diskSpace(t, dir)
	var many []fingerprint.Article
	for i := range int64(200) {
		many = append(many, clustertest.Article(i, rand.Uint64(), at(time.Duration(i)*time.Second)))
	}
	many[0].Representative.Title, many[0].Representative.Excerpt = "", secret
	mustAssign(t, s, many)
	if err := s.store.Flush(); err != nil {
		t.Fatal(err)
	}
	return s, many[0].Source
}

// An erased text is gone from the cluster, from later results, from the disk and from copies, at
// once. The cluster goes on without it, also after it was opened again.
func TestEraseText(t *testing.T) {
	dir, copied := filepath.Join(t.TempDir(), "space"), filepath.Join(t.TempDir(), "copy")
	s, founder := secretSpace(t, dir)
	if !holds(t, dir) {
		t.Fatal("the secret cannot be found on disk")
	}
	c, _, err := s.Find(founder)
	if err != nil {
		t.Fatal(err)
	}
	b := do(t, s, []article.LabelRecord{erasure(founder, founder)}, true)
	want := article.Representative{ID: c.Representative.ID}
	if !b.Labelled[0].Changed || len(b.Touched) != 1 || b.Touched[0].Representative != want {
		t.Fatalf("%+v, %+v", b.Labelled, b.Touched)
	}
	if b.Touched[0].Position != c.Position || b.Touched[0].Size != c.Size {
		t.Errorf("the cluster has another member: %+v", b.Touched[0])
	}
	wait.Until(t, "the secret to be gone from disk", func() bool { return !holds(t, dir) })
	if _, err := s.CopyTo(copied); err != nil {
		t.Fatal(err)
	}
	if holds(t, copied) {
		t.Error("the secret is in a copy")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = diskSpace(t, dir)
	joined := clustertest.Article(300, c.Hash, at(time.Minute))
	a := mustAssign(t, s, []fingerprint.Article{joined}).Assignments[0]
	if a.ClusterID != founder.String() || a.Representative != want || a.Size != 2 {
		t.Errorf("a later article: %+v", a)
	}
	b = do(t, s, []article.LabelRecord{erasure(founder, founder)}, true)
	if b.Labelled[0].Changed || len(b.Touched) > 0 {
		t.Errorf("erased once more: %+v", b)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// What a crash left on disk behind an erasure goes when the disk is opened again.
func TestEraseTextAfterACrash(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "space")
	s, founder := secretSpace(t, dir)
	work := LabelWork{Records: []article.LabelRecord{erasure(founder, founder)}, Room: 100}
	b, err := s.AssignLabelled(work, clustertest.Each(nil), 0)
	if err == nil {
		err = s.Store(&b, s.Meta())
	}
	if err == nil {
		err = s.store.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	if !holds(t, dir) {
		t.Fatal("there is nothing left to do")
	}
	if err := s.Close(); err != nil { // without Publish
		t.Fatal(err)
	}
	s = diskSpace(t, dir)
	defer s.Close()
	wait.Until(t, "the secret to be gone from disk", func() bool { return !holds(t, dir) })
}

// What cannot be erased says so, and what has nothing to erase does nothing.
func TestEraseNothing(t *testing.T) {
	s := testSpace(t, time.Hour)
	first := clustertest.Article(0, 1, at(0))
	mustAssign(t, s, []fingerprint.Article{first, clustertest.Article(1, 1, at(0))})
	unknown := article.Address{Topic: "articles", Offset: 7}
	b := do(t, s, []article.LabelRecord{
		erasure(unknown, unknown),
		erasure(first.Source, article.Address{Topic: "articles", Partition: 1, Offset: 1}),
	}, true)
	if why := b.Labelled[0].Rejection; why == nil || why.Class != article.UnknownCluster {
		t.Errorf("of no cluster: %v", why)
	}
	if l := b.Labelled[1]; l.Rejection != nil || l.Changed || len(b.Touched) > 0 {
		t.Errorf("another member: %+v", l)
	}
}

// A cluster that has expired is erased as long as it is there.
func TestEraseAnExpiredCluster(t *testing.T) {
	s := testSpace(t, time.Hour)
	var many []fingerprint.Article
	for i := range int64(maxCollected + 10) {
		many = append(many, clustertest.Article(i, rand.Uint64(), at(time.Duration(i)*time.Millisecond)))
	}
	late := many[len(many)-1]
	mustAssign(t, s, many)
	mustAssign(t, s, []fingerprint.Article{clustertest.Article(5000, 1, at(5*time.Hour))})
	c, ok, err := s.Find(late.Source)
	if !ok || err != nil || !s.rule.Expired("", c.SeenAs()) {
		t.Fatal("no cluster has expired and waits to be removed", ok, err)
	}
	do(t, s, []article.LabelRecord{erasure(late.Source, late.Source)}, true)
	if c, _, err = s.Find(late.Source); err != nil || c.Representative.Title != "" {
		t.Errorf("%+v, %v", c.Representative, err)
	}
}

// An erasure that is taken back has erased nothing.
func TestEraseIsRolledBack(t *testing.T) {
	s := testSpace(t, time.Hour)
	first := clustertest.Article(0, 1, at(0))
	mustAssign(t, s, []fingerprint.Article{first})
	do(t, s, []article.LabelRecord{erasure(first.Source, first.Source)}, false)
	b := mustAssign(t, s, []fingerprint.Article{clustertest.Article(3, 1, at(0))})
	if got := b.Assignments[0].Representative; got != first.Representative {
		t.Errorf("%+v", got)
	}
}

// A headline goes with the text of its cluster, in the story that the cluster is in and in those
// that it was in.
func TestEraseTextOfStories(t *testing.T) {
	feed := &events{Rand: rand.New(rand.NewPCG(1, 12))}
	s := openStories(t, emptyStore(t))
	defer s.Close()
	for range 200 {
		mustAssign(t, s, []fingerprint.Article{feed.next()})
	}
	clusters := s.live(t)
	var records []article.LabelRecord
	erased := make(map[string]bool)
	for i := range clusters {
		records = append(records, erasure(clusters[i].Founder, clusters[i].Founder))
		erased[clusters[i].ID()] = true
	}
	b := do(t, s, records, true)
	// Those of clusters that have expired are erased by their ids.
	expired := erasedLater(t, s, erased)
	if len(b.Stories) < 2 || len(expired) == 0 {
		t.Fatalf("%d stories, of which %d have a headline of before", len(b.Stories), len(expired))
	}
	do(t, s, expired, true)
	err := s.store.Stories(t.Context(), func(story *cluster.Story) error {
		if story.Terms != "" || story.Headline.Title != "" || story.OwnHeadline.Title != "" {
			t.Errorf("story %s: %q, %q", story.Address, story.Headline.Title, story.Terms)
		}
		return story.Validate()
	})
	if err != nil {
		t.Error(err)
	}
}

// erasedLater returns records that erase the headlines that stories have of other clusters.
func erasedLater(
	t *testing.T, s *Space, erased map[string]bool,
) (records []article.LabelRecord) {
	t.Helper()
	err := s.store.Stories(t.Context(), func(story *cluster.Story) error {
		if id := story.Headline.Cluster; !erased[id] && story.Headline.Title != "" {
			founder, err := article.ParseAddress(id)
			records = append(records, erasure(founder, founder))
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return records
}
