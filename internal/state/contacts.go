package state

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/clusterd/clusterd/internal/cluster"
	"github.com/clusterd/clusterd/internal/fields"
	"github.com/clusterd/clusterd/internal/label"
)

// The keys of contacts. No contact contains a zero byte.
const (
	// x, value's length, value, contact, 0, seq → nothing: of the clusters without labels whose
	// founder has it
	unlabelledKey = 'x'
	// y, value's length, value, contact, 0, seq → nothing: of the clusters that have a label by it
	byContactKey = 'y'
	markedKey    = 'z' // z, value's length, value, contact → position, marks as JSON
)

func keyOfContact(kind byte, value, contact string) []byte {
	key := binary.BigEndian.AppendUint16([]byte{kind}, uint16(len(value)))
	return append(append(key, value...), contact...)
}

func keyOfHolder(kind byte, value, contact string, seq uint64) []byte {
	return binary.BigEndian.AppendUint64(append(keyOfContact(kind, value, contact), 0), seq)
}

// holders calls do with each key under which a cluster stands because of its contacts.
func holders(k *cluster.Cluster, do func(key []byte)) {
	if k.Contacts == "" {
		return
	}
	if k.Labels == "" {
		for contact := range k.Contacts.All() {
			do(keyOfHolder(unlabelledKey, k.Space, contact, k.Seq))
		}
		return
	}
	var by []string
	for _, l := range k.Labels.All() {
		if l.Contact != "" && !slices.Contains(by, l.Contact) {
			by = append(by, l.Contact)
			do(keyOfHolder(byContactKey, k.Space, l.Contact, k.Seq))
		}
	}
}

// hold writes under which contacts a cluster stands, in place of those from before; nil for a new
// cluster. Where neither has labels nothing has changed.
func (c *change) hold(before, now *cluster.Cluster) (err error) {
	if before != nil {
		holders(before, func(key []byte) { err = errors.Join(err, c.batch.Delete(key, nil)) })
	}
	if now != nil {
		holders(now, func(key []byte) { err = errors.Join(err, c.batch.Set(key, nil, nil)) })
	}
	return err
}

// rehold does what hold does for a cluster that is stored. It reads what is stored only if that may
// stand under other contacts.
func (c *change) rehold(k *cluster.Cluster) error {
	_, had := c.labelledAt(k.Seq)
	if k.Contacts == "" || !had && k.Labels == "" {
		return nil
	}
	before, _, ok, err := c.cluster(k.Seq)
	if err != nil || !ok || before.Labels == k.Labels {
		return err
	}
	return c.hold(&before, k)
}

// A ContactChange is a contact as it is from now on. One without marks is gone.
type ContactChange struct{ cluster.Contact }

func (s *ContactChange) write(c *change) error {
	before, _, err := c.Contact(s.Value, s.Name)
	if err != nil {
		return err
	}
	c.marks.Add(s.Name, before.Marks, s.Marks)
	key := keyOfContact(markedKey, s.Value, s.Name)
	if len(s.Marks) == 0 {
		return c.batch.Delete(key, nil)
	}
	if err := s.Validate(); err != nil {
		return fmt.Errorf("contact %s: %w", s.Name, err)
	}
	value, err := json.Marshal(s.Marks)
	if err != nil {
		return err
	}
	return c.batch.Set(key, append(binary.AppendUvarint(nil, s.Position), value...), nil)
}

// CompareContacts compares contacts by their values and names.
func CompareContacts(a, b ContactChange) int {
	return cmp.Or(strings.Compare(a.Value, b.Value), strings.Compare(a.Name, b.Name))
}

// Contact returns a contact of a value that has marks, and whether there is one.
func (r *reader) Contact(value, name string) (c cluster.Contact, ok bool, err error) {
	key := keyOfContact(markedKey, value, name)
	found, ok, err := r.from.Get(key)
	if err != nil || !ok {
		return cluster.Contact{}, false, err
	}
	c, err = decodeContact(key, found)
	return c, err == nil, err
}

