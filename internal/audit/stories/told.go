package stories

import (
	"fmt"

	"github.com/clusterd/clusterd/internal/audit/wire"
)

// compareTold holds the topic of stories to their states. It is read after these, so it may be
// ahead.
func (s *Stories) compareTold() {
	for id, told := range s.told {
		state, ok := s.newest[id]
		if told.gone && ok && !state.gone && s.IsQuiet {
			s.Check.Violate(told.at, "story "+id+", which lives", "a tombstone")
		}
		if told.gone {
			continue // it was written with the state's tombstone, which may be compacted away
		}
		first, err := wire.ParseAddress(id, s.Input)
		switch {
		case err != nil:
			s.Check.Violate(told.at, "the id of a story as the key", err.Error())
		case (!ok || state.gone) && told.Position >= s.ends[s.Space(first.Partition)]:
		case !ok || state.gone:
			s.Check.Violate(told.at, "a tombstone: there is no state of story "+id, "a story")
		case told.Position < state.Position, told.Position == state.Position && !same(told, state):
			s.Check.Violate(told.at, describe(state.Told()), describe(told.Story))
		}
	}
	for id, state := range s.newest {
		if _, ok := s.told[id]; !ok && !state.gone {
			s.Check.Violate(state.at, "a record of story "+id+" in "+s.Options.Told, "none")
		}
	}
}

// same reports whether a story is told of as its state says. One that is part of another has the
// position of before while its clusters have later articles.
func same(told, state record) bool {
	if want := state.Told(); told.Into == "" || told.LastSeen <= want.LastSeen {
		return told.Story == want
	}
	told.LastSeen = state.LastSeen
	return told.Story == state.Told()
}

func describe(s wire.Story) string {
	into := ""
	if s.Into != "" {
		into = ", part of " + s.Into
	}
	if s.Apart {
		o := &s.Own
		into += fmt.Sprintf(", by itself %s publishers, %d terms in its vector, %d recent, headline "+
			"%+v, terms %q", o.Publishers, len(o.Vector)/6, o.Recent, o.Headline, o.Terms)
	}
	return fmt.Sprintf("at position %d: seq %d, %d clusters, %d articles, %s publishers, %d terms in "+
		"its vector, %d recent, seen from %d to %d, headline %+v, terms %q%s", s.Position,
		s.Seq, s.Clusters, s.Articles, s.Publishers,
		len(s.Vector)/6, s.Recent, s.FirstSeen, s.LastSeen, s.Headline, s.Terms, into)
}
