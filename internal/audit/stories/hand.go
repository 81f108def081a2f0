package stories

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/audit/labels"
	"github.com/clusterd/clusterd/internal/audit/model"
	"github.com/clusterd/clusterd/internal/audit/wire"
)

// asked is a label record about stories.
type asked struct {
	label  wire.Address
	action string
	id     string // of a cluster or a story of its space
	other  string // of a story; empty where the action is split
	// Of a split, the words that the cluster has.
	words []byte
	terms string
	han   bool
}

// A hand is a label record that was applied or refused before the article at a position.
type hand struct {
	asked
	position int64
	refused  bool
}

// A deed is what the state of a story says that somebody did to it before the article at a
// position.
type deed struct {
	position int64
	action   string // merge, unmerge or split
	id       string
	other    string // the story that it was made part of, left, or was split from
}

// Label takes a record of the topic of labels.
func (s *Stories) Label(r *kgo.Record) {
	l, err := wire.ParseLabelRecord(r)
	if err != nil || !l.OfStories() {
		return
	}
	at := wire.AddressOf(r)
	s.asked[at] = asked{at, l.Action, l.ClusterID, l.Other, l.Words, l.Terms, l.Han}
}

// byHand notes what the state of a story says that somebody did.
func (s *Stories) byHand(id string, now *wire.Story) {
	first, err := wire.ParseAddress(id, s.Input)
	if err != nil {
		return
	}
	space := s.Space(first.Partition)
	add := func(position int64, action, other string) {
		d := deed{position, action, id, other}
		if position > 0 && !slices.Contains(s.deeds[space], d) {
			s.deeds[space] = append(s.deeds[space], d)
		}
	}
	add(now.SplitAt, wire.ActionSplit, now.SplitFrom)
	add(now.LeftMerged, wire.ActionMerge, now.LeftFrom)
	add(now.LeftAt, wire.ActionUnmerge, now.LeftFrom)
	if add(now.MergedAt, wire.ActionMerge, now.Into); now.MergedAt > 0 && !now.Apart {
		s.forGood[deed{now.MergedAt, wire.ActionMerge, id, now.Into}] = true
	}
}

// handsOf returns what was done by hand in a space, in order. Where checkpoints have been compacted
// away, the states of stories say at which position. It returns how often no label record or no
// state says it any more: when a story has expired, compaction takes its states away.
func (s *Stories) handsOf(space int32, of labels.OfStories) (all []hand, unknown int) {
	deeds := slices.SortedFunc(slices.Values(s.deeds[space]),
		func(a, b deed) int { return cmp.Compare(a.position, b.position) })
	for len(deeds) > 0 && deeds[0].position <= of.Since {
		deeds = deeds[1:]
		unknown++
	}
	reached := make(map[int32]int64) // positions, by partition of the labels
	for _, a := range of.Records {
		a.First = max(a.First, reached[a.Record.Partition])
		h := hand{asked: s.asked[a.Record], position: a.First, refused: a.Refused}
		if a.First < a.Last && a.Refused {
			continue // it is not known when
		}
		if a.First < a.Last {
			i := h.find(deeds, a.First, a.Last)
			if i < 0 {
				unknown++
				continue
			}
			h.position = deeds[i].position
			deeds = slices.Delete(deeds, i, i+1)
		}
		reached[a.Record.Partition] = h.position
		all = append(all, h)
	}
	slices.SortStableFunc(all, func(a, b hand) int { return cmp.Compare(a.position, b.position) })
	return all, unknown
}

// find returns the deed between two positions that the label record did. It returns -1 if more than
// one is like that, or none: a label record may name stories by others that are part of them.
func (a *asked) find(deeds []deed, first, last int64) int {
	did := func(d deed) bool {
		isOf := d.id == a.id && d.other == a.other || d.id == a.other && d.other == a.id
		if a.action == wire.ActionSplit {
			isOf = d.id == a.id
		}
		return isOf && d.action == a.action && d.position >= first && d.position <= last
	}
	i := slices.IndexFunc(deeds, did)
	if i < 0 || slices.ContainsFunc(deeds[i+1:], did) {
		return -1
	}
	return i
}

