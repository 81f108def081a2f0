package paper

import (
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/method"
)

// By default every method is measured, and simhash as published.
func TestRuns(t *testing.T) {
	runs := strings.Join(Runs(), " ") + " "
	for _, name := range append(method.Names(),
		"simhash,fingerprint.hash=sdbm-raw,fingerprint.weight=tf", "simhash,cluster.distance=6") {
		if strings.Count(runs, name+" ") != 1 {
			t.Errorf("%s is not once in %s", name, runs)
		}
	}
}
