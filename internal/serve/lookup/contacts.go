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
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/space"
)

const (
	// contactsFor is for how long it is not counted again which contacts clusters share.
	contactsFor = 10 * time.Second
	// MaxSharing is up to how many clusters that share a contact are counted for an answer.
	MaxSharing = 1000
)

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
func (s *Service) Contacts(ctx context.Context, q api.ContactQuery) (page api.Contacts, err error) {
	page = api.Contacts{Contacts: []api.Contact{}, AsOf: []api.AsOf{}}
	var after *contactEntry
	if q.After != "" {
		after = new(contactEntry)
		if json.Unmarshal([]byte(q.After), after) != nil {
			return page, api.Invalid("cursor", "it is not what a page has said of the next one")
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
		return page, api.ErrNotReady
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
func (s *Service) list(
	e contactEntry, v *space.View, q *api.ContactQuery, page *api.Contacts,
) error {
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
func (s *Service) contacts(
	q api.ContactQuery, views map[string]*space.View,
) ([]contactEntry, error) {
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
func (s *Service) contact(v *space.View, of, value, name string) (out api.Contact, err error) {
	c, _, err := v.Contact(value, name)
	if err != nil {
		return out, err
	}
	out = api.Contact{
		ContactRef: api.ContactRef{Contact: s.nameOf(name), Partition: partitionOf(of)},
		Marks:      []api.Mark{},
	}
	if s.byField() {
		out.Space = &value
	}
	var oldest cluster.Cluster
	if out.Clusters, oldest, err = v.Unlabelled(value, name, MaxSharing); err != nil {
		return out, err
	}
	if out.Clusters > 0 {
		found := s.cluster(&oldest, of, v.AsOf().StreamTime)
		out.Oldest = &found
	}
	for i := range c.Marks {
		m := &c.Marks[i]
		out.Marks = append(out.Marks, api.Mark{
			Label: m.Name, Trial: m.Trial, Votes: float64(m.Votes) / label.Vote, Hams: m.Hams,
			Excepted: m.Excepted, Counts: m.Counts(name), Used: m.Used, Reach: m.Reach,
			Clicked: people(m.Clicked), Harmless: people(m.Harmless),
		})
	}
	return out, nil
}

func people(all []label.By) []api.By {
	out := []api.By{}
	for _, b := range all {
		out = append(out, api.By(b))
	}
	return out
}

// Contact returns a contact. The error is [api.ErrUnknown] for one that cannot get the label with
// this name: no cluster without labels has it and no label has marked it, or it would be harmless
// and nothing speaks against it. The answer then says at least where the contact belongs.
func (s *Service) Contact(ref api.ContactRef, name string) (api.Contact, error) {
	of, err := s.holding(&ref)
	if err != nil {
		return api.Contact{}, err
	}
	v, err := of.View()
	if err != nil {
		return api.Contact{}, notReady(err)
	}
	defer v.Release()
	value := ""
	if ref.Space != nil {
		value = *ref.Space
	}
	c, err := s.contact(v, of.name, value, ref.Contact)
	harmless := slices.Contains(s.options.Config.Labels.Allow, name)
	if err == nil && len(c.Marks) == 0 && (c.Clusters == 0 || harmless) {
		err = api.ErrUnknown
	}
	return c, err
}

// byField reports whether articles are divided by a value.
func (s *Service) byField() bool { return s.options.Config.Cluster.Scope == config.ByField }

// holding returns the space to which a contact belongs.
func (s *Service) holding(ref *api.ContactRef) (*asked, error) {
	c := &s.options.Config.Cluster
	switch {
	case ref.Partition != nil && !s.divided():
		return nil, api.Invalid("partition", "all of the input is one space: cluster.scope is %s",
			c.Scope)
	case ref.Space != nil && !s.byField():
		return nil, api.Invalid("space", "there are no spaces by a field: cluster.scope is %s",
			c.Scope)
	case ref.Space == nil && s.byField():
		return nil, api.Invalid("space", "say to which space the contact belongs: with "+
			"cluster.scope: field each value of %s has contacts of its own; empty is that of articles "+
			"without one", c.ScopeField)
	case ref.Partition == nil && ref.Space == nil && s.divided():
		return nil, api.Invalid("partition", "say to which partition of the input the contact "+
			"belongs: with cluster.scope: partition each has contacts of its own")
	}
	return s.asked(ref.Partition, ref.Space)
}

// partitionOf returns the partition of the input that is the space with this name; nil if that is
// all of the input.
func partitionOf(space string) *int {
	if space == checkpoint.WholeTopic {
		return nil
	}
	n, err := strconv.Atoi(space)
	if err != nil {
		panic(fmt.Sprintf("lookup: the space %q is no partition", space)) // no other names are given
	}
	return &n
}