// apply does what was done before the article at a position.
func (r *replay) apply(position int64) error {
	for len(r.hands) > 0 && r.hands[0].position <= position {
		h := &r.hands[0]
		r.hands = r.hands[1:]
		switch {
		case r.skips(h):
		case h.action == wire.ActionMerge:
			r.merge(h)
		case h.action == wire.ActionUnmerge:
			r.leave(h)
		default:
			if err := r.split(h); err != nil {
				return err
			}
		}
	}
	return nil
}

// skips reports whether a label record changes nothing, and holds that to whether it was refused.
func (r *replay) skips(h *hand) bool {
	r.Check.Checked++
	var can bool
	switch h.action {
	case wire.ActionMerge:
		_, _, can = r.rule.CanJoin(h.id, h.other)
	case wire.ActionUnmerge:
		_, _, can = r.rule.CanLeave(h.id, h.other)
	default:
		_, can = r.rule.CanSplit(r.clusterOf(h).story, h.id)
	}
	if can && h.refused && h.position < r.since.position {
		r.stop(h.position)
		return true
	}
	if can == h.refused {
		did := map[bool]string{true: "a dead letter", false: "no dead letter"}
		r.Check.Violate(h.label.In(r.Labels), fmt.Sprintf("%s: %s of %s and %q at position %d",
			did[!can], h.action, h.id, h.other, h.position), did[h.refused])
	}
	return !can || h.refused
}

// clusterOf returns the cluster that a label record splits off.
func (r *replay) clusterOf(h *hand) assigned {
	founder, err := wire.ParseAddress(h.id, r.Input)
	if err != nil {
		return assigned{}
	}
	return r.of[founder]
}

func (r *replay) merge(h *hand) {
	x, y, _ := r.rule.CanJoin(h.id, h.other)
	isForGood := r.forGood[deed{h.position, h.action, x.ID, y.ID}] ||
		r.forGood[deed{h.position, h.action, y.ID, x.ID}]
	older, younger, _ := r.rule.Join(h.id, h.other, !isForGood)
	r.add(older, younger, h.position, !isForGood)
	r.name(older, r.sum(younger).terms)
	r.did[deed{h.position, h.action, younger, older}] = true
}

// leave takes a story out of the one that it was made part of.
func (r *replay) leave(h *hand) {
	part, _, _ := r.rule.CanLeave(h.id, h.other)
	r.did[deed{h.position, h.action, part.ID, part.Into}] = true
	_, from, _ := r.rule.Leave(h.id, h.other)
	left := r.sum(part.ID)
	left.position = h.position
	for _, s := range from {
		whole := r.sum(s.ID)
		whole.articles, whole.position = whole.articles-left.articles, h.position
	}
	r.sumUp(part.ID)
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

// split takes a cluster out of its story, and makes a story of its own of it.
func (r *replay) split(h *hand) error {
	founder, err := wire.ParseAddress(h.id, r.Input)
	if err != nil {
		return err // it would have no story
	}
	terms, err := model.ParseTerms(string(h.words))
	if err != nil {
		r.Check.Violate(h.label.In(r.Labels), "the words of a cluster", err.Error())
		return nil
	}
	c := r.of[founder]
	from, _ := r.rule.Split(c.story, model.Founder{
		ID: h.id, Seq: c.seq, At: c.first, Words: terms, Han: h.han,
	})
	for _, f := range from {
		whole := r.sum(f.ID)
		whole.articles, whole.position = whole.articles-c.articles, h.position
	}
	r.did[deed{h.position, h.action, h.id, from[len(from)-1].ID}] = true
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
	r.name(h.id, h.terms)
	c.story, c.similarity = h.id, 0
	r.of[founder] = c
	return nil
}

// checkDeeds reports what states say that somebody did, and no label record did.
func (r *replay) checkDeeds(space int32) {
	for _, d := range r.deeds[space] {
		if d.position < r.end && !r.did[d] {
			r.Check.Violate("story "+d.id, fmt.Sprintf("a label record: %s with %s at position %d",
				d.action, d.other, d.position), "none")
		}
	}
}
