package replay

import (
	"fmt"
	"math"

	"github.com/clusterd/clusterd/internal/audit/wire"
)

// taken is what of an input partition was taken in so far: the offsets below next, by articles
// whose positions are below position.
type taken struct{ next, position int64 }

// lastOf returns what of an input partition was taken in so far.
func (r *replay) lastOf(partition int32) taken {
	if last, ok := r.last[partition]; ok {
		return last
	}
	return taken{next: r.Cut.Input.From[partition]}
}

// checkOrder holds an article to the order of its partition, and those that were not clustered and
// came before it to its position.
func (r *replay) checkOrder(position int64, row ResultRow) error {
	r.Order.Checked++
	source := row.Article.Source
	if last, ok := r.last[source.Partition]; ok && source.Offset < last.next {
		r.Order.Violate(row.At.In(r.Cut.Results.Topic),
			fmt.Sprintf("%s/%d to be taken in by ascending offsets", r.Cut.Input.Topic, source.Partition),
			fmt.Sprintf("offset %d at position %d, after offset %d", source.Offset, position, last.next-1))
		return nil
	}
	if err := r.checkUnclustered(source, position); err != nil {
		return err
	}
	r.last[source.Partition] = taken{source.Offset + 1, position + 1}
	return nil
}

// checkUnclustered holds articles that were not clustered, at the offsets below that of before, to
// their order. Each has the position of the next clustered article of any partition. So its
// position is above that of the last one of its own partition, and at most that of the next, most.
func (r *replay) checkUnclustered(before wire.Address, most int64) error {
	last := r.lastOf(before.Partition)
	end := min(before.Offset, r.Cut.Input.To[before.Partition])
	for ; last.next < end; last.next++ {
		row, ok, err := r.space.unclustered.Get(before.Partition, last.next)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		r.Order.Checked++
		if row.Position < last.position || row.Position > most {
			r.Order.Violate(row.At.In(r.Cut.Results.Topic), between(last.position, most),
				fmt.Sprintf("position %d", row.Position))
			continue
		}
		last.position = row.Position
	}
	return nil
}

// checkRestUnclustered does so with those behind the last articles that were clustered, as far as
// the group's offsets are past them.
func (r *replay) checkRestUnclustered() error {
	most := r.next
	if !r.Complete { // nobody knows the last position
		most = math.MaxInt64
	}
	for _, p := range r.space.unclustered.All() {
		end := wire.Address{Partition: p, Offset: r.Cut.Committed[p]}
		if err := r.checkUnclustered(end, most); err != nil {
			return err
		}
	}
	return nil
}

// between says which positions are right.
func between(least, most int64) string {
	switch {
	case least == most:
		return fmt.Sprintf("position %d, of the next article that is clustered", least)
	case most == math.MaxInt64:
		return fmt.Sprintf("a position from %d on", least)
	}
	return fmt.Sprintf("a position from %d to %d", least, most)
}
