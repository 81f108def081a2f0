// Package clustertest has clusters and fingerprinted articles for the tests of what reads and
// writes them.
package clustertest

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/message/label"
	"github.com/clusterd/clusterd/internal/message/signals"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
)

// Full returns a cluster of topic articles in which no field is zero: what loses a field on the way
// gives another cluster.
func Full() cluster.Cluster {
	return cluster.Cluster{
		Centre: singlepass.Centre{
			Fingerprint: singlepass.Fingerprint{
				Hash: 0x0123456789abcdef, Sketch: "\x00sketch\xff",
				Contacts: singlepass.NewContacts([]string{"name:alexis17", "site:shop.example"}),
				Space:    "zh",
			},
			Seq: 7,
		},
		Founder: article.Address{Topic: "articles", Partition: 3, Offset: 17}, Size: 9,
		FirstSeen: 1777636800000, LastSeen: 1777640400000, Position: 41,
		Representative: article.Representative{ID: "articles/3/17", Title: "新华社", Excerpt: "本报讯"},
		Signals:        someSignals(),
		Labels:         label.Of([]article.Label{Label("spam", 0), Label("<on trial>", 1)}),
		Exceptions:     someExceptions(),
		Kept:           86400000,
		Story:          "articles/1/5", StorySimilarity: 312_345,
	}
}

// someExceptions are those of two articles.
func someExceptions() label.Exceptions {
	return label.ExceptionsOf([]article.Exception{{
		Source: "articles/3/19", ArticleID: "<a>", MemberPosition: 40, Fingerprint: 0xf123456789abcdef,
		Labels: []article.Label{Label("ham", 2)},
	}, {
		Source: "articles/3/18", ArticleID: "b", Fingerprint: 3,
		Labels: []article.Label{Label("ham", 4), Label("spam", 3)},
	}})
}

// someSignals are those of three articles by two publishers, the last of which came at the end of
// what [Full] has seen.
func someSignals() (s signals.State) {
	rule := signals.NewRule(time.Hour)
	s = rule.Add(s, 1777640000000, 1777640000000, "xinhua")
	s = rule.Add(s, 1777640400000, 1777636800000, "reuters")
	return rule.Add(s, 1777640400000, 1777640400000, "xinhua")
}

// Label returns a label by a record at this offset of topic labels, which is on trial where that is
// odd.
func Label(name string, offset int64) article.Label {
	return article.Label{
		Name: name, By: "alice", At: time.UnixMilli(1777640400123).UTC(), Note: "\n<ok> & ok\u2028",
		Trial:  offset%2 == 1,
		Record: article.Address{Topic: "labels", Offset: offset}.String(), Position: 30,
	}
}

func manyLabels(n int) label.Set {
	labels := make([]article.Label, n)
	for i := range labels {
		labels[i] = Label(fmt.Sprint("label ", i), int64(i))
		labels[i].By, labels[i].Note = strings.Repeat("b", 64), strings.Repeat("\x01", 256)
	}
	return label.Of(labels)
}

// Extremes returns clusters at the limits of what is possible.
func Extremes() []cluster.Cluster {
	maxTitle := article.MaxTitleBytes + len("…")
	return []cluster.Cluster{
		{Founder: article.Address{Topic: "articles"}, Size: 1},
		{
			Founder: article.Address{Topic: "articles"}, Size: 1, Labels: manyLabels(article.MaxLabels),
			Kept: cluster.MaxTime,
		},
		Full(),
		{
			Centre:  singlepass.Centre{Fingerprint: singlepass.Fingerprint{Hash: math.MaxUint64}, Seq: 1},
			Founder: article.Address{Topic: "articles", Partition: math.MaxInt32, Offset: cluster.MaxOffset},
			Size:    cluster.MaxPosition, LastSeen: cluster.MaxTime, Position: cluster.MaxPosition,
			Representative: article.Representative{
				ID: strings.Repeat("i", article.MaxIDBytes), Title: strings.Repeat("t", maxTitle),
				Excerpt: strings.Repeat("😀", article.MaxExcerpt),
			},
			Signals: manySignals(signals.MaxPublishers, cluster.MaxTime),
		},
		{
			Founder: article.Address{Topic: "articles"}, Size: 65, LastSeen: 9, Position: 64,
			Signals: manySignals(signals.MaxPublishers+1, 9),
		},
	}
}

