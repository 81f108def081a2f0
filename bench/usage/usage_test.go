package usage

import (
	"strings"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	line := "4242 (a) 7 (b) S 1 2 3 4 5 6 7 8 9 10 1234 66 11 12 20 0 33 0 99"
	if got, err := parseStat(line); got != 13*time.Second || err != nil {
		t.Errorf("%s, %v; want 13s", got, err)
	}
	for _, line := range []string{"", "1 (x) S 1", strings.ReplaceAll(line, "1234", "many")} {
		if got, err := parseStat(line); err == nil {
			t.Errorf("%q: %s, want an error", line, got)
		}
	}
}
