package stories

import (
	"fmt"
	"math"

	"github.com/clusterd/clusterd/internal/audit/wire"
)

// While stories are off, results carry none, clusters are founded without one, and stories do not
// count articles. What came of that later is not known, so it is not checked from there on.

// A since is the position from which on stories were never off, by the last checkpoint of a space.
// Versions that did not say it are taken to have had them on.
type since struct {
	position int64
	space    string
}

// Checkpoint takes a checkpoint. Checkpoints of a space come in their order.
func (s *Stories) Checkpoint(c *wire.Checkpoint) {
	space := s.Space(c.Partition())
	switch _, known := s.since[space]; {
	case c.StoriesSince != nil:
		s.since[space] = since{*c.StoriesSince, c.Space}
	case known: // they are off now
		s.since[space] = since{math.MaxInt64, c.Space}
	}
}

// wasOff reports whether stories were off when the article at a position was taken in: its result
// has no story, and with stories it would have one.
func (r *replay) wasOff(position int64, row *row) bool {
	return r.on && !row.Has && position < r.since.position &&
		(!row.Joined || r.of[row.Cluster].story != "")
}

// stop ends the replay before the article at a position, since stories were off there.
func (r *replay) stop(position int64) {
	r.end, r.hands = position, nil
	r.Check.Skip(fmt.Sprintf("cannot be checked since stories.topic was empty for a while, from "+
		"position %d of space %s on or before", position, r.since.space))
}
