package embedded

import (
	"fmt"
	"log/slog"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// kfake does not bear a full disk. If it could not write a record, it takes the next try for a
// repetition, and acknowledges it. Without markers and offsets that it could not write it goes on.
// So records are refused while there still is room for all that is under way.

// mostKept is how much of the disk is kept free at most; a small one keeps a sixteenth of itself.
const mostKept = 64 << 20

// A space watches how much of the disk is free.
type space struct {
	dir   string
	log   *slog.Logger
	usage func(dir string) (vfs.DiskUsage, error)
	full  bool
}

func newSpace(dir string, log *slog.Logger) *space {
	return &space{dir: dir, log: log, usage: vfs.Default.GetDiskUsage}
}

// refuse returns the answer to a request that would fill the disk, else nil. A request for which
// nobody waits goes on.
func (s *space) refuse(request kmsg.Request) kmsg.Response {
	r, ok := request.(*kmsg.ProduceRequest)
	if !ok || r.Acks == 0 || s.enough() {
		return nil
	}
	return refuseRecords(r, kerr.KafkaStorageError)
}

// enough reports whether there is enough space, and logs when that changes.
func (s *space) enough() bool {
	usage, err := s.usage(s.dir)
	if err != nil {
		return true // a write will say it
	}
	kept := min(mostKept, usage.TotalBytes/16)
	full := usage.AvailBytes < kept
	switch {
	case full && !s.full:
		s.log.Error("the disk of the embedded broker is full: it takes no records until there is space, "+
			"and goes on by itself then. Nothing that was acknowledged is lost. Make space, or stop "+
			"clusterd and move the folder to a larger disk",
			"dir", s.dir, "free", mib(usage.AvailBytes), "kept_free", mib(kept))
	case s.full && !full:
		s.log.Info("the disk of the embedded broker has space again", "dir", s.dir,
			"free", mib(usage.AvailBytes))
	}
	s.full = full
	return !full
}

func mib(bytes uint64) string { return fmt.Sprintf("%d MiB", bytes>>20) }
