package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space/state"
	"github.com/clusterd/clusterd/internal/testutil/check"
)

var quiet = slog.New(slog.DiscardHandler)

var identity = state.Identity{
	Kafka: "kafka", Clusters: "clusters", Partitions: 1, Input: "articles", Group: "clusterd",
	Space: "all", Pipeline: "test",
}

// open opens the store of the one space of an instance.
func open(t testing.TB, dir *state.Dir) *state.Store {
	t.Helper()
	s, err := state.Open(dir.Space("all"), identity, state.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func openDir(t testing.TB, path string) *state.Dir {
	t.Helper()
	dir, err := state.OpenDir(path, quiet)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	return dir
}

// fill puts so many clusters into a store, whose hashes are from first on.
func fill(t testing.TB, s *state.Store, first, n int) {
	t.Helper()
	put := make([]cluster.Cluster, n)
	for i := range put {
		put[i] = cluster.Cluster{
			Centre: singlepass.Centre{
				Seq: uint64(i), Fingerprint: singlepass.Fingerprint{Hash: uint64(first + i)},
			},
			Founder:  article.Address{Topic: "articles", Offset: int64(i)},
			Position: uint64(i), Size: 1, FirstSeen: 1, LastSeen: 1,
			Representative: article.Representative{ID: "a", Title: fmt.Sprint("title ", i)},
		}
	}
	m := s.Meta()
	m.Next, m.Offsets = uint64(n), map[int]int64{0: int64(n)}
	if err := s.Apply(put, nil, m); err != nil {
		t.Fatal(err)
	}
}

// instance returns a directory with a store of n clusters, which is closed.
func instance(t testing.TB, first, n int) *state.Dir {
	t.Helper()
	dir := openDir(t, filepath.Join(t.TempDir(), "state"))
	s := open(t, dir)
	fill(t, s, first, n)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// first returns the hash of the first cluster and how many there are.
func first(t testing.TB, dir *state.Dir) (hash uint64, n int) {
	t.Helper()
	s := open(t, dir)
	defer s.Close()
	c, _, err := s.Get(0)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	count := func(singlepass.Centre, int64) error { seen++; return nil }
	if err := s.Centres(t.Context(), count); err != nil {
		t.Fatal(err)
	}
	if seen != s.Len() {
		t.Fatalf("%d centres of %d clusters", seen, s.Len())
	}
	return c.Hash, seen
}

func mustOpen(t testing.TB, path string) Target {
	t.Helper()
	to, err := OpenTarget(path, S3{})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// export writes a snapshot of an instance's store.
func export(t testing.TB, dir *state.Dir, to Target, at time.Time) (*Manifest, error) {
	t.Helper()
	s := open(t, dir)
	defer s.Close()
	source := func(_ context.Context, path string) (state.Copy, error) { return s.CopyTo(path) }
	return Export(t.Context(), []Source{source}, Options{
		To: to, Scratch: t.TempDir(), Version: "test", Log: quiet, Now: func() time.Time { return at },
	})
}

func mustExport(t testing.TB, dir *state.Dir, to Target, at time.Time) *Manifest {
	t.Helper()
	m, err := export(t, dir, to, at)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func TestExportAndRestore(t *testing.T) {
	from := instance(t, 1000, 5000)
	to := mustOpen(t, filepath.Join(t.TempDir(), "backup"))
	m := mustExport(t, from, to, noon)
	if m.Name != "20260501T120000.000Z" || m.Clusters() != 5000 || m.Bytes() == 0 ||
		m.Spaces[0].Meta.Offsets[0] != 5000 || m.Spaces[0].Identity != identity {
		t.Errorf("%+v", m)
	}
	again, err := Latest(t.Context(), to)
	if err != nil {
		t.Fatal(err)
	}
	for name, old := range map[string]*state.Dir{
		"nothing there":  openDir(t, filepath.Join(t.TempDir(), "state")),
		"in place of":    instance(t, 7, 10),
		"what was begun": begun(t),
	} {
		t.Run(name, func(t *testing.T) {
			if err := Restore(t.Context(), to, again, old, quiet); err != nil {
				t.Fatal(err)
			}
			if hash, n := first(t, old); hash != 1000 || n != 5000 {
				t.Errorf("%d clusters, the first with %d", n, hash)
			}
			left, err := filepath.Glob(old.Space("*") + nextSuffix)
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

// begun is an instance at which a process has ended that put a store together.
func begun(t *testing.T) *state.Dir {
	t.Helper()
	dir := openDir(t, filepath.Join(t.TempDir(), "state"))
	next := dir.Space("all") + nextSuffix
	if err := os.Mkdir(next, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(next, "000009.sst"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestVacant(t *testing.T) {
	to := mustOpen(t, t.TempDir())
	from := instance(t, 1, 10)
	m := mustExport(t, from, to, noon)
	if err := Vacant(m, openDir(t, t.TempDir())); err != nil {
		t.Error(err)
	}
	if err := Vacant(m, from); !errors.Is(err, ErrOccupied) {
		t.Errorf("of a directory with clusters: %v", err)
	}
}

// Whatever happens to a file of a snapshot: it is found out, and what was on disk is as it was.
func TestDamage(t *testing.T) {
	backup := t.TempDir()
	to := mustOpen(t, backup)
	m := mustExport(t, instance(t, 1000, 300), to, noon)
	old := instance(t, 7, 10)
	restore := func() error {
		read, err := Read(t.Context(), to, m.Name)
		if err == nil {
			err = Restore(t.Context(), to, read, old, quiet)
		}
		return err
	}
	var files []string
	if err := filepath.WalkDir(backup, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files = append(files, path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if len(files) < 4 {
		t.Fatalf("a snapshot of %v", files)
	}
	for _, path := range files {
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for name, bad := range damagesOf(whole) {
			if bytes.Equal(bad, whole) {
				continue // an empty file cannot be cut
			}
			if bad == nil {
				err = os.Remove(path)
			} else {
				err = os.WriteFile(path, bad, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := restore(); !errors.Is(err, ErrDamaged) && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s, %s: %v", filepath.Base(path), name, err)
			}
			if hash, n := first(t, old); hash != 7 || n != 10 {
				t.Fatalf("%s, %s: %d clusters, the first with %d", filepath.Base(path), name, n, hash)
			}
		}
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := restore(); err != nil {
		t.Errorf("as it was: %v", err)
	}
}

// damagesOf returns what may become of a file; nil is that it is gone.
func damagesOf(whole []byte) map[string][]byte {
	flipped := func(at int) []byte {
		b := slices.Clone(whole)
		if len(b) > 0 {
			b[at] ^= 0x10
		}
		return b
	}
	return map[string][]byte{
		"gone": nil, "empty": {}, "cut": slices.Clone(whole[:len(whole)/2]),
		"cut by one": slices.Clone(whole[:max(0, len(whole)-1)]),
		"longer":     append(slices.Clone(whole), 'x'),
		"first bit":  flipped(0), "a bit in the middle": flipped(len(whole) / 2),
		"last bit": flipped(max(0, len(whole)-1)),
	}
}

// Each byte of a manifest that is another is found out, unless it says the same.
func TestManifestFlips(t *testing.T) {
	m := mustExport(t, instance(t, 1, 3), mustOpen(t, t.TempDir()), noon)
	data, err := m.seal()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parse(m.Name, data); err != nil {
		t.Fatal(err)
	}
	for at := range data {
		for bit := range 8 {
			bad := slices.Clone(data)
			bad[at] ^= 1 << bit
			read, err := parse(m.Name, bad)
			if err != nil {
				continue
			}
			again, err := read.seal()
			if err != nil || !bytes.Equal(again, data) {
				t.Errorf("byte %d, bit %d: taken, as %s", at, bit, again)
			}
		}
	}
}

// What a manifest names stays in its folder, though its checksum be right.
func TestForeignManifest(t *testing.T) {
	good := mustExport(t, instance(t, 1, 3), mustOpen(t, t.TempDir()), noon)
	for name, change := range map[string]func(*Manifest){
		"another name":    func(m *Manifest) { m.Name = "20260501T120000.001Z" },
		"a later format":  func(m *Manifest) { m.Format++ },
		"no space":        func(m *Manifest) { m.Spaces = nil },
		"a path as space": func(m *Manifest) { m.Spaces[0].Identity.Space = "../x" },
		"one space twice": func(m *Manifest) { m.Spaces = append(m.Spaces, m.Spaces[0]) },
		"no file":         func(m *Manifest) { m.Spaces[0].Files = nil },
		"a path as file":  func(m *Manifest) { m.Spaces[0].Files[0].Name = "../lock" },
		"a hidden file":   func(m *Manifest) { m.Spaces[0].Files[0].Name = ".." },
		"one file twice":  func(m *Manifest) { m.Spaces[0].Files[1] = m.Spaces[0].Files[0] },
		"a negative size": func(m *Manifest) { m.Spaces[0].Files[0].Size = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			bad := *good
			bad.Spaces = []Space{good.Spaces[0]}
			bad.Spaces[0].Files = slices.Clone(good.Spaces[0].Files)
			change(&bad)
			data, err := bad.seal()
			if err != nil {
				t.Fatal(err)
			}
			if m, err := parse(good.Name, data); err == nil {
				t.Errorf("taken: %+v", m)
			}
		})
	}
}

// A snapshot whose files are right, but of which the manifest says something else than the store.
func TestAnotherStore(t *testing.T) {
	to := mustOpen(t, t.TempDir())
	m := mustExport(t, instance(t, 1000, 300), to, noon)
	old := instance(t, 7, 10)
	m.Spaces[0].Meta.Offsets[0]++
	check.ErrorHas(t, Restore(t.Context(), to, m, old, quiet), "says of itself")
	m.Spaces[0].Meta.Offsets[0]--
	m.Spaces[0].Identity.Group = "other"
	if err := Restore(t.Context(), to, m, old, quiet); !errors.Is(err, state.ErrForeign) {
		t.Errorf("another group: %v", err)
	}
	if hash, n := first(t, old); hash != 7 || n != 10 {
		t.Errorf("%d clusters, the first with %d", n, hash)
	}
}

// faulty is a target of which calls fail from the nth on.
type faulty struct {
	Target
	puts, gets int // how many succeed
	seen       chan struct{}
}

var errFault = errors.New("the cable is out")

func (f *faulty) Put(ctx context.Context, name, path string) error {
	f.seen <- struct{}{}
	if len(f.seen) > f.puts {
		return errFault
	}
	return f.Target.Put(ctx, name, path)
}

func (f *faulty) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	f.seen <- struct{}{}
	r, err := f.Target.Get(ctx, name)
	if err == nil && len(f.seen) == f.gets { // once
		return closing{io.MultiReader(io.LimitReader(r, 7), broken{}), r}, nil
	}
	return r, err
}

type closing struct {
	io.Reader
	io.Closer
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errFault }

// An export that fails at whatever file leaves no snapshot, and the one before is the latest still.
func TestHalfExport(t *testing.T) {
	to := mustOpen(t, t.TempDir())
	from := instance(t, 1, 300)
	whole := mustExport(t, from, to, noon)
	var m *Manifest
	for n := 0; m == nil; n++ {
		f := &faulty{Target: to, puts: n, seen: make(chan struct{}, 100)}
		began, err := export(t, from, f, noon.Add(time.Duration(n+1)*time.Second))
		latest, failed := Latest(t.Context(), to)
		switch {
		case failed != nil:
			t.Fatal(failed)
		case err == nil && n > 3 && latest.Name == began.Name:
			m = began
		case !errors.Is(err, errFault) || latest.Name != whole.Name:
			t.Fatalf("after %d files: %v, and the latest is %s", n, err, latest.Name)
		}
	}
	// What is left behind goes with --keep, when nobody can be at it any more.
	removed, err := Prune(t.Context(), to, m, 5, quiet)
	if names := mustNames(t, to); err != nil || removed != 0 || len(names) < 3 {
		t.Errorf("%d removed, %v are left, %v", removed, names, err)
	}
	want := []string{m.Name, "20260503T120000.000Z"}
	m = mustExport(t, from, to, noon.Add(48*time.Hour))
	removed, err = Prune(t.Context(), to, m, 2, quiet)
	if names := mustNames(t, to); err != nil || removed != 1 || !slices.Equal(names, want) {
		t.Errorf("%d removed, %v are left, %v", removed, names, err)
	}
}

func mustNames(t *testing.T, from Target) []string {
	t.Helper()
	names, err := Names(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// Prune leaves what is not its own, or cannot be read.
func TestPruneLeavesOthers(t *testing.T) {
	path := t.TempDir()
	to := mustOpen(t, path)
	from := instance(t, 1, 10)
	other := mustExport(t, from, to, noon)
	other.Spaces[0].Identity.Group = "other"
	if err := putManifest(t.Context(), to, other, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	damaged := mustExport(t, from, to, noon.Add(time.Second))
	if err := os.WriteFile(filepath.Join(path, damaged.Name, manifestName), []byte("{}"),
		0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(path, "photos"), 0o700); err != nil {
		t.Fatal(err)
	}
	gone := mustExport(t, from, to, noon.Add(2*time.Second))
	kept := mustExport(t, from, to, noon.Add(3*time.Second))
	removed, err := Prune(t.Context(), to, kept, 1, quiet)
	want := []string{other.Name, damaged.Name, kept.Name}
	if names := mustNames(t, to); err != nil || removed != 1 || !slices.Equal(names, want) {
		t.Errorf("%d removed, %v are left without %s, %v", removed, names, gone.Name, err)
	}
	if _, err := os.Stat(filepath.Join(path, "photos")); err != nil {
		t.Error(err)
	}
}

// A file that breaks off is asked for again.
func TestRestoreTriesAgain(t *testing.T) {
	to := mustOpen(t, t.TempDir())
	m := mustExport(t, instance(t, 1000, 300), to, noon)
	dir := openDir(t, t.TempDir())
	f := &faulty{Target: to, gets: 2, seen: make(chan struct{}, 100)}
	if err := Restore(t.Context(), f, m, dir, quiet); err != nil {
		t.Fatal(err)
	}
	if hash, n := first(t, dir); hash != 1000 || n != 300 {
		t.Errorf("%d clusters, the first with %d", n, hash)
	}
}

const (
	restoreFrom = "CLUSTERD_TEST_RESTORE_FROM"
	restoreTo   = "CLUSTERD_TEST_RESTORE_TO"
)

// A process that is killed while it restores, at whatever moment, leaves the old clusters or the
// new.
func TestKilledRestore(t *testing.T) {
	if from := os.Getenv(restoreFrom); from != "" {
		restoreForever(t, from, os.Getenv(restoreTo))
	}
	backup := t.TempDir()
	to := mustOpen(t, backup)
	mustExport(t, instance(t, 1000, 2000), to, noon)
	path := filepath.Join(t.TempDir(), "state")
	dir, err := state.OpenDir(path, quiet)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, dir)
	fill(t, s, 7, 10)
	if err := errors.Join(s.Close(), dir.Close()); err != nil {
		t.Fatal(err)
	}
	for i := range 25 {
		killRestore(t, backup, path, time.Duration(i)*7*time.Millisecond)
		dir, err := state.OpenDir(path, quiet)
		if err != nil {
			t.Fatal(err)
		}
		hash, n := first(t, dir)
		if (hash != 7 || n != 10) && (hash != 1000 || n != 2000) {
			t.Errorf("%d clusters, the first with %d", n, hash)
		}
		if err := dir.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// killRestore has a process restore again and again, and kills it a while after its first words.
func killRestore(t *testing.T, from, to string, after time.Duration) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledRestore$")
	cmd.Env = append(os.Environ(), restoreFrom+"="+from, restoreTo+"="+to)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	<-time.After(after) // the moment is what the test is about
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
}

func restoreForever(t *testing.T, from, to string) {
	dir := openDir(t, to)
	source := mustOpen(t, from)
	m, err := Latest(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	for {
		fmt.Println("again")
		if err := Restore(t.Context(), source, m, dir, quiet); err != nil {
			t.Fatal(err)
		}
	}
}
