//go:build !failpoints

package failpoint

import "testing"

// A normal build is not hurt, whatever the environment says.
func TestOff(t *testing.T) {
	t.Setenv("CLUSTERD_FAILPOINT", "fenced=1:error,seeded=drop")
	if err := Hit(Fenced); err != nil {
		t.Error(err)
	}
	if Seeded(Drop) {
		t.Error("a bug is seeded in a normal build")
	}
}
