package overlap

import (
	"strconv"
	"unsafe"

	"github.com/tidwall/gjson"

	"github.com/clusterd/clusterd/internal/cli/migrate/beside"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
)

// An id is a partition and an offset of the input in one number: where an article is, and so the id
// of the cluster that it has founded.
type id uint64

const (
	// none is the cluster of an article of which there is no result, alone that of one in which
	// there is nothing to compare. They would be offsets of a partition that no topic has.
	none  id = 0
	alone id = 1

	offsetBits = 44
)

// idOf returns that of an address. Partitions count from 1, so that no id is none.
func idOf(a article.Address) id { return id(a.Partition+1)<<offsetBits | id(a.Offset) }

func (i id) partition() int { return int(i>>offsetBits) - 1 }
func (i id) offset() int64  { return int64(i & (1<<offsetBits - 1)) }

// in returns the cluster id of a topic.
func (i id) in(topic string) string {
	return topic + "/" + strconv.Itoa(i.partition()) + "/" + strconv.FormatInt(i.offset(), 10)
}

// A result is what a record of a results topic says of its article.
type result struct {
	source, cluster id // cluster is alone where there is none
	value           gjson.Result
}

// title returns what represents the cluster of the result, for people.
func (r *result) title() string {
	if title := r.value.Get("representative.title").Str; title != "" {
		return title
	}
	return r.value.Get("representative.excerpt").Str
}

// parse returns the result that a record is. What is none of this input is not ok.
func parse(r *kafka.Record, input string) (found result, ok bool) {
	source, ok := beside.SourceOf(r, input)
	if !ok || len(r.Value) == 0 {
		return result{}, false
	}
	// A view: what is kept of it is copied.
	found = result{idOf(source), alone, gjson.Parse(unsafe.String(&r.Value[0], len(r.Value)))}
	if cluster := found.value.Get("cluster_id"); cluster.Type == gjson.String {
		founder, err := article.ParseAddress(cluster.Str)
		if err != nil || founder.Topic != input {
			return result{}, false
		}
		found.cluster = idOf(founder)
	}
	return found, true
}
