package lookup

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/message/label"
	"github.com/clusterd/clusterd/internal/space"
)

const (
	// contactsFor is for how long it is not counted again which contacts clusters share.
	contactsFor = 10 * time.Second
	// MaxSharing is up to how many clusters that share a contact are counted for an answer.
	MaxSharing = 1000
)

// A ContactQuery asks for contacts.
type ContactQuery struct {
	Shared, Marked bool // which: those that clusters share, those that labels have marked
	Limit          int
	After          string // what the page before said of the next one; empty: the first page
}

// A Contact is one that clusters without labels share, or that labels have marked.
type Contact struct {
	cluster.Contact
	Clusters int             // without labels that have it, to [MaxSharing]
	Oldest   cluster.Cluster // of these
	AsOf     AsOf
}

// A ContactPage is some contacts. Next is for the query of the next page, empty if there is none.
type ContactPage struct {
	Contacts []Contact
	Next     string
	AsOf     []AsOf
}

// contactEntry is a contact in the order of a list. It is a cursor, too.
type contactEntry struct {
	Clusters int    `json:"n"`
	Space    string `json:"space"`
	Value    string `json:"value,omitempty"`
	Name     string `json:"name"`
}

func compareContacts(a, b contactEntry) int {
	return cmp.Or(cmp.Compare(b.Clusters, a.Clusters), compareNames(a.Space, b.Space),
		cmp.Compare(a.Value, b.Value), cmp.Compare(a.Name, b.Name))
}

// sharing is what was counted last.
type sharing struct {
	at  time.Time
	all map[contactEntry]int // by key
}

// Contacts returns a page of contacts: those that most clusters share first, as of ten seconds ago
// at most. What each is, is as of now.
func (s *Service) Contacts(ctx context.Context, q ContactQuery) (page ContactPage, err error) {
	var after *contactEntry
	if q.After != "" {
		after = new(contactEntry)
		if json.Unmarshal([]byte(q.After), after) != nil {
			return page, &InvalidError{"cursor", "it is not what a page has said of the next one"}
		}
	}
	views := make(map[string]*space.View)
	for _, of := range s.all() {
		v, err := of.View()
		if err != nil {
			continue // it is being closed
		}
		defer v.Release()
		views[of.name] = v
		page.AsOf = append(page.AsOf, s.asOf(of.name, v.AsOf()))
	}
	if len(views) == 0 {
		return page, ErrNotReady
	}
	entries, err := s.contacts(q, views)
	if err != nil {
		return page, err
	}
	for _, e := range entries {
		switch {
		case ctx.Err() != nil:
			return page, context.Cause(ctx)
		case after != nil && compareContacts(e, *after) <= 0:
			continue
		case len(page.Contacts) == q.Limit:
			return page, nil
		}
		if err := s.list(e, views[e.Space], &q, &page); err != nil {
			return page, err
		}
	}
	page.Next = ""
	return page, nil
}

// list adds a contact to a page, unless it is none of those that were asked for any more.
func (s *Service) list(e contactEntry, v *space.View, q *ContactQuery, page *ContactPage) error {
	c, err := s.contact(v, e.Space, e.Value, e.Name)
	if err != nil {
		return err
	}
	if q.Marked && len(c.Marks) > 0 || q.Shared && c.Clusters >= label.Common {
		page.Contacts = append(page.Contacts, c)
		place, err := json.Marshal(e)
		page.Next = string(place)
		return err
	}
	return nil
}

// contacts returns the contacts that may be in a list, in its order.
func (s *Service) contacts(q ContactQuery, views map[string]*space.View) ([]contactEntry, error) {
	all := make(map[contactEntry]int)
	if q.Shared {
		s.sharingMutex.Lock()
		defer s.sharingMutex.Unlock()
		if time.Since(s.sharing.at) >= contactsFor {
			found, err := countSharing(views)
			if err != nil {
				return nil, err
			}
			s.sharing = sharing{time.Now(), found}
		}
		for key, n := range s.sharing.all {
			if views[key.Space] != nil {
				all[key] = n
			}
		}
	}
	if q.Marked {
		for name, v := range views {
			err := v.Contacts(func(c *cluster.Contact) bool {
				key := contactEntry{Space: name, Value: c.Value, Name: c.Name}
				all[key] += 0
				return true
			})
			if err != nil {
				return nil, err
			}
		}
	}
	entries := make([]contactEntry, 0, len(all))
	for key, n := range all {
		key.Clusters = n
		entries = append(entries, key)
	}
	slices.SortFunc(entries, compareContacts)
	return entries, nil
}

// countSharing counts the clusters without labels that share each contact.
func countSharing(views map[string]*space.View) (map[contactEntry]int, error) {
	found := make(map[contactEntry]int)
	for name, v := range views {
		err := v.Shared(label.Common, func(value, contact string, clusters int, _ uint64) bool {
			found[contactEntry{Space: name, Value: value, Name: contact}] = clusters
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// contact returns what is known of a contact.
func (s *Service) contact(v *space.View, of, value, name string) (c Contact, err error) {
	if c.Contact, _, err = v.Contact(value, name); err != nil {
		return c, err
	}
	c.Value, c.Name, c.AsOf = value, name, s.asOf(of, v.AsOf())
	c.Clusters, c.Oldest, err = v.Unlabelled(value, name, MaxSharing)
	return c, err
}

// Contact returns a contact, or [ErrUnknown] for one that no cluster without labels has and that no
// label has marked.
func (s *Service) Contact(name string, value *string, partition *int) (Contact, error) {
	of, err := s.holding(value, partition)
	if err != nil {
		return Contact{}, err
	}
	v, err := of.View()
	if err != nil {
		return Contact{}, asNotReady(err)
	}
	defer v.Release()
	c, err := s.contact(v, of.name, valueOf(value), name)
	if err == nil && c.Clusters == 0 && len(c.Marks) == 0 {
		err = ErrUnknown
	}
	return c, err
}

// ByField reports whether articles are divided by a value.
func (s *Service) ByField() bool { return s.options.Config.Cluster.Scope == config.ByField }

func valueOf(value *string) string {
	if value == nil {
		return ""
	}
	return *value
}

// holding returns the space to which the contacts of a value and a partition belong.
func (s *Service) holding(value *string, partition *int) (*asked, error) {
	c := &s.options.Config.Cluster
	switch byField := s.ByField(); {
	case partition != nil && !s.divided():
		return nil, &InvalidError{
			"partition", "all of the input is one space: cluster.scope is " + c.Scope,
		}
	case value != nil && !byField:
		return nil, &InvalidError{
			"space", "there are no spaces by a field: cluster.scope is " + c.Scope,
		}
	case value == nil && byField:
		return nil, &InvalidError{"space", "say to which space the contact belongs: with " +
			"cluster.scope: field each value of " + c.ScopeField + " has contacts of its own; empty is " +
			"that of articles without one"}
	case partition == nil && value == nil && s.divided():
		return nil, &InvalidError{"partition", "say to which partition of the input the contact " +
			"belongs: with cluster.scope: partition each has contacts of its own"}
	}
	return s.asked(&Question{Partition: partition, Value: value})
}

// PartitionOf returns the partition of the input that is the space with this name; nil if that is
// all of the input.
func PartitionOf(space string) *int {
	if space == checkpoint.WholeTopic {
		return nil
	}
	n, err := strconv.Atoi(space)
	if err != nil {
		panic(fmt.Sprintf("lookup: the space %q is no partition", space)) // no other names are given
	}
	return &n
}
