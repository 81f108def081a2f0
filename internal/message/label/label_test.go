package label_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/label"
)

// record is a label record; two by different offsets differ in all that a cluster gets.
func record(action article.Action, name string, trial bool, offset int64) *article.LabelRecord {
	return &article.LabelRecord{
		Cluster: article.Address{Topic: "articles"}, Action: action, Label: article.Label{
			Name: name, By: fmt.Sprint("by ", offset), At: time.UnixMilli(offset).UTC(), Trial: trial,
			Record: article.Address{Topic: "labels", Offset: offset}.String(),
		},
	}
}

// A model is a set in the plain way: a map.
type model map[key]article.Label

// A key is what a set has once.
type key struct {
	name  string
	trial bool
}

func keyOf(l article.Label) key { return key{l.Name, l.Trial} }

func (m model) apply(r *article.LabelRecord, position uint64) error {
	_, ok := m[keyOf(r.Label)]
	switch {
	case r.Action == article.RemoveLabel:
		delete(m, keyOf(r.Label))
	case !ok && len(m) == 8:
		return label.ErrTooMany
	default:
		l := r.Label
		l.Position = position
		m[keyOf(l)] = l
	}
	return nil
}

// apply does what a label record asks for.
func apply(s label.Set, r *article.LabelRecord, position uint64) (label.Set, error) {
	if r.Action == article.RemoveLabel {
		return s.Without(r.Name, r.Trial), nil
	}
	l := r.Label
	l.Position = position
	return s.With(l)
}

func (m model) carried(allow []string) (labels, trial []string) {
	wins := false
	for k := range m {
		wins = wins || !k.trial && slices.Contains(allow, k.name)
	}
	for k := range m {
		switch {
		case k.trial:
			trial = append(trial, k.name)
		case !wins || slices.Contains(allow, k.name):
			labels = append(labels, k.name)
		}
	}
	slices.Sort(labels)
	slices.Sort(trial)
	return labels, trial
}

// A set is what a plain map is, after any records.
func TestSetIsTheModel(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	names := strings.Fields("spam ham reviewed a b c d e f g")
	allow := []string{"ham", "reviewed"}
	full := 0
	for range 50 {
		var set label.Set
		want := model{}
		for offset := range int64(60) {
			action := article.AddLabel
			if random.IntN(4) == 0 {
				action = article.RemoveLabel
			}
			r := record(action, names[random.IntN(len(names))], random.IntN(3) == 0, offset)
			before := set
			var err error
			set, err = apply(set, r, uint64(offset+100))
			if err != want.apply(r, uint64(offset+100)) || err != nil && set != before {
				t.Fatalf("%+v on %s: %s, %v", r, before, set, err)
			}
			if err != nil {
				full++
			}
			got := model{}
			for _, l := range set.All() {
				got[keyOf(l)] = l
			}
			if !reflect.DeepEqual(got, want) || set.Check() != nil || label.Of(set.All()) != set {
				t.Fatalf("%s, want %+v; %v", set, want, set.Check())
			}
			labels, trial := want.carried(allow)
			if c := label.Carry(set.All(), 1, allow); !slices.Equal(c.Labels, labels) ||
				!slices.Equal(c.Trial, trial) {
				t.Fatalf("%s carries %+v, want %v and %v", set, c, labels, trial)
			}
		}
	}
	if full == 0 {
		t.Error("no set was ever full")
	}
}

// Removing a label leaves what there would be without it.
func TestRemovingUndoes(t *testing.T) {
	var set label.Set
	for i, name := range []string{"spam", "reviewed", "ham"} {
		before := set
		with, err := apply(set, record(article.AddLabel, name, false, int64(i)), 7)
		if err != nil || with == before {
			t.Fatalf("%s: %s, %v", name, with, err)
		}
		if other := with.Without(name, true); other != with {
			t.Errorf("%s: %s after the one on trial was removed, and %s before", name, other, with)
		}
		if without := with.Without(name, false); without != before {
			t.Errorf("%s: %s after it was removed, and %s before it was added", name, without, before)
		}
		set = with
	}
	if other := set.Without("eggs", false); other != set {
		t.Errorf("removing one that is not there: %s", other)
	}
}

// hit is an article that carries labels.
type hit struct {
	position uint64
	names    []string
}

// above is the guard in the plain way: behind the article at a position it counts all again.
func above(share float64, hits []hit, position uint64) (names []string) {
	for _, name := range []string{"a", "b", "c"} {
		counts := make(map[uint64]int) // by bucket
		for _, h := range hits {
			if slices.Contains(h.names, name) {
				counts[h.position/1000]++
			}
		}
		bucket := position / 1000
		n := counts[bucket]
		if bucket > 0 {
			n = max(n, counts[bucket-1])
		}
		if float64(n) > share*1000 {
			names = append(names, name)
		}
	}
	return names
}

// A guard is the plain one, wherever it is taken down and put up again.
func TestGuardIsTheModel(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for round := range 8 {
		share := []float64{0.01, 0.05, 0.5, 1}[round%4]
		position, seen := uint64(random.IntN(3000)), 0
		g := label.NewGuard(share, position, nil)
		var hits []hit
		for len(hits) < 500 {
			if random.IntN(10) == 0 {
				position += uint64(random.IntN(400))
			}
			h := hit{position: position}
			for i, name := range []string{"a", "b", "c"} {
				if random.IntN(3*i+1) == 0 {
					h.names = append(h.names, name)
				}
			}
			hits = append(hits, h)
			g.Count(h.position, h.names)
			want := above(share, hits, h.position)
			if got := g.Above(); !slices.Equal(got, want) {
				t.Fatalf("share %v, article %d at %d: %v are above, want %v", share, len(hits), h.position,
					got, want)
			}
			seen += len(want)
			position++
			if random.IntN(5) == 0 {
				g = label.NewGuard(share, position, g.Flood(position))
			}
		}
		if seen == 0 != (share >= 0.5) {
			t.Errorf("share %v: %d labels were above", share, seen)
		}
	}
}

// A label that hits all articles is above its share from the first article that is one too many
// until a whole bucket had fewer. What an earlier version had suspended counts from nothing.
func TestGuardTells(t *testing.T) {
	g := label.NewGuard(0.9, 0, map[string]label.FloodCount{"spam": {Suspended: true}})
	var changes []uint64
	was := false
	for position := range uint64(3000) {
		var names []string
		if position < 950 {
			names = []string{"spam"}
		}
		g.Count(position, names)
		if is := len(g.Above()) > 0; is != was {
			changes, was = append(changes, position), is
		}
	}
	if !slices.Equal(changes, []uint64{900, 2000}) {
		t.Errorf("it changes at %v", changes)
	}
	if flood := g.Flood(3000); flood != nil {
		t.Errorf("it goes on from %+v, want nothing", flood)
	}
}

// Any text is refused, or the set that it says, in the one way to write it.
func FuzzSet(f *testing.F) {
	set, _ := label.Set("").With(record(article.AddLabel, "<spam>", true, 3).Label)
	for _, seed := range []string{"", "[]", string(set), `[{"label":"a"}]`, "null"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := label.Set(text)
		if s.Check() != nil {
			return
		}
		if label.Of(s.All()) != s || len(s.All()) > article.MaxLabels {
			t.Errorf("%q is read as %+v", text, s.All())
		}
	})
}
