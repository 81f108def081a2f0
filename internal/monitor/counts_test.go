package monitor

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The rate is that of the last minute, also when nothing comes for long, and of less at the
// beginning.
func TestCounts(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	m := newMonitor("v1", func() time.Time { return now })
	if got := m.Counts(); got.Rate != 0 || got.Since != now {
		t.Errorf("at the beginning: %+v", got)
	}
	at := func(after time.Duration, articles int, want float64) {
		t.Helper()
		now = now.Add(after)
		if articles > 0 {
			m.Committed(Commit{
				Space: "all", New: 1, Joined: articles - 2, Unclustered: 1,
				Rejected: map[string]int{"bad_json": 2},
			})
		}
		if got := m.Counts().Rate; got != want {
			t.Errorf("at %v: a rate of %v, want %v", now, got, want)
		}
	}
	at(2*time.Second, 10, 5)
	at(8*time.Second, 10, 2)   // 20 in 10 s
	at(50*time.Second, 40, 1)  // 60 in 60 s
	at(4*time.Second, 4, 1)    // 64 in 64 s
	at(2*time.Second, 0, 0.9)  // 54 in 61 s: the first step is over
	at(50*time.Second, 0, 0.7) // 44 in 61 s
	at(time.Hour, 0, 0)
	at(time.Second, 61, 1)
	m.Loaded("0", 5)
	m.Loaded("1", 6)
	m.Loaded("1", 7)
	m.Unloaded("0")
	want := Counts{
		Since: now.Add(-time.Hour - 117*time.Second), New: 5, Joined: 115, Unclustered: 5, Rate: 1,
		Clusters: map[string]int{"1": 7},
	}
	got := m.Counts()
	if got.DeadLetters["bad_json"] != 10 || got.DeadLetters["empty"] != 0 {
		t.Errorf("dead letters: %v", got.DeadLetters)
	}
	got.DeadLetters = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	m.Gone("1") // another instance works on it, and this one follows it
	if got := m.Counts().Clusters["1"]; got != 7 {
		t.Errorf("%d clusters of a space that is followed, want 7", got)
	}
}
