package eval

import "time"

// A Signal is how well "in a cluster of Size or more" tells the positive documents, such as spam,
// from others. Of documents without a label nothing is known: they are members, and are left out of
// the shares.
type Signal struct {
	Size int `json:"size"`
	// All counts a document as soon as its cluster has that many members, later ones included.
	All Found `json:"all"`
	// Arriving counts only what can be known when the document arrives: it is the Size-th or later.
	Arriving Found `json:"arriving"`
}

// Found is what a signal finds.
type Found struct {
	Documents int `json:"documents"` // with a label
	Positive  int `json:"positive"`  // of these
	Quality
}

// Signals returns a signal for each of the options' sizes. With a window, members count only where
// that many arrive within it. A document arrives at the latest event time so far.
func Signals(docs []Document, c Clustering, o Options) []Signal {
	arrived := arrivals(docs, o.Now)
	members := make(map[int][]int)
	for i, cluster := range c {
		if cluster >= 0 {
			members[cluster] = append(members[cluster], i)
		}
	}
	// Of each document, how many of its cluster arrive within a window that holds it, itself included:
	// in all, and up to it. One that stands alone is one.
	inAll, upToIt := make([]int, len(docs)), make([]int, len(docs))
	for i := range docs {
		inAll[i], upToIt[i] = 1, 1
	}
	for _, m := range members {
		countWithin(m, arrived, o.Within, inAll, upToIt)
	}
	signals := make([]Signal, 0, len(o.Sizes))
	for _, size := range o.Sizes {
		signals = append(signals, Signal{
			Size: size, All: find(docs, inAll, o.Positive, size),
			Arriving: find(docs, upToIt, o.Positive, size),
		})
	}
	return signals
}

// arrivals returns when documents arrive, in Unix milliseconds. It never goes back.
func arrivals(docs []Document, now time.Time) []int64 {
	arrived := make([]int64, len(docs))
	var soFar int64
	for i := range docs {
		soFar = max(soFar, docs[i].eventTime(soFar, now, 0))
		arrived[i] = soFar
	}
	return arrived
}

// countWithin counts the members of one cluster, which are in the order of their arrival.
func countWithin(members []int, arrived []int64, within time.Duration, inAll, upToIt []int) {
	first := 0 // in the window that ends with this member
	for last, i := range members {
		for within > 0 && arrived[i]-arrived[members[first]] > within.Milliseconds() {
			first++
		}
		upToIt[i] = last - first + 1
	}
	// The window that ends with a member holds as many. Those that hold member k end from k on, and
	// begin at k at the latest; the queue has their ends, without those that a later one is at least
	// as full as.
	var queue []int
	next := 0
	holds := func(end int) int { return upToIt[members[end]] }
	for k, i := range members {
		for ; next < len(members) && next-holds(next)+1 <= k; next++ {
			for len(queue) > 0 && holds(queue[len(queue)-1]) <= holds(next) {
				queue = queue[:len(queue)-1]
			}
			queue = append(queue, next)
		}
		if queue[0] < k {
			queue = queue[1:]
		}
		inAll[i] = holds(queue[0])
	}
}

func find(docs []Document, counts []int, positive string, size int) Found {
	var f Found
	positives := 0
	for i := range docs {
		if docs[i].Label == "" {
			continue
		}
		isPositive := docs[i].Label == positive
		if isPositive {
			positives++
		}
		if counts[i] >= size {
			f.Documents++
			if isPositive {
				f.Positive++
			}
		}
	}
	f.Quality = quality(ratio(f.Positive, f.Documents), ratio(f.Positive, positives))
	return f
}
