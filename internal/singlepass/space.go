package singlepass

import "time"

// A Space assigns the articles that are compared with one another to clusters. It
// is not safe for concurrent use.
//
// Its whole state follows from the live clusters, each with its centre, the highest
// event time of its members and the position of its last member, so that a Space
// built from them by [Space.Restore] goes on exactly as the lost one would have:
//
//   - Stream time is the highest of those event times. The article that set it
//     belongs to a cluster last seen then, and that cluster cannot expire before
//     stream time moves on, by an article whose cluster is then the one last seen.
//   - The next position is the highest last position plus 1. Centres expire only
//     while an article is assigned, before it gets its cluster, so between two
//     articles the cluster of the last one is live.
type Space struct {
	index  Index
	expiry *expiry // nil when centres never expire
	next   uint64  // position of the next article
}

// An Assignment says where an article belongs.
type Assignment struct {
	// Centre is the centre of the article's cluster. A new cluster has the
	// article's own fingerprint, and its Position as Seq.
	Centre Centre
	// Joined is false where the article founded the cluster.
	Joined bool
	// Distance is the Hamming distance of the article from the centre, 0 for a founder.
	Distance int
	// Position is the number of articles that the space assigned before this one.
	Position uint64
}

// NewSpace returns a Space that keeps its centres in the given index, which must be
// empty and used for nothing else. A centre expires when stream time passes the
// highest event time of its members by more than the window. A window of 0 or less
// means that centres never expire.
func NewSpace(index Index, window time.Duration) *Space {
	s := &Space{index: index}
	if window > 0 {
		s.expiry = newExpiry(window)
	}
	return s
}

// Assign decides the cluster of the next article by its fingerprint and event time
// in Unix milliseconds. The article first moves stream time, if it is ahead of it,
// and the centres that this leaves behind expire: they are returned, the one last
// seen longest ago first, among equals the oldest. Then the article joins the
// nearest centre still live within the distance of the index, among equals the
// oldest, or else founds a cluster.
//
// Articles may come out of order: one that is behind stream time by more than the
// window can join a cluster, and one it founds expires with the next article.
func (s *Space) Assign(fingerprint uint64, at int64) (a Assignment, expired []Centre) {
	if s.expiry != nil {
		expired = s.expiry.advance(at)
		for _, c := range expired {
			s.index.Remove(c)
		}
	}
	a.Position = s.next
	s.next++
	a.Centre, a.Distance, a.Joined = s.index.Nearest(fingerprint)
	if !a.Joined {
		a.Centre = Centre{Fingerprint: fingerprint, Seq: a.Position}
		s.index.Insert(a.Centre)
	}
	if s.expiry != nil {
		s.expiry.seen(a.Centre, at)
	}
	return a, expired
}

// Restore puts a live centre back when state is recovered, with the highest event
// time of its members in Unix milliseconds and the highest of their positions.
// Every live centre must be restored once, in any order, before the first Assign.
func (s *Space) Restore(c Centre, lastSeen int64, lastPosition uint64) {
	s.index.Insert(c)
	s.next = max(s.next, lastPosition+1)
	if s.expiry != nil {
		s.expiry.seen(c, lastSeen)
	}
}

// Len returns the number of live centres.
func (s *Space) Len() int { return s.index.Len() }
