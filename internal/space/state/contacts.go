package state

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/message/fields"
)

// The keys of contacts. They have a hash of the contact in place of its name: the database keeps
// some keys in files that it never rewrites, so that a name could not be erased.
const (
	// x, hash, seq → value's length, value, contact: of the clusters without labels whose founder has
	// it
	unlabelledKey = 'x'
	byContactKey  = 'y' // y, hash, seq → nothing: of the clusters that have a label by it
	markedKey     = 'z' // z, hash → position, value and contact with their lengths, marks as JSON
)

// hashBytes is how long the hash of a contact is in a key: two contacts with the same hash cannot
// be found.
const hashBytes = 16

// keyOfContact returns the key of a contact of a value. No contact contains a zero byte.
func keyOfContact(kind byte, value, contact string) []byte {
	hash := sha256.Sum256([]byte(value + "\x00" + contact))
	return append(append(make([]byte, 0, 1+hashBytes+8), kind), hash[:hashBytes]...)
}

func keyOfHolder(kind byte, value, contact string, seq uint64) []byte {
	return binary.BigEndian.AppendUint64(keyOfContact(kind, value, contact), seq)
}

// holders calls do with each key under which a cluster stands because of its contacts, and its
// value.
func holders(k *cluster.Cluster, do func(key, value []byte)) {
	if k.Contacts == "" {
		return
	}
	if k.Labels == "" {
		for contact := range k.Contacts.All() {
			if !cluster.IsErased(contact) {
				do(keyOfHolder(unlabelledKey, k.Space, contact, k.Seq),
					append(fields.AppendText(nil, k.Space), contact...))
			}
		}
		return
	}
	var by []string
	for _, l := range k.Labels.All() {
		if l.Contact != "" && !slices.Contains(by, l.Contact) && !cluster.IsErased(l.Contact) {
			by = append(by, l.Contact)
			do(keyOfHolder(byContactKey, k.Space, l.Contact, k.Seq), nil)
		}
	}
}

// hold writes under which contacts a cluster stands, in place of those from before; nil for a new
// cluster. Where neither has labels nothing has changed.
func (c *change) hold(before, now *cluster.Cluster) (err error) {
	if before != nil {
		holders(before, func(key, _ []byte) { err = errors.Join(err, c.batch.Delete(key, nil)) })
	}
	if now != nil {
		holders(now, func(key, value []byte) { err = errors.Join(err, c.batch.Set(key, value, nil)) })
	}
	return err
}

// rehold does what hold does for a cluster that is stored. It reads what is stored only if that may
// stand under other contacts.
func (c *change) rehold(k *cluster.Cluster) error {
	_, had := c.labelledAt(k.Seq)
	erased := slices.Contains(c.erased, k.Seq)
	if k.Contacts == "" || !had && k.Labels == "" && !erased {
		return nil
	}
	before, _, ok, err := c.cluster(k.Seq)
	if err != nil || !ok || before.Labels == k.Labels && before.Contacts == k.Contacts {
		return err
	}
	c.erasedContact = c.erasedContact || before.Contacts != k.Contacts
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
		c.erasedContact = c.erasedContact || len(c.erased) > 0
		return c.batch.Delete(key, nil)
	}
	if err := s.Validate(); err != nil {
		return fmt.Errorf("contact %s: %w", s.Name, err)
	}
	value, err := json.Marshal(s.Marks)
	if err != nil {
		return err
	}
	head := fields.AppendText(binary.AppendUvarint(nil, s.Position), s.Value)
	return c.batch.Set(key, append(fields.AppendText(head, s.Name), value...), nil)
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
	c, err = decodeContact(found)
	return c, err == nil, err
}

func decodeContact(value []byte) (c cluster.Contact, err error) {
	r := fields.Reader{Rest: value}
	c.Position, c.Value, c.Name = r.Uvarint(cluster.MaxPosition), r.Text(), r.Text()
	if err = json.Unmarshal(r.Rest, &c.Marks); err == nil {
		err = c.Validate()
	}
	if err != nil {
		return cluster.Contact{}, fmt.Errorf("%w: a contact: %w", ErrDamaged, err)
	}
	return c, nil
}

// Contacts hands on each contact that has marks until each is false.
func (r *reader) Contacts(each func(*cluster.Contact) (more bool)) error {
	var failed error
	err := r.from.Scan([]byte{markedKey}, []byte{markedKey + 1}, func(_, value []byte) (more bool) {
		var c cluster.Contact
		c, failed = decodeContact(value)
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
	from := keyOfContact(kind, value, contact)
	to := append(keyOfHolder(kind, value, contact, math.MaxUint64), 0)
	var failed error
	err := r.from.Scan(from, to, func(key, _ []byte) (more bool) {
		var seq uint64
		seq, failed = decodeUint64(key[len(from):])
		return failed == nil && each(seq)
	})
	return errors.Join(err, failed)
}

// Shared hands on each contact that at least some number of clusters without labels have, those
// that have expired included, with how many have it and the seq of the oldest, until each is
// false. It reads the keys of all, which takes about a second for a million.
func (r *reader) Shared(
	least int, each func(value, contact string, clusters int, oldest uint64) (more bool),
) error {
	var last sharing
	var failed error
	more := true
	done := func() bool {
		if last.clusters >= max(1, least) {
			more = each(last.value, last.contact, last.clusters, last.oldest)
		}
		return more
	}
	from, to := []byte{unlabelledKey}, []byte{unlabelledKey + 1}
	err := r.from.Scan(from, to, func(key, value []byte) bool {
		if last.clusters > 0 && bytes.HasPrefix(key, last.prefix) {
			last.clusters++
			return true
		}
		if !done() {
			return false
		}
		last, failed = decodeSharing(key, value)
		return failed == nil
	})
	if err == nil && failed == nil && more {
		done()
	}
	return errors.Join(err, failed)
}

// sharing is a contact, and how many clusters have it.
type sharing struct {
	prefix         []byte // of their keys
	value, contact string
	clusters       int
	oldest         uint64
}

// decodeSharing reads a contact from the key and value of its first cluster.
func decodeSharing(key, value []byte) (s sharing, err error) {
	r := fields.Reader{Rest: value}
	s.value, s.contact = r.Text(), string(r.Rest)
	if len(key) != 1+hashBytes+8 || r.Failed || s.contact == "" {
		return s, fmt.Errorf("%w: the key of a contact has %d bytes", ErrDamaged, len(key))
	}
	s.prefix, s.clusters = slices.Clone(key[:1+hashBytes]), 1
	s.oldest, err = decodeUint64(key[1+hashBytes:])
	return s, err
}
