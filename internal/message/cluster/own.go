package cluster

import (
	"bytes"
	"encoding/base64"
	"math"
	"time"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/message/article"
)

// parseOwn reads a value that [Cluster.AppendJSON] wrote, several times as fast as encoding/json:
// in that order of fields, without white space, escapes, contacts, labels and signals. Of any other
// value, also one that is none of a cluster, it says that it is not ok, and encoding/json is to
// read it. What it reads it reads as that does.
func parseOwn(value []byte) (c article.Cluster, ok bool) {
	s := scanner{rest: value}
	s.literal(`{"cluster_id":`)
	c.ClusterID = s.text()
	s.literal(`,"seq":`)
	c.Seq = s.number()
	s.literal(`,"fingerprint":`)
	c.Fingerprint = s.fingerprint()
	if s.next(`,"sketch":`) {
		c.Sketch = s.base64([]byte{})
	}
	s.literal(`,"size":`)
	c.Size = s.int()
	if s.next(`,"by_contact":`) {
		c.ByContact = s.int()
	}
	s.literal(`,"first_seen":`)
	c.FirstSeen = s.time()
	s.literal(`,"last_seen":`)
	c.LastSeen = s.time()
	s.literal(`,"representative":{"id":`)
	c.Representative.ID = s.text()
	s.literal(`,"title":`)
	c.Representative.Title = s.text()
	if s.next(`,"excerpt":`) {
		c.Representative.Excerpt = s.text()
	}
	s.literal(`}`)
	if s.next(`,"story_id":`) {
		c.StoryID = s.text()
	}
	if s.next(`,"story_similarity":`) {
		c.StorySimilarity = s.similarity()
	}
	if s.next(`,"kept_ms":`) {
		c.KeptMS = int64(s.int())
	}
	s.literal(`,"pipeline":`)
	c.Pipeline = s.text()
	s.literal(`}`)
	return c, !s.failed && len(s.rest) == 0
}

// parseOwnStory reads a value that [Story.AppendJSON] wrote of the story with this id, as parseOwn
// reads a cluster. It appends the state to dst.
func parseOwnStory(dst, value []byte, id string) (state []byte, ok bool) {
	s := scanner{rest: value}
	s.literal(`{"story_id":`)
	same := string(s.raw()) == id
	s.literal(`,"state":`)
	state = s.base64(dst)
	s.literal(`}`)
	return state, same && !s.failed && len(s.rest) == 0
}

// scanner takes parts off the front of a value, until one is not there: then it has failed, and
// returns zero values.
type scanner struct {
	rest   []byte
	failed bool
}

func (s *scanner) fail() { s.rest, s.failed = nil, true }

// next takes a literal if it is there.
func (s *scanner) next(literal string) bool {
	if len(s.rest) < len(literal) || string(s.rest[:len(literal)]) != literal {
		return false
	}
	s.rest = s.rest[len(literal):]
	return true
}

// literal takes a literal that must be there.
func (s *scanner) literal(literal string) {
	if !s.next(literal) {
		s.fail()
	}
}

// raw takes a string without escapes, and returns what is between its quotes.
func (s *scanner) raw() []byte {
	if len(s.rest) == 0 || s.rest[0] != '"' {
		s.fail()
		return nil
	}
	ascii := true
	for i := 1; i < len(s.rest); i++ {
		switch b := s.rest[i]; {
		case b == '"':
			raw := s.rest[1:i]
			s.rest = s.rest[i+1:]
			if !ascii && !utf8.Valid(raw) {
				s.fail()
				return nil
			}
			return raw
		case b == '\\' || b < ' ':
			s.fail()
			return nil
		case b >= utf8.RuneSelf:
			ascii = false
		}
	}
	s.fail()
	return nil
}

func (s *scanner) text() string { return string(s.raw()) }

// number takes a number of digits alone, below 10^18.
func (s *scanner) number() (n uint64) {
	const most = 18
	i := 0
	for ; i < len(s.rest) && i <= most && s.rest[i] >= '0' && s.rest[i] <= '9'; i++ {
		n = 10*n + uint64(s.rest[i]-'0')
	}
	if i == 0 || i > most || i > 1 && s.rest[0] == '0' {
		s.fail()
		return 0
	}
	s.rest = s.rest[i:]
	return n
}

func (s *scanner) int() int {
	n := s.number()
	if n > math.MaxInt {
		s.fail()
		return 0
	}
	return int(n)
}

// similarity takes a similarity as it is written here: others may mean the same number, or be none
// in JSON.
func (s *scanner) similarity() (similarity article.Similarity) {
	end := max(0, bytes.IndexByte(s.rest, ','))
	raw := s.rest[:end]
	if similarity.UnmarshalJSON(raw) != nil || string(similarity.AppendTo(nil)) != string(raw) {
		s.fail()
		return 0
	}
	s.rest = s.rest[end:]
	return similarity
}

func (s *scanner) fingerprint() (f article.Fingerprint) {
	if f.UnmarshalText(s.raw()) != nil {
		s.fail()
	}
	return f
}

// base64 appends what a string stands for.
func (s *scanner) base64(dst []byte) []byte {
	decoded, err := base64.StdEncoding.AppendDecode(dst, s.raw())
	if err != nil {
		s.fail()
	}
	return decoded
}

func (s *scanner) time() (t time.Time) {
	if t.UnmarshalText(s.raw()) != nil {
		s.fail()
	}
	return t
}
