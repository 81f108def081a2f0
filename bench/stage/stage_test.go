package stage

import (
	"encoding/json"
	"testing"

	"github.com/clusterd/clusterd/internal/kafka"
)

// A result of the ceiling is JSON of about the size of clusterd's.
func TestResult(t *testing.T) {
	r := result(kafka.Record{Topic: "input", Partition: 3, Offset: 12, Key: []byte("n0000007")})
	var parsed struct {
		ArticleID string `json:"article_id"`
		ClusterID string `json:"cluster_id"`
	}
	if err := json.Unmarshal(r, &parsed); err != nil || parsed.ArticleID != "n0000007" ||
		parsed.ClusterID != "input/3/12" {
		t.Errorf("%s: %+v, %v", r, parsed, err)
	}
	if len(r) < 300 || len(r) > 400 {
		t.Errorf("%d bytes", len(r))
	}
}
