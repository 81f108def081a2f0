package audit

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/method"
)

// pitch returns the text of an advert: of its own but for what is the same in all, with a name by
// the lowest 8 bits, none at 0.
func pitch(it item) string {
	text := strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return 'g' + r - '0' // no word is a name
		}
		return r
	}, prose(item{fingerprint: it.fingerprint &^ 0xff}))
	if name := it.fingerprint & 0xff; name != 0 {
		text += fmt.Sprintf(" find alexis%d", name+10)
	}
	return text
}

// pitches are adverts, some with a name: offsets as in story. A cluster may take in two by a
// contact.
var pitches = []item{
	{0, 0x100, 0, ""}, // new, without a name
	{1, 0x201, 1, ""}, // new
	{0, 0x301, 2, ""}, // joins the second by its name
	{1, 0x402, 3, ""}, // new, of another name
	{0, 0x501, 4, ""}, // joins the second by its name
	{1, 0x601, 5, ""}, // new, since the second has taken in two
	{0, 0x701, 6, ""}, // new, since the oldest of its name counts alone
	{1, 0x201, 7, ""}, // joins the second by its text
}

var contactFaults = []struct {
	name string
	seed func(*stage)
	want []string
}{
	{"none", func(*stage) {}, nil},
	{"a contact and a distance", func(s *stage) {
		s.edit(s.result(2), `"distance":null`, `"distance":0`)
	}, []string{
		"form article-clusters/0/1", "I2 article-clusters, position 2", "I3 article-clusters/0/3",
		"I4 clusters/1/0",
	}},
	{"not explained", func(s *stage) {
		s.edit(s.result(7), `"matched":"text",`, ``)
	}, []string{"I3 article-clusters/1/4"}},
	{"explained in another way", func(s *stage) {
		s.edit(s.result(7), `"matched":"text"`, `"matched":"look"`)
	}, []string{
		"form article-clusters/1/4", "I2 article-clusters, position 7", "I4 clusters/1/3",
	}},
	{"a cluster that is not there", func(s *stage) {
		s.edit(s.result(2), `"cluster_id":"articles/1/0"`, `"cluster_id":"articles/1/1"`)
	}, []string{"I3 article-clusters/0/1", "I4 clusters/1/0"}},
	{"another cluster's contacts", func(s *stage) {
		s.edit(s.clusterRecord(1), `name:alexis11`, `name:alexis12`)
	}, []string{"I4 clusters/1/0"}},
	{"no number that joined by a contact, as now", func(s *stage) {
		s.edit(s.clusterRecord(1), `"by_contact":1,`, ``)
	}, nil},
	{"another number that joined by a contact", func(s *stage) {
		s.edit(s.clusterRecord(1), `"by_contact":1`, `"by_contact":2`)
	}, []string{"I4 clusters/1/0"}},
}

// What results of an earlier version say of articles that joined a cluster by a contact is
// believed if it can be, for methods that the audit repeats and for those that it follows. What
// contacts a cluster has is worked out from the input.
func TestContacts(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"simhash", "minhash"} {
		set := func(c *config.Config) {
			c.Fingerprint.Method, c.Contacts.Join = name, true
		}
		c := config.Default()
		set(&c)
		m, err := method.New(c.MethodSettings())
		if err != nil {
			t.Fatal(err)
		}
		for _, test := range some(5, contactFaults) {
			t.Run(name+", "+test.name, func(t *testing.T) {
				t.Parallel()
				s := newStage(t, set)
				s.use(m, pitch)
				s.title, s.limit = "A story", 2
				s.cluster(pitches, s.input(pitches))
				test.seed(s)
				s.write()
				found := s.audit(Options{})
				if got := firsts(found); !slices.Equal(got, test.want) {
					t.Errorf("found:\n%s\nwant %q", strings.Join(violations(found), "\n"), test.want)
				}
				if n := found.Counts; test.want == nil && (n.New != 5 || n.Joined != 3) {
					t.Errorf("%d new, %d joined; want 5 and 3", n.New, n.Joined)
				}
			})
		}
	}
}
