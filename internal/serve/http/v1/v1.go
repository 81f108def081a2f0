// Package v1 answers questions over HTTP, and takes articles and labels: all routes under /v1 but
// for logging in. Requests go in, and are read strictly; each becomes a call of one of the
// interfaces that are declared here, and its answer a message of package api, or problem details.
// Who may ask, and how much, is decided around it by package access, of which each route names
// what it needs.
package v1

import (
	"context"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/serve/http/events"
)

// Spaces answer from the spaces that this instance works on or follows. What they tell is
// committed.
type Spaces interface {
	// Check answers what would become of each text, in their order.
	Check(ctx context.Context, texts []api.Text, o api.CheckOptions) ([]api.Checked, error)
	// Compare answers how near two texts are.
	Compare(ctx context.Context, a, b api.Text) (api.Comparison, error)
	// Cluster returns a cluster, or [api.ErrUnknown].
	Cluster(ctx context.Context, id string) (api.Cluster, api.AsOf, error)
	// Clusters returns a page, and from where the next one goes on: empty after the last.
	Clusters(ctx context.Context, q api.ClusterQuery) (api.Clusters, error)
	// Labelled returns a page of the clusters that have labels, likewise.
	Labelled(ctx context.Context, after string, limit int) (api.Clusters, error)
	// Contacts returns a page of contacts.
	Contacts(ctx context.Context, q api.ContactQuery) (api.Contacts, error)
	// Contact returns a contact. With [api.ErrUnknown], of one that cannot get the label with this
	// name, it says at least to which partition the contact belongs.
	Contact(of api.ContactRef, name string) (api.Contact, error)
	// AppliedTo reports whether the space of a contact has read labels.topic beyond this record.
	AppliedTo(of api.ContactRef, record article.Address) bool
	// Stories returns the first ones by an order, at most so many.
	Stories(ctx context.Context, sort string, limit int) (api.Stories, error)
	// Story returns the story that the one with this id is part of by now, with a page of its
	// clusters, or [api.ErrUnknown]. Next is from where the next page goes on: empty after the last.
	Story(ctx context.Context, id, after string, limit int) (api.OneStory, error)
	// Part returns which of two stories somebody made part of the other, such that it can leave that:
	// [api.ErrUnknown] is of the first one, and an [api.InvalidError] says why neither can.
	Part(ctx context.Context, id, other string) (part string, err error)
	// StoryWords returns the words of a text as the rule of stories has them: its vector, whether most
	// are Chinese, and the first ones.
	StoryWords(t api.FullText) (vector []byte, han bool, terms string, err error)
	// Applied reports whether the space of a cluster has read labels.topic beyond this record.
	Applied(clusterID string, record article.Address) bool
	// AsOf says of which moment answers are now, for each space.
	AsOf() []api.AsOf
}

// Members are the articles of clusters, as their results say.
type Members interface {
	// Members returns those at this position and after it, in order, and whether there are more.
	Members(ctx context.Context, clusterID string, from uint64, limit int) (
		page []api.Member, more bool, view api.View, err error)
	// Article returns the latest article of an id, or [api.ErrUnknown]. Of an unclustered one the
	// cluster is empty.
	Article(ctx context.Context, id string) (m api.Member, clusterID string, v api.View, err error)
}

// Topics are where articles and labels are written to, and read again.
type Topics interface {
	// Article writes an article to the input topic, and returns its address and how to wait for its
	// result. The waiter must be closed.
	Article(ctx context.Context, a api.NewArticle) (article.Address, Waiter, error)
	// Labels writes records to labels.topic, and returns where each is.
	Labels(ctx context.Context, records []api.LabelRecord) ([]article.Address, error)
	// ChangeStory writes a record about stories to labels.topic, and returns where it is.
	ChangeStory(ctx context.Context, r api.StoryRecord) (article.Address, error)
	// Erase writes a record that erases an article or a contact to labels.topic, and returns where it
	// is.
	Erase(ctx context.Context, r api.EraseRecord) (article.Address, error)
	// Texts returns what the articles at these addresses said.
	Texts(ctx context.Context, of []article.Address) ([]Text, error)
}

// A Text is what an article said, or why that is not known any more.
type Text struct {
	api.FullText
	Gone string // such as "retention"; empty: it is there
}

// A Waiter waits for the result of one article.
type Waiter interface {
	// Result returns the result once it is committed, or the error of ctx.
	Result(ctx context.Context) (events.Event, error)
	Close()
}

// Options are what the interface answers from. None may be nil but those that say so.
type Options struct {
	Spaces  Spaces
	Members Members // nil: there is no view of members
	Topics  Topics
	Events  *events.Hub
	Labels  bool // whether there is a topic of labels
	Stats   func(ctx context.Context) api.Stats
}
