//go:build integration

package integration

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/cli/demo/sample"
)

// tenants sends articles of many tenants, keyed by them. Very many tenants have the same article,
// and each has the few that it has several times.
func (w *world) tenants(r *rand.Rand, n, tenants int) {
	w.Helper()
	generator := sample.New(*seed, time.Now())
	var values []string
	for range 40 {
		values = append(values, string(generator.Next().JSON()))
	}
	records := make([]*kgo.Record, n)
	for i := range records {
		tenant := fmt.Sprintf("tenant-%d", r.IntN(tenants))
		records[i] = &kgo.Record{
			Key: []byte(tenant), Value: []byte(values[r.IntN(len(values))]),
			Headers: []kgo.RecordHeader{{Key: "tenant", Value: []byte(tenant)}},
		}
		switch r.IntN(50) {
		case 0:
			records[i].Headers, records[i].Key = nil, nil // of no tenant
		case 1:
			records[i].Headers[0].Value = []byte(strings.Repeat("x", 300)) // too long
		}
	}
	w.produce(records...)
}

// Several thousand spaces, shared by two instances that are killed in turns: nothing is lost or
// doubled, and no cluster has articles of two tenants.
func TestScopeField(t *testing.T) {
	t.Parallel()
	const tenants = 4000
	w := newWorld(t, 4, "cluster: {scope: field, scope_field: 'header:tenant', window: 72h}\n")
	random := seeded(t)
	first, second := w.start(), w.start()
	first.waitLive()
	second.waitLive()
	for range 3 {
		w.tenants(random, 5000, tenants)
		w.progress(w.consumed())
		first.kill()
		w.tenants(random, 1000, tenants)
		w.progress(w.consumed())
		first, second = second, w.start()
	}
	w.done()
	first.stop()
	second.stop()
	w.audit()
	of := make(map[string]string) // by cluster
	values := make(map[string]bool)
	for _, r := range w.read(w.output, kgo.ReadCommitted()) {
		var result struct {
			Cluster string `json:"cluster_id"`
			Space   string `json:"space"`
		}
		if err := json.Unmarshal(r.Value, &result); err != nil {
			t.Fatal(err)
		}
		if was, ok := of[result.Cluster]; ok && was != result.Space {
			t.Errorf("cluster %s has articles of %q and %q", result.Cluster, was, result.Space)
		}
		of[result.Cluster] = result.Space
		values[result.Space] = true
	}
	if len(values) < tenants/2 || !values[""] {
		t.Errorf("%d spaces have results", len(values))
	}
}
