package labels

import (
	"fmt"

	"github.com/clusterd/clusterd/internal/audit/wire"
)

// While labels are off, results carry none, clusters get none by their contacts when they are
// founded, and no label record is applied. What clusters and contacts have stays as it is.

// An off is positions at which labels were off, from one to another. Where checkpoints have been
// compacted away, they were off at some of them.
type off struct {
	from, to int64
	all      bool
}

// noteOff notes that labels were off until a checkpoint, whose transaction begins at first.
func (s *Space) noteOff(c *wire.Checkpoint, first int64, whole bool) {
	to, n := c.Labels.Since, len(s.offs)
	if n == 0 && to > 0 || n > 0 && to > s.offs[n-1].to {
		s.offs = append(s.offs, off{first, to, whole && to == c.NextPosition})
	}
}

// off returns when labels were off, if a position is or may be of then; else nil. Positions ascend.
func (s *Space) off(position int64) *off {
	for len(s.offs) > 0 && s.offs[0].to <= position {
		s.offs = s.offs[1:]
	}
	if len(s.offs) > 0 && s.offs[0].from <= position {
		return &s.offs[0]
	}
	return nil
}

// believe says once that results without labels are believed, up to the end of an off.
func (s *Space) believe(position int64, o *off) {
	if !s.believed {
		s.believed = true
		s.applied.Skip(fmt.Sprintf("results without labels cannot be checked from position %d to %d: "+
			"labels.topic was empty for a while until then, and the checkpoints that say since when have "+
			"been compacted away", position, o.to-1))
	}
}
