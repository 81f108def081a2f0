package stories

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/clusterd/clusterd/internal/audit/labels"
	"github.com/clusterd/clusterd/internal/audit/model"
	"github.com/clusterd/clusterd/internal/audit/spill"
	"github.com/clusterd/clusterd/internal/audit/wire"
)

// Replay feeds the rule with the articles of each space, in order, up to the positions that the
// clusters topic knows of all, and with the label records about stories that were applied. Then it
// checks what is said of the stories.
func (s *Stories) Replay(
	ctx context.Context, required func(space int32) int64,
	applied func(space int32) labels.OfStories,
) error {
	if err := s.blobs.Flush(); err != nil {
		return err
	}
	s.newest, s.ends = maps.Clone(s.state), make(map[int32]int64)
	all, unknown := make(map[int32][]hand), 0
	for key := range s.spaces {
		of := applied(key)
		if of.Lost {
			s.Check.Skip(fmt.Sprintf("what articles come to cannot be checked since label records were "+
				"deleted, or were in another topic than %s, and records of %s were compacted away: what was "+
				"merged or split by hand is not known", s.Labels, s.Clusters))
			s.compareTold()
			return nil
		}
		hands, n := s.handsOf(key, of)
		all[key], unknown = hands, unknown+n
	}
	if unknown > 0 {
		s.Check.Skip(fmt.Sprintf("what articles come to: %d times stories were merged or split by hand, "+
			"and the topics do not say any more by which label record, or at which position", unknown))
		s.compareTold()
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(s.spaces)) {
		r := &replay{
			Stories: s, rule: model.NewStories(s.Rule), of: make(map[wire.Address]assigned),
			sums: make(map[string]*sum), table: s.spaces[key], end: required(key), hands: all[key],
			did: make(map[deed]bool), before: make(map[wire.Address]assigned), since: s.since[key],
		}
		if err := r.run(ctx); err != nil {
			return err
		}
		r.finish(key)
		s.ends[key] = r.end
		if r.reranked {
			s.Check.Skip("headlines: stories.ranks has changed since they were chosen")
		}
	}
	s.compareTold()
	return nil
}

// A replay is a space on its way through the rule.
type replay struct {
	*Stories
	rule  *model.Stories
	of    map[wire.Address]assigned // by founder of a cluster
	sums  map[string]*sum           // by id of a story
	table *spill.Table[row]
	end   int64 // positions from here on are not replayed
	on    bool  // there was a result with a story
	hands []hand
	did   map[deed]bool
	since since
	// before are clusters that were split off after the last article, as they were before.
	before map[wire.Address]assigned
	// reranked is that a publisher has another rank than when it made a headline.
	reranked bool
}

// recently is within which event time articles of a story are recent, in milliseconds.
const recently = 3_600_000

// assigned is the story of a cluster.
type assigned struct {
	story      string
	similarity uint32
	position   int64 // of its last article
	seq        int64 // of its founder
	first      int64 // the lowest event time of its articles
	articles   int64
}

// sum is what the articles of a story come to.
type sum struct {
	articles int64
	position int64 // of the last one
	content
	own *content // without those that were made part of it by hand; nil where it is as the content
}

// content is what is known of a story.
type content struct {
	signals  model.Signals
	loose    bool // it is not known which publishers it has
	headline wire.Headline
	terms    string // joined by line breaks
}

func (c *content) clone() content {
	copied := *c
	copied.signals = c.signals.Clone()
	return copied
}

// merge adds another, but for its terms.
func (c *content) merge(other *content) {
	c.signals.Merge(&other.signals)
	c.headline = c.headline.Better(other.headline)
	c.loose = c.loose || other.loose
}

// alone returns what a story is without those that were made part of it by hand.
func (s *sum) alone() *content {
	if s.own != nil {
		return s.own
	}
	return &s.content
}

func (r *replay) run(ctx context.Context) error {
	rows := r.table.Reader()
	for position := int64(0); position < r.end; position++ {
		if position%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		row, ok, err := rows.Next()
		if err != nil {
			return err
		}
		if err := r.apply(position); err != nil {
			return err
		}
		if ok && r.wasOff(position, &row) {
			r.stop(position)
		}
		if position >= r.end {
			break
		}
		if !ok { // that is a gap in positions, which is another promise
			continue
		}
		if err := r.article(position, &row); err != nil {
			return err
		}
	}
	return r.applyLast()
}

