package model

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/audit/wire"
)

// plainRule is the rule by contacts over a plain slice, for articles the texts of which are never
// near.
type plainRule struct {
	window int64
	limit  int64
	now    int64
	all    []plainCluster
}

type plainCluster struct {
	contacts            []uint64
	lastSeen, byContact int64
}

func (p *plainRule) assign(contacts []uint64, at int64) Placement {
	p.now = max(p.now, at)
	best := Placement{Cluster: len(p.all)}
	for _, contact := range contacts {
		i := slices.IndexFunc(p.all, func(c plainCluster) bool {
			return p.now-c.lastSeen <= p.window && slices.Contains(c.contacts, contact)
		})
		if i >= 0 && i < best.Cluster && p.all[i].byContact < p.limit {
			best = Placement{Cluster: i, Joined: true, Contact: contact}
		}
	}
	if !best.Joined {
		p.all = append(p.all, plainCluster{contacts: contacts, lastSeen: at})
		return best
	}
	c := &p.all[best.Cluster]
	c.lastSeen, c.byContact = max(c.lastSeen, at), c.byContact+1
	return best
}

// Whether the model looks for the nearest or follows the results, it finds by itself whom an
// article joins by a contact, and whom it does not.
func TestContactsAreTheLinearScan(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		window, limit := 1+r.Int64N(200), 1+r.Int64N(8)
		var stored [][]uint64
		rule := Rule{
			Window: time.Duration(window) * time.Millisecond, ContactLimit: int(limit),
			Contacts: func(b Blob) ([]uint64, error) { return stored[b.Ref.At], nil },
		}
		nearest := New(0, rule)
		following := NewFollowing(rule, func(Fingerprint, Fingerprint) (float64, bool, error) {
			return 0, false, fmt.Errorf("nothing is near")
		})
		plain := &plainRule{window: window, limit: limit}
		for i := range int64(500) {
			var contacts []uint64
			for c := uint64(1); c < 12 && r.IntN(3) == 0; c += 1 + r.Uint64N(3) {
				contacts = append(contacts, c)
			}
			stored = append(stored, contacts)
			a := Article{
				Source: wire.Address{Offset: i}, EventTime: max(0, i*3+r.Int64N(60)-30),
				Fingerprint: Fingerprint{Hash: r.Uint64(), Known: true},
			}
			if a.Fingerprint.Contacts.Ref.At = i; contacts != nil {
				a.Fingerprint.Contacts.Digest = 1
			}
			want := plain.assign(contacts, a.EventTime)
			a.Cluster, a.Joined, a.Contact = a.Source, want.Joined, want.Contact
			if r.IntN(10) == 0 { // a result that is wrong
				a.Joined, a.Contact = !a.Joined, 0
			}
			for _, m := range []*Model{nearest, following} {
				if got, err := m.Assign(a, i); err != nil || got != want {
					t.Fatalf("seed %d, article %d with %v: %+v, %v; want %+v", seed, i, contacts, got, err,
						want)
				}
			}
		}
	}
}

// Where the input record of a founder is deleted, nobody knows its contacts, so what results say of
// contacts is believed if it can be.
func TestUnknownContacts(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		founder wire.Address // that the result names
		contact uint64
		at      int64
		want    Placement
	}{
		"joined":         {wire.Address{Offset: 0}, 5, 10, Placement{Joined: true, Contact: 5}},
		"founded":        {wire.Address{Offset: 1}, 0, 10, Placement{Cluster: 1}},
		"nobody's":       {wire.Address{Offset: 7}, 5, 10, Placement{Cluster: 1}},
		"an expired one": {wire.Address{Offset: 0}, 5, 500, Placement{Cluster: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := New(0, Rule{Window: 100 * time.Millisecond, ContactLimit: 3})
			if _, err := m.Assign(Article{Fingerprint: Fingerprint{Hash: 1}}, 0); err != nil {
				t.Fatal(err)
			}
			a := Article{
				Source: wire.Address{Offset: 1}, Fingerprint: Fingerprint{Hash: 2, Known: true},
				EventTime: tt.at, Cluster: tt.founder, Joined: tt.contact != 0, Contact: tt.contact,
			}
			if got, err := m.Assign(a, 1); err != nil || got != tt.want {
				t.Errorf("%+v, %v; want %+v", got, err, tt.want)
			}
		})
	}
}
