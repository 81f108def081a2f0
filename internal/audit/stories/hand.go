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
	id       string
	into     string // the story that it was made part of; empty where it was split off
	from     string // the story that it was split from
}

// said are the words that a label record gives a cluster that leaves its story.
type said struct {
	words, terms string
	han          bool
}

// asked is a label record that merges or splits stories.
type asked struct {
	label wire.Address
	id    string // of a cluster or a story of its space
	split string // the cluster that it splits off; empty where it merges
}

// Label takes a record of the topic of labels that is no dead letter.
func (s *Stories) Label(r *kgo.Record) {
	l, err := wire.ParseLabelRecord(r)
	if err != nil || !l.OfStories() {
		return
	}
	a := asked{label: wire.AddressOf(r), id: l.ClusterID}
	if l.Action == wire.ActionSplit {
		a.split = l.ClusterID
	}
	s.asked = append(s.asked, a)
	s.order[l.ClusterID], s.order[l.Other] = len(s.asked), len(s.asked)
	if l.Action == wire.ActionSplit {
		s.said[l.ClusterID] = append(s.said[l.ClusterID], said{string(l.Words), l.Terms, l.Han})
	}
}

// byHand notes what the state of a story says that somebody did.
func (s *Stories) byHand(id string, now *wire.Story) {
	first, err := wire.ParseAddress(id, s.Input)
	if err != nil {
		return
	}
	space := s.Space(first.Partition)
	add := func(h hand) {
		if !slices.Contains(s.hands[space], h) {
			s.hands[space] = append(s.hands[space], h)
		}
	}
	if now.SplitAt > 0 {
		add(hand{position: now.SplitAt, id: id, from: now.SplitFrom})
	}
	if now.MergedAt > 0 {
		add(hand{position: now.MergedAt, id: id, into: now.Into})
	}
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
// did one thing: it is known which of them split a cluster off. It is for one partition of labels.
func (s *Stories) inSlots(all []hand, space int32) []hand {
	var splits []string // by label record: the cluster that it split off; empty where it merged
	for _, a := range s.asked {
		first, err := wire.ParseAddress(a.id, s.Input)
		if err == nil && s.Space(first.Partition) == space {
			splits = append(splits, a.split)
		}
	}
	for from := 0; from < len(all) && len(splits) >= len(all); {
		to := from + 1
		for to < len(all) && all[to].position == all[from].position {
			to++
		}
		left, slots := slices.Clone(all[from:to]), make([]hand, 0, to-from)
		for _, id := range splits[from:to] {
			i := slices.IndexFunc(left, func(h hand) bool {
				return id == "" && h.into != "" || id != "" && h.into == "" && h.id == id
			})
			if i >= 0 {
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

// before reports whether h was done before another, by what both say: it names a story that the
// other has made part of another one, or makes one that the other names.
func (h hand) before(other hand) bool {
	switch {
	case h == other || h.position != other.position:
		return h.position < other.position
	case h.into == "" && slices.Contains([]string{other.id, other.into, other.from}, h.id):
		return true
	default:
		return other.into != "" && (h.into == other.id || h.from == other.id)
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
		if h.into != "" {
			r.merge(&h)
		} else if err := r.split(&h); err != nil {
			return err
		}
	}
	return nil
}

func (r *replay) merge(h *hand) {
	older, younger, ok := r.rule.Join(h.id, h.into)
	if !ok || younger != h.id || older != h.into {
		r.Check.Violate("story "+h.id, "two stories that can be one at position "+
			fmt.Sprint(h.position), "merged into "+h.into)
		return
	}
	r.add(older, younger, h.position)
	r.name(older, r.sum(younger).terms)
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
	ok := err == nil && r.rule.Split(h.from, model.Founder{
		ID: h.id, Seq: c.seq, At: c.first, Words: terms, Han: last.han,
	})
	if !ok {
		r.Check.Violate("story "+h.id, "a cluster that can leave story "+h.from+" at position "+
			fmt.Sprint(h.position), "a story of its own")
		return nil
	}
	from, s := r.sum(h.from), r.sum(h.id)
	from.articles, from.position = from.articles-c.articles, h.position
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
