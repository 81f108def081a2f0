package overlap

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/quality/eval"
)

const topic = "articles"

// An assigned is what the model knows of an article: the founder of its cluster on each side, empty
// where it is in none, and whether a side has said anything.
type assigned struct {
	said    [2]bool
	cluster [2]string
}

// modelMap says what became of each cluster, from a plain list of articles.
func modelMap(articles map[string]*assigned) map[string]Mapping {
	common := [2]map[string]map[string]int{{}, {}} // by cluster, by cluster of the other side
	for _, a := range articles {
		if a.cluster[0] == "" || a.cluster[1] == "" {
			continue
		}
		for s := range common {
			mine, theirs := a.cluster[s], a.cluster[1-s]
			if common[s][mine] == nil {
				common[s][mine] = map[string]int{}
			}
			common[s][mine][theirs]++
		}
	}
	model := make(map[string]Mapping)
	for s, name := range []string{"old", "new"} {
		for id, there := range common[s] {
			m := Mapping{ID: id, Side: name}
			shared := false // one of those has articles in common with others of this side
			for other, n := range there {
				m.To = append(m.To, Part{ID: other, Articles: n})
				m.Articles += n
				shared = shared || len(common[1-s][other]) > 1
			}
			slices.SortFunc(m.To, func(a, b Part) int {
				x, _ := article.ParseAddress(a.ID)
				y, _ := article.ParseAddress(b.ID)
				return cmp.Or(b.Articles-a.Articles, x.Partition-y.Partition, int(x.Offset-y.Offset))
			})
			switch several := len(m.To) > 1; {
			case several && shared:
				m.Kind = Moved
			case !several && !shared:
				m.Kind = Same
			case several == (name == "old"):
				m.Kind = Split
			default:
				m.Kind = Merged
			}
			model[name+":"+id] = m
		}
	}
	return model
}

func at(t *testing.T, text string) id {
	t.Helper()
	a, err := article.ParseAddress(text)
	if err != nil {
		t.Fatal(err)
	}
	if i := idOf(a); i.in(topic) != text {
		t.Fatalf("%s became %s", text, i.in(topic))
	}
	return idOf(a)
}

// A story is articles with clusters that two spaces give them, in an order in which results are
// read.
func story(random *rand.Rand) (articles map[string]*assigned, order []func(*testing.T, *joint)) {
	articles = make(map[string]*assigned)
	base := random.Int64N(1000)
	for n := range 1 + random.IntN(60) {
		source := fmt.Sprintf("%s/%d/%d", topic, n%3, base+int64(n/3))
		articles[source] = new(assigned)
		for s := range side(2) {
			if random.IntN(12) == 0 {
				continue // no result of this side
			}
			cluster := fmt.Sprintf("%s/%d/%d", topic, random.IntN(3), random.IntN(6))
			if random.IntN(10) == 0 {
				cluster = ""
			}
			order = append(order, func(t *testing.T, j *joint) {
				a := articles[source]
				a.said[s], a.cluster[s] = true, cluster
				r := result{source: at(t, source), cluster: alone}
				if cluster != "" {
					r.cluster = at(t, cluster)
				}
				j.add(s, &r)
				j.add(s, &r) // again, as after a switch that was repeated
			})
		}
	}
	random.Shuffle(len(order), func(i, k int) { order[i], order[k] = order[k], order[i] })
	return articles, order
}

// The map of ids is that of a plain model, at any moment, when each time only what is said to have
// changed is written.
func TestMapIsTheModel(t *testing.T) {
	kinds := make(map[Kind]int)
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 0))
		j, written := newJoint(), make(map[string]Mapping)
		articles, order := story(random)
		for _, say := range order {
			say(t, j)
			if random.IntN(5) > 0 {
				continue
			}
			writeChanged(j, written)
			if diff := gocmp.Diff(modelMap(articles), written); diff != "" {
				t.Fatalf("seed %d: %s", seed, diff)
			}
		}
		for _, m := range written {
			kinds[m.Kind]++
		}
	}
	if len(kinds) != 4 {
		t.Errorf("the stories had %v, want all four kinds", kinds)
	}
}

func writeChanged(j *joint, written map[string]Mapping) {
	for s := range j.changed {
		for cluster := range j.changed[s] {
			m := j.mapping(side(s), cluster, topic)
			written[m.Side+":"+m.ID] = m
		}
		clear(j.changed[s])
	}
}

// The measures are those of eval, with the old clusters as the truth.
func TestCompareIsEval(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		j := newJoint()
		articles, order := story(random)
		for _, say := range order {
			say(t, j)
		}
		var truth strings.Builder
		var docs []eval.Document
		var found eval.Clustering
		numbers := make(map[string]int)
		for _, source := range slices.Sorted(maps.Keys(articles)) {
			a := articles[source]
			if !a.said[old] || !a.said[fresh] {
				continue
			}
			fmt.Fprintf(&truth, "%s\t%s\n", source, cmp.Or(a.cluster[old], "alone "+source))
			docs = append(docs, eval.Document{ID: source})
			if a.cluster[fresh] == "" {
				found = append(found, eval.Unclustered)
				continue
			}
			if _, ok := numbers[a.cluster[fresh]]; !ok {
				numbers[a.cluster[fresh]] = len(numbers)
			}
			found = append(found, numbers[a.cluster[fresh]])
		}
		known, err := eval.ReadTruth(strings.NewReader(truth.String()), nil)
		if err != nil {
			t.Fatal(err)
		}
		want, got := known.Score(docs, found, nil), j.compare()
		near := func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }
		if got.Articles != int64(want.Documents) || got.New.Clusters != want.Clusters ||
			got.Old.Clusters != want.TrueClusters ||
			!near(got.BCubed.Precision, want.BCubed.Precision) ||
			!near(got.BCubed.Recall, want.BCubed.Recall) || !near(got.BCubed.F1, want.BCubed.F1) ||
			!near(got.Pairs.Precision, want.Pairs.Precision) ||
			!near(got.Pairs.Recall, want.Pairs.Recall) || !near(got.Pairs.F1, want.Pairs.F1) {
			t.Fatalf("seed %d: %+v\neval: %+v", seed, got, want)
		}
	}
}
