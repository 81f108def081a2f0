package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Signals are what a result or a cluster tells of the cluster's members.
type Signals struct {
	Publishers Publishers `json:"publishers"`
	Recent     int64      `json:"recent"`
	FirstSeen  time.Time  `json:"first_seen"` // of a result alone
	LastSeen   time.Time  `json:"last_seen"`  // likewise
}

// UnmarshalJSON reads the fields. Publishers is read from two: publishers and publishers_more.
func (s *Signals) UnmarshalJSON(text []byte) error {
	type plain Signals
	var v struct {
		More bool `json:"publishers_more"`
	}
	err := errors.Join(json.Unmarshal(text, (*plain)(s)), json.Unmarshal(text, &v))
	if err == nil {
		s.Publishers, err = s.Publishers.and(v.More)
	}
	return err
}

// Publishers is how many there are, exact to [MaxPublishers], and one more for any number beyond.
type Publishers int64

// MaxPublishers is up to how many publishers are counted.
const MaxPublishers = 64

// UnmarshalJSON reads a number to [MaxPublishers], or the text that stood for more in earlier
// versions.
func (p *Publishers) UnmarshalJSON(text []byte) error {
	if string(text) == `"64+"` {
		*p = MaxPublishers + 1
		return nil
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || n < 0 || n > MaxPublishers {
		return fmt.Errorf("publishers %s", text)
	}
	*p = Publishers(n)
	return nil
}

// and returns how many there are where a message says whether there are more than it counts.
func (p Publishers) and(more bool) (Publishers, error) {
	switch {
	case !more:
		return p, nil
	case p != MaxPublishers:
		return p, fmt.Errorf("publishers %s, and more", p)
	}
	return MaxPublishers + 1, nil
}

// String returns the number, for people.
func (p Publishers) String() string {
	if p > MaxPublishers {
		return "64+"
	}
	return strconv.FormatInt(int64(p), 10)
}
