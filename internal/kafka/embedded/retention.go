package embedded

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// kfake deletes the files of a partition whose records are all too old, and with them what says at
// which offset the next one goes: after a start it would begin at 0 again. So where partitions end
// is noted before records are deleted.

const (
	endsFile          = "clusterd.ends"
	retentionInterval = time.Hour
)

// trim deletes records that are too old for their topics from time to time, as kfake itself would
// do only until it is started again.
func (b *Broker) trim(request kmsg.Request) error {
	due := time.Since(b.trimmed) >= retentionInterval
	if _, deletes := request.(*kmsg.DeleteRecordsRequest); !deletes && !due {
		return nil
	}
	if err := b.noteEnds(); err != nil {
		return err
	}
	if due {
		b.cluster.ApplyRetention()
		b.trimmed = time.Now()
	}
	return nil
}

// noteEnds notes where the partitions end that have records.
func (b *Broker) noteEnds() error {
	folders, err := partitionFolders(b.dir)
	if err != nil {
		return err
	}
	ends := make(map[string]int64)
	for _, folder := range folders {
		topic, id, err := partitionOf(folder)
		if err != nil {
			return err
		}
		if info := b.cluster.PartitionInfo(topic, id); info != nil {
			ends[filepath.Base(folder)] = info.HighWatermark
		}
	}
	raw, err := json.Marshal(ends)
	if err != nil {
		return err
	}
	if err := replace(filepath.Join(b.dir, endsFile), raw); err != nil {
		return err
	}
	return syncDir(b.dir)
}

// restoreEnds makes partitions end where they did that have no records.
func restoreEnds(dir string) error {
	raw, err := os.ReadFile(filepath.Join(dir, endsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var ends map[string]int64
	if err := json.Unmarshal(raw, &ends); err != nil {
		return err
	}
	folders, err := partitionFolders(dir)
	if err != nil {
		return err
	}
	for _, folder := range folders {
		names, err := filepath.Glob(filepath.Join(folder, "*.dat"))
		if err != nil {
			return err
		}
		end := ends[filepath.Base(folder)]
		if len(names) > 0 || end == 0 {
			continue
		}
		p := &partition{dir: folder, first: end, next: end, segments: []*segment{{base: end}}}
		if err := appendTo(p.file(p.segments[0], ".dat"), nil); err != nil {
			return err
		}
		if err := p.writeSnapshot(); err != nil {
			return err
		}
		if err := syncDir(folder); err != nil {
			return err
		}
	}
	return nil
}

// settings of kfake. Records are kept, unless their topic says for how long. Compaction is off: it
// deletes all records of a partition before it writes those that are left, and a crash in between
// would lose them.
var settings = map[string]string{
	"log.retention.ms":       "-1",
	"log.cleaner.backoff.ms": strconv.FormatInt((10 * 365 * 24 * time.Hour).Milliseconds(), 10),
}
