package wait

import (
	"flag"
	"testing"
)

// Main runs the tests of a package eight at a time, since they wait more than they work: for
// time limits, for one another, for a broker. The command line goes first.
func Main(m *testing.M) {
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	m.Run()
}
