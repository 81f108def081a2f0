package eval

import (
	"math"
	"strings"
	"testing"
)

// What clusters and pairs files say of documents a to e, as which share a cluster.
func TestReadTruth(t *testing.T) {
	for _, test := range []struct {
		name            string
		clusters, pairs string // "" is no file
		want            string
	}{
		{"id first", "a\t1\nb\t1\nc\t2\nd\t2\n", "", "ab cd e"},
		{"name first", "1\ta\n1\tb\n2\tc\n2\td\n", "", "ab cd e"},
		{"heading", "id\tcluster\na\tid\nb\tid\n", "", "ab c d e"},
		{"further columns", "a\t1\tx\nb\t1\ty\n", "", "ab c d e"},
		{"the last line of an id counts", "a\t1\nb\t1\na\t2\nc\t2\n", "", "ac b d e"},
		{"unknown ids", "a\t1\nx\t1\ny\t1\nb\t2\n", "", "a b c d e"},
		{"pairs connect", "", "id1\tid2\tjaccard\na\tb\t0.8\nb\tc\t1\nd\te\t0.79\n", "abc d e"},
		{"pairs do not connect where there are clusters", "d\t1\ne\t1\n", "a\tb\t1\n", "a b c de"},
		{"a chain", "", "a\tb\t1\nd\te\t1\nc\td\t1\nb\tc\t1\n", "abcde"},
	} {
		t.Run(test.name, func(t *testing.T) {
			truth := read(t, test.clusters, test.pairs)
			docs := documents("a", "b", "c", "d", "e")
			b := truth.resolve(docs)
			seen := make(map[int]string)
			var order []int
			for m, g := range b.group {
				if seen[g] == "" {
					order = append(order, g)
				}
				seen[g] += docs[m].ID
			}
			var got []string
			for _, g := range order {
				got = append(got, seen[g])
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("got %s, want %s", strings.Join(got, " "), test.want)
			}
		})
	}
}

func read(t *testing.T, clusters, pairs string) *Truth {
	t.Helper()
	var truth *Truth
	var err error
	switch {
	case pairs == "":
		truth, err = ReadTruth(strings.NewReader(clusters), nil)
	case clusters == "":
		truth, err = ReadTruth(nil, strings.NewReader(pairs))
	default:
		truth, err = ReadTruth(strings.NewReader(clusters), strings.NewReader(pairs))
	}
	if err != nil {
		t.Fatal(err)
	}
	return truth
}

func TestReadTruthErrors(t *testing.T) {
	for _, test := range []struct{ clusters, pairs, want string }{
		{"a\t1\nb\n", "", "clusters: line 2 has 1 columns, not 2, divided by tabs"},
		{"", "a\tb\n", "pairs: line 1 has 2 columns, not 3, divided by tabs"},
		{strings.Repeat("x", 1<<17), "", "clusters: a line has more than 64 KiB"},
	} {
		_, err := ReadTruth(strings.NewReader(test.clusters), strings.NewReader(test.pairs))
		if err == nil || err.Error() != test.want {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
}

// Whatever the files hold, scores are shares.
func FuzzTruth(f *testing.F) {
	f.Fuzz(func(t *testing.T, clusters, pairs string, one, two int) {
		truth, err := ReadTruth(strings.NewReader(clusters), strings.NewReader(pairs))
		if err != nil {
			return
		}
		docs := documents("a", "b", "c", "a")
		c := Clustering{0, max(Missing, one%3), max(Missing, two%3), 0}
		s := truth.Score(docs, c, []float64{.5})
		for _, v := range []float64{
			s.BCubed.Precision, s.BCubed.Recall, s.BCubed.F1, s.Pairs.Precision, s.Pairs.Recall, s.Pairs.F1,
			s.HalfPrecision, s.WrongPerThousand / 1000, s.Levels[0].Recall(), s.NMI, (1 + s.ARI) / 2,
		} {
			if math.IsNaN(v) || v < 0 || v > 1+1e-9 {
				t.Fatalf("%+v", s)
			}
		}
	})
}
