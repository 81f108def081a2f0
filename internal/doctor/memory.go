package doctor

import (
	"fmt"
	"math"
	"time"

	"github.com/clusterd/clusterd/internal/memlimit"
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

// checkMemory holds the limit against what the window can bring.
func (e *examination) checkMemory() {
	const name = "memory"
	limit, err := memlimit.SetLimit(e.config.Memory.Limit)
	if err != nil {
		e.warn(name, "set memory.limit", "%v", err)
		return
	}
	window := e.config.Cluster.Window
	hours := window.Hours()
	if window == 0 {
		hours = (365 * 24 * time.Hour).Hours() // nothing expires: what a year brings
	}
	most := int64(math.Min(e.growth*hours, math.MaxInt64/1024))
	need := base + most*e.perCluster()
	found := fmt.Sprintf("as many articles as in the last hour, %.0f, are at most %d clusters in %s "+
		"and %s", e.growth, most, during(window), size(need))
	switch {
	case limit.Bytes == math.MaxInt64:
		e.ok(name, "%s; there is no limit", found)
	case limit.Bytes < base:
		e.fail(name, "give it more: memory.limit, or the container's limit",
			"the limit is %s (%s), and clusterd without clusters takes %s", size(limit.Bytes), limit.From,
			size(base))
	case limit.Bytes < need:
		e.warn(name, "raise memory.limit, shorten cluster.window, or take cluster.index: mih",
			"%s; the limit is %s (%s)", found, size(limit.Bytes), limit.From)
	default:
		e.ok(name, "%s; the limit is %s (%s)", found, size(limit.Bytes), limit.From)
	}
}

func during(window time.Duration) string {
	if window == 0 {
		return "a year (cluster.window is 0)"
	}
	return "cluster.window " + window.String()
}

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