// placesThatCannotBe are changes to the space and the story of a cluster.
var placesThatCannotBe = map[string]func(*cluster.Cluster){
	"too long a space": func(c *cluster.Cluster) {
		c.Space = strings.Repeat("s", 257)
	},
	"a space that is not UTF-8":      func(c *cluster.Cluster) { c.Space = "\xff" },
	"a story of another topic":       func(c *cluster.Cluster) { c.Story = "others/0/1" },
	"a story that is no address":     func(c *cluster.Cluster) { c.Story = "articles/1/05" },
	"similar to no story":            func(c *cluster.Cluster) { c.Story = "" },
	"more similar than what is same": func(c *cluster.Cluster) { c.StorySimilarity = 1_000_001 },
}

// Impossible returns, by what is wrong with them, clusters that nothing can have made.
func Impossible() map[string]cluster.Cluster {
	all := make(map[string]cluster.Cluster)
	spoil := maps.Clone(labelsThatCannotBe)
	maps.Copy(spoil, placesThatCannotBe)
	maps.Copy(spoil, map[string]func(*cluster.Cluster){
		"no members":                         func(c *cluster.Cluster) { c.Size = 0 },
		"fewer than no members":              func(c *cluster.Cluster) { c.Size = -1 },
		"the most members that an int holds": func(c *cluster.Cluster) { c.Size = math.MaxInt },
		"more members than positions":        func(c *cluster.Cluster) { c.Size = 36 },
		"contacts out of order":              func(c *cluster.Cluster) { c.Contacts = "b\na\n" },
		"a contact with a space":             func(c *cluster.Cluster) { c.Contacts = "a b\n" },
		"an empty contact":                   func(c *cluster.Cluster) { c.Contacts = "\na\n" },
		"too many contacts":                  manyContacts,
		"too long a contact":                 longContact,
		"one member, and another last":       func(c *cluster.Cluster) { c.Size = 1 },
		"many members at one position":       func(c *cluster.Cluster) { c.Position = c.Seq },
		"last before first":                  func(c *cluster.Cluster) { c.Position = c.Seq - 1 },
		"seq at the end":                     func(c *cluster.Cluster) { c.Seq = math.MaxUint64 },
		"position at the end":                func(c *cluster.Cluster) { c.Position = math.MaxUint64 },
		"position one before": func(c *cluster.Cluster) {
			c.Position = math.MaxUint64 - 1
		},
		"position beyond JSON": func(c *cluster.Cluster) {
			c.Position = cluster.MaxPosition + 1
		},
		"before 1970":            func(c *cluster.Cluster) { c.FirstSeen = -1 },
		"the beginning of time":  func(c *cluster.Cluster) { c.FirstSeen = math.MinInt64 },
		"seen last before first": func(c *cluster.Cluster) { c.LastSeen = c.FirstSeen - 1 },
		"the year 10000": func(c *cluster.Cluster) {
			c.LastSeen = cluster.MaxTime + 1
		},
		"the end of time": func(c *cluster.Cluster) { c.LastSeen = math.MaxInt64 },
		"a founder at the last offset": func(c *cluster.Cluster) {
			c.Founder.Offset = math.MaxInt64
		},
		"a founder before the first": func(c *cluster.Cluster) { c.Founder.Offset = -1 },
		"a founder in no partition":  func(c *cluster.Cluster) { c.Founder.Partition = -1 },
		"a founder of no topic":      func(c *cluster.Cluster) { c.Founder.Topic = "" },
		"a long id": func(c *cluster.Cluster) {
			c.Representative.ID = strings.Repeat("i", article.MaxIDBytes+1)
		},
		"a long title": func(c *cluster.Cluster) {
			c.Representative.Title = strings.Repeat("t", article.MaxTitleBytes+len("…")+1)
		},
		"a long excerpt": func(c *cluster.Cluster) {
			c.Representative.Excerpt = strings.Repeat("e", article.MaxExcerpt*4+1)
		},
		"signals that are none": func(c *cluster.Cluster) { c.Signals = "x" },
		"more publishers than members": func(c *cluster.Cluster) {
			c.Signals = manySignals(10, 0)
		},
	})
	for name, change := range spoil {
		c := Full()
		change(&c)
		all[name] = c
	}
	return all
}

