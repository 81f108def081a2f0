package lookup

import (
	"cmp"
	"time"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/message/label"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/space"
)

// asOf returns the moment that an answer about a space describes.
func (s *Service) asOf(name string, at space.AsOf) api.AsOf {
	out := api.AsOf{
		Space: name, Position: at.Position, State: "recovering", Role: s.options.Config.Role,
		Offsets: at.Offsets,
	}
	if s.options.State != nil {
		// It says nothing of a space that has just come or gone.
		out.State = cmp.Or(s.options.State(name), out.State)
	}
	if out.Offsets == nil {
		out.Offsets = map[int]int64{}
	}
	if at.Position > 0 && at.StreamTime >= 0 {
		moment := momentOf(at.StreamTime)
		out.StreamTime = &moment
	}
	return out
}

// momentOf returns the time of a number of Unix milliseconds.
func momentOf(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// present returns a list that JSON has as one, also where it is empty.
func present(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// hidden reports whether nothing that articles say is told.
func (s *Service) hidden() bool { return s.options.Config.Serve.Content == config.Hidden }

// cluster returns a cluster of a space as answers have it, at a stream time.
func (s *Service) cluster(c *cluster.Cluster, of string, streamTime int64) api.Cluster {
	carried := label.Carry(c.Labels.All(), c.Size, s.options.Config.Labels.Allow)
	out := api.Cluster{
		ClusterID: c.ID(), Size: c.Size, Labels: s.labels(c, of), Exceptions: exceptions(c),
		Carried:   present(carried.Labels),
		FirstSeen: momentOf(c.FirstSeen), LastSeen: momentOf(c.LastSeen),
		Representative: c.Representative, Fingerprint: article.Fingerprint(c.Fingerprint.Hash),
		StoryID: c.Story, StorySimilarity: c.StorySimilarity,
	}
	if s.hidden() {
		out.Representative = article.Representative{ID: c.Representative.ID}
	}
	if c.Signals != "" {
		out.Signals = &api.Signals{
			Publishers: article.NewPublishers(c.Signals.Publishers()),
			Recent:     c.Signals.RecentAt(streamTime),
		}
	}
	return out
}

// labels returns the labels of a cluster. A label by a contact also names the value and the
// partition to which the contact belongs, as a label on the contact must. If texts are hidden,
// the contact has no name, so it cannot be labelled.
func (s *Service) labels(c *cluster.Cluster, of string) []api.Label {
	out := labels(c.Labels.All())
	for i, l := range c.Labels.All() {
		out[i].Contact = s.nameOf(l.Contact)
		if l.Contact == "" || s.hidden() {
			continue
		}
		out[i].Partition = partitionOf(of)
		if s.byField() {
			out[i].Space = &c.Space
		}
	}
	return out
}

func labels(all []article.Label) []api.Label {
	out := []api.Label{}
	for _, l := range all {
		out = append(out, api.Label{
			Label: l.Name, By: l.By, At: l.At, Note: l.Note, Trial: l.Trial, Record: l.Record,
			Position: l.Position,
		})
	}
	return out
}

// exceptions returns the labels of single articles of a cluster.
func exceptions(c *cluster.Cluster) (all []api.Exception) {
	for _, e := range c.Exceptions.All() {
		all = append(all, api.Exception{
			ArticleID: e.ArticleID, Source: e.Source, MemberPosition: e.MemberPosition,
			Fingerprint: e.Fingerprint, Labels: labels(e.Labels),
		})
	}
	return all
}

// nameOf returns the name of a contact, or its kind alone if texts are hidden.
func (s *Service) nameOf(contact string) string {
	if s.hidden() {
		return api.HideContact(contact)
	}
	return contact
}

// labelledBy returns the contacts through which a cluster carries labels.
func (s *Service) labelledBy(all []article.LabelledBy) (out []article.LabelledBy) {
	for _, l := range all {
		l.Contact = s.nameOf(l.Contact)
		out = append(out, l)
	}
	return out
}

// story returns a story as answers have it.
func (s *Service) story(t *cluster.Story) api.Story {
	w := t.Wire()
	out := api.Story{
		StoryID: w.StoryID, Headline: w.Headline, Clusters: w.Clusters, Articles: w.Articles,
		Publishers: w.Publishers, Recent: w.Recent, FirstSeen: w.FirstSeen, LastSeen: w.LastSeen,
		Terms: present(w.Terms), SplitFrom: w.SplitFrom,
	}
	if s.hidden() {
		out.Headline.Title, out.Headline.Publisher, out.Terms = "", "", []string{}
	}
	return out
}
