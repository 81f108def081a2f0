package disk_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/clusterd/clusterd/internal/space/disk"
)

var errDamaged = errors.New("the things on disk are damaged")

func open(t *testing.T, files vfs.FS) *disk.DB {
	t.Helper()
	d, err := disk.Open("things", disk.Options{
		Kind: disk.Kind{Name: "things", Damaged: errDamaged}, FS: files,
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// set commits values under keys.
func set(t *testing.T, d *disk.DB, pairs ...string) {
	t.Helper()
	b := d.Batch()
	for i := 0; i < len(pairs); i += 2 {
		if err := b.Set([]byte(pairs[i]), []byte(pairs[i+1]), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(d.Commit(b), b.Close(), d.FlushIfDue()); err != nil {
		t.Fatal(err)
	}
}

// all is what a reader finds between two keys.
func all(t *testing.T, r disk.Reader, from, to string) (found string) {
	t.Helper()
	err := r.Scan([]byte(from), []byte(to), func(key, value []byte) bool {
		found += fmt.Sprintf("%s=%s ", key, value)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestSnapshotStaysAsItWas(t *testing.T) {
	d := open(t, vfs.NewMem())
	set(t, d, "a", "1", "b", "1", "c", "1")
	before := d.Snapshot()
	set(t, d, "a", "2", "d", "2")
	if err := d.Flush(); err != nil {
		t.Fatal(err)
	}
	if got, want := all(t, before.Reader, "a", "z"), "a=1 b=1 c=1 "; got != want {
		t.Errorf("the snapshot has %s, want %s", got, want)
	}
	if got, want := all(t, d.Reader, "a", "z"), "a=2 b=1 c=1 d=2 "; got != want {
		t.Errorf("the database has %s, want %s", got, want)
	}
	if _, ok, err := before.Get([]byte("d")); ok || err != nil {
		t.Errorf("Get of the snapshot = %t, %v, want nothing", ok, err)
	}
	if value, ok, err := d.Get([]byte("d")); string(value) != "2" || !ok || err != nil {
		t.Errorf("Get = %s, %t, %v, want 2", value, ok, err)
	}
	if err := errors.Join(before.Close(), d.Close()); err != nil {
		t.Error(err)
	}
}

// What a crash takes away is whole batches, from one on.
func TestCrashLosesTheLastBatches(t *testing.T) {
	files := vfs.NewCrashableMem()
	d := open(t, files)
	set(t, d, "a", "1", "checkpoint", "1")
	if err := d.Flush(); err != nil {
		t.Fatal(err)
	}
	set(t, d, "b", "2", "checkpoint", "2")
	crashed := open(t, files.CrashClone(vfs.CrashCloneCfg{}))
	if got, want := all(t, crashed.Reader, "a", "z"), "a=1 checkpoint=1 "; got != want {
		t.Errorf("after the crash there is %s, want %s", got, want)
	}
	if err := errors.Join(crashed.Close(), d.Close()); err != nil {
		t.Error(err)
	}
}

// A manifest that was cut, wherever, is refused, or all that it names is there, and what is written
// next counts as newer.
func TestManifestCut(t *testing.T) {
	files := vfs.NewMem()
	for _, pairs := range [][]string{{"a", "1", "b", "1"}, {"c", "1"}} { // a manifest for each
		d := open(t, files)
		set(t, d, pairs...)
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	names, err := files.List("things")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	after, _ := slices.BinarySearch(names, "MANIFEST-:") // they end in numbers: the last one counts
	manifest := files.PathJoin("things", names[after-1])
	content := read(t, files, manifest)
	refused := 0
	for length := range len(content) + 1 {
		cut := vfs.NewMem()
		if ok, err := vfs.Clone(files, cut, "things", "things"); !ok || err != nil {
			t.Fatal(err)
		}
		write(t, cut, manifest, content[:length])
		d, err := disk.Open("things", disk.Options{
			Kind: disk.Kind{Name: "things", Damaged: errDamaged}, FS: cut,
		})
		if errors.Is(err, errDamaged) {
			refused++
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		set(t, d, "a", "new")
		if got := all(t, d.Reader, "a", "c"); got != "a=new b=1 " {
			t.Errorf("with %d of %d bytes of the manifest: %s", length, len(content), got)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	if refused != len(content) {
		t.Errorf("%d of %d are refused", refused, len(content))
	}
}

func read(t *testing.T, files vfs.FS, name string) []byte {
	t.Helper()
	f, err := files.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	content, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func write(t *testing.T, files vfs.FS, name string, content []byte) {
	t.Helper()
	f, err := files.Create(name, "test")
	if err != nil {
		t.Fatal(err)
	}
	// Under the race detector, a file in memory spoils what it has written.
	if _, err := f.Write(slices.Clone(content)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
}
