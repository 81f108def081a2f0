package embedded

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// A partition is a folder of segments: NUMBER.dat has record batches, one behind the other, as they
// were on the wire, and NUMBER.idx what kfake wants to know of each. NUMBER is the offset of the
// first record. Files are written in that order, so a crash can leave a batch without its entry:
// kfake would then take each later entry for the entry of the previous batch.
type partition struct {
	dir      string
	topic    string
	id       int32
	segments []*segment
	first    int64              // offset that is there, or next
	next     int64              // the offset behind the last record
	epoch    int32              // of the leader, in the last batch
	latest   int64              // timestamp
	open     map[int64]*pending // transactions, by producer id
	aborted  []abortedTransaction
}

type segment struct {
	base  int64
	size  int64  // of what is whole
	index []byte // what the .idx should be
}

// A pending transaction has records in a partition, and no marker.
type pending struct {
	epoch       int16
	first, last int64 // offsets
}

const (
	batchHeaderBytes = 61
	indexEntryBytes  = 15
	lengthBytes      = 12 // of the offset and the length, which the length does not count

	transactional = 1 << 4 // attributes of a batch
	control       = 1 << 5
)

// A batch is the header of a record batch.
type batch struct {
	offset     int64
	last       int64 // offset
	epoch      int32 // of the leader
	attributes int16
	latest     int64 // timestamp
	producer   int64
	generation int16 // epoch of the producer
}

// parseBatch checks a batch, and reads its header.
func parseBatch(b []byte) (h batch, ok bool) {
	if len(b) < batchHeaderBytes || b[16] != 2 ||
		checksum(b[21:]) != binary.BigEndian.Uint32(b[17:]) {
		return batch{}, false
	}
	n := binary.BigEndian
	h = batch{
		offset: int64(n.Uint64(b)), epoch: int32(n.Uint32(b[12:])), attributes: int16(n.Uint16(b[21:])),
		latest: int64(n.Uint64(b[35:])), producer: int64(n.Uint64(b[43:])),
		generation: int16(n.Uint16(b[51:])),
	}
	h.last = h.offset + int64(int32(n.Uint32(b[23:])))
	return h, h.last >= h.offset
}

// partitionFolders returns the folders of all partitions.
func partitionFolders(dir string) ([]string, error) {
	return filepath.Glob(filepath.Join(dir, "partitions", "*"))
}

// partitionOf returns which partition a folder is of.
func partitionOf(folder string) (topic string, id int32, err error) {
	name := filepath.Base(folder)
	at := strings.LastIndexByte(name, '-')
	n, err := strconv.ParseInt(name[at+1:], 10, 32)
	if at < 0 || err != nil {
		return "", 0, fmt.Errorf("%s is not the folder of a partition", folder)
	}
	topic, err = url.PathUnescape(name[:at])
	return topic, int32(n), err
}

// openPartition reads a folder. It changes nothing.
func openPartition(dir string) (*partition, error) {
	topic, id, err := partitionOf(dir)
	if err != nil {
		return nil, err
	}
	p := &partition{dir: dir, topic: topic, id: id, open: make(map[int64]*pending)}
	names, err := filepath.Glob(filepath.Join(dir, "*.dat"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		base, err := strconv.ParseInt(strings.TrimSuffix(filepath.Base(name), ".dat"), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		p.segments = append(p.segments, &segment{base: base})
	}
	slices.SortFunc(p.segments, func(a, b *segment) int { return cmp.Compare(a.base, b.base) })
	for i, s := range p.segments {
		p.next = max(p.next, s.base)
		if i == 0 {
			p.first = p.next
		}
		if err := p.read(s, i == len(p.segments)-1); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *partition) file(s *segment, kind string) string {
	return filepath.Join(p.dir, strconv.FormatInt(s.base, 10)+kind)
}

// read takes in the batches of a segment. The last segment may end in an incomplete batch.
func (p *partition) read(s *segment, last bool) error {
	name := p.file(s, ".dat")
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<20)
	var b []byte
	for {
		var whole bool
		if b, whole, err = nextBatch(in, b); err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		h, ok := parseBatch(b)
		if !whole || !ok || h.offset < p.next {
			break
		}
		if err := p.take(s, h, b); err != nil {
			return fmt.Errorf("%s is damaged at byte %d: %w", name, s.size, err)
		}
	}
	info, err := f.Stat()
	if err != nil || info.Size() == s.size {
		return err
	}
	if goodBehind, err := anyBatch(f, s.size, p.next); err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	} else if goodBehind || !last {
		return fmt.Errorf("%s is damaged at byte %d, and good records are behind that: no crash does "+
			"this, but a bad disk does. Nothing was changed. Put back a backup of the whole folder of "+
			"--embedded", name, s.size)
	}
	return nil
}

// nextBatch returns the next batch, in the same memory if that is enough, and whether all of it is
// there.
func nextBatch(in *bufio.Reader, b []byte) (next []byte, whole bool, err error) {
	head, err := in.Peek(lengthBytes)
	if errors.Is(err, io.EOF) {
		return b[:0], false, nil
	}
	if err != nil {
		return nil, false, err
	}
	size := lengthBytes + int(int32(binary.BigEndian.Uint32(head[8:])))
	if size < batchHeaderBytes || size > 1<<30 {
		return b[:0], false, nil
	}
	b = slices.Grow(b[:0], size)[:size]
	_, err = io.ReadFull(in, b)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return b, false, nil
	}
	return b, err == nil, err
}

