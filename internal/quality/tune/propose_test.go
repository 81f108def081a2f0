package tune

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/config"
)

// at returns the best point of a method, with this worth in all and in each half, at a low cost.
func at(method, value string, worth float64) Point {
	return Point{
		Method: method, Key: "cluster.similarity", Value: value, Best: true, Worth: worth,
		PerSecond: fastEnough, CentreBytes: smallEnough, halves: [2]float64{worth, worth},
	}
}

func (p Point) right(precision float64) Point { p.Precision = precision; return p }
func (p Point) asSet() Point                  { p.AsSet = true; return p }
func (p Point) notBest() Point                { p.Best = false; return p }
func (p Point) of(bytes, rate float64) Point  { p.CentreBytes, p.PerSecond = bytes, rate; return p }
func (p Point) in(halves ...float64) Point    { p.halves = [2]float64(halves); return p }
func (p Point) hits(n float64) Point          { p.Hits, p.TooManyHits = n, true; return p }

func TestPropose(t *testing.T) {
	const now = "minhash"
	for name, tt := range map[string]struct {
		points   []Point
		proposed string
		why      string
	}{
		"what is best": {
			[]Point{at(now, ".7", .5).asSet(), at("shingle", ".8", .9), at("pinyin", ".6", .6)},
			"shingle .8", "ahead of what is configured by 0.400",
		},
		"another threshold": {
			[]Point{at(now, ".7", .5).asSet().notBest(), at(now, ".6", .9)}, "minhash .6", "by 0.400",
		},
		"as configured": {
			[]Point{at(now, ".7", .9).asSet(), at("shingle", ".8", .8)}, "", "none of the others",
		},
		"ten times the memory, worth less": {
			[]Point{at(now, ".7", .9).asSet(), at("shingle", ".8", .945).of(10*smallEnough, fastEnough)},
			"", "none of the others",
		},
		"ten times the memory, worth it": {
			[]Point{at(now, ".7", .89).asSet(), at("shingle", ".8", 1).of(10*smallEnough, fastEnough)},
			"shingle .8", "by 0.060",
		},
		"a tenth of the rate, worth less": {
			[]Point{at(now, ".7", .9).asSet(), at("shingle", ".8", .945).of(smallEnough, fastEnough/10)},
			"", "none of the others",
		},
		"smaller and faster than needed": {
			[]Point{at(now, ".7", .9).asSet(), at("exact", "1", .9).of(1, 100*fastEnough)},
			"", "as it is",
		},
		"as good for less": {
			[]Point{at(now, ".7", .9).asSet().of(1000*smallEnough, fastEnough), at("pinyin", ".8", .89)},
			"pinyin .8", "by 0.140",
		},
		"of those about as good the cheapest": {
			[]Point{
				at(now, ".7", .5).asSet(), at("shingle", ".8", .96).of(10*smallEnough, fastEnough),
				at("pinyin", ".6", .9),
			}, "pinyin .6", "by 0.400",
		},
		"more, and much of it wrong": {
			[]Point{at(now, ".7", .1).asSet().notBest().right(.95), at(now, ".4", .8).right(.89)},
			"", "of the pairs that it finds 0.89 are right, fewer than 0.9",
		},
		"more, and no more of it wrong": {
			[]Point{at(now, ".7", .1).asSet().notBest().right(.5), at(now, ".6", .8).right(.5)},
			"minhash .6", "by 0.700",
		},
		"ahead by chance": {
			[]Point{at(now, ".7", .9).asSet().notBest(), at(now, ".8", .919)},
			"",
			"minhash at cluster.similarity: .8 is ahead by 0.019, and should be by 0.02",
		},
		"another method ahead by chance": {
			[]Point{at(now, ".7", .9).asSet(), at("shingle", ".8", .949)},
			"",
			"shingle at cluster.similarity: .8 is ahead by 0.049, and should be by 0.05",
		},
		"another threshold, where another method is ahead by too little": {
			[]Point{
				at(now, ".7", .87).asSet().notBest().of(10*smallEnough, fastEnough),
				at(now, ".6", .9).of(10*smallEnough, fastEnough), at("pinyin", ".6", .84),
			}, "minhash .6", "by 0.030",
		},
		"ahead in one half": {
			[]Point{at(now, ".7", .5).asSet().in(.5, .5), at("shingle", ".8", .9).in(1, .5)},
			"", "not in each half",
		},
		"of those that hit few": {
			[]Point{
				at(now, ".7", .5).asSet(), at("shingle", ".8", .9).hits(2), at("pinyin", ".6", .6),
			}, "pinyin .6", "by 0.100",
		},
		"configured hits too many": {
			[]Point{at(now, ".7", .5).asSet().hits(2).notBest(), at(now, ".9", .3)},
			"minhash .9", "hits 2.00 of a thousand honest articles, more than 1.5",
		},
		"all hit too many": {
			[]Point{at(now, ".7", .5).asSet().hits(3), at("shingle", ".8", .9).hits(2)},
			"", "every method hits more than 1.5 of a thousand",
		},
	} {
		r := Report{Points: tt.points, MaxHits: 1.5}
		c := config.Default()
		c.Fingerprint.Method = now
		r.propose(c)
		proposed := ""
		if r.Proposed != nil {
			proposed = r.Proposed.Method + " " + r.Proposed.Value
		}
		if proposed != tt.proposed || !strings.Contains(r.Why, tt.why) ||
			(r.Config == "") != (tt.proposed == "") ||
			strings.HasPrefix(r.Why, "Keep the configuration as it is: ") != (tt.proposed == "") {
			t.Errorf("%s: proposed %q: %s\n%s", name, proposed, r.Why, r.Config)
		}
	}
}

// The lines change what differs and nothing else, and are a configuration by themselves.
func TestLines(t *testing.T) {
	for _, tt := range []struct {
		configured string
		p          Point
		want       string
	}{
		{
			"minhash", at("minhash", "0.6", 1),
			"fingerprint:\n  method: minhash\ncluster:\n  similarity: 0.6\n",
		},
		{"minhash", at("shingle", "0.95", 1).asSet(), "fingerprint:\n  method: shingle\n"},
		{
			"simhash", at("minhash", "0.6", 1),
			"fingerprint:\n  method: minhash\ncluster:\n  similarity: 0.6\n",
		},
		{
			"minhash .7", at("exact", "1", 1).asSet(),
			"fingerprint:\n  method: exact\ncluster:\n  similarity: auto\n",
		},
		{"minhash", at("exact", "1", 1).asSet(), "fingerprint:\n  method: exact\n"},
		{
			"minhash .7",
			Point{Method: "simhash", Key: "cluster.distance", Value: "5"},
			"fingerprint:\n  method: simhash\ncluster:\n  distance: 5\n  similarity: auto\n",
		},
	} {
		name, similarity, _ := strings.Cut(tt.configured, " ")
		if similarity == "" {
			similarity = "auto"
		}
		given := fmt.Sprintf("fingerprint: {method: %s}\ncluster: {similarity: %s}\n", name, similarity)
		got := lines(tt.p, parsed(t, given))
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.configured, got, tt.want)
		}
		parsed(t, got)
	}
}
