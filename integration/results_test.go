//go:build integration

package integration

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

// result is the part of a result that tests look at.
type result struct {
	ArticleID string  `json:"article_id"`
	ClusterID *string `json:"cluster_id"`
	Status    string  `json:"status"`
	Size      int     `json:"size"`
	Source    source  `json:"source"`
}

// cluster returns the id of its cluster; empty: it has none.
func (r result) cluster() string {
	if r.ClusterID == nil {
		return ""
	}
	return *r.ClusterID
}

type source struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
}

func (s source) String() string { return fmt.Sprintf("%s/%d/%d", s.Topic, s.Partition, s.Offset) }

func parseResult(t *testing.T, value []byte) result {
	t.Helper()
	var r result
	if err := json.Unmarshal(value, &r); err != nil {
		t.Fatalf("result %s: %v", value, err)
	}
	return r
}

// results returns all results that are committed.
func (w *world) results() []result {
	w.Helper()
	var results []result
	for _, r := range w.read(w.output, kgo.ReadCommitted()) {
		results = append(results, parseResult(w.T, r.Value))
	}
	return results
}

// deadLetters returns all dead letters that are committed.
func (w *world) deadLetters() []*kgo.Record {
	w.Helper()
	return w.read(w.dead, kgo.ReadCommitted())
}

func header(r *kgo.Record, key string) string {
	for _, h := range r.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}
