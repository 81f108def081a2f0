package labelling

import "time"

// An Alarm is when labels are looked at though no articles come.
type Alarm struct {
	*time.Timer
	set bool
}

// NewAlarm returns one that is not set.
func NewAlarm() *Alarm {
	a := &Alarm{Timer: time.NewTimer(time.Hour)}
	a.Stop()
	return a
}

// In sets it, unless it is set.
func (a *Alarm) In(wait time.Duration) {
	if !a.set {
		a.set = true
		a.Reset(wait)
	}
}

// Rang says that its time has come.
func (a *Alarm) Rang() { a.set = false }
