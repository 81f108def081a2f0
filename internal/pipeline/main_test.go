package pipeline

import (
	"flag"
	"testing"
)

// Parallel tests wait for timeouts in the main, not for a core. The command line goes first.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	flag.Parse()
	m.Run()
}
