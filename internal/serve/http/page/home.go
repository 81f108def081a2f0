package page

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/serve/http/strict"
	v1 "github.com/clusterd/clusterd/internal/serve/http/v1"
)

const (
	pageSize   = 50 // rows of a list
	glance     = 8  // rows of each list where there are three
	maxMinutes = 60
	maxCursor  = 1024 // bytes
)

// row is a cluster in a list.
type row struct {
	api.Cluster
	Joined []int // minute by minute; nil: none
	// Since is when counting of Joined began, and Grown when counting of Growth began; zero: all of
	// the minutes were counted.
	Since, Grown time.Time
}

// Has reports whether the cluster has a label that counts.
func (r row) Has(name string) bool {
	for _, l := range r.Labels {
		if l.Label == name && !l.Trial {
			return true
		}
	}
	return false
}

// list is some clusters in an order.
type list struct {
	Sort     string
	Rows     []row
	Complete bool
	Since    time.Time // when counting of growth began; zero: all of the minutes were counted
	All      string    // the address of the whole list; empty: this is it
	Next     string    // the address of the next page; empty: this is the last
}

// overview is the first page: lists at a glance, or one list.
type overview struct {
	Filter api.ClusterQuery
	One    bool // there is one list
	Lists  []list
}

// sorts returns the orders of clusters as the page has them.
func sorts() []string { return []string{api.ByGrowth, api.BySize, api.Newest} }

// home answers GET /.
func (s *server) home(w http.ResponseWriter, r *http.Request) error {
	p := strict.NewQuery(r.URL)
	sort := p.OneOf("sort", "", api.ByGrowth, api.BySize, api.Newest)
	q := api.ClusterQuery{
		Sort: sort, Minutes: maxMinutes, Limit: pageSize,
		Label: p.Text("label", api.MaxLabel), Title: p.Text("title", api.MaxQuery),
	}
	// A form sends what nobody filled in, too.
	if p.Text("minutes", 8) != "" {
		q.Minutes = p.Int("minutes", 1, maxMinutes, maxMinutes)
	}
	cursor := p.Text("cursor", maxCursor)
	p.Text("lang", 8)
	if err := p.Err(); err != nil {
		return err
	}
	page := overview{One: sort != "" || q.Label != "" || q.Title != "" || cursor != ""}
	shown := sorts()
	if page.One {
		if q.Sort == "" {
			q.Sort = api.BySize
		}
		shown = []string{q.Sort}
	} else {
		q.Limit = glance
	}
	page.Filter = q
	for _, q.Sort = range shown {
		l, err := s.list(r.Context(), q, cursor)
		if err != nil {
			return err
		}
		if !page.One {
			l.All, l.Next = "/?sort="+l.Sort, ""
		}
		page.Lists = append(page.Lists, l)
	}
	return s.render(w, r, http.StatusOK, "home", page)
}

// list returns a page of a list. A cursor holds for the same question alone.
func (s *server) list(ctx context.Context, q api.ClusterQuery, cursor string) (l list, err error) {
	question := fmt.Sprintf("page %s %d %q %q", q.Sort, q.Minutes, q.Label, q.Title)
	if q.After, err = v1.PlaceOf(cursor, question); err != nil {
		return l, err
	}
	found, err := s.Spaces.Clusters(ctx, q)
	if err != nil {
		return l, err
	}
	l = list{
		Sort: q.Sort, Complete: found.Complete, Since: found.Since, Rows: s.rows(found.Clusters),
	}
	for i := range l.Rows {
		l.Rows[i].Grown = l.Since
	}
	if found.Next != "" {
		values := url.Values{"sort": {q.Sort}, "cursor": {v1.CursorOf(found.Next, question)}}
		if q.Sort == api.ByGrowth {
			values.Set("minutes", strconv.Itoa(q.Minutes))
		}
		if q.Label != "" {
			values.Set("label", q.Label)
		}
		if q.Title != "" {
			values.Set("title", q.Title)
		}
		l.Next = "/?" + values.Encode()
	}
	return l, nil
}

// rows returns clusters with what they did of late.
func (s *server) rows(clusters []api.Cluster) []row {
	var ids []string
	for _, c := range clusters {
		ids = append(ids, c.ClusterID)
	}
	var joined [][]int
	var since time.Time
	if s.Activity != nil {
		joined, since = s.Activity(ids)
	}
	var rows []row
	for i, c := range clusters {
		one := row{Cluster: c, Since: since}
		if joined != nil {
			one.Joined = joined[i]
		}
		rows = append(rows, one)
	}
	return rows
}

// suspect is a cluster, and the labelled one that it is near to.
type suspect struct {
	Row  row
	Near near
}

// suspects answers GET /suspects.
func (s *server) suspects(w http.ResponseWriter, r *http.Request) error {
	found, err := s.Options.Suspects(r.Context())
	if err != nil {
		return err
	}
	clusters := make([]api.Cluster, len(found))
	for i := range found {
		clusters[i] = found[i].Cluster
	}
	all := make([]suspect, len(found))
	for i, one := range s.rows(clusters) {
		of := found[i].Near
		all[i] = suspect{one, near{Row: row{Cluster: of.Cluster}, Distance: of.Distance}}
	}
	return s.render(w, r, http.StatusOK, "suspects", all)
}

// tail answers GET /tail.
func (s *server) tail(w http.ResponseWriter, r *http.Request) error {
	return s.render(w, r, http.StatusOK, "tail", nil)
}