// manySignals are those of one article each of n publishers, all at one time.
func manySignals(n int, at int64) (s signals.State) {
	for i := range n {
		s = signals.NewRule(time.Minute).Add(s, at, at, fmt.Sprint("publisher ", i))
	}
	return s
}

// labelsThatCannotBe are, by what is wrong with them, changes to labels that no label records make.
var labelsThatCannotBe = map[string]func(*cluster.Cluster){
	"exceptions that are no JSON":       func(c *cluster.Cluster) { c.Exceptions = "{" },
	"exceptions that are an empty list": func(c *cluster.Cluster) { c.Exceptions = "[]" },
	"exceptions out of order": func(c *cluster.Cluster) {
		all := c.Exceptions.All()
		slices.Reverse(all)
		c.Exceptions = label.Exceptions(article.AppendExceptions(nil, all))
	},
	"an exception without labels": func(c *cluster.Cluster) {
		c.Exceptions = label.ExceptionsOf([]article.Exception{{Source: "a/0/1", ArticleID: "a"}})
	},
	"an exception of no article": func(c *cluster.Cluster) {
		c.Exceptions = label.ExceptionsOf([]article.Exception{{
			Source: "a/0/1", Labels: []article.Label{Label("ham", 0)},
		}})
	},
	"labels that are no JSON":       func(c *cluster.Cluster) { c.Labels = "[" },
	"labels that are an empty list": func(c *cluster.Cluster) { c.Labels = "[]" },
	"labels with a blank":           func(c *cluster.Cluster) { c.Labels = " " + c.Labels },
	"too many labels": func(c *cluster.Cluster) {
		c.Labels = manyLabels(article.MaxLabels + 1)
	},
	"a label without a name": func(c *cluster.Cluster) {
		c.Labels = label.Of([]article.Label{Label("", 0)})
	},
	"a label with a comma": func(c *cluster.Cluster) {
		c.Labels = label.Of([]article.Label{Label("a,b", 0)})
	},
	"a label twice": func(c *cluster.Cluster) {
		c.Labels = label.Of([]article.Label{Label("a", 0), Label("a", 2)})
	},
	"kept without labels":        func(c *cluster.Cluster) { c.Labels, c.Exceptions = "", "" },
	"kept for less than no time": func(c *cluster.Cluster) { c.Kept = -1 },
	"kept for ever":              func(c *cluster.Cluster) { c.Kept = math.MaxInt64 },
}

func manyContacts(c *cluster.Cluster) {
	c.Contacts = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn\no\np\nq\n"
}

func longContact(c *cluster.Cluster) {
	c.Contacts = singlepass.Contacts(strings.Repeat("a", 97) + "\n")
}

// Each returns the articles in order, as a space is given them.
func Each(articles []fingerprint.Article) iter.Seq[*fingerprint.Article] {
	return func(yield func(*fingerprint.Article) bool) {
		for i := range articles {
			if !yield(&articles[i]) {
				return
			}
		}
	}
}

// Article returns the article at an offset of topic articles, in one of three partitions.
func Article(offset int64, hash uint64, published time.Time) fingerprint.Article {
	id := fmt.Sprintf("a%d", offset)
	return fingerprint.Article{
		Source:      article.Address{Topic: "articles", Partition: int(offset % 3), Offset: offset},
		PublishedAt: published, Comparable: true,
		Representative: article.Representative{ID: id, Title: "title of " + id},
		Fingerprint:    singlepass.Fingerprint{Hash: hash},
	}
}
