package clustertest

import (
	"encoding/binary"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/message/signals"
	"github.com/clusterd/clusterd/internal/story"
)

// FullStory returns a story of topic articles in which no field is zero, but what only one has that
// became part of another: for these there is [MergedStory].
func FullStory() cluster.Story {
	return cluster.Story{
		Story: story.Story{
			Address: "articles/3/17", Seq: 7, FirstSeen: 1777636800000, LastSeen: 1777640400000,
			Clusters: 4, Vector: someVector(3),
		},
		Position: 41, Articles: 9, Signals: someSignals(),
		Headline: cluster.Headline{
			Cluster: "articles/0/19", ArticleID: "articles/0/19", Title: "新华社 <on> bridges",
			Publisher: "xinhua", Rank: 3, At: 1777638000000, Similarity: 312_345,
		},
		Terms: "bridge\n大桥", SplitFrom: "articles/1/2", SplitAt: 12, LeftFrom: "articles/2/3",
		LeftMerged: 20, LeftAt: 31,
	}
}

// MergedStory returns [FullStory] as it is once somebody has made it part of another.
func MergedStory() cluster.Story {
	s := FullStory()
	s.Vector, s.Into, s.MergedAt, s.Clusters = "", "articles/2/4", 40, 0
	s.Apart, s.Own, s.OwnSignals, s.OwnTerms = true, someVector(2), someSignals(), "bridge"
	s.OwnHeadline = s.Headline
	s.OwnHeadline.Title = "Of its own"
	return s
}

// ofBefore returns a story without the fields by which stories are taken apart.
func ofBefore(s cluster.Story) cluster.Story {
	s.Apart, s.Own, s.OwnSignals, s.OwnTerms = false, "", "", ""
	s.OwnHeadline, s.LeftFrom, s.LeftMerged, s.LeftAt = cluster.Headline{}, "", 0, 0
	return s
}

// someVector returns a vector of n terms.
func someVector(n byte) (v story.Vector) {
	for i := range n {
		v += story.Vector([]byte{0, 1, 2, i, 1, i})
	}
	return v
}

// LargeStory returns story i of many, with as many terms as a story keeps and the texts of a usual
// one.
func LargeStory(i int) cluster.Story {
	const terms = 48
	random := rand.New(rand.NewPCG(uint64(i), 48))
	hashes := make([]uint32, terms)
	for t := range hashes {
		hashes[t] = random.Uint32()
	}
	slices.Sort(hashes)
	var vector []byte
	for _, hash := range hashes {
		vector = binary.BigEndian.AppendUint32(vector, hash)
		vector = binary.BigEndian.AppendUint16(vector, uint16(1+random.IntN(1<<12)))
	}
	s := ofBefore(FullStory())
	id := article.Address{Topic: "articles", Offset: int64(i)}.String()
	s.Address, s.Seq, s.Position, s.Vector = id, uint64(i), uint64(i)+40, story.Vector(vector)
	s.SplitFrom, s.SplitAt = "", 0
	s.Headline.Cluster, s.Headline.ArticleID = id, id
	s.Headline.Title = "Mayor visits the harbour bridge that collapsed in the storm"
	s.Terms = "harbour\nbridge\nstorm\nmayor\nengineers\npillars\ncollapsed\neastholm"
	return s
}

// ExtremeStories returns stories at the limits of what is possible.
func ExtremeStories() []cluster.Story {
	return append(StoriesOfBefore(), FullStory(), MergedStory())
}

// StoriesOfBefore returns stories at the limits that there were before stories could be taken
// apart.
func StoriesOfBefore() []cluster.Story {
	largest := article.Address{
		Topic: "articles", Partition: math.MaxInt32, Offset: cluster.MaxOffset,
	}.String()
	first := cluster.Story{
		Story: story.Story{Address: "articles/0/0", Clusters: 1}, Articles: 1,
		Headline: cluster.Headline{Cluster: "articles/0/0"},
	}
	return []cluster.Story{
		first, ofBefore(FullStory()), ofBefore(MergedStory()),
		{
			Story: story.Story{
				Address: largest, Seq: cluster.MaxPosition, FirstSeen: cluster.MaxTime,
				LastSeen: cluster.MaxTime, Clusters: math.MaxUint32, Vector: someVector(255),
			},
			Position: cluster.MaxPosition, Articles: cluster.MaxPosition,
			Signals: manySignals(signals.MaxPublishers+1, cluster.MaxTime),
			Headline: cluster.Headline{
				Cluster: largest, ArticleID: strings.Repeat("i", article.MaxIDBytes),
				Title:     strings.Repeat("t", article.MaxTitleBytes+len("…")),
				Publisher: strings.Repeat("p", article.MaxPublisherBytes+len("…")),
				Rank:      cluster.Unranked, At: cluster.MaxTime, Similarity: article.MaxSimilarity,
			},
			Terms:     strings.Repeat("港\n", cluster.MaxTerms-1) + "港",
			SplitFrom: "articles/0/0", SplitAt: cluster.MaxPosition,
		},
	}
}

// ImpossibleStories returns, by what is wrong with them, stories that nothing can have made.
func ImpossibleStories() map[string]cluster.Story {
	all := make(map[string]cluster.Story)
	spoil := maps.Clone(storiesThatCannotBe)
	maps.Copy(spoil, headlinesThatCannotBe)
	for name, change := range spoil {
		s := FullStory()
		change(&s)
		all[name] = s
	}
	return all
}

