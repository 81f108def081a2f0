package page

import (
	"net/http"
	"net/url"

	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/serve/http/strict"
	v1 "github.com/clusterd/clusterd/internal/serve/http/v1"
)

// The lists of contacts.
const (
	shared = "shared" // by clusters without labels
	marked = "marked" // by labels
)

// contactsPage is a list of contacts.
type contactsPage struct {
	Show     string
	Contacts []api.Contact
	Next     string // the address of the next page; empty: this is the last
}

// contacts answers GET /contacts.
func (s *server) contacts(w http.ResponseWriter, r *http.Request) error {
	p := strict.NewQuery(r.URL)
	page := contactsPage{Show: p.OneOf("show", shared, marked)}
	cursor := p.Text("cursor", maxCursor)
	p.Text("lang", 8)
	if err := p.Err(); err != nil {
		return err
	}
	question := "page contacts " + page.Show
	after, err := v1.PlaceOf(cursor, question)
	if err != nil {
		return err
	}
	found, err := s.Spaces.Contacts(r.Context(), api.ContactQuery{
		Shared: page.Show == shared, Marked: page.Show == marked, Limit: pageSize, After: after,
	})
	if err != nil {
		return err
	}
	page.Contacts = found.Contacts
	if found.Next != "" {
		page.Next = "/contacts?" + url.Values{
			"show": {page.Show}, "cursor": {v1.CursorOf(found.Next, question)},
		}.Encode()
	}
	return s.render(w, r, http.StatusOK, "contacts", page)
}

// byContacts returns the contacts by which a cluster has labels. It returns nil if texts are
// hidden, since contacts have no names then.
func (s *server) byContacts(c *api.Cluster) (all []api.Contact) {
	seen := make(map[string]bool)
	for _, l := range c.Labels {
		if l.Contact == "" || seen[l.Contact] || s.Hidden {
			continue
		}
		seen[l.Contact] = true
		if found, err := s.Spaces.Contact(l.ContactRef, ""); err == nil {
			all = append(all, found)
		}
	}
	return all
}
