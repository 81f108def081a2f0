package state_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space/state"
)

const dir = "space-all"

func identity() state.Identity {
	return state.Identity{
		Kafka: "k", Clusters: "clusters", Input: "articles", Group: "g", Space: "all",
		Pipeline: "simhash=1",
	}
}

func wallClock() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }

// options are those of a store on this disk.
func options(disk vfs.FS) state.Options { return state.Options{FS: disk, Now: wallClock} }

func open(t testing.TB, disk vfs.FS) *state.Store {
	t.Helper()
	s, err := state.Open(dir, identity(), options(disk))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func closeStore(t testing.TB, s *state.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// founded is a cluster of one article, seen at a time.
func founded(seq uint64, at int64) cluster.Cluster {
	return cluster.Cluster{
		Centre: singlepass.Centre{
			Fingerprint: singlepass.Fingerprint{
				Hash: seq * 0x9e3779b97f4a7c15, Sketch: strings.Repeat("s", int(seq%3)),
			},
			Seq: seq,
		},
		Founder: article.Address{Topic: "articles", Partition: int(seq % 3), Offset: int64(seq)},
		Size:    1, FirstSeen: at, LastSeen: at, Position: seq,
		Representative: article.Representative{
			ID: fmt.Sprintf("id-%d", seq), Title: fmt.Sprintf("标题 %d", seq),
		},
	}
}

// joined is c with one more article.
func joined(c cluster.Cluster, position uint64, at int64) cluster.Cluster {
	c.Join(position, at)
	return c
}

// model is what a store must hold.
type model struct {
	clusters map[uint64]cluster.Cluster
	meta     state.Meta
}

func newModel() model {
	return model{make(map[uint64]cluster.Cluster), state.Meta{
		Offsets: make(map[int]int64), Last: make(map[int]state.LastRecord), Founders: make(map[int]int64),
	}}
}

func (m model) clone() model {
	c := model{maps.Clone(m.clusters), m.meta}
	c.meta.Offsets, c.meta.Last, c.meta.Founders = maps.Clone(m.meta.Offsets), maps.Clone(m.meta.Last),
		maps.Clone(m.meta.Founders)
	return c
}

// apply changes model and store alike. Step is the mark.
func (m *model) apply(s *state.Store, step int64, put, remove []cluster.Cluster) error {
	m.meta.Offsets[0], m.meta.Last[0] = step, state.LastRecord{Offset: step - 1, Key: fmt.Sprint(step)}
	m.meta.Written = wallClock()
	for _, c := range put {
		m.clusters[c.Seq] = c
		m.meta.Next, m.meta.StreamTime = max(m.meta.Next, c.Position+1),
			max(m.meta.StreamTime, c.LastSeen)
		m.meta.Founders[c.Founder.Partition] = max(m.meta.Founders[c.Founder.Partition], c.Founder.Offset)
	}
	for _, c := range remove {
		delete(m.clusters, c.Seq)
	}
	return s.Apply(put, remove, m.meta)
}

// difference is how the store differs from the model; the error is the store's.
func (m model) difference(t testing.TB, s *state.Store) (string, error) {
	t.Helper()
	if s.Len() != len(m.clusters) {
		return fmt.Sprintf("%d clusters, want %d", s.Len(), len(m.clusters)), nil
	}
	if diff := cmp.Diff(m.meta, s.Meta()); diff != "" {
		return "meta (-want +got):\n" + diff, nil
	}
	got, centres, want := make(map[uint64]cluster.Cluster), make(map[uint64]singlepass.Centre),
		make(map[uint64]singlepass.Centre)
	for seq := range m.meta.Next + 1 {
		c, ok, err := s.Get(seq)
		if err != nil {
			return "", err
		}
		if ok {
			got[seq] = c
		}
		found, known, err := s.Find(founded(seq, 0).Founder)
		if err != nil {
			return "", err
		}
		if known != ok || found != c {
			return fmt.Sprintf("Find = %+v, %t, and Get = %+v, %t", found, known, c, ok), nil
		}
	}
	for seq, c := range m.clusters {
		want[seq] = c.Centre
	}
	err := s.Centres(t.Context(), func(c singlepass.Centre, lastSeen int64) error {
		if k := m.clusters[c.Seq]; lastSeen > k.SeenAs() {
			return fmt.Errorf("centre %d counts as seen at %d, and comes with %d", c.Seq, k.SeenAs(),
				lastSeen)
		}
		if _, ok := centres[c.Seq]; ok {
			return fmt.Errorf("centre %d comes twice", c.Seq)
		}
		centres[c.Seq] = c
		return nil
	})
	if err != nil {
		return "", err
	}
	overdue, err := s.Overdue("", math.MaxInt64, len(m.clusters)+1)
	if err != nil {
		return "", err
	}
	if len(overdue) != len(m.clusters) {
		return fmt.Sprintf("%d clusters are overdue at the end of time, want %d", len(overdue),
			len(m.clusters)), nil
	}
	labelled := make(map[uint64]singlepass.Centre)
	for seq, c := range m.clusters {
		if c.Labels != "" {
			c.Contacts = ""
			labelled[seq] = c.Centre
		}
	}
	snapshot := s.Snapshot()
	defer snapshot.Close()
	of := make(map[uint64]singlepass.Centre)
	for _, c := range snapshot.Labelled() {
		of[c.Seq] = c
	}
	return cmp.Diff(m.clusters, got) + cmp.Diff(want, centres) + cmp.Diff(labelled, of), nil
}

func (m model) check(t testing.TB, s *state.Store) {
	t.Helper()
	diff, err := m.difference(t, s)
	if err != nil {
		t.Fatal(err)
	}
	if diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
}

// refused reports whether err says that the store must be made anew.
func refused(err error) bool {
	return errors.Is(err, state.ErrDamaged) || errors.Is(err, state.ErrForeign)
}

// read is all files of the store.
func read(t testing.TB, disk vfs.FS) map[string][]byte {
	t.Helper()
	names, err := disk.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	files := make(map[string][]byte)
	for _, name := range names {
		f, err := disk.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		content := make([]byte, info.Size())
		if _, err := f.ReadAt(content, 0); len(content) > 0 && err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		files[name] = content
	}
	return files
}

// write is a disk with a store of these files.
func write(t testing.TB, files map[string][]byte) vfs.FS {
	t.Helper()
	disk := vfs.NewMem()
	if err := disk.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		f, err := disk.Create(filepath.Join(dir, name), vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(bytes.Clone(content)); err != nil { // Write may change what it is given
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return disk
}

// rewriteHeader changes the description of a store behind its back; to nil, it is deleted.
func rewriteHeader(t *testing.T, disk vfs.FS, change func([]byte) []byte) {
	t.Helper()
	db, err := pebble.Open(dir, &pebble.Options{
		FS: disk, FormatMajorVersion: pebble.FormatNewest, DisableWAL: true, Logger: quiet{},
	})
	if err != nil {
		t.Fatal(err)
	}
	value, closer, err := db.Get([]byte("m"))
	if err != nil {
		t.Fatal(err)
	}
	if value := change(value); value != nil {
		err = db.Set([]byte("m"), value, pebble.NoSync)
	} else {
		err = db.Delete([]byte("m"), pebble.NoSync)
	}
	if err := errors.Join(err, closer.Close(), db.Flush(), db.Close()); err != nil {
		t.Fatal(err)
	}
}

type quiet struct{}

func (quiet) Infof(string, ...any)              {}
func (quiet) Errorf(string, ...any)             {}
func (quiet) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
