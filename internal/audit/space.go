package audit

import (
	"fmt"

	"github.com/clusterd/clusterd/internal/audit/replay"
	"github.com/clusterd/clusterd/internal/config"
)

// space returns that of an input partition.
func (a *audit) space(partition int32) (*replay.Space, error) {
	partition = a.spaceKey(partition)
	if s := a.spaces[partition]; s != nil {
		return s, nil
	}
	s, err := replay.NewSpace(a.dir, a.cut.Input)
	if err != nil {
		return nil, err
	}
	a.spaces[partition] = s
	return s, nil
}

// addAt puts a result at its position.
func (a *audit) addAt(position int64, row replay.ResultRow, at string) error {
	s, err := a.space(row.Article.Source.Partition)
	if err != nil {
		return err
	}
	if position >= a.positions {
		a.order.Violate(at,
			fmt.Sprintf("a position below %d, as many as there can be results", a.positions),
			fmt.Sprintf("position %d", position))
		return nil
	}
	fresh, err := s.Results.Put(position, row)
	if err != nil {
		return err
	}
	if !fresh {
		first, _, err := s.Results.Get(position)
		if err != nil {
			return err
		}
		a.order.Violate(at, "a position of its own",
			fmt.Sprintf("position %d, that of %s", position, first.At.In(a.cut.Results.Topic)))
		return nil
	}
	if row.Article.Source.Offset < a.cut.Committed[row.Article.Source.Partition] {
		s.Required = max(s.Required, position+1)
	}
	return nil
}

// spaceKey returns by what the space of an input partition is known.
func (a *audit) spaceKey(partition int32) int32 {
	if a.config.Cluster.Scope == config.ByTopic {
		return 0
	}
	return partition
}
