package api

import "time"

// Stats are what an instance does.
type Stats struct {
	Version string    `json:"version"`
	Ready   bool      `json:"ready"`
	Reason  string    `json:"reason"`
	State   string    `json:"state"`
	Since   time.Time `json:"since"` // from when on this instance counts
	// Clusters are how many there are, by space, with expired ones that were not taken away yet.
	Clusters    map[string]int   `json:"clusters"`
	Articles    Articles         `json:"articles"`
	Rate        float64          `json:"rate"` // articles committed a second, over the last minute
	Lag         map[int]int64    `json:"lag"`  // records of partitions worked on that were not fetched
	DeadLetters map[string]int64 `json:"dead_letters"`
	Labels      []LabelCount     `json:"labels"`
	Streams     Streams          `json:"streams"`
	View        *ViewStats       `json:"view"` // nil: serve.bytes is 0
	AsOf        []AsOf           `json:"as_of"`
}

// Articles are how many this instance has committed.
type Articles struct {
	New         int64 `json:"new"`
	Joined      int64 `json:"joined"`
	Unclustered int64 `json:"unclustered"`
}

// LabelCount is how much a label does.
type LabelCount struct {
	Label    string `json:"label"`
	Clusters int    `json:"clusters"` // that have it, on trial or not
	// Hits are the articles that carry it, of the current 1,000.
	Hits       int  `json:"hits"`
	AboveFlood bool `json:"above_flood"` // more than labels.flood carry it
}

// Streams are who reads /v1/stream.
type Streams struct {
	Clients int    `json:"clients"`
	Dropped uint64 `json:"dropped"` // events that were not sent to clients that were too slow
}

// ViewStats are what the view of members has and takes.
type ViewStats struct {
	View
	Members int64 `json:"members"`
	Bytes   int64 `json:"bytes"` // on disk
}
