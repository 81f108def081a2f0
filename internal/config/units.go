package config

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

type unit struct {
	suffix string
	bytes  int
}

// sizeUnits returns the units in the order of preference for writing.
func sizeUnits() []unit {
	return []unit{
		{"GiB", 1 << 30},
		{"MiB", 1 << 20},
		{"KiB", 1 << 10},
		{"GB", 1e9},
		{"MB", 1e6},
		{"KB", 1e3},
		{"B", 1},
	}
}

// parseSize reads a whole number of bytes, bare or with a unit: 1048576, 1MiB,
// 1MB (decimal).
func parseSize(s string) (int, error) {
	number, factor := s, 1
	for _, u := range sizeUnits() {
		if rest, ok := strings.CutSuffix(s, u.suffix); ok {
			number, factor = rest, u.bytes
			break
		}
	}
	n, err := strconv.ParseUint(number, 10, strconv.IntSize-1)
	if err != nil {
		return 0, fmt.Errorf("not a size: %w", err)
	}
	if n > uint64(math.MaxInt/factor) {
		return 0, fmt.Errorf("not a size: %s is too large", s)
	}
	return int(n) * factor, nil
}

// formatSize writes n bytes, not negative, in the largest unit that needs no fraction.
func formatSize(n int) string {
	for _, u := range sizeUnits() {
		if u.bytes > 1 && n != 0 && n%u.bytes == 0 {
			return strconv.Itoa(n/u.bytes) + u.suffix
		}
	}
	return strconv.Itoa(n)
}

// parseDuration reads what time.ParseDuration does, and whole days before it:
// 7d, 1d12h.
func parseDuration(s string) (time.Duration, error) {
	number, rest, hasDays := strings.Cut(s, "d")
	if !hasDays {
		return time.ParseDuration(s)
	}
	days, err := strconv.ParseUint(number, 10, 63)
	if err != nil {
		return 0, fmt.Errorf("not a duration: %w", err)
	}
	if days > uint64(math.MaxInt64/day) {
		return 0, fmt.Errorf("not a duration: %s is too long", s)
	}
	whole := time.Duration(days) * day
	if rest == "" {
		return whole, nil
	}
	part, err := time.ParseDuration(rest)
	if err != nil {
		return 0, err
	}
	if strings.ContainsAny(rest[:1], "+-") || part > math.MaxInt64-whole {
		return 0, fmt.Errorf("not a duration: %s", s)
	}
	return whole + part, nil
}

// formatDuration writes whole days as 7d and all else as Go does, less the
// zeroes that it adds: 36h, 1h30m.
func formatDuration(d time.Duration) string {
	if d != 0 && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func formatShare(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func parseShare(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err == nil && math.IsNaN(v) {
		err = errors.New("not a number")
	}
	return v, err
}
