package article

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// MaxPublishers is how many publishers are told apart.
const MaxPublishers = 64

// Publishers say how many publishers a cluster or a story has: the Number, which is exact, or where
// there are More, [MaxPublishers].
type Publishers struct {
	Number publisherNumber `json:"publishers"`
	More   bool            `json:"publishers_more,omitempty"`
}

// NewPublishers returns n publishers. Any n above [MaxPublishers] means more.
func NewPublishers(n int) Publishers {
	return Publishers{Number: publisherNumber(min(n, MaxPublishers)), More: n > MaxPublishers}
}

// appendJSON appends the fields, behind a brace or a comma.
func (p Publishers) appendJSON(dst []byte) []byte {
	dst = strconv.AppendInt(append(dst, `"publishers":`...), int64(p.Number), 10)
	if p.More {
		dst = append(dst, `,"publishers_more":true`...)
	}
	return dst
}

// settle ends the reading of JSON. It returns an error if the two fields contradict each other.
func (p *Publishers) settle() error {
	if p.Number == morePublishers {
		*p = Publishers{Number: MaxPublishers, More: true}
	}
	if p.More && p.Number != MaxPublishers {
		return fmt.Errorf("publishers: %d and more, but up to %d are told apart", p.Number, MaxPublishers)
	}
	return nil
}

// publisherNumber is a number to [MaxPublishers].
type publisherNumber int

// morePublishers stands, while JSON is read, for the text that earlier versions wrote for more than
// [MaxPublishers].
const morePublishers = -1

// UnmarshalJSON reads a number, or that text.
func (n *publisherNumber) UnmarshalJSON(value []byte) error {
	if string(value) == `"64+"` {
		*n = morePublishers
		return nil
	}
	read, err := strconv.Atoi(string(value))
	if err != nil || read < 0 || read > MaxPublishers {
		return fmt.Errorf("publishers: %.40q is not a number to %d", value, MaxPublishers)
	}
	*n = publisherNumber(read)
	return nil
}

// UnmarshalPublishers reads JSON into to, which has these Publishers embedded and no UnmarshalJSON.
func UnmarshalPublishers(value []byte, to any, p *Publishers) error {
	return errors.Join(json.Unmarshal(value, to), p.settle())
}

// Signals say, in a result, what its cluster is like with this article in it.
type Signals struct {
	Publishers
	// Recent is how many of its articles have an event time within signals.window of stream time.
	Recent    int       `json:"recent"`
	FirstSeen time.Time `json:"first_seen"` // the lowest event time of a member
	LastSeen  time.Time `json:"last_seen"`  // the highest event time of a member
}

// UnmarshalJSON reads what this version or an earlier one wrote.
func (s *Signals) UnmarshalJSON(value []byte) error {
	type plain Signals
	return UnmarshalPublishers(value, (*plain)(s), &s.Publishers)
}

func (s *Signals) appendJSON(dst []byte) []byte {
	dst = s.Publishers.appendJSON(append(dst, '{'))
	dst = strconv.AppendInt(append(dst, `,"recent":`...), int64(s.Recent), 10)
	dst = appendTime(append(dst, `,"first_seen":`...), s.FirstSeen)
	return append(appendTime(append(dst, `,"last_seen":`...), s.LastSeen), '}')
}

// ClusterSignals are the signals of a cluster's record: those of the result of its last member, and
// the State from which they are counted on.
type ClusterSignals struct {
	Publishers
	Recent int    `json:"recent"`
	State  []byte `json:"state"`
}

// UnmarshalJSON reads what this version or an earlier one wrote.
func (s *ClusterSignals) UnmarshalJSON(value []byte) error {
	type plain ClusterSignals
	return UnmarshalPublishers(value, (*plain)(s), &s.Publishers)
}

func (s *ClusterSignals) appendJSON(dst []byte) []byte {
	dst = s.Publishers.appendJSON(append(dst, '{'))
	dst = strconv.AppendInt(append(dst, `,"recent":`...), int64(s.Recent), 10)
	dst = base64.StdEncoding.AppendEncode(append(dst, `,"state":"`...), s.State)
	return append(dst, `"}`...)
}