// storiesThatCannotBe are, by what is wrong with them, changes to a story.
var storiesThatCannotBe = map[string]func(*cluster.Story){
	"no id":                  func(s *cluster.Story) { s.Address = "" },
	"an odd id":              func(s *cluster.Story) { s.Address = "articles/03/17" },
	"an id beyond offsets":   func(s *cluster.Story) { s.Address = "articles/0/9223372036854775807" },
	"no clusters":            func(s *cluster.Story) { s.Clusters = 0 },
	"fewer than no articles": func(s *cluster.Story) { s.Articles = -1 },
	"more articles than positions": func(s *cluster.Story) {
		s.Articles = int(s.Position) + 2
	},
	"last before first":      func(s *cluster.Story) { s.Position = s.Seq - 1 },
	"position beyond JSON":   func(s *cluster.Story) { s.Position = cluster.MaxPosition + 1 },
	"before 1970":            func(s *cluster.Story) { s.FirstSeen = -1 },
	"seen last before first": func(s *cluster.Story) { s.LastSeen = s.FirstSeen - 1 },
	"the year 10000":         func(s *cluster.Story) { s.LastSeen = cluster.MaxTime + 1 },
	"part of itself":         func(s *cluster.Story) { s.Into, s.Vector = s.Address, "" },
	"part of none of its topic": func(s *cluster.Story) {
		s.Into, s.Vector = "others/0/1", ""
	},
	"part of another, and a vector": func(s *cluster.Story) { s.Into = "articles/2/4" },
	"merged by hand into none":      func(s *cluster.Story) { s.MergedAt = 9 },
	"merged beyond positions": func(s *cluster.Story) {
		s.Into, s.Vector, s.MergedAt = "articles/2/4", "", cluster.MaxPosition+1
	},
	"split from nothing":       func(s *cluster.Story) { s.SplitFrom = "" },
	"split from itself":        func(s *cluster.Story) { s.SplitFrom = s.Address },
	"split nowhere":            func(s *cluster.Story) { s.SplitAt = 0 },
	"split beyond positions":   func(s *cluster.Story) { s.SplitAt = cluster.MaxPosition + 1 },
	"left nothing":             func(s *cluster.Story) { s.LeftFrom = "" },
	"left itself":              func(s *cluster.Story) { s.LeftFrom = s.Address },
	"left nowhere":             func(s *cluster.Story) { s.LeftAt = 0 },
	"left before it was there": func(s *cluster.Story) { s.LeftMerged = s.LeftAt + 1 },
	"left beyond positions":    func(s *cluster.Story) { s.LeftAt = cluster.MaxPosition + 1 },
	"apart, and nothing by itself": func(s *cluster.Story) {
		s.Apart = true
	},
	"a vector of its own, and not apart":   func(s *cluster.Story) { s.Own = s.Vector },
	"a headline of its own, and not apart": func(s *cluster.Story) { s.OwnHeadline = s.Headline },
	"signals of its own, and not apart":    func(s *cluster.Story) { s.OwnSignals = s.Signals },
	"terms of its own, and not apart":      func(s *cluster.Story) { s.OwnTerms = s.Terms },
	"an odd vector of its own": func(s *cluster.Story) {
		s.Apart, s.OwnHeadline, s.Own = true, s.Headline, "x"
	},
	"a vector that is none": func(s *cluster.Story) { s.Vector += "x" },
	"a vector out of order": func(s *cluster.Story) {
		s.Vector += someVector(1)
	},
	"too many terms": func(s *cluster.Story) {
		s.Terms = strings.Repeat("a\n", cluster.MaxTerms)
	},
	"terms that are long":  func(s *cluster.Story) { s.Terms = strings.Repeat("a", 5000) },
	"terms that are bytes": func(s *cluster.Story) { s.Terms = "\xff" },
	"signals that are none": func(s *cluster.Story) {
		s.Signals = "x"
	},
	"more publishers than positions": func(s *cluster.Story) {
		s.Seq, s.Position, s.SplitFrom, s.SplitAt, s.MergedAt = 0, 5, "", 0, 0
		s.Articles, s.Signals = 3, manySignals(10, time.Unix(0, 0).UnixMilli())
	},
}

// headlinesThatCannotBe are changes to its headline.
var headlinesThatCannotBe = map[string]func(*cluster.Story){
	"a headline of another topic": func(s *cluster.Story) { s.Headline.Cluster = "others/0/1" },
	"a headline before 1970":      func(s *cluster.Story) { s.Headline.At = -1 },
	"a headline of the year 10000": func(s *cluster.Story) {
		s.Headline.At = cluster.MaxTime + 1
	},
	"a headline more than the same": func(s *cluster.Story) {
		s.Headline.Similarity = article.MaxSimilarity + 1
	},
	"a headline of a long publisher": func(s *cluster.Story) {
		s.Headline.Publisher = strings.Repeat("p", article.MaxPublisherBytes+4)
	},
	"a long headline": func(s *cluster.Story) {
		s.Headline.Title = strings.Repeat("t", article.MaxTitleBytes+len("…")+1)
	},
	"a headline of a long id": func(s *cluster.Story) {
		s.Headline.ArticleID = strings.Repeat("i", article.MaxIDBytes+1)
	},
}