// anyBatch reports whether a whole batch, of later offsets, starts anywhere behind a place.
func anyBatch(f *os.File, from, next int64) (bool, error) {
	rest, err := io.ReadAll(io.NewSectionReader(f, from+1, 1<<30))
	for len(rest) >= batchHeaderBytes {
		size := lengthBytes + int(int32(binary.BigEndian.Uint32(rest[8:])))
		if rest[16] == 2 && size >= batchHeaderBytes && size <= len(rest) {
			if h, ok := parseBatch(rest[:size]); ok && h.offset >= next {
				return true, nil
			}
		}
		rest = rest[1:]
	}
	return false, err
}

// take adds a batch to a segment.
func (p *partition) take(s *segment, h batch, b []byte) error {
	p.next, p.epoch, p.latest = h.last+1, h.epoch, max(p.latest, h.latest)
	inside := h.attributes&(transactional|control) == transactional
	open := p.open[h.producer]
	if open != nil && open.epoch != h.generation {
		// A crash of an earlier clusterd left it open, and wrote no marker.
		p.abort(h.producer, open.last)
		open = nil
	}
	switch {
	case inside && open == nil:
		p.open[h.producer] = &pending{epoch: h.generation, first: h.offset, last: h.last}
	case inside:
		open.last = h.last
	case open != nil && h.attributes&control != 0:
		commits, err := isCommit(b)
		if err != nil {
			return err
		}
		if !commits {
			p.abort(h.producer, h.offset)
		}
		delete(p.open, h.producer)
	}
	s.index = appendIndexEntry(s.index, h.epoch, p.latest, inside)
	s.size += int64(len(b))
	return nil
}

// abort notes that the open transaction of a producer was aborted, and where it ends.
func (p *partition) abort(producer, last int64) {
	p.aborted = append(p.aborted, abortedTransaction{producer, p.open[producer].first, last})
	delete(p.open, producer)
}

// isCommit reports whether a marker commits a transaction. The other kind aborts one.
func isCommit(b []byte) (bool, error) {
	var all kmsg.RecordBatch
	if err := all.ReadFrom(b); err != nil {
		return false, err
	}
	var record kmsg.Record
	if err := record.ReadFrom(all.Records); err != nil {
		return false, err
	}
	var key kmsg.ControlRecordKey
	if err := key.ReadFrom(record.Key); err != nil {
		return false, err
	}
	return key.Type == kmsg.ControlRecordKeyTypeCommit, nil
}

// appendIndexEntry appends what kfake keeps of a batch.
func appendIndexEntry(index []byte, epoch int32, latest int64, inside bool) []byte {
	var e [indexEntryBytes]byte
	e[0] = frameVersion
	binary.LittleEndian.PutUint32(e[2:], uint32(epoch))
	binary.LittleEndian.PutUint64(e[6:], uint64(latest))
	if inside {
		e[14] = 1
	}
	e[1] = byte(checksum(e[2:]))
	return append(index, e[:]...)
}

// isThere reports whether there is a file of a name.
func isThere(name string) (bool, error) {
	_, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
