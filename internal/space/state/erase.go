package state

import (
	"encoding/binary"
	"errors"
	"slices"
)

func keyOfErased(seq uint64) []byte {
	return binary.BigEndian.AppendUint64(append(make([]byte, 0, keyBytes), erasedKey), seq)
}

// Erasing says that the next Apply erases text or contacts of these clusters, and text of their
// stories. A database keeps old values for a while: call [Store.Scrub] once the snapshots from
// before that Apply are closed. After a crash, the next Open does it.
func (s *Store) Erasing(seqs ...uint64) error {
	if len(seqs) == 0 {
		return nil
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	batch := s.db.Batch()
	defer func() { _ = batch.Close() }() // it only gives memory back
	for _, seq := range seqs {
		if err := batch.Set(keyOfErased(seq), nil, nil); err != nil {
			return err
		}
	}
	s.erased = append(s.erased, seqs...)
	return s.db.Commit(batch)
}

// Scrub removes from disk what was erased since the last Scrub.
func (s *Store) Scrub() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.scrub(s.erased, s.erasedContact); err != nil {
		return err
	}
	s.erased, s.erasedContact = nil, false
	return nil
}

// scrub removes the old values of the clusters of these seqs, of all stories, of the meta data,
// and perhaps of all contacts from disk. It is not cut short: a few clusters take some
// milliseconds, all contacts more where there are many.
func (s *Store) scrub(seqs []uint64, contacts bool) error {
	if len(seqs) == 0 {
		return nil
	}
	ranges := [][2][]byte{{{storyKey}, {storyKey + 1}}, {{metaKey}, {metaKey + 1}}}
	if contacts {
		ranges = append(ranges, [2][]byte{{unlabelledKey}, {markedKey + 1}})
	}
	for _, seq := range seqs {
		key := keyOfCluster(seq)
		ranges = append(ranges, [2][]byte{key, append(slices.Clone(key), 0)})
	}
	return s.db.Scrub(ranges...)
}

// scrubAll removes from disk what was erased since the last Open, for a reader may have needed it
// when it was scrubbed. It reports whether there is anything.
func (s *Store) scrubAll() (some bool, err error) {
	var all []uint64
	var broken error
	err = s.db.Scan([]byte{erasedKey}, []byte{erasedKey + 1}, func(key, _ []byte) bool {
		var seq uint64
		seq, broken = decodeUint64(key[1:])
		all = append(all, seq)
		return broken == nil
	})
	if err = errors.Join(err, broken); err != nil {
		return false, err
	}
	return len(all) > 0, s.scrub(all, true)
}

// opened scrubs what was erased before, and forgets that it was.
func (s *Store) opened() error {
	some, err := s.scrubAll()
	if err != nil || !some {
		return err
	}
	batch := s.db.Batch()
	defer func() { _ = batch.Close() }() // it only gives memory back
	if err := batch.DeleteRange([]byte{erasedKey}, []byte{erasedKey + 1}, nil); err != nil {
		return err
	}
	return s.db.Commit(batch)
}
