package doctor

import (
	"context"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/audit/wire"
)

// checkResults looks whether two groups write results to one topic at the same time.
func (e *examination) checkResults(ctx context.Context) {
	topic := e.config.Output.Topic
	if !e.config.Assigns() || e.topics[topic].Err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	begins, err := e.admin.ListStartOffsets(ctx, topic)
	ends, endErr := e.admin.ListEndOffsets(ctx, topic)
	if err != nil || endErr != nil || begins.Error() != nil || ends.Error() != nil {
		return // what rights are missing is said elsewhere
	}
	var seen doubled
	e.readTail(ctx, topic, begins, ends, seen.add)
	if seen.source != "" {
		e.warn("topic "+topic, "stop the instances of one of the groups and give it its own "+
			"output.topic and output.clusters_topic; readers can pass over the second result of a "+
			"source (header "+wire.HeaderSource+")",
			"it has two results of %s, and both producers go on: two groups write to it", seen.source)
	}
}

// doubled finds an article that has results of two producers which write by turns. After a start
// anew there are two results too, but the first producer writes no more.
type doubled struct {
	source string             // of the article; empty: there is no such article
	first  map[placed]int64   // which producer has written the first result
	pairs  map[writers]string // an article with results of both
}

// placed is an article with a partition of the results: only within one there is an order.
type placed struct {
	partition int32
	source    string
}

type writers struct {
	partition     int32
	first, second int64 // ids of producers
}

func (d *doubled) add(r *kgo.Record) {
	if d.first == nil {
		d.first, d.pairs = make(map[placed]int64), make(map[writers]string)
	}
	for w, source := range d.pairs {
		if d.source == "" && w.partition == r.Partition && w.first == r.ProducerID {
			d.source = source
		}
	}
	for _, h := range r.Headers {
		if h.Key != wire.HeaderSource {
			continue
		}
		at := placed{r.Partition, string(h.Value)}
		if first, ok := d.first[at]; !ok {
			d.first[at] = r.ProducerID
		} else if first != r.ProducerID {
			d.pairs[writers{r.Partition, first, r.ProducerID}] = at.source
		}
	}
}
