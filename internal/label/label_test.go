package label_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/label"
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
type model map[string]article.Label

func (m model) apply(r *article.LabelRecord, position uint64) error {
	have, ok := m[r.Name]
	switch {
	case r.Action == article.RemoveLabel:
		delete(m, r.Name)
	case ok && have.Trial == r.Trial:
	case !ok && len(m) == 8:
		return label.ErrTooMany
	default:
		l := r.Label
		l.Position = position
		m[r.Name] = l
	}
	return nil
}

func (m model) carried(allow []string) (labels, trial []string) {
	wins := false
	for name, l := range m {
		wins = wins || !l.Trial && slices.Contains(allow, name)
	}
	for name, l := range m {
		switch {
		case l.Trial:
			trial = append(trial, name)
		case !wins || slices.Contains(allow, name):
			labels = append(labels, name)
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
			set, err = set.Apply(r, uint64(offset+100))
			if err != want.apply(r, uint64(offset+100)) || err != nil && set != before {
				t.Fatalf("%+v on %s: %s, %v", r, before, set, err)
			}
			if err != nil {
				full++
			}
			got := model{}
			for _, l := range set.All() {
				got[l.Name] = l
			}
			if !reflect.DeepEqual(got, want) || set.Check() != nil || label.Of(set.All()) != set {
				t.Fatalf("%s, want %+v; %v", set, want, set.Check())
			}
			labels, trial := want.carried(allow)
			if c := set.Carried(allow); !slices.Equal(c.Labels, labels) ||
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
		with, err := set.Apply(record(article.AddLabel, name, false, int64(i)), 7)
		if err != nil || with == before {
			t.Fatalf("%s: %s, %v", name, with, err)
		}
		without, err := with.Apply(record(article.RemoveLabel, name, true, 9), 8)
		if err != nil || without != before {
			t.Errorf("%s: %s after it was removed, and %s before it was added", name, without, before)
		}
		set = with
	}
	if set, err := set.Apply(record(article.RemoveLabel, "eggs", false, 9), 8); err != nil ||
		len(set.All()) != 3 {
		t.Errorf("removing one that is not there: %s, %v", set, err)
	}
}

// hit is an article that carries labels.
type hit struct {
	position uint64
	names    []string
}

// passed is the guard in the plain way: for each article it counts those before it again.
func passed(share float64, hits []hit, resumed map[int]string) (out [][]string) {
	suspended := make(map[string]bool)
	since := make(map[string]int) // the index of the first article that counts
	for i, h := range hits {
		if name := resumed[i]; name != "" {
			suspended[name], since[name] = false, i
		}
		var names []string
		for _, name := range h.names {
			if suspended[name] {
				continue
			}
			names = append(names, name)
			n := 0
			for _, before := range hits[since[name] : i+1] {
				if before.position/1000 == h.position/1000 && slices.Contains(before.names, name) {
					n++
				}
			}
			if float64(n) > share*1000 {
				suspended[name] = true
			}
		}
		out = append(out, names)
	}
	return out
}

// A guard is the plain one, wherever it is taken down and put up again.
func TestGuardIsTheModel(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	names := []string{"spam", "ham", "reviewed"}
	for round := range 8 {
		share := []float64{0.01, 0.05, 0.5, 1}[round%4]
		var hits []hit
		resumed := make(map[int]string)
		for position := uint64(random.IntN(3000)); len(hits) < 500; position++ {
			if random.IntN(10) == 0 {
				position += uint64(random.IntN(400))
			}
			h := hit{position: position}
			for i, name := range names {
				if random.IntN(3*i+1) == 0 {
					h.names = append(h.names, name)
				}
			}
			if random.IntN(50) == 0 {
				resumed[len(hits)] = names[random.IntN(3)]
			}
			hits = append(hits, h)
		}
		want, stopped := passed(share, hits, resumed), 0
		g := label.NewGuard(share, hits[0].position, nil)
		for i, h := range hits {
			if name := resumed[i]; name != "" {
				g.Resume(name)
			}
			if got := g.Pass(h.position, h.names); !slices.Equal(got, want[i]) {
				t.Fatalf("share %v, article %d at %d of %v: %v pass, want %v", share, i, h.position,
					h.names, got, want[i])
			}
			stopped += len(h.names) - len(want[i])
			if random.IntN(5) == 0 {
				g = label.NewGuard(share, h.position+1, g.Flood(h.position+1))
			}
		}
		if stopped == 0 != (share >= 0.5) {
			t.Errorf("share %v: %d labels were held back", share, stopped)
		}
	}
}

// A label that hits all articles is suspended behind the first that is one too many, until somebody
// resumes it.
func TestGuardSuspends(t *testing.T) {
	g := label.NewGuard(0.9, 0, nil)
	last := uint64(0)
	for position := range uint64(1500) {
		if g.Pass(position, []string{"spam"}) != nil {
			last = position
		}
	}
	if last != 900 || !slices.Equal(g.Suspended(), []string{"spam"}) {
		t.Errorf("the last article that has it is at %d, and %v are suspended", last, g.Suspended())
	}
	if g.Resume("ham") || !g.Resume("spam") || g.Pass(1500, []string{"spam"}) == nil {
		t.Error("it does not count again")
	}
	off := label.NewGuard(1, 0, nil)
	for position := range uint64(5000) {
		if off.Pass(position, []string{"spam"}) == nil {
			t.Fatal("a share of 1 suspends")
		}
	}
}

// Any text is refused, or the set that it says, in the one way to write it.
func FuzzSet(f *testing.F) {
	set, _ := label.Set("").Apply(record(article.AddLabel, "<spam>", true, 3), 4)
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
