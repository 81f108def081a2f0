package embedded

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// kfake keeps offsets and producer ids in logs of JSON. Each entry has a frame: the length of what
// is behind the checksum, the checksum, a version.
const (
	frameBytes   = 10
	frameVersion = 1
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// frame returns the bytes of an entry.
func frame(data []byte) []byte {
	b := make([]byte, frameBytes, frameBytes+len(data))
	binary.LittleEndian.PutUint32(b, uint32(2+len(data)))
	binary.LittleEndian.PutUint16(b[8:], frameVersion)
	b = append(b, data...)
	binary.LittleEndian.PutUint32(b[4:], checksum(b[8:]))
	return b
}

// unframe returns the first entry, and how many bytes it takes: none where it is not whole.
func unframe(b []byte) (data []byte, size int) {
	if len(b) < frameBytes {
		return nil, 0
	}
	size = 8 + int(binary.LittleEndian.Uint32(b))
	if size < frameBytes || size > len(b) ||
		checksum(b[8:size]) != binary.LittleEndian.Uint32(b[4:]) {
		return nil, 0
	}
	return b[frameBytes:size], size
}

// A stateEntry is what is read here of an entry of the log of producer ids.
type stateEntry struct {
	Type   string `json:"type"`
	PID    int64  `json:"pid"`
	Epoch  int16  `json:"epoch"`
	Commit *bool  `json:"commit,omitempty"`
	end    int64  // where the next one begins
}

// mendStateLog cuts off an entry that was not written whole, and returns the others. kfake would
// append behind it, and never read what it has appended.
func mendStateLog(name string) (entries []stateEntry, err error) {
	raw, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	at := 0
	for {
		data, size := unframe(raw[at:])
		if size == 0 {
			break
		}
		e := stateEntry{end: int64(at + size)}
		if err := json.Unmarshal(data, &e); err != nil {
			return nil, fmt.Errorf("%s is damaged at byte %d: %w", name, at, err)
		}
		entries, at = append(entries, e), at+size
	}
	if at == len(raw) {
		return entries, nil
	}
	return entries, truncate(name, int64(at))
}

// appendState appends entries to a log.
func appendState(name string, entries ...any) error {
	var all []byte
	for _, e := range entries {
		data, err := json.Marshal(e)
		if err != nil {
			return err
		}
		all = append(all, frame(data)...)
	}
	if len(all) == 0 {
		return nil
	}
	return appendTo(name, all)
}

// appendTo appends to a file, and returns when it is on the disk.
func appendTo(name string, b []byte) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Sync(), f.Close())
}

// truncate cuts a file, and returns when that is on the disk.
func truncate(name string, size int64) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Sync(), f.Close())
}

// replace writes a file whole: after a crash it is what it was, or what it is now.
func replace(name string, b []byte) error {
	next := name + ".tmp"
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := appendTo(next, b); err != nil {
		return err
	}
	return os.Rename(next, name)
}

// syncDir returns when the names in a directory are on the disk.
func syncDir(name string) error {
	d, err := vfs.Default.OpenDir(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
