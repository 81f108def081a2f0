package doctor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	// spare is what a disk should have free beside what the view of members may take.
	spare = 1 << 30
	// slow is the time of a flush that makes transactions wait for it.
	slow = 50 * time.Millisecond
	// flushes are how often it is measured.
	flushes = 9
	// wantedFiles are for 1,024 clients, the store, the view and the brokers.
	wantedFiles = 4096
)

// checkDisk looks at the directory of the state.
func (e *examination) checkDisk() {
	const name = "disk"
	dir := e.config.State.Dir
	at := existing(dir)
	file, err := os.CreateTemp(at, ".clusterd-doctor-")
	if err != nil {
		e.fail(name, "give the user that runs clusterd the right to write there, or change state.dir",
			"%s: %v", dir, err)
		return
	}
	defer os.Remove(file.Name())
	defer file.Close()
	free, kind, err := fileSystem(at)
	if err != nil {
		e.warn(name, "look at the file system", "%s: %v", at, err)
		return
	}
	want := int64(e.config.Serve.Bytes) + spare
	took, err := flush(file)
	switch {
	case err != nil:
		e.fail(name, "free space, or change state.dir", "%s cannot be written: %v", dir, err)
	case free < want:
		e.fail(name, "free space, change state.dir, or lower serve.bytes",
			"%s has %s free, and wants %s: 1 GiB and serve.bytes", dir, size(free), size(want))
	case kind != "":
		e.warn(name, "put state.dir on a disk of the machine: else each start reads all clusters back",
			"%s is on %s", dir, kind)
	case took > slow:
		e.warn(name, "put state.dir on a faster disk", "a flush in %s takes %s", dir,
			took.Round(time.Millisecond))
	default:
		e.ok(name, "%s: %s free, a flush takes %s", dir, size(free), took.Round(10*time.Microsecond))
	}
}

// existing returns the nearest folder above a path that is there.
func existing(path string) string {
	for {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) || path == filepath.Dir(path) {
			return path
		}
		path = filepath.Dir(path)
	}
}

// flush returns how long it takes to have a page on the disk, in the median.
func flush(file *os.File) (time.Duration, error) {
	page := make([]byte, 4096)
	var took []time.Duration
	for range flushes {
		began := time.Now()
		if _, err := file.Write(page); err != nil {
			return 0, err
		}
		if err := file.Sync(); err != nil {
			return 0, err
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}

// checkFiles looks how many files may be open at once.
func (e *examination) checkFiles() {
	most, err := openFiles()
	if err != nil {
		e.warn("open files", "look at ulimit -n", "%v", err)
		return
	}
	if most < wantedFiles {
		e.warn("open files", "raise it: ulimit -Hn, or LimitNOFILE= of the service",
			"at most %d, and %d are wanted: a thousand clients, the store, the brokers", most, wantedFiles)
		return
	}
	e.ok("open files", "at most %d", most)
}
