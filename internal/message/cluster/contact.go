package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/label"
	"github.com/clusterd/clusterd/internal/singlepass"
)

// ContactPrefix begins the key of a contact in the clusters topic. No cluster id begins so: a
// topic's name has no colon.
const ContactPrefix = "contact:"

// IsContact reports whether a record of the clusters topic with this key is a contact.
func IsContact(key []byte) bool { return strings.HasPrefix(string(key), ContactPrefix) }

// Erased returns the name that a contact has once a label record, topic/partition/offset, has
// erased it. It does not name the topic, which may be long.
func Erased(record string) string {
	return article.ErasedContact + ":" + record[strings.IndexByte(record, '/')+1:]
}

// IsErased reports whether a name is that of an erased contact. No label marks it.
func IsErased(contact string) bool { return strings.HasPrefix(contact, article.ErasedContact+":") }

// erasedSince reports whether contacts are the same as before, but that some were erased.
func erasedSince(now, before singlepass.Contacts) bool {
	for contact := range now.All() {
		if !IsErased(contact) && !before.Has(contact) {
			return false
		}
	}
	return now.Len() <= before.Len() && strings.Contains(string(now), article.ErasedContact+":")
}

func renamed(contacts []string, from, to string) []string {
	for i := range contacts {
		if contacts[i] == from {
			contacts[i] = to
		}
	}
	return contacts
}

// A Contact is a contact that labels have marked. One without marks is gone.
type Contact struct {
	Name     string // such as number:+447700900123
	Value    string // of a divided space, to which it belongs; else empty
	Position uint64 // of the first article after the last change
	Marks    label.Marks
}

// Key returns the key of the contact's record, among those of a space.
func (c *Contact) Key(space string) []byte {
	key := ContactPrefix + space + "/"
	if c.Value != "" {
		key += c.Value + "\n"
	}
	return []byte(key + c.Name)
}

// contactState is the value of the contact's record.
type contactState struct {
	Contact string      `json:"contact"`
	Space   string      `json:"space,omitempty"`
	Marks   label.Marks `json:"marks"`
}

// AppendJSON appends the value of the contact's record. Its Position is a header.
func (c *Contact) AppendJSON(dst []byte) []byte {
	// Texts, numbers and times always can be.
	value, _ := json.Marshal(contactState{c.Name, c.Value, c.Marks})
	return append(dst, value...)
}

// ParseContact is the inverse of [Contact.AppendJSON] for a record of a space with this key. Of a
// record without a value, a tombstone, only Name and Value are set. The contact is not validated.
// It is not ok where the record is of another space.
func ParseContact(
	key, value []byte, position uint64, space string,
) (c Contact, ok bool, err error) {
	of, name, found := strings.Cut(strings.TrimPrefix(string(key), ContactPrefix), "/")
	if !found {
		return c, false, fmt.Errorf("not a contact: the key %.80q", key)
	}
	if of != space {
		return c, false, nil
	}
	if at := strings.LastIndexByte(name, '\n'); at >= 0 {
		c.Value, name = name[:at], name[at+1:]
	}
	c.Name, c.Position = name, position
	if value == nil {
		return c, true, nil
	}
	var state contactState
	if err := json.Unmarshal(value, &state); err != nil {
		return c, true, fmt.Errorf("not a contact: %w", err)
	}
	if state.Contact != c.Name || state.Space != c.Value {
		return c, true, fmt.Errorf("the contact %.80q has another key", state.Contact)
	}
	c.Marks = state.Marks
	return c, true, nil
}

// Validate returns an error for a contact that no clusterd can have made.
func (c *Contact) Validate() error {
	if c.Position > MaxPosition || len(c.Value) > article.MaxSpaceBytes {
		return errors.New("a contact's position or space is too large")
	}
	return errors.Join(singlepass.NewContacts([]string{c.Name}).Check(), c.Marks.Check())
}
