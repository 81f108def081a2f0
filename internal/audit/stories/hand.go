package stories

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/audit/model"
	"github.com/clusterd/clusterd/internal/audit/wire"
)

// A hand is what somebody did to a story before the article at a position, as the state of the
// story says.
type hand struct {
	position int64
	action   string // merge, unmerge or split
	id       string
	other    string // the story that it was made part of, left, or was split from
	undone   bool   // of a merge: it can be
}

// said are the words that a label record gives a cluster that leaves its story.
type said struct {
	words, terms string
	han          bool
}

// asked is a label record about stories.
type asked struct {
	label  wire.Address
	action string
	id     string // of a cluster or a story of its space
	other  string // of a story; empty where the action is split
}

// Label takes a record of the topic of labels that is no dead letter.
func (s *Stories) Label(r *kgo.Record) {
	l, err := wire.ParseLabelRecord(r)
	if err != nil || !l.OfStories() {
		return
	}
	s.asked = append(s.asked, asked{wire.AddressOf(r), l.Action, l.ClusterID, l.Other})
	s.order[l.ClusterID], s.order[l.Other] = len(s.asked), len(s.asked)
	if l.Action == wire.ActionSplit {
		s.said[l.ClusterID] = append(s.said[l.ClusterID], said{string(l.Words), l.Terms, l.Han})
	}
}

// byHand notes what the state of a story says that somebody did, in order.
func (s *Stories) byHand(id string, now *wire.Story) {
	first, err := wire.ParseAddress(id, s.Input)
	if err != nil {
		return
	}
	space := s.Space(first.Partition)
	add := func(position int64, action, other string, undone bool) {
		h := hand{position, action, id, other, undone}
		if position > 0 && !slices.Contains(s.hands[space], h) {
			s.hands[space] = append(s.hands[space], h)
		}
	}
	add(now.SplitAt, wire.ActionSplit, now.SplitFrom, false)
	add(now.LeftMerged, wire.ActionMerge, now.LeftFrom, true)
	add(now.LeftAt, wire.ActionUnmerge, now.LeftFrom, false)
	add(now.MergedAt, wire.ActionMerge, now.Into, now.Apart)
}

// handsOf returns what was done in a space, in order: that of positions, and before one position
// that of the label records, as far as the states do not say another.
func (s *Stories) handsOf(space int32) []hand {
	all := slices.Clone(s.hands[space])
	slices.SortStableFunc(all, func(a, b hand) int {
		return cmp.Or(cmp.Compare(a.position, b.position), cmp.Compare(s.order[a.id], s.order[b.id]))
	})
	for i := range all {
		next := slices.IndexFunc(all[i:], func(h hand) bool {
			return !slices.ContainsFunc(all[i:], func(other hand) bool { return other.before(h) })
		})
		if next > 0 {
			h := all[i+next]
			all = slices.Insert(slices.Delete(all, i+next, i+next+1), i, h)
		}
	}
	return s.inSlots(all, space)
}

// inSlots puts what was done before one position in the order of the label records, of which each
// did one thing. It is for one partition of labels.
func (s *Stories) inSlots(all []hand, space int32) []hand {
	var records []asked
	for _, a := range s.asked {
		first, err := wire.ParseAddress(a.id, s.Input)
		if err == nil && s.Space(first.Partition) == space {
			records = append(records, a)
		}
	}
	for from := 0; from < len(all) && len(records) >= len(all); {
		to := from + 1
		for to < len(all) && all[to].position == all[from].position {
			to++
		}
		left, slots := slices.Clone(all[from:to]), make([]hand, 0, to-from)
		for _, a := range records[from:to] {
			if i := a.did(left); i >= 0 {
				slots, left = append(slots, left[i]), slices.Delete(left, i, i+1)
			}
		}
		if len(left) == 0 {
			copy(all[from:to], slots)
		}
		from = to
	}
	return all
}

// did returns which of some things a label record did, -1 for none: the first of those with most of
// its ids, since it may name stories by others that are part of them. What was done to one story is
// in its order.
func (a *asked) did(all []hand) (best int) {
	best, most := -1, -1
	for i, h := range all {
		named := 0
		for _, id := range []string{h.id, h.other} {
			if id == a.id || id == a.other {
				named++
			}
		}
		fits := h.action == a.action && (a.action != wire.ActionSplit || h.id == a.id)
		later := slices.ContainsFunc(all[:i], func(before hand) bool { return before.id == h.id })
		if fits && !later && named > most {
			best, most = i, named
		}
	}
	return best
}

