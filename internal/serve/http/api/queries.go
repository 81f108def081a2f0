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

// A ClusterQuery says which clusters are wanted, and in which order.
type ClusterQuery struct {
	Sort    string
	Minutes int    // of stream time, in which growth counts
	Label   string // that they have; empty: any or none
	Title   string // that title or excerpt contain, in any case; empty: any
	Limit   int
	After   string // what the page before said of the next one; empty: the first page
}

// A ContactQuery asks for contacts.
type ContactQuery struct {
	Shared, Marked bool // by clusters without labels, by labels
	Limit          int
	After          string // what the page before said of the next one; empty: the first page
}
