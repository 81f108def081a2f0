package replay

import "fmt"

// erase makes the representative that is wanted of a cluster one without its text, if it was erased
// by now, or is from what is found on. What is erased does not come back.
func (r *replay) erase(want *uint64, got uint64, number int) {
	records := &r.records[number]
	if records.erased = records.erased || got == ErasedText; records.erased {
		*want = ErasedText
	}
}

// checkErased reports a cluster whose text is there after its erasure was read.
func (r *replay) checkErased(number int) {
	founder, records := r.model.Cluster(number).Founder, &r.records[number]
	at, asked := r.Erased[founder]
	if !asked || records.erased || records.last < 0 || r.labels == nil || !r.labels.Read(at) {
		return
	}
	r.Clusters.Violate(records.lastAt.In(r.Cut.Clusters.Topic),
		fmt.Sprintf("no text of %s, which %s erases", founder.In(r.Cut.Input.Topic),
			at.In(r.Cut.Labels.Topic)), "its text")
}
