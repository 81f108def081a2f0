package singlepass

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/google/btree"
)

// Contacts are what a text wants one to reach, such as telephone numbers: each once, in ascending
// order, with a line break behind each.
type Contacts string

const (
	// MaxContacts is how many contacts a text has at most.
	MaxContacts = 16
	// MaxContactBytes is how long a contact may be.
	MaxContactBytes = 96
)

// NewContacts returns contacts that have neither white space nor control characters, and are each
// different, in ascending order.
func NewContacts(sorted []string) Contacts {
	if len(sorted) == 0 {
		return ""
	}
	return Contacts(strings.Join(sorted, "\n") + "\n")
}

// All hands on the contacts in order.
func (c Contacts) All() iter.Seq[string] {
	return func(yield func(string) bool) {
		for rest := string(c); rest != ""; {
			contact, after, _ := strings.Cut(rest, "\n")
			if !yield(contact) {
				return
			}
			rest = after
		}
	}
}

// Check returns an error for contacts that no text can have.
func (c Contacts) Check() error {
	if c == "" {
		return nil
	}
	if !strings.HasSuffix(string(c), "\n") {
		return errors.New("the last contact has no line break behind it")
	}
	all := slices.Collect(c.All())
	if len(all) > MaxContacts {
		return fmt.Errorf("there are %d contacts; at most %d are possible", len(all), MaxContacts)
	}
	for i, contact := range all {
		switch {
		case contact == "" || len(contact) > MaxContactBytes:
			return fmt.Errorf("a contact has %d bytes; 1 to %d are possible", len(contact),
				MaxContactBytes)
		case strings.ContainsFunc(contact, func(r rune) bool { return r <= ' ' || r == 0x7f }):
			return fmt.Errorf("contact %q has white space or control characters", contact)
		case i > 0 && contact <= all[i-1]:
			return errors.New("contacts are not in order")
		}
	}
	return nil
}

func (c Centre) withoutContacts() Centre {
	c.Contacts = ""
	return c
}

// keyed returns the contact of a text as the index has it: in each value of a divided space it is
// another. No contact has a line break.
func (f *Fingerprint) keyed(contact string) string {
	if f.Space == "" {
		return contact
	}
	return f.Space + "\n" + contact
}

// A contactIndex finds the centres that have a contact.
type contactIndex struct {
	centres map[string]*btree.BTreeG[uint64] // by contact: their Seqs
	single  map[string]uint64                // where there is one, which is nearly always
	passed  map[holder]struct{}              // expired ones that queries met: they are no longer here
	recent  map[string][]uint64              // those of passed that readers may still need, by contact

	keep func(holder) bool // whether readers may still need an expired one
	mu   sync.Locker       // held to change it
}

// A holder is a centre that has a contact.
type holder struct {
	contact string
	seq     uint64
}

func newContactIndex(mu sync.Locker, keep func(holder) bool) contactIndex {
	return contactIndex{
		centres: make(map[string]*btree.BTreeG[uint64]), single: make(map[string]uint64),
		passed: make(map[holder]struct{}), recent: make(map[string][]uint64),
		keep: keep, mu: mu,
	}
}

func (x *contactIndex) insert(c Centre) {
	for contact := range c.Contacts.All() {
		x.add(holder{c.keyed(contact), c.Seq})
	}
}

func (x *contactIndex) remove(c Centre) {
	for contact := range c.Contacts.All() {
		h := holder{c.keyed(contact), c.Seq}
		x.drop(h)
		delete(x.passed, h)
	}
}

const degree = 32 // of the trees

func (x *contactIndex) add(h holder) {
	tree, several := x.centres[h.contact]
	other, one := x.single[h.contact]
	switch {
	case several:
		tree.ReplaceOrInsert(h.seq)
	case one && other != h.seq:
		tree = btree.NewOrderedG[uint64](degree)
		tree.ReplaceOrInsert(other)
		tree.ReplaceOrInsert(h.seq)
		delete(x.single, h.contact)
		x.centres[h.contact] = tree
	default:
		x.single[strings.Clone(h.contact)] = h.seq
	}
}

func (x *contactIndex) drop(h holder) {
	tree, several := x.centres[h.contact]
	switch {
	case several:
		tree.Delete(h.seq)
		if last, _ := tree.Min(); tree.Len() == 1 {
			delete(x.centres, h.contact)
			x.single[strings.Clone(h.contact)] = last
		}
	case x.single[h.contact] == h.seq:
		delete(x.single, h.contact)
	}
}

// oldest returns the oldest live centre that has a contact. One that has expired is let go, so that
// queries pass over it once. A live of nil means that all are.
func (x *contactIndex) oldest(contact string, live func(seq uint64) bool) (seq uint64, ok bool) {
	for {
		if tree, several := x.centres[contact]; several {
			seq, ok = tree.Min()
		} else {
			seq, ok = x.single[contact]
		}
		if !ok || live == nil || live(seq) {
			return seq, ok
		}
		h := holder{contact, seq}
		x.mu.Lock()
		x.drop(h)
		x.passed[h] = struct{}{}
		if x.keep(h) {
			x.recent[contact] = append(x.recent[contact], seq)
		}
		x.mu.Unlock()
	}
}

// oldestCommitted returns the oldest centre that has a contact, among those that live and those
// that were let go since the last commit. It changes nothing.
func (x *contactIndex) oldestCommitted(
	contact string, live func(seq uint64) bool,
) (seq uint64, ok bool) {
	for _, s := range x.recent[contact] {
		if (!ok || s < seq) && live(s) {
			seq, ok = s, true
		}
	}
	offer := func(s uint64) (more bool) {
		if ok && seq < s {
			return false
		}
		if live(s) {
			seq, ok = s, true
		}
		return !ok
	}
	if tree, several := x.centres[contact]; several {
		tree.Ascend(offer)
	} else if one, single := x.single[contact]; single {
		offer(one)
	}
	return seq, ok
}

// forget removes what readers needed before a commit.
func (x *contactIndex) forget(recent []holder) {
	for _, h := range recent {
		left := slices.DeleteFunc(x.recent[h.contact], func(seq uint64) bool { return seq == h.seq })
		if x.recent[h.contact] = left; len(left) == 0 {
			delete(x.recent, h.contact)
		}
	}
}

// restore puts back those that were let go: they may live again.
func (x *contactIndex) restore() {
	for h := range x.passed {
		x.add(h)
	}
	clear(x.passed)
	clear(x.recent)
}
