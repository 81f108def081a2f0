package monitor

import (
	"math"
	"time"
)

// ETA returns how long so many records take at a rate, to the second, and no more than some thirty
// years.
func ETA(records int64, perSecond float64) time.Duration {
	return time.Duration(math.Round(min(float64(records)/perSecond, 1e9))) * time.Second
}