// before reports whether h was done before another, by what both say: it names a story that the
// other has made part of another one, or makes one that the other names.
func (h hand) before(other hand) bool {
	switch {
	case h == other || h.position != other.position:
		return h.position < other.position
	case h.action == wire.ActionUnmerge || other.action == wire.ActionUnmerge:
		return false
	case h.action == wire.ActionSplit && (h.id == other.id || h.id == other.other):
		return true
	default:
		return other.action == wire.ActionMerge && h.other == other.id
	}
}

// unknown returns how many label records merged or split stories of which no state says so any
// more: when a story has expired, compaction takes its states away.
func (s *Stories) unknown(applied func(label wire.Address) bool) (n int) {
	for _, a := range s.asked {
		if applied(a.label) {
			n++
		}
	}
	for _, hands := range s.hands {
		n -= len(hands)
	}
	return max(0, n)
}

// apply does what was done before the article at a position.
func (r *replay) apply(position int64) error {
	for len(r.hands) > 0 && r.hands[0].position <= position {
		h := r.hands[0]
		r.hands = r.hands[1:]
		switch h.action {
		case wire.ActionMerge:
			r.merge(&h)
		case wire.ActionUnmerge:
			r.leave(&h)
		default:
			if err := r.split(&h); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *replay) merge(h *hand) {
	older, younger, ok := r.rule.Join(h.id, h.other, h.undone)
	if !ok || younger != h.id || older != h.other {
		r.Check.Violate("story "+h.id, "two stories that can be one at position "+
			fmt.Sprint(h.position), "merged into "+h.other)
		return
	}
	r.add(older, younger, h.position, h.undone)
	r.name(older, r.sum(younger).terms)
}

// leave takes a story out of the one that it was made part of.
func (r *replay) leave(h *hand) {
	from, ok := r.rule.Leave(h.id, h.other)
	if !ok {
		r.Check.Violate("story "+h.id, "a part of story "+h.other+" at position "+
			fmt.Sprint(h.position), "taken out of it")
		return
	}
	left := r.sum(h.id)
	left.position = h.position
	for _, s := range from {
		whole := r.sum(s.ID)
		whole.articles, whole.position = whole.articles-left.articles, h.position
	}
	r.sumUp(h.id)
	r.sumUp(from[len(from)-1].ID)
}

// sumUp makes of a story what it is by itself and what its parts are.
func (r *replay) sumUp(id string) {
	now, known := r.rule.Of(id)
	s := r.sum(id)
	if !known || s.own == nil {
		return
	}
	s.content = s.own.clone()
	var terms []string
	for _, part := range r.rule.Parts(now) {
		p := r.sum(part.ID)
		if p.own != nil {
			s.content.merge(p.own)
			terms = append(terms, p.own.terms)
		}
	}
	if !now.Apart {
		s.own = nil
	} else {
		s.terms = heaviest(now.Terms, s.terms, terms...)
	}
}

// split takes the cluster that a story was founded by out of the story that it was split from, by
// the words of the last label record that asks for it.
func (r *replay) split(h *hand) error {
	founder, err := wire.ParseAddress(h.id, r.Input)
	c, known := r.of[founder]
	words := r.said[h.id]
	if err != nil || !known || len(words) == 0 {
		r.Check.Violate("story "+h.id, "a label record that split it off", "none")
		return nil
	}
	last := words[len(words)-1]
	terms, err := model.ParseTerms(last.words)
	var from []*model.Story
	ok := err == nil
	if ok {
		from, ok = r.rule.Split(c.story, model.Founder{
			ID: h.id, Seq: c.seq, At: c.first, Words: terms, Han: last.han,
		})
	}
	if !ok || from[len(from)-1].ID != h.other {
		r.Check.Violate("story "+h.id, "a cluster that can leave story "+h.other+" at position "+
			fmt.Sprint(h.position), "a story of its own")
		return nil
	}
	for _, f := range from {
		whole := r.sum(f.ID)
		whole.articles, whole.position = whole.articles-c.articles, h.position
	}
	s := r.sum(h.id)
	s.articles, s.position, s.loose = c.articles, h.position, true
	if f := r.founders[founder]; f.known {
		made, err := r.facts(&f)
		if err != nil {
			return err
		}
		made.Publisher = "" // the cluster does not say it
		s.headline = r.headline(&made, h.id, c.first, identical)
		s.headline.Rank = wire.Unranked
	}
	r.name(h.id, last.terms)
	c.story, c.similarity = h.id, 0
	r.of[founder] = c
	return nil
}
