package answers

import (
	"context"
	"strconv"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/serve/lookup"
)

// Stories implements [v1.Spaces].
func (s *Spaces) Stories(ctx context.Context, sort string, limit int) (api.Stories, error) {
	found, err := s.Lookup.Stories(ctx, lookup.Sort(sort), limit)
	if err != nil {
		return api.Stories{}, understood(err)
	}
	page := api.Stories{Stories: []api.Story{}, AsOf: []api.AsOf{}}
	for i := range found.Stories {
		page.Stories = append(page.Stories, s.story(&found.Stories[i]))
	}
	for i := range found.AsOf {
		page.AsOf = append(page.AsOf, asOf(&found.AsOf[i]))
	}
	return page, nil
}

// Story implements [v1.Spaces].
func (s *Spaces) Story(
	ctx context.Context, id, after string, limit int,
) (api.OneStory, error) {
	from := uint64(0)
	if after != "" {
		last, err := strconv.ParseUint(after, 10, 64)
		if err != nil {
			return api.OneStory{}, understood(&lookup.InvalidError{
				Field: "cursor", Reason: "it is none that this route has given",
			})
		}
		from = last + 1
	}
	var found lookup.ToldStory
	err := s.known(ctx, func() (err error) {
		found, err = s.Lookup.Story(ctx, id, from, limit)
		return err
	}, id)
	if err != nil {
		return api.OneStory{}, understood(err)
	}
	found.Signals = found.Signals.At(found.AsOf.StreamTime)
	out := api.OneStory{
		Story: s.story(&found.Story), Clusters: []api.Cluster{}, AsOf: asOf(&found.AsOf),
	}
	if found.Asked != found.Address {
		out.Merged = found.Asked
	}
	for i := range found.Clusters {
		out.Clusters = append(out.Clusters, s.cluster(&found.Clusters[i], &found.AsOf))
	}
	if found.More {
		out.Next = strconv.FormatUint(found.Clusters[len(found.Clusters)-1].Seq, 10)
	}
	return out, nil
}

// Part implements [v1.Spaces].
func (s *Spaces) Part(ctx context.Context, id, other string) (string, error) {
	var part string
	err := s.known(ctx, func() (err error) {
		part, err = s.Lookup.Part(ctx, id, other)
		return err
	}, id)
	return part, understood(err)
}

func (s *Spaces) story(t *cluster.Story) api.Story {
	w := t.Wire()
	out := api.Story{
		StoryID: w.StoryID, Headline: w.Headline, Clusters: w.Clusters, Articles: w.Articles,
		Publishers: w.Publishers, Recent: w.Recent, FirstSeen: w.FirstSeen, LastSeen: w.LastSeen,
		Terms: present(w.Terms), SplitFrom: w.SplitFrom,
	}
	if s.Hidden {
		out.Headline.Title, out.Headline.Publisher, out.Terms = "", "", []string{}
	}
	return out
}

// nearStory returns the story that a new cluster would join, nil for none.
func nearStory(a *lookup.Answer) *api.NearStory {
	if a.Story == "" {
		return nil
	}
	return &api.NearStory{StoryID: a.Story, Similarity: article.Similarity(a.StorySimilarity)}
}

// StoryWords implements [v1.Spaces].
func (s *Spaces) StoryWords(t api.FullText) (vector []byte, han bool, terms string, err error) {
	w, err := s.Lookup.StoryWords(t.Title, t.Content)
	return []byte(w.Vector), w.Han, w.Terms, understood(err)
}
