package singlepass

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
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

// Len returns the number of contacts.
func (c Contacts) Len() int { return strings.Count(string(c), "\n") }

// Has reports whether a contact is among them.
func (c Contacts) Has(contact string) bool {
	rest, found := string(c), false
	for !found && rest != "" {
		var one string
		one, rest, _ = strings.Cut(rest, "\n")
		found = one == contact
	}
	return found
}

// Without returns the contacts that do not begin so.
func (c Contacts) Without(prefix string) Contacts {
	if !strings.Contains(string(c), prefix) {
		return c
	}
	return NewContacts(slices.DeleteFunc(slices.Collect(c.All()), func(contact string) bool {
		return strings.HasPrefix(contact, prefix)
	}))
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
