package api

// The orders of clusters and of stories, the first first.
const (
	BySize   = "size"
	ByGrowth = "growth" // clusters, by how many articles joined within the last minutes
	ByRecent = "recent" // stories, by how many of their articles are recent
	Newest   = "newest"
)

// MaxMinutes is how far back growth is known.
const MaxMinutes = 60

// A ClusterQuery asks for clusters in an order.
type ClusterQuery struct {
	Sort    string
	Minutes int    // growth is counted over the last minutes of stream time
	Label   string // only clusters with this label; empty: all clusters
	Title   string // only clusters whose title or excerpt contains it, in any case; empty: all
	Limit   int
	After   string // the Next of the page before; empty: the first page
}

// A ContactQuery asks for contacts.
type ContactQuery struct {
	Shared, Marked bool // by clusters without labels, by labels
	Limit          int
	After          string // the Next of the page before; empty: the first page
}
