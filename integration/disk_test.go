//go:build integration

package integration

import (
	"errors"
	"flag"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

var damages = flag.Int("damages", 6, "how often TestDiskDamaged damages a file")

// A disk that is full does not spoil anything: what had been read goes on when there is space
// again.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, noLinger)
	small := filepath.Join(w.dir, "small")
	if err := os.Mkdir(small, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", small, "tmpfs", 0, "size=16m"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skipf("needs a small disk, and root to mount one: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(small, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	dir := filepath.Join(small, "state")
	running := w.startIn(dir)
	w.send(2000)
	w.done()

	filler := filepath.Join(small, "filler")
	if err := os.WriteFile(filler, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	fillUp(t, filler)
	stream := w.stream(perSecond)
	// The disk is written to from time to time, at the latest when it stops.
	w.progress(w.consumed())
	running.signal(syscall.SIGTERM)
	err := running.wait()
	if said := running.said(); !strings.Contains(said, "no space left on device") ||
		!strings.Contains(said, dir) {
		t.Errorf("it ended with %v and does not say which disk is full:\n%s", err, said)
	}
	full := w.startIn(dir)
	full.fails("no space left on device")

	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	running = w.startIn(dir)
	w.progress(w.consumed())
	stream.stop()
	w.done()
	running.stop()
	w.audit()
}

// fillUp makes a file take what is left of its disk.
func fillUp(t *testing.T, path string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for err == nil {
		_, err = file.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}

// A file of the disk that is cut or has a bit turned while clusterd is away is found out, and the
// clusters come from Kafka.
func TestDiskDamaged(t *testing.T) {
	t.Parallel()
	w, random := newWorld(t, 2, ""), seeded(t)
	running := w.start()
	w.send(500)
	w.done()
	for range *damages {
		running.stop()
		path := pick(t, running.dir, random)
		what := damage(t, path, random)
		running = w.start()
		w.send(200)
		w.done()
		rebuilt := strings.Contains(running.said(), "cannot be used")
		t.Logf("%s of %s: rebuilt %v", what, filepath.Base(path), rebuilt)
	}
	running.stop()
	w.audit()
}

// pick returns a file that is not empty.
func pick(t *testing.T, dir string, random *rand.Rand) string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if info, err := entry.Info(); err == nil && info.Size() > 0 {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files[random.IntN(len(files))]
}

// damage cuts a file or turns one of its bits.
func damage(t *testing.T, path string, random *rand.Rand) (what string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := random.IntN(len(data))
	if random.IntN(2) == 0 {
		data, what = data[:at], "cutting"
	} else {
		data[at] ^= 1 << random.IntN(8)
		what = "turning a bit"
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return what
}

// A disk that is put back from an old copy catches up with the topic.
func TestDiskStale(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, "")
	old := filepath.Join(w.dir, "old")
	var dir string
	for _, after := range []func(){
		func() { copyDir(t, dir, old) },
		func() {},
		func() { replaceDir(t, old, dir) },
		func() {},
	} {
		w.send(500)
		running := w.start()
		w.done()
		running.stop()
		dir = running.dir
		after()
	}
	w.audit()
}

// A disk of another group is not used.
func TestDiskForeign(t *testing.T) {
	t.Parallel()
	others := newWorld(t, 2, "")
	others.send(500)
	running := others.start()
	others.done()
	running.stop()

	w := newWorld(t, 2, "")
	w.send(500)
	mine := w.startIn(running.dir)
	w.done()
	if !strings.Contains(mine.said(), "cannot be used") {
		t.Error("it does not say that the disk is another's")
	}
	mine.stop()
	w.audit()
}

func copyDir(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

func replaceDir(t *testing.T, from, to string) {
	t.Helper()
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	copyDir(t, from, to)
}
