// Package stories holds the stories that results, clusters and two topics name to the rule, fed
// with the recorded order of articles and with the words of the input. What makes words of an
// article it shares with the daemon, as the audit shares the method; the rule is that of package
// model.
package stories

import (
	"fmt"
	"hash/maphash"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/audit/model"
	"github.com/clusterd/clusterd/internal/audit/report"
	"github.com/clusterd/clusterd/internal/audit/spill"
	"github.com/clusterd/clusterd/internal/audit/wire"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/story/words"
)

// Options say of which topics, and by which rule.
type Options struct {
	Input, Results, Clusters, Told, Labels string // topics
	Rule                                   model.StoryRule
	Check                                  *report.Check
	Seed                                   maphash.Seed
	Space                                  func(partition int32) int32 // of the input
	// IsQuiet says that nothing was committed while the audit found out where the topics end.
	IsQuiet bool
}

// Stories are what the topics say of stories.
type Stories struct {
	Options
	decoder  article.Decoder
	counter  *words.Counter
	excerpt  int // characters of a content
	ranks    map[string]int64
	dir      *spill.Dir
	spaces   map[int32]*spill.Table[row] // by space: results by position
	founders map[wire.Address]founder
	blobs    *spill.Blobs // vectors
	clusters map[wire.Address]named
	state    map[string]record
	told     map[string]record
	newest   map[string]record // the states; finish takes them out of state
	asked    map[wire.Address]asked
	deeds    map[int32][]deed // by space
	forGood  map[deed]bool    // merges of an earlier version, which cannot be undone
	ends     map[int32]int64  // positions from which on a space is not replayed
	since    map[int32]since  // by space
	Erased   bool             // the text of founders was erased: headlines and terms are others
}

// A row is what the result of a clustered article says.
type row struct {
	At, Source, Cluster, Story wire.Address
	Joined, Has                bool // it has a story
	Similarity                 uint32
	EventTime                  int64
	Publisher                  uint64 // digest; 0 for none
}

// A founder is an article that founded a cluster. Its words are known once the input is read.
type founder struct {
	words spill.Ref
	text  spill.Ref // of facts
	han   bool
	known bool
}

// named is the story that a cluster's record names.
type named struct {
	at         string
	story      string
	similarity uint32
	position   int64
}

// A record is the newest one of a story.
type record struct {
	wire.Story
	at   string
	gone bool
}

// New returns Stories of which nothing is known, of articles as the settings read them.
func New(o Options, c *config.Config, dir *spill.Dir) (*Stories, error) {
	in := c.Input
	decoder, err := article.NewDecoder(in.Format, article.Fields(in.Fields), in.MaxBytes, in.Encoding)
	if err != nil {
		return nil, err
	}
	newCounter, err := words.New(c.Text)
	if err != nil {
		return nil, err
	}
	ranks, err := loadRanks(c.Stories.Ranks)
	if err != nil {
		return nil, err
	}
	blobs, err := spill.NewBlobs(dir)
	return &Stories{
		Options: o, excerpt: c.Output.Excerpt, ranks: ranks, decoder: decoder,
		counter: newCounter(), dir: dir, blobs: blobs,
		spaces: make(map[int32]*spill.Table[row]), founders: make(map[wire.Address]founder),
		clusters: make(map[wire.Address]named), state: make(map[string]record),
		told: make(map[string]record), asked: make(map[wire.Address]asked),
		deeds: make(map[int32][]deed), forGood: make(map[deed]bool), since: make(map[int32]since),
	}, err
}

// Result takes the result of a clustered article of a space.
func (s *Stories) Result(
	space int32, r *wire.Result, a *wire.Assignment, place wire.Address,
) (err error) {
	table := s.spaces[space]
	if table == nil {
		if table, err = spill.NewTable[row](s.dir); err != nil {
			return err
		}
		s.spaces[space] = table
	}
	out := row{
		At: place, Source: r.Address(), Cluster: a.Cluster, Joined: r.Status == wire.StatusJoined,
		Has: r.StoryID != "", Similarity: r.StorySimilarity.Millionths(), EventTime: a.EventTime,
	}
	if r.Publisher != "" {
		out.Publisher = maphash.String(s.Seed, r.Publisher)
	}
	if out.Has {
		if out.Story, err = wire.ParseAddress(r.StoryID, s.Input); err != nil {
			s.Check.Violate(place.In(s.Results), "the id of a story", fmt.Sprintf("%.80q", r.StoryID))
			return nil
		}
	}
	if !out.Joined {
		s.founders[out.Source] = founder{}
	}
	_, err = table.Put(a.Position, out)
	return err
}

// Founder takes the words of a record of the input if it founded a cluster.
func (s *Stories) Founder(r *kgo.Record) error {
	source := wire.AddressOf(r)
	if _, ok := s.founders[source]; !ok {
		return nil
	}
	at := article.Address{Topic: r.Topic, Partition: int(r.Partition), Offset: r.Offset}
	made, rejection := s.decoder.Decode(r.Key, r.Value, at)
	if rejection != nil { // that is another promise
		return nil
	}
	said := s.counter.Count(made.Title, made.Content)
	ref, err := s.blobs.Put(string(said.Vector))
	if err != nil {
		return err
	}
	text, err := s.blobs.Put(s.factsOf(&made, said.Terms).String())
	s.founders[source] = founder{ref, text, said.Han, true}
	return err
}

// Cluster takes the record of a cluster.
func (s *Stories) Cluster(founder wire.Address, c *wire.Cluster, at string) {
	if known, ok := s.clusters[founder]; !ok || known.position <= c.Position {
		s.clusters[founder] = named{at, c.Story, c.StorySimilarity.Millionths(), c.Position}
	}
}

// State takes a record of the clusters topic that is the state of a story, or its tombstone.
func (s *Stories) State(r *kgo.Record, id string, partition int32) {
	at := wire.AddressOf(r).In(r.Topic)
	if _, err := wire.ParseAddress(id, s.Input); err != nil {
		s.Check.Violate(at, "a story's id in the key", err.Error())
		return
	}
	if r.Partition != partition {
		s.Check.Violate(at, fmt.Sprintf("partition %d, by its first cluster's", partition),
			fmt.Sprintf("partition %d", r.Partition))
	}
	if err := wire.CheckOwn(r, wire.OwnStory); err != nil {
		s.Check.Violate(at, "the form of a story", err.Error())
	}
	s.take(s.state, id, r, wire.ParseState)
}

// Tell takes a record of the topic of stories.
func (s *Stories) Tell(r *kgo.Record) error {
	s.take(s.told, string(r.Key), r, wire.ParseTold)
	return nil
}

func (s *Stories) take(
	all map[string]record, id string, r *kgo.Record, parse func(*kgo.Record) (wire.Story, error),
) {
	s.Check.Checked++
	at := wire.AddressOf(r).In(r.Topic)
	if r.Value == nil {
		all[id] = record{at: at, gone: true}
		return
	}
	story, err := parse(r)
	if err != nil {
		s.Check.Violate(at, "the form of a story", err.Error())
		return
	}
	if before := all[id]; !before.gone && before.Position > story.Position {
		s.Check.Violate(at, fmt.Sprintf("a state at position %d or later", before.Position),
			fmt.Sprintf("position %d", story.Position))
	}
	all[id] = record{Story: story, at: at}
	s.byHand(id, &story)
}
