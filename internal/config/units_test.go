package config

import (
	"math"
	"testing"
	"testing/quick"
	"time"
)

func TestSizes(t *testing.T) {
	for text, want := range map[string]struct {
		n       int
		written string
	}{
		"0":       {0, "0"},
		"1":       {1, "1"},
		"1B":      {1, "1"},
		"1048576": {1 << 20, "1MiB"},
		"4MiB":    {4 << 20, "4MiB"},
		"512KiB":  {512 << 10, "512KiB"},
		"1GiB":    {1 << 30, "1GiB"},
		"1MB":     {1e6, "1MB"},
		"3KB":     {3000, "3KB"},
		"1GB":     {1e9, "1GB"},
		"1025":    {1025, "1025"},
		"1024KiB": {1 << 20, "1MiB"},
	} {
		n, err := parseSize(text)
		if err != nil || n != want.n {
			t.Errorf("parseSize(%q) = %d, %v; want %d", text, n, err, want.n)
		}
		if got := formatSize(n); got != want.written {
			t.Errorf("formatSize(%d) = %s, want %s", n, got, want.written)
		}
	}
	for _, text := range []string{
		"", "MiB", "-1", "+1", "1.5MiB", "4 MiB", "4mib", "4M", "0x10", "1_000", "1e3", "١",
		"9223372036854775808", "9007199254740992KiB", "99999999999GiB",
	} {
		if n, err := parseSize(text); err == nil {
			t.Errorf("parseSize(%q) = %d, want an error", text, n)
		}
	}
}

func TestDurations(t *testing.T) {
	for text, want := range map[string]struct {
		d       time.Duration
		written string
	}{
		"0":        {0, "0s"},
		"0s":       {0, "0s"},
		"0d":       {0, "0s"},
		"20ms":     {20 * time.Millisecond, "20ms"},
		"1h30m":    {90 * time.Minute, "1h30m"},
		"36h":      {36 * time.Hour, "36h"},
		"24h":      {day, "1d"},
		"7d":       {7 * day, "7d"},
		"1d12h":    {36 * time.Hour, "36h"},
		"1.5h":     {90 * time.Minute, "1h30m"},
		"10m":      {10 * time.Minute, "10m"},
		"10h":      {10 * time.Hour, "10h"},
		"1h0m10s":  {time.Hour + 10*time.Second, "1h0m10s"},
		"106751d":  {106751 * day, "106751d"},
		"100d1µs":  {100*day + time.Microsecond, "2400h0m0.000001s"},
		"106751d0": {106751 * day, "106751d"},
	} {
		d, err := parseDuration(text)
		if err != nil || d != want.d {
			t.Errorf("parseDuration(%q) = %v, %v; want %v", text, d, err, want.d)
		}
		if got := formatDuration(d); got != want.written {
			t.Errorf("formatDuration(%v) = %s, want %s", d, got, want.written)
		}
	}
	for _, text := range []string{
		"", "d", "7", "7 d", "-1d", "1.5d", "1d-2h", "1d+2h", "1d1d",
		"7days", "106752d", "106751d24h", "99999999999999999999d",
	} {
		if d, err := parseDuration(text); err == nil {
			t.Errorf("parseDuration(%q) = %v, want an error", text, d)
		}
	}
}

// What is written is read back as the same quantity.
func TestUnitsRoundTrip(t *testing.T) {
	sizes := func(n uint32, shift uint8) bool {
		want := int(n) << (shift % 31)
		got, err := parseSize(formatSize(want))
		return err == nil && got == want
	}
	durations := func(n int64, coarse uint8) bool {
		want := time.Duration(n & math.MaxInt64)
		for _, unit := range []time.Duration{day, time.Hour, time.Minute, time.Second}[:coarse%5] {
			want = want.Truncate(unit)
		}
		got, err := parseDuration(formatDuration(want))
		return err == nil && got == want
	}
	for _, property := range []any{sizes, durations} {
		if err := quick.Check(property, &quick.Config{MaxCount: 5000}); err != nil {
			t.Error(err)
		}
	}
}
