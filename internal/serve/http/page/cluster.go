package page

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/serve/http/strict"
	v1 "github.com/clusterd/clusterd/internal/serve/http/v1"
	"github.com/clusterd/clusterd/internal/text/diff"
)

const (
	// textWait is how long a page waits for texts that are read again: it is there without them, too.
	textWait = 3 * time.Second
	// compared is how much of a text is compared, in bytes.
	compared = 20_000
)

// clusterPage is a cluster and its members.
type clusterPage struct {
	Row        row
	Contacts   []api.Contact // by which it has labels
	Members    []memberRow
	View       *api.View // nil: there is no view of members
	Reading    bool      // the view has none of the members yet
	Next       string    // the address of the next members; empty: these are the last
	First      bool      // these are the first members
	Near       []near
	Comparison *comparison // nil: nobody asked for one
}

// memberRow is a member, and the labels that it has of its own.
type memberRow struct {
	api.Member
	ClusterID string
	Own       []api.Label
}

// comparison is what a member and the founder share.
type comparison struct {
	Position  uint64
	ArticleID string
	Distance  *float64
	Passages  []diff.Passage
	Gone      string // why there are none
	Clipped   bool   // only the beginnings are compared
}

// cluster answers GET /clusters/{id}.
func (s *server) cluster(w http.ResponseWriter, r *http.Request) error {
	p := strict.NewQuery(r.URL)
	cursor, with := p.Text("cursor", maxCursor), p.Text("with", 20)
	p.Text("lang", 8)
	if err := p.Err(); err != nil {
		return err
	}
	id := v1.ClusterID(r)
	c, _, err := s.Spaces.Cluster(r.Context(), id)
	if err != nil {
		return err
	}
	page := clusterPage{
		Row: s.rows([]api.Cluster{c})[0], Contacts: s.byContacts(&c), First: cursor == "",
	}
	if err := s.members(r.Context(), id, cursor, &page); err != nil {
		return err
	}
	founder, err := article.ParseAddress(id)
	if err != nil {
		return api.ErrUnknown
	}
	ctx, cancel := context.WithTimeout(r.Context(), textWait)
	defer cancel()
	if with != "" {
		if page.Comparison, err = s.compare(ctx, id, founder, with); err != nil {
			return err
		}
	}
	if page.First {
		page.Near = s.nearFounder(ctx, founder)
	}
	return s.render(w, r, http.StatusOK, "cluster", page)
}

// members gives a page its members.
func (s *server) members(ctx context.Context, id, cursor string, page *clusterPage) error {
	question := "page members " + id
	place, err := v1.PlaceOf(cursor, question)
	if err != nil {
		return err
	}
	var from uint64
	if place != "" {
		if from, err = strconv.ParseUint(place, 10, 64); err != nil {
			return api.ErrUnknown
		}
	}
	if s.Options.Members == nil {
		return nil
	}
	members, more, view, err := s.Options.Members.Members(ctx, id, from, pageSize)
	switch {
	case errors.Is(err, api.ErrUnknown), errors.Is(err, api.ErrNotReady),
		errors.Is(err, api.ErrLate):
		page.Reading, page.View = true, &view
		return nil
	case err != nil:
		return err
	}
	page.View = &view
	for _, m := range members {
		own := page.Row.Cluster.LabelsOfArticle(m.Fingerprint)
		page.Members = append(page.Members, memberRow{m, id, own})
	}
	if more && len(members) > 0 {
		next := strconv.FormatUint(members[len(members)-1].Position+1, 10)
		page.Next = clusterAddress(id) + "?cursor=" + v1.CursorOf(next, question)
	}
	return nil
}

// nearFounder returns the clusters that the founder's text is near to, beside its own. It returns
// none where the text cannot be read again.
func (s *server) nearFounder(ctx context.Context, founder article.Address) []near {
	texts, err := s.Topics.Texts(ctx, []article.Address{founder})
	if err != nil || texts[0].Gone != "" {
		return nil
	}
	o := api.CheckOptions{RunnersUp: runnersUp, Partition: &founder.Partition}
	text := api.Text{Title: texts[0].Title, Content: texts[0].Content}
	answers, err := s.Spaces.Check(ctx, []api.Text{text}, o)
	if err != nil {
		return nil
	}
	var others []near
	for _, n := range s.near(&answers[0]) {
		if n.Row.ClusterID != founder.String() {
			others = append(others, n)
		}
	}
	return others
}

// compare returns what the member at a position shares with the founder.
func (s *server) compare(ctx context.Context, id string, founder article.Address, with string) (
	*comparison, error,
) {
	position, err := strconv.ParseUint(with, 10, 64)
	if err != nil || s.Options.Members == nil {
		return nil, api.ErrUnknown
	}
	found, _, _, err := s.Options.Members.Members(ctx, id, position, 1)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 || found[0].Position != position {
		return nil, api.ErrUnknown
	}
	m := &found[0]
	c := &comparison{Position: position, ArticleID: m.ArticleID, Distance: m.Distance}
	texts, err := s.Topics.Texts(ctx, []article.Address{founder, m.Source})
	if err != nil {
		return nil, err
	}
	for _, t := range texts {
		if t.Gone != "" {
			c.Gone = t.Gone
			return c, nil
		}
	}
	a, b := &texts[0], &texts[1]
	clippedA, clippedB := clip(&a.Content), clip(&b.Content)
	c.Clipped = clippedA || clippedB
	c.Passages, err = s.Passages.Passages(a.Title, a.Content, b.Title, b.Content)
	return c, err
}

// clip shortens a text that is too long to be compared while somebody waits.
func clip(text *string) bool {
	if len(*text) <= compared {
		return false
	}
	end := compared
	for !utf8.RuneStart((*text)[end]) {
		end--
	}
	*text = (*text)[:end]
	return true
}

// Of returns the passages of the founder, or those of the member.
func (c *comparison) Of(founder bool) (side []diff.Passage) {
	other := diff.OnlyA
	if founder {
		other = diff.OnlyB
	}
	for _, p := range c.Passages {
		if p.Kind != other && strings.TrimSpace(p.Text) != "" {
			side = append(side, p)
		}
	}
	return side
}
