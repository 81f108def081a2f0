//go:build integration

package integration

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"sort"
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"
)

// audit checks what clusterd promises, on the topics as they are: every committed record of the input
// is in results or dead letters exactly once; each article has the cluster that a plain single pass in
// the recorded order gives it; sizes add up.
func (w *world) audit(distance int) []result {
	w.Helper()
	seen := make(map[string]int)
	results := w.results()
	for _, r := range results {
		seen[r.Source.String()]++
	}
	for _, r := range w.read(w.dead, kgo.ReadCommitted()) {
		seen[header(r, "clusterd.source")]++
	}
	lost, doubled := 0, 0
	for _, r := range w.read(w.input, kgo.ReadCommitted()) {
		at := source{r.Topic, r.Partition, r.Offset}.String()
		switch n := seen[at]; {
		case n == 0:
			lost++
			w.Errorf("%s is lost", at)
		case n > 1:
			doubled++
			w.Errorf("%s came out %d times", at, n)
		}
		delete(seen, at)
	}
	for at := range seen {
		w.Errorf("%s came out and is no committed record of the input", at)
	}
	w.Logf("%d results: %d lost, %d doubled", len(results), lost, doubled)
	members := w.checkAssignments(results, distance)
	w.checkClusters(members)
	return results
}

// centre is a cluster of the plain model.
type centre struct {
	id          string
	fingerprint uint64
	size        int
}

// model assigns in the order of the positions by looking at every centre. The answers' order of
// founding is that of the slice, so the first of the nearest is the oldest.
func model(centres []*centre, fingerprint uint64, distance int) (nearest *centre, at int) {
	at = distance + 1
	for _, c := range centres {
		if d := bits.OnesCount64(c.fingerprint ^ fingerprint); d < at {
			nearest, at = c, d
		}
	}
	return nearest, at
}

// spaces are the results of each space in the order of their positions: the whole topic, or each
// partition.
func spaces(results []result, byPartition bool) [][]result {
	of := make(map[int32][]result)
	for _, r := range results {
		if r.Status == "unclustered" {
			continue
		}
		key := int32(0)
		if byPartition {
			key = r.Source.Partition
		}
		of[key] = append(of[key], r)
	}
	var out [][]result
	for _, key := range slices.Sorted(maps.Keys(of)) {
		sort.Slice(of[key], func(i, j int) bool { return of[key][i].position < of[key][j].position })
		out = append(out, of[key])
	}
	return out
}

func (w *world) checkAssignments(results []result, distance int) map[string]*centre {
	w.Helper()
	byID := make(map[string]*centre)
	for _, space := range spaces(results, w.byPartition) {
		var centres []*centre
		last := make(map[int32]int64)
		for i, r := range space {
			if r.position != uint64(i) {
				w.Fatalf("position %d is taken by %s, which says %d", i, r.Source, r.position)
			}
			if before, ok := last[r.Source.Partition]; ok && r.Source.Offset <= before {
				w.Errorf("%s was taken in after offset %d of its partition", r.Source, before)
			}
			last[r.Source.Partition] = r.Source.Offset
			fingerprint, err := strconv.ParseUint(*r.Fingerprint, 16, 64)
			if err != nil {
				w.Fatal(err)
			}
			c, at := model(centres, fingerprint, distance)
			want := result{Status: "joined"}
			if c == nil {
				c, at = &centre{id: r.Source.String(), fingerprint: fingerprint}, 0
				centres = append(centres, c)
				byID[c.id] = c
				want.Status = "new"
			}
			c.size++
			got := fmt.Sprintf("%s %s at %d, size %d", r.Status, *r.ClusterID, *r.Distance, r.Size)
			if want := fmt.Sprintf("%s %s at %d, size %d", want.Status, c.id, at, c.size); got != want {
				w.Errorf("%s (position %d): %s; the model says %s", r.Source, i, got, want)
			}
		}
	}
	return byID
}

// checkClusters compares the clusters topic, compacted, with the model.
func (w *world) checkClusters(want map[string]*centre) {
	w.Helper()
	got := make(map[string]int)
	for _, r := range w.read(w.clusters, kgo.ReadCommitted()) {
		if r.Value == nil {
			delete(got, string(r.Key))
			continue
		}
		var c struct {
			ClusterID string `json:"cluster_id"`
			Size      int    `json:"size"`
		}
		if err := json.Unmarshal(r.Value, &c); err != nil {
			w.Fatal(err)
		}
		got[c.ClusterID] = c.Size
	}
	if len(got) != len(want) {
		w.Errorf("%d clusters in %s, the model has %d", len(got), w.clusters, len(want))
	}
	for id, c := range want {
		if got[id] != c.size {
			w.Errorf("cluster %s has size %d in %s, the model says %d", id, got[id], w.clusters, c.size)
		}
	}
}