// applyLast applies what was done after the last article. Of its transaction, not all records of
// clusters may be below the ends at which the audit stops.
func (r *replay) applyLast() error {
	if r.table.End() > r.end || len(r.hands) == 0 {
		return nil
	}
	before := maps.Clone(r.of)
	if err := r.apply(r.end); err != nil {
		return err
	}
	for founder, was := range before {
		if now := r.of[founder]; now.story != was.story {
			r.before[founder] = was
		}
	}
	return nil
}

// article feeds the rule with an article, and holds its result to what it says.
func (r *replay) article(position int64, row *row) error {
	r.on = r.on || row.Has
	r.Check.Checked++
	if !r.on { // stories were off
		r.rule.Touch("", row.EventTime)
		return nil
	}
	now, known, err := r.decide(position, row)
	if err != nil || !known {
		return err
	}
	now.articles++
	if now.first = min(now.first, row.EventTime); !row.Joined {
		now.first, now.seq = row.EventTime, position
	}
	r.of[row.Cluster] = now
	got := "no story"
	if row.Has {
		got = r.describe(row.Story.In(r.Input), row.Similarity)
	}
	if want := r.describe(now.story, now.similarity); got != want {
		r.Check.Violate(row.At.In(r.Results), fmt.Sprintf("at position %d %s", position, want), got)
	}
	if now.story == "" {
		return nil
	}
	for i, whole := range r.rule.Chain(now.story) {
		s := r.sum(whole.ID)
		s.articles++
		s.position = position
		s.signals.Add(recently, r.rule.StreamTime(), row.EventTime, row.Publisher)
		if i == 0 && s.own != nil {
			s.own.signals.Add(recently, r.rule.StreamTime(), row.EventTime, row.Publisher)
		}
	}
	return nil
}

// decide returns the story of the article's cluster after it, where that is known.
func (r *replay) decide(position int64, row *row) (now assigned, known bool, err error) {
	now.position = position
	if row.Joined {
		now = r.of[row.Cluster] // nothing of one that was founded while stories were off: it has none
		now.position = position
		if id, _, lives := r.rule.Touch(now.story, row.EventTime); lives {
			now.story = id
		}
		return now, true, nil
	}
	f := r.founders[row.Source]
	if !f.known {
		r.Check.Skip("the words of " + row.Source.In(r.Input) + " are gone from the input, and the " +
			"stories from there on with them")
		r.end = position
		return now, false, nil
	}
	vector, err := r.blobs.Get(f.words)
	if err != nil {
		return now, false, err
	}
	terms, err := model.ParseTerms(vector)
	if err != nil {
		return now, false, err
	}
	d := r.rule.Assign(model.Founder{
		ID: row.Cluster.In(r.Input), Seq: position, At: row.EventTime, Words: terms, Han: f.han,
	})
	now.story, now.similarity = d.Story, d.Similarity
	return now, true, r.found(&f, row, d, position)
}

// found adds what the founder of a cluster gives to the cluster's story.
func (r *replay) found(f *founder, row *row, d model.Verdict, position int64) error {
	made, err := r.facts(f)
	if err != nil {
		return err
	}
	id, s := row.Cluster.In(r.Input), r.sum(d.Story)
	terms, own := []string{made.Terms}, []string{made.Terms}
	if d.Story == id {
		s.headline = r.headline(&made, id, row.EventTime, identical)
	} else {
		headline := r.headline(&made, id, row.EventTime, int64(d.Similarity))
		s.headline = s.headline.Better(headline)
		if s.own != nil {
			s.own.headline = s.own.headline.Better(headline)
		}
	}
	if d.Merged != "" {
		terms = append(terms, r.sum(d.Merged).terms)
		own = append(own, r.sum(d.Merged).alone().terms)
		r.add(d.Story, d.Merged, position, false)
	}
	r.name(d.Story, terms...)
	if now, ok := r.rule.Of(d.Story); ok && s.own != nil {
		s.own.terms = heaviest(now.Own, s.own.terms, own...)
	}
	return nil
}

// add adds what is known of a story that became part of another at a position: for good, or such
// that it can be undone.
func (r *replay) add(older, younger string, position int64, undone bool) {
	into, from := r.sum(older), r.sum(younger)
	own, other := into.alone().clone(), from.alone().clone()
	switch {
	case undone:
		into.own, from.own = &own, &other
	case into.own != nil || from.own != nil:
		own.merge(&other)
		into.own, from.own = &own, nil
	}
	into.articles += from.articles
	into.merge(&from.content)
	into.position, from.position = position, position
}

