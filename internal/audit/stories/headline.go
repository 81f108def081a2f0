package stories

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/clusterd/clusterd/internal/audit/model"
	"github.com/clusterd/clusterd/internal/audit/wire"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/story"
	"github.com/clusterd/clusterd/internal/text"
)

// Facts are what the founder of a cluster gives to its story beside its words.
type facts struct {
	Article, Title, Publisher string
	Terms                     string // joined by line breaks
}

// String returns JSON.
func (f *facts) String() string {
	b, _ := json.Marshal(f) // strings always can be
	return string(b)
}

func (s *Stories) factsOf(a *article.Article, terms string) *facts {
	r := wire.NewRepresentative(a.ID, a.Title)
	f := facts{Article: r.ID, Title: r.Title, Publisher: wire.NewPublisher(a.Source), Terms: terms}
	if strings.TrimSpace(f.Title) == "" {
		f.Title = ""
		if s.excerpt > 0 {
			f.Title = text.Excerpt(a.Content, s.excerpt)
		}
	}
	return &f
}

// facts returns those of a founder.
func (s *Stories) facts(f *founder) (made facts, err error) {
	wire, err := s.blobs.Get(f.text)
	if err == nil {
		err = json.Unmarshal([]byte(wire), &made)
	}
	return made, err
}

// loadRanks reads stories.ranks: a publisher a line, the best first.
func loadRanks(file string) (map[string]int64, error) {
	ranks := make(map[string]int64)
	if file == "" {
		return ranks, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("stories.ranks: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		name := fold(lines.Text())
		if _, known := ranks[name]; !known && name != "" && name[0] != '#' {
			ranks[name] = int64(len(ranks))
		}
	}
	return ranks, lines.Err()
}

func fold(publisher string) string { return strings.ToLower(strings.TrimSpace(publisher)) }

func (s *Stories) rank(publisher string) int64 {
	if rank, ok := s.ranks[fold(publisher)]; ok {
		return rank
	}
	return wire.Unranked
}

// headline returns what the founder of a cluster makes of its story's, at a similarity in
// millionths.
func (s *Stories) headline(made *facts, cluster string, at, similarity int64) wire.Headline {
	return wire.Headline{
		Cluster: cluster, Article: made.Article, Title: made.Title, Publisher: made.Publisher,
		Rank: s.rank(made.Publisher), At: at, Similarity: similarity,
	}
}

// maxTerms is how many terms a story has at most, and identical the similarity of what is the same.
const (
	maxTerms  = 8
	identical = 1_000_000
)

// name gives a story the heaviest of the terms that it has and others.
func (r *replay) name(id string, terms ...string) {
	if now, ok := r.rule.Of(id); ok {
		s := r.sum(id)
		s.terms = heaviest(now.Terms, s.terms, terms...)
	}
}

// heaviest returns those of some terms, joined by line breaks, that weigh most.
func heaviest(by model.Terms, terms string, more ...string) string {
	var all []string
	for _, t := range append([]string{terms}, more...) {
		if t != "" {
			all = append(all, strings.Split(t, "\n")...)
		}
	}
	return strings.Join(story.Top(story.Vector(by.Wire()), all, maxTerms), "\n")
}
