package doctor

import (
	"fmt"
	"math"
	"time"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/monitor/memlimit"
)

// base is what clusterd takes beside its clusters, in bytes: the dictionary, batches, caches.
const base = 400 << 20

// perCluster returns what a cluster takes in memory, in bytes: docs/operations.md, "Speed and
// memory", has where the figures come from.
func (e *examination) perCluster() int64 {
	switch c := &e.config; {
	case c.Fingerprint.Method == "minhash":
		return 290
	case c.Fingerprint.Method == "simhash" && c.Cluster.Index == "mih":
		return 50
	}
	return 110
}

// checkMemory holds the limit against the clusters that are there, and what the window can bring.
func (e *examination) checkMemory() {
	const name = "memory"
	limit, err := memlimit.SetLimit(e.config.Memory.Limit)
	if err == nil && limit.Bytes == math.MaxInt64 {
		limit.From = "all of the machine"
		limit.Bytes, err = memlimit.Machine()
	}
	if err != nil {
		e.warn(name, "set memory.limit", "%v", err)
		return
	}
	most, during := e.expected()
	now, need := base+e.stored*e.perCluster(), base+most*e.perCluster()
	set := fmt.Sprintf("the limit is %s (%s)", size(limit.Bytes), limit.From)
	found := fmt.Sprintf("%s. At most %d clusters are there, %s. %.0f articles came in the last "+
		"hour; %s that is at most %d clusters, %s", set, e.stored, size(now), e.growth, during, most,
		size(need))
	switch {
	case limit.Bytes < base:
		e.fail(name, "give it more: memory.limit, or the container's limit",
			"%s, and clusterd without clusters takes %s", set, size(base))
	case !e.hasClusters():
		e.ok(name, "%s. An instance with role %s has no clusters, and takes %s", set, e.config.Role,
			size(base))
	case e.unknown != nil:
		e.warn(name, "mend what is said above of brokers and topics, and run clusterd doctor again",
			"%s. How many clusters are there, and how many will be, is not known: %v", set, e.unknown)
	case limit.Bytes < need:
		e.warn(name, "raise memory.limit, shorten cluster.window, or take cluster.index: mih", "%s",
			found)
	default:
		e.ok(name, "%s", found)
	}
}

// hasClusters reports whether the instance has clusters in memory.
func (e *examination) hasClusters() bool { return e.config.Role != config.FingerprintOnly }

// expected returns how many clusters there will be at most, if each article founds one, and when.
func (e *examination) expected() (most int64, when string) {
	window := e.config.Cluster.Window
	if window == 0 { // nothing expires
		const month = 30 * 24 * time.Hour
		return e.stored + records(e.growth*month.Hours()), "after a month without a window"
	}
	return max(e.stored, records(e.growth*window.Hours())), "within cluster.window " + window.String()
}

// records returns a number of records, of which there may be more than anybody could store.
func records(n float64) int64 { return int64(min(n, math.MaxInt64/1024)) }

// size writes bytes as a person reads them.
func size(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d bytes", n)
}
