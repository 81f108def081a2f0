package lookup

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
)

// Cluster returns the cluster of this id, or [ErrUnknown].
func (s *Service) Cluster(_ context.Context, id string) (cluster.Cluster, AsOf, error) {
	founder, err := article.ParseAddress(id)
	if err != nil || founder.Topic != s.options.Config.Input.Topic {
		return cluster.Cluster{}, AsOf{}, ErrUnknown
	}
	of, err := s.of(founder.Partition)
	if err != nil {
		return cluster.Cluster{}, AsOf{}, err
	}
	v, err := of.View()
	if err != nil {
		return cluster.Cluster{}, AsOf{}, asNotReady(err)
	}
	defer v.Release()
	c, ok, err := v.Find(founder)
	if err == nil && !ok {
		err = ErrUnknown
	}
	return c, s.asOf(of.name, v.AsOf()), err
}

// A Sort is an order of clusters, the first first.
type Sort string

// The orders of clusters.
const (
	BySize   Sort = "size"
	ByGrowth Sort = "growth" // by how many articles joined within the last minutes of stream time
	ByAge    Sort = "newest"
)

func (s Sort) compare() func(a, b entry) int {
	switch s {
	case ByGrowth:
		return fastest
	case ByAge:
		return newest
	default:
		return largest
	}
}

// MaxPage is how many clusters a page has at most.
const MaxPage = 200

// A Query asks for clusters.
type Query struct {
	Sort    Sort
	Minutes int    // in which growth counts, to MaxMinutes
	Label   string // that they have; empty: any or none
	Title   string // that title or excerpt contain, in any case; empty: any
	Limit   int
	After   string // what the page before said of the next one; empty: the first page
}

// A Page is some clusters.
type Page struct {
	Clusters []Listed
	Next     string // for the Query of the next page; empty where there is none
	// Complete is false while it is still being found out which clusters were the largest before this
	// instance began.
	Complete bool
	// Since is when counting of growth began, in a list by growth; zero if all of the minutes were
	// counted. Growth is not stored: it is counted while this instance has the clusters.
	Since time.Time
	AsOf  []AsOf // by space

	lastSize int // of the last cluster, by which it was sorted
}

// A Listed cluster is one of a [Page].
type Listed struct {
	cluster.Cluster
	Space  string
	Growth int // articles that joined within the minutes of the query
}

func (q *Query) check() error {
	switch {
	case !slices.Contains([]Sort{BySize, ByGrowth, ByAge}, q.Sort):
		return &InvalidError{"sort", fmt.Sprintf("%q is none of %s, %s and %s", q.Sort, BySize, ByGrowth,
			ByAge)}
	case q.Minutes < 1 || q.Minutes > MaxMinutes:
		return &InvalidError{"minutes", fmt.Sprintf("%d; 1 to %d are possible", q.Minutes, MaxMinutes)}
	case q.Limit < 1 || q.Limit > MaxPage:
		return &InvalidError{"limit", fmt.Sprintf("%d; 1 to %d are possible", q.Limit, MaxPage)}
	}
	return nil
}

// Clusters returns a page of clusters: of some ten thousand that are the largest, the newest or
// grow fastest, as of a second ago at most, or of those that have a label. Between two pages the
// order may change, so that a cluster may come twice, or not.
func (s *Service) Clusters(ctx context.Context, q Query) (Page, error) {
	if err := q.check(); err != nil {
		return Page{}, err
	}
	after, err := parseCursor(q.After)
	if err != nil {
		return Page{}, err
	}
	l := &listing{Query: q, Service: s, after: after, page: Page{Complete: true}}
	defer l.release()
	for _, of := range s.all() {
		if err := l.add(of); err != nil {
			return Page{}, err
		}
	}
	if len(l.spaces) == 0 {
		return Page{}, ErrNotReady
	}
	err = l.take(ctx)
	return l.page, err
}

// Labelled returns a page of the clusters that have labels, in the order of their founding.
func (s *Service) Labelled(ctx context.Context, after string, limit int) (Page, error) {
	at, err := parseCursor(after)
	if err != nil {
		return Page{}, err
	}
	if limit < 1 || limit > MaxPage {
		return Page{}, &InvalidError{"limit", fmt.Sprintf("%d; 1 to %d are possible", limit, MaxPage)}
	}
	page := Page{Complete: true}
	for _, of := range s.all() {
		if at != nil && compareNames(of.name, at.space) < 0 {
			continue
		}
		if err := s.labelled(ctx, of, at, limit, &page); err != nil {
			return Page{}, err
		}
		at = nil
	}
	if len(page.AsOf) == 0 {
		return Page{}, ErrNotReady
	}
	return page, nil
}

// labelled adds to a page what is behind a cursor in a space.
func (s *Service) labelled(
	ctx context.Context, of *asked, after *cursor, limit int, page *Page,
) error {
	v, err := of.View()
	if err != nil {
		return nil // it is being closed
	}
	defer v.Release()
	page.AsOf = append(page.AsOf, s.asOf(of.name, v.AsOf()))
	for _, centre := range v.Labelled() {
		if page.Next != "" || ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if after != nil && after.space == of.name && centre.Seq <= after.seq {
			continue
		}
		c, ok, err := v.Get(centre.Seq)
		switch {
		case err != nil:
			return err
		case !ok:
		case len(page.Clusters) == limit:
			last := page.Clusters[limit-1]
			page.Next = (&cursor{seq: last.Seq, space: last.Space}).String()
		default:
			page.Clusters = append(page.Clusters, Listed{Cluster: c, Space: of.name})
		}
	}
	return nil
}

// Applied reports whether the clusters here are as of when this record of the labels topic had been
// read, of a cluster whose space this instance has.
func (s *Service) Applied(id string, record article.Address) bool {
	founder, err := article.ParseAddress(id)
	if err != nil {
		return false
	}
	of, err := s.of(founder.Partition)
	return err == nil && applied(of, record)
}

// AppliedTo does what Applied does, for a contact of a value and a partition.
func (s *Service) AppliedTo(value *string, partition *int, record article.Address) bool {
	of, err := s.holding(value, partition)
	return err == nil && applied(of, record)
}

func applied(of *asked, record article.Address) bool {
	v, err := of.View()
	if err != nil {
		return false
	}
	defer v.Release()
	l := v.AsOf().Labels
	return l != nil && l.Topic == record.Topic && l.Offsets[record.Partition] > record.Offset
}
