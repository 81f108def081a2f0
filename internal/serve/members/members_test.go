package members

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

// each runs a test for both keys that results may have.
func each(t *testing.T, do func(t *testing.T, bySource bool)) {
	for name, bySource := range map[string]bool{"key: cluster": false, "key: source": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			do(t, bySource)
		})
	}
}

// pages returns all members of a cluster from the view, by pages.
func (w *world) pages(v *View, cluster string, limit int) (found []Member, complete bool) {
	w.Helper()
	for from := uint64(0); ; {
		page, err := v.Range(w.Context(), cluster, from, math.MaxUint64, limit)
		if err != nil {
			w.Fatal(err)
		}
		if len(page.Members) > limit || page.More && len(page.Members) == 0 {
			w.Fatalf("a page of %d members, at most %d, and more: %t", len(page.Members), limit, page.More)
		}
		found = append(found, page.Members...)
		if from = page.Next; !page.More {
			return found, page.Complete
		}
	}
}

// check compares the view to what is in the topic. It returns how many clusters are complete.
func (w *world) check(v *View) (complete int) {
	w.Helper()
	w.caughtUp(v)
	all := v.Stats().Complete
	for _, id := range w.clusters {
		want := w.members[id]
		got, whole := w.pages(v, id, 1+w.random.IntN(20))
		if whole {
			complete++
		}
		if all && !whole {
			w.Errorf("the view is complete, and cluster %s is not", id)
		}
		if !whole || w.bySource && !all { // the newest of what was read, in order
			want = slices.DeleteFunc(slices.Clone(want), func(m Member) bool {
				return !slices.ContainsFunc(got, func(g Member) bool { return g.Position == m.Position })
			})
			if suffix := w.members[id][len(w.members[id])-len(want):]; !w.bySource && len(want) > 0 &&
				want[0].Position != suffix[0].Position {
				w.Errorf("cluster %s lacks members that are newer than others", id)
			}
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			w.Fatalf("cluster %s (-want +got)\n%s", id, diff)
		}
	}
	for id, want := range w.articles {
		if len(w.articles) > 5000 && w.random.IntN(10) > 0 {
			continue // some will do
		}
		got, found, err := v.latest(id)
		if err != nil {
			w.Fatal(err)
		}
		if found != all && all || found && got.Written == want.Written && cmp.Diff(want, got) != "" ||
			found && all && got.Written != want.Written {
			w.Fatalf("article %s: found %t (-want +got)\n%s", id, found, cmp.Diff(want, got))
		}
	}
	return complete
}

// before asks until the view answers.
func (w *world) before(v *View, cluster string, from, before uint64, limit int) []article.Member {
	w.Helper()
	var found []article.Member
	wait.Until(w, "the members of "+cluster, func() bool {
		got, complete, err := v.Before(w.Context(), cluster, from, before, limit)
		if err != nil {
			w.Fatal(err)
		}
		found = got
		return complete
	})
	return found
}

