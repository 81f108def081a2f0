package checkpoint

import "slices"

// A Placement is what output.partition was from some offsets on, until the next placement. Without
// it, nothing would say of a result that is in another partition than now whether it is misplaced.
type Placement struct {
	Partition string `json:"partition"` // as in the configuration
	// From has, by input partition, the first record whose result is placed so; all of a partition
	// that it lacks are.
	From map[int]int64 `json:"from"`
}

// MaxPlacements is how many placements a checkpoint keeps, the last ones. So two instances with
// different settings, which take a space over from each other, do not let it grow.
const MaxPlacements = 8

// byKey is what output.partition is where no placement says it.
const byKey = "key"

// PlacedBy returns the placements of a space that goes on from a checkpoint with this setting of
// output.partition. The checkpoint of a new space is nil.
func (c *Record) PlacedBy(partition string) []Placement {
	next := Placement{Partition: partition, From: map[int]int64{}}
	var before []Placement
	if c != nil {
		next.From, before = c.Offsets, c.Placements
	}
	now := byKey
	if n := len(before); n > 0 {
		now = before[n-1].Partition
	}
	if now == partition {
		return before
	}
	all := append(slices.Clone(before), next)
	return all[max(0, len(all)-MaxPlacements):]
}
