//go:build integration

package integration

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

var cuts = flag.Int("cuts", 5, "power cuts of TestEmbeddedPowerCut")

// drive is a file system of its own whose power can be cut.
type drive struct {
	*testing.T
	image, mounted string
}

// newDrive makes an ext4 of some MiB, and mounts it.
func newDrive(t *testing.T, mib int64) *drive {
	t.Helper()
	dir := t.TempDir()
	d := &drive{t, filepath.Join(dir, "image"), filepath.Join(dir, "drive")}
	if err := os.WriteFile(d.image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(d.image, mib<<20); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(d.mounted, 0o700); err != nil {
		t.Fatal(err)
	}
	(&world{T: t}).must("mkfs.ext4", "-q", "-m", "0", d.image)
	if err := d.mount(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skipf("needs root to mount a file system: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(d.mounted, unix.MNT_DETACH) })
	return d
}

// cut loses what was not synced, as a power cut does: the file system stops at once, without
// writing its journal, and is mounted again. The instance has no say in it.
func (d *drive) cut(i *instance) {
	d.Helper()
	i.signal(unix.SIGSTOP)
	d.shutDown()
	i.kill()
	d.mountAgain()
}

// shutDown stops the file system, by the request of that name of ext4.
func (d *drive) shutDown() {
	d.Helper()
	const (
		shutDown        = 0x8004587d // FS_IOC_SHUTDOWN
		withoutLogFlush = 2
	)
	root, err := os.Open(d.mounted)
	if err != nil {
		d.Fatal(err)
	}
	defer root.Close()
	if err := unix.IoctlSetPointerInt(int(root.Fd()), shutDown, withoutLogFlush); err != nil {
		d.Fatal(err)
	}
}

// mountAgain mounts a copy of what is on the disk. The file system itself stays shut down for as
// long as a container that was started meanwhile has it, too.
func (d *drive) mountAgain() {
	d.Helper()
	w := &world{T: d.T}
	w.must("umount", d.mounted)
	next := d.image + ".next"
	w.must("cp", "--sparse=always", d.image, next)
	w.must("mv", next, d.image)
	if err := d.mount(); err != nil {
		d.Fatal(err)
	}
}

func (d *drive) mount() error {
	out, err := exec.Command("mount", "-o", "loop", d.image, d.mounted).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// write writes a file, and syncs it or does not.
func (d *drive) write(name string, sync bool) {
	d.Helper()
	f, err := os.Create(filepath.Join(d.mounted, name))
	if err != nil {
		d.Fatal(err)
	}
	_, err = f.WriteString(name)
	if sync {
		err = errors.Join(err, f.Sync())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		d.Fatal(err)
	}
}

// A power cut at a random moment loses nothing that was acknowledged, and no promise.
func TestEmbeddedPowerCut(t *testing.T) {
	t.Parallel()
	d := newDrive(t, 1024)
	d.write("synced", true)
	d.write("lost", false)
	d.shutDown()
	d.mountAgain()
	if files, err := os.ReadDir(d.mounted); err != nil || len(files) != 2 ||
		files[1].Name() != "synced" { // beside lost+found
		t.Fatalf("a power cut leaves %v (%v), and must lose what was not synced alone", files, err)
	}
	s := newSite(t, filepath.Join(d.mounted, "broker"))
	s.state = filepath.Join(d.mounted, "state")
	s.alive = 4 * time.Second
	s.endures(*cuts, d.cut)
}

// fill leaves so many bytes free, or none.
func (d *drive) fill(leave uint64) {
	d.Helper()
	filler, err := os.Create(filepath.Join(d.mounted, "filler"))
	if err != nil {
		d.Fatal(err)
	}
	defer filler.Close()
	if leave == 0 {
		fillUp(d.T, filler.Name())
		return
	}
	for {
		var usage unix.Statfs_t
		if err := unix.Statfs(d.mounted, &usage); err != nil {
			d.Fatal(err)
		}
		if usage.Bavail*uint64(usage.Bsize) <= leave {
			return
		}
		if _, err := filler.Write(make([]byte, 64<<10)); err != nil {
			d.Fatal(err)
		}
	}
}

func (d *drive) makeSpace() {
	d.Helper()
	if err := os.Remove(filepath.Join(d.mounted, "filler")); err != nil {
		d.Fatal(err)
	}
}

// A disk that gets full loses nothing that was acknowledged. Articles are refused with the reason
// while there is no space, and taken again when there is some, also by an instance that was killed
// meanwhile.
func TestEmbeddedDiskFull(t *testing.T) {
	t.Parallel()
	d := newDrive(t, 64)
	s := newSite(t, filepath.Join(d.mounted, "broker"))
	i := s.startIn(s.state)
	s.check(i)
	for range 2 {
		leave := s.visit(i)
		time.Sleep(time.Second)
		d.fill(1 << 20)
		i.refuses("make space if the disk is full")
		leave()
		d.makeSpace()
		i.takes()
		s.check(i)

		leave = s.visit(i)
		time.Sleep(time.Second)
		d.fill(1 << 20)
		i.waitFor("the disk of the embedded broker is full")
		i.kill()
		leave()
		i = s.startIn(s.state) // recovers in the space that was kept free
		i.waitLive()
		i.refuses("make space if the disk is full")
		d.makeSpace()
		i.takes()
		s.check(i)
	}
	i.stop()
}

// The same where something else takes the last byte of the disk. If the broker has to write then,
// it stops with the reason, and the next start recovers.
func TestEmbeddedNoByteFree(t *testing.T) {
	t.Parallel()
	d := newDrive(t, 64)
	s := newSite(t, filepath.Join(d.mounted, "broker"))
	stopped := 0
	for range 4 {
		i := s.startIn(s.state)
		s.check(i)
		leave := s.visit(i)
		time.Sleep(time.Second)
		d.fill(0)
		i.eventually("the disk to be noticed", func() bool {
			return i.ended() || strings.Contains(i.said(), "the disk of the embedded broker is full")
		})
		time.Sleep(time.Second)
		if i.ended() {
			stopped++
			i.fails("Nothing that was acknowledged is lost. See to the disk, and start clusterd again")
		} else {
			i.kill()
		}
		leave()
		d.makeSpace()
	}
	i := s.startIn(s.state)
	s.check(i)
	i.stop()
	t.Logf("the broker stopped %d times of 4, and refused articles the other times", stopped)
}

// takes waits until an article is taken again.
func (i *instance) takes() {
	i.Helper()
	var r result
	i.ask("/v1/articles", map[string]string{"content": "there is room again"}, &r)
}

// refuses posts an article, and holds the answer to a reason.
func (i *instance) refuses(why string) {
	i.Helper()
	body, err := json.Marshal(map[string]string{"content": "no room for this one"})
	if err != nil {
		i.Fatal(err)
	}
	response, err := http.Post("http://"+i.listen+"/v1/articles", "application/json",
		bytes.NewReader(body))
	if err != nil {
		i.Fatal(err)
	}
	defer response.Body.Close()
	said, err := io.ReadAll(response.Body)
	if err != nil {
		i.Fatal(err)
	}
	if response.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(said), why) {
		i.Errorf("a full disk answers %s, and not with %q:\n%s", response.Status, why, said)
	}
}
