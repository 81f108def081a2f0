package tune

import (
	"errors"
	"fmt"
)

// Asked is what a command line asks for.
type Asked struct {
	Sample     int
	Same, Hits float64
	Positive   string
	Stories    bool
}

// Check returns what is wrong with it. given reports whether a flag is on the command line.
func (a Asked) Check(given func(flag string) bool) error {
	switch {
	case a.Sample < 1:
		return errors.New("--sample: at least 1 is needed")
	case !(a.Same >= Near && a.Same <= 1): // nor NaN
		return fmt.Errorf("--same %v: must be %v to 1", a.Same, Near)
	case !(a.Hits >= 0 && a.Hits <= 1000):
		return fmt.Errorf("--hits %v: must be 0 to 1000", a.Hits)
	case a.Stories && (a.Positive != "" || given("hits") || given("same") || given("methods")):
		return errors.New("--stories: not with --positive, --hits, --same or --methods")
	case a.Positive == "" && (given("hits") || given("labels") && !a.Stories):
		return errors.New("--labels and --hits: need --positive; --labels can have --stories instead")
	}
	return nil
}