func decodeContact(key, value []byte) (c cluster.Contact, err error) {
	r := fields.Reader{Rest: value}
	c.Position = r.Uvarint(cluster.MaxPosition)
	c.Value, c.Name, _, err = decodeHolder(key, false)
	if err == nil {
		var marks label.Marks
		err = json.Unmarshal(r.Rest, &marks)
		c.Marks = marks
	}
	if err == nil {
		err = c.Validate()
	}
	if err != nil {
		return cluster.Contact{}, fmt.Errorf("%w: contact %.80q: %w", ErrDamaged, key, err)
	}
	return c, nil
}

// decodeHolder is the inverse of keyOfHolder, and of keyOfContact where there is no seq.
func decodeHolder(key []byte, withSeq bool) (value, contact string, seq uint64, err error) {
	rest := key[1:]
	if withSeq && len(rest) >= 9 {
		seq, err = decodeUint64(rest[len(rest)-8:])
		rest = rest[:len(rest)-9]
	}
	if len(rest) < 2 || 2+int(binary.BigEndian.Uint16(rest)) > len(rest) {
		return "", "", 0, fmt.Errorf("%w: the key of a contact has %d bytes", ErrDamaged, len(key))
	}
	n := int(binary.BigEndian.Uint16(rest))
	return string(rest[2 : 2+n]), string(rest[2+n:]), seq, err
}

// Contacts hands on each contact that has marks, by value and name, until each is false.
func (r *reader) Contacts(each func(*cluster.Contact) (more bool)) error {
	var failed error
	err := r.from.Scan([]byte{markedKey}, []byte{markedKey + 1}, func(key, value []byte) (more bool) {
		var c cluster.Contact
		c, failed = decodeContact(key, value)
		return failed == nil && each(&c)
	})
	return errors.Join(err, failed)
}

// Unlabelled hands on the seqs of the clusters without labels whose founder has a contact, oldest
// first, those that have expired included, until each is false.
func (r *reader) Unlabelled(value, contact string, each func(seq uint64) (more bool)) error {
	return r.holders(unlabelledKey, value, contact, each)
}

// LabelledBy does what Unlabelled does, for the clusters that have a label by the contact.
func (r *reader) LabelledBy(value, contact string, each func(seq uint64) (more bool)) error {
	return r.holders(byContactKey, value, contact, each)
}

func (r *reader) holders(
	kind byte, value, contact string, each func(seq uint64) (more bool),
) error {
	from := append(keyOfContact(kind, value, contact), 0)
	to := append(keyOfContact(kind, value, contact), 1)
	var failed error
	err := r.from.Scan(from, to, func(key, _ []byte) (more bool) {
		var seq uint64
		_, _, seq, failed = decodeHolder(key, true)
		return failed == nil && each(seq)
	})
	return errors.Join(err, failed)
}

// Shared hands on each contact that at least some number of clusters without labels have, those that
// have expired included, by value and name, with how many have it and the seq of the oldest, until
// each is false. It reads the keys of all, which takes about a second for a million.
func (r *reader) Shared(
	least int, each func(value, contact string, clusters int, oldest uint64) (more bool),
) error {
	var value, contact string
	var clusters int
	var oldest uint64
	var failed error
	more := true
	done := func() bool {
		if clusters >= max(1, least) {
			more = each(value, contact, clusters, oldest)
		}
		return more
	}
	from, to := []byte{unlabelledKey}, []byte{unlabelledKey + 1}
	err := r.from.Scan(from, to, func(key, _ []byte) bool {
		var v, c string
		var seq uint64
		if v, c, seq, failed = decodeHolder(key, true); failed != nil {
			return false
		}
		if v == value && c == contact && clusters > 0 {
			clusters++
			return true
		}
		if !done() {
			return false
		}
		value, contact, clusters, oldest = v, c, 1, seq
		return true
	})
	if err == nil && failed == nil && more {
		done()
	}
	return errors.Join(err, failed)
}