// checkBefore compares what Before says of some clusters to what is in the topic.
func (w *world) checkBefore(v *View) {
	w.Helper()
	for range 5 {
		id := w.clusters[w.random.IntN(len(w.clusters))]
		before := w.random.Uint64N(w.position + 1)
		var want, got []article.Member
		for _, m := range w.members[id] {
			if m.Position < before {
				want = append(want, article.Member{
					ArticleID: m.ArticleID, Position: m.Position, Source: m.Source,
					Fingerprint: m.Fingerprint, Size: m.Size,
				})
			}
		}
		limit := 1 + w.random.IntN(40)
		for from := uint64(0); ; from = got[len(got)-1].Position + 1 {
			page := w.before(v, id, from, before, limit)
			if got = append(got, page...); len(page) < limit {
				break
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			w.Fatalf("cluster %s before %d (-want +got)\n%s", id, before, diff)
		}
	}
}

// checkManyBefore asks for the members of many clusters by turns, as a worker does that has labels
// of all of them to tell.
func (w *world) checkManyBefore(v *View) {
	w.Helper()
	got := make(map[string][]article.Member)
	open := slices.Clone(w.clusters[:min(len(w.clusters), 100)])
	wait.Until(w, "the members of many clusters", func() bool {
		open = slices.DeleteFunc(open, func(id string) bool {
			from := uint64(0)
			if known := got[id]; len(known) > 0 {
				from = known[len(known)-1].Position + 1
			}
			found, complete, err := v.Before(w.Context(), id, from, w.position, 30)
			if err != nil {
				w.Fatal(err)
			}
			got[id] = append(got[id], found...)
			return complete && len(found) < 30
		})
		return len(open) == 0
	})
	for id, members := range got {
		var want []article.Member
		for i := range w.members[id] {
			want = append(want, brief(&w.members[id][i]))
		}
		if diff := cmp.Diff(want, members); diff != "" {
			w.Fatalf("cluster %s (-want +got)\n%s", id, diff)
		}
	}
}

// Whatever happens to a view, it says what the topic says, or says what it has left out.
func TestViewIsTheTopic(t *testing.T) {
	each(t, func(t *testing.T, bySource bool) {
		w, dir := newWorld(t, 1, bySource), t.TempDir()
		v := w.view(dir, 64<<20)
		for step := range 12 {
			w.write(1+w.random.IntN(400), w.random.IntN(4) > 0)
			switch step % 4 {
			case 1: // in order
				v.stop()
				w.write(50, true)
				v = w.view(dir, 64<<20)
			case 3: // what was not flushed is lost
				w.caughtUp(v.View)
				other := wait.CopyDir(t, dir)
				v.stop()
				dir = other
				v = w.view(dir, 64<<20)
			}
			if complete := w.check(v.View); complete != len(w.clusters) {
				t.Errorf("%d of %d clusters are complete", complete, len(w.clusters))
			}
			w.checkBefore(v.View)
		}
		if s := v.Stats(); !s.Complete || s.Lag != 0 || s.Oldest == 0 {
			t.Errorf("stats %+v, want them complete", s)
		}
		wait.Until(t, "a fetch that says the same", func() bool {
			s := v.polled.Load()
			return s != nil && *s == v.Stats()
		})
	})
}

// A view that is full leaves the oldest out, takes no more disk than it may, and says so; and
// Before has all members all the same.
func TestViewIsBounded(t *testing.T) {
	each(t, func(t *testing.T, bySource bool) {
		const bytes = 1 << 20
		w, dir := newWorld(t, 2, bySource), t.TempDir()
		v := w.view(dir, bytes)
		turned := 0
		for range 12 {
			w.write(2000, true)
			w.caughtUp(v.View)
			// Files that the database has replaced are deleted in the background.
			wait.Until(t, "the view to take what it may", func() bool { return used(t, dir) <= bytes })
			if s := v.Stats(); !s.Complete {
				turned++
			}
		}
		if turned < 3 {
			t.Fatalf("the view was full %d times: nothing was left out", turned)
		}
		if complete := w.check(v.View); complete == 0 || complete == len(w.clusters) {
			t.Errorf("%d of %d clusters are complete", complete, len(w.clusters))
		}
		if s := v.Stats(); s.Members < uint64(w.position)/10 {
			t.Errorf("%+v of %d results", s, w.position)
		}
		w.checkBefore(v.View)
		w.checkManyBefore(v.View)
		v.stop()
		v = w.view(dir, bytes)
		w.check(v.View)
		if v.Stats().Complete {
			t.Error("a view that has left results out says that it has all")
		}
	})
}

// used is how many bytes the files in a directory have.
func used(t *testing.T, dir string) (size int64) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if info, err := os.Stat(name); err == nil { // a file may be gone since
			size += info.Size()
		}
	}
	return size
}

// What is damaged is made anew, whenever that shows.
func TestViewIsMadeAnew(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, dir string){
		"cut": func(t *testing.T, dir string) {
			for _, name := range files(t, dir, "*.sst") {
				if err := os.Truncate(name, 100); err != nil {
					t.Fatal(err)
				}
			}
		},
		"flipped": func(t *testing.T, dir string) {
			for _, name := range files(t, dir, "*.sst") {
				content, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				for i := 0; i < len(content); i += 100 {
					content[i] ^= 4
				}
				if err := os.WriteFile(name, content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		},
		"manifest": func(t *testing.T, dir string) {
			for _, name := range files(t, dir, "MANIFEST*") {
				if err := os.Remove(name); err != nil {
					t.Fatal(err)
				}
			}
		},
		"lost": func(t *testing.T, dir string) {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, dir := newWorld(t, 3, false), t.TempDir()
			v := w.view(dir, 64<<20)
			w.write(3000, true)
			w.caughtUp(v.View)
			v.stop()
			damage(t, dir)
			v = w.view(dir, 64<<20)
			w.caughtUp(v.View)
			wait.Until(t, "the view to be made anew", func() bool {
				for _, id := range w.clusters {
					if _, err := v.Range(t.Context(), id, 0, math.MaxUint64, 100); err != nil {
						return false
					}
				}
				return v.Stats().Complete
			})
			w.check(v.View)
		})
	}
}

func files(t *testing.T, dir, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*", pattern))
	if err != nil || len(names) == 0 {
		t.Fatalf("no %s in %s: %v", pattern, dir, err)
	}
	return names
}