func (r *replay) sum(id string) *sum {
	if r.sums[id] == nil {
		r.sums[id] = new(sum)
	}
	return r.sums[id]
}

func (r *replay) describe(id string, similarity uint32) string {
	if id == "" {
		return "no story"
	}
	return fmt.Sprintf("story %s, similarity %d", id, similarity)
}

// finish holds the records of clusters and stories to what the rule has come to.
func (r *replay) finish(key int32) {
	later := r.table.End() > r.end // what was written since may be in the topics
	for founder, got := range r.clusters {
		want, ok := r.of[founder]
		if !ok || got.position != want.position {
			continue // of a position that is not replayed, or of another space
		}
		w, g := r.describe(want.story, want.similarity), r.describe(got.story, got.similarity)
		was, isSplit := r.before[founder]
		isSplitLater := later && got.story == founder.In(r.Input) && got.similarity == 0
		if w != g && !isSplitLater && !(isSplit && g == r.describe(was.story, was.similarity)) {
			r.Check.Violate(got.at, w, g)
		}
	}
	for s := range r.rule.All() {
		want := r.expected(s)
		got, ok := r.state[s.ID]
		if r.sum(s.ID).loose {
			want.Publishers, want.Recent = got.Publishers, got.Recent
		}
		if own := r.sum(s.ID).own; own != nil && own.loose {
			want.Own.Publishers, want.Own.Recent = got.Own.Publishers, got.Own.Recent
		}
		delete(r.state, s.ID)
		switch {
		case (!ok || got.gone) && later, got.Position > r.end:
		case got.Position != want.Position && max(got.Position, want.Position) >= r.end:
			// Of the transaction after the last article, not all may be here.
		case !ok || got.gone:
			r.Check.Violate("story "+s.ID, "a state in "+r.Clusters, "none, or a tombstone")
		case later && got.Into != "" && got.LastSeen > want.LastSeen:
			// It has the position of before while its clusters have later articles.
		case got.Story != r.with(want, got.Story):
			r.Check.Violate(got.at, describe(r.with(want, got.Story)), describe(got.Story))
		}
	}
	r.checkDeeds(key)
	for id, got := range r.state {
		first, err := wire.ParseAddress(id, r.Input)
		if err != nil || r.Space(first.Partition) != key || got.gone || got.Position >= r.end {
			continue
		}
		if _, known := r.sums[id]; !known {
			r.Check.Violate(got.at, "no story "+id+", which no article has founded", "its state")
		} else if !later {
			r.Check.Violate(got.at, "a tombstone: story "+id+" has expired", "its state")
		}
	}
}

// expected returns what the state of a story must be, but for what only the text of articles says.
func (r *replay) expected(s *model.Story) wire.Story {
	sum := r.sum(s.ID)
	want := wire.Story{
		Seq: s.Seq, Clusters: s.Clusters, Articles: sum.articles, FirstSeen: s.FirstSeen,
		LastSeen: s.LastSeen, Vector: s.Terms.Wire(), Into: s.Into,
		Publishers: wire.Publishers(sum.signals.Publishers()), Recent: sum.signals.Recent(),
		Headline: sum.headline, Terms: sum.terms, Position: sum.position, Apart: s.Apart,
	}
	if own := sum.own; own != nil {
		want.Own = wire.Own{
			Vector: s.Own.Wire(), Publishers: wire.Publishers(own.signals.Publishers()),
			Recent: own.signals.Recent(), Headline: own.headline, Terms: own.terms,
		}
	}
	return want
}

// with returns what is expected, with what is not held to anything.
func (r *replay) with(want, got wire.Story) wire.Story {
	ranked := func(want, h wire.Headline) wire.Headline {
		if h != want && h.Rank != r.rank(h.Publisher) && h.Publisher != "" {
			r.reranked = true
			return h
		}
		return want
	}
	want.Headline = ranked(want.Headline, got.Headline)
	want.Own.Headline = ranked(want.Own.Headline, got.Own.Headline)
	if r.Erased {
		want = unheld(want, got)
	}
	want.SplitFrom, want.SplitAt, want.MergedAt = got.SplitFrom, got.SplitAt, got.MergedAt
	want.LeftFrom, want.LeftMerged, want.LeftAt = got.LeftFrom, got.LeftMerged, got.LeftAt
	return want
}