// The disk of one topic is no view of another.
func TestViewOfAnotherTopic(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := newWorld(t, 4, false)
	v := w.view(dir, 64<<20)
	w.write(500, true)
	w.caughtUp(v.View)
	v.stop()
	for name, other := range map[string]*world{
		"shorter": newWorld(t, 5, false), "longer": newWorld(t, 6, false),
	} {
		n := 100
		if name == "longer" {
			n = 3000
		}
		other.write(n, true)
		v := other.view(dir, 64<<20)
		other.check(v.View)
		if s := v.Stats(); !s.Complete {
			t.Errorf("%s: %+v, want all of the other topic", name, s)
		}
		v.stop()
	}
}

// A group that starts anew writes the results of the same articles again. What the one before it
// wrote of a cluster is none of its members.
func TestResultsOfAnEarlierGroup(t *testing.T) {
	each(t, func(t *testing.T, bySource bool) {
		w := newWorld(t, 7, bySource)
		w.write(2000, true)
		v := w.view(t.TempDir(), 64<<20)
		w.caughtUp(v.View)
		old := w.clusters
		w.clusters, w.members, w.articles = nil, make(map[string][]Member), make(map[string]Member)
		w.position, w.source = 0, 0
		w.random = rand.New(rand.NewPCG(7, 1))
		w.clock += 10 * time.Minute.Milliseconds()
		w.write(1500, true)
		w.caughtUp(v.View)
		shared := 0
		for _, id := range w.clusters {
			if slices.Contains(old, id) {
				shared++
			}
			got, _ := w.pages(v.View, id, 100)
			if diff := cmp.Diff(w.members[id], got); diff != "" {
				t.Fatalf("cluster %s (-want +got)\n%s", id, diff)
			}
		}
		if shared < 10 {
			t.Errorf("%d clusters are those of before: nothing is tested", shared)
		}
		w.checkBefore(v.View)
	})
}

// What nobody but clusterd can have written is no member, and stops nothing.
func TestRecordsThatAreNoResults(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 8, false)
	w.write(10, true)
	good := w.next()
	r := w.record(&good)
	for _, value := range []string{
		"", "{", "[]", "7", `{"article_id":"x"}`,
		strings.Replace(string(r.Value), `,"size":`, `,"size":-`, 1),
		strings.Replace(string(r.Value), `"status":"`, `"status":"re`, 1),
		`{"article_id":"x","cluster_id":"articles/0/1","status":"joined","size":2,` +
			`"source":{"topic":"others","partition":0,"offset":1}}`,
		`{"article_id":"x","cluster_id":"articles/0/01","status":"joined","size":2,` +
			`"source":{"topic":"articles","partition":0,"offset":1}}`,
	} {
		odd := *r
		odd.Value = []byte(value)
		if err := w.writer.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		if err := w.writer.ProduceSync(t.Context(), &odd).FirstErr(); err != nil {
			t.Fatal(err)
		}
		if err := w.writer.EndTransaction(t.Context(), true); err != nil {
			t.Fatal(err)
		}
	}
	v := w.view(t.TempDir(), 64<<20)
	w.caughtUp(v.View)
	if s := v.Stats(); s.Members != 10 {
		t.Errorf("%d members, want the 10 that are some", s.Members)
	}
	w.check(v.View)
}

func TestTimeline(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 9, true)
	w.write(3000, true)
	v := w.view(t.TempDir(), 64<<20)
	w.caughtUp(v.View)
	id := w.clusters[0]
	const hour = 60 * 60 * 1000
	want := make(map[int64]int)
	for _, m := range w.members[id] {
		want[m.EventTime/hour*hour]++
	}
	got, err := v.Timeline(t.Context(), id, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	counts := make(map[int64]int)
	for _, c := range got.Counts {
		counts[c.Start] = c.Members
	}
	diff := cmp.Diff(want, counts)
	if diff != "" || got.Members != len(w.members[id]) || !got.Complete {
		t.Errorf("%d members, complete %t (-want +got)\n%s", got.Members, got.Complete, diff)
	}
	if !slices.IsSortedFunc(got.Counts, func(a, b Count) int { return int(a.Start - b.Start) }) {
		t.Errorf("%v is not ascending", got.Counts)
	}
}

// A question before the view is open says so.
func TestNotReady(t *testing.T) {
	v := New(Options{Input: "articles"})
	if _, err := v.Range(t.Context(), "articles/0/1", 0, 1, 1); err != api.ErrNotReady {
		t.Errorf("Members = %v", err)
	}
	if s := v.Stats(); s.Lag != -1 || s.Complete {
		t.Errorf("Stats = %+v", s)
	}
	if _, err := v.Range(t.Context(), "articles", 0, 1, 1); err == nil {
		t.Error("an id that is none is taken")
	}
}
