// Package topics writes to topics what the HTTP interface takes, waits for the results, and reads
// articles again, as [v1.Topics] says. It uses package tail.
package topics

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/serve/http/events"
	v1 "github.com/clusterd/clusterd/internal/serve/http/v1"
	"github.com/clusterd/clusterd/internal/serve/tail"
)

// Topics implements [v1.Topics].
type Topics struct {
	Submit *Submitter
	Tail   *tail.Tail
	Reread *Reader
	Hidden bool // nothing that articles say is told
	// Told is called before somebody is told the result of an article of the input.
	Told func(articleID string, result, source article.Address)
}

// Article implements [v1.Topics].
func (t *Topics) Article(ctx context.Context, a api.NewArticle) (
	article.Address, v1.Waiter, error,
) {
	subscription, err := t.Tail.Subscribe(ctx) // before the result can be there
	if err != nil {
		return article.Address{}, nil, fmt.Errorf("nothing was written, since the results cannot be "+
			"followed: %w", err)
	}
	at, err := t.Submit.Articles(ctx, []Article{{
		Input: Input{
			ID: a.ID, Title: a.Title, Content: a.Content, Source: a.Source, PublishedAt: a.PublishedAt,
			Others: a.Others,
		},
		Partition: AnyPartition,
	}})
	if err != nil {
		subscription.Close()
		return article.Address{}, nil, err
	}
	id := a.ID
	if id == "" {
		id = at[0].String()
	}
	return at[0], &waiter{subscription, t, id, at[0]}, nil
}

// Labels implements [v1.Topics].
func (t *Topics) Labels(ctx context.Context, records []api.LabelRecord) ([]article.Address, error) {
	labels := make([]Label, len(records))
	for i, r := range records {
		value, err := json.Marshal(r)
		if err != nil {
			return nil, err
		}
		labels[i] = Label{ClusterID: r.ClusterID, Contact: r.Contact, Value: value}
	}
	return t.Submit.Labels(ctx, labels)
}

// ChangeStory implements [v1.Topics].
func (t *Topics) ChangeStory(ctx context.Context, r api.StoryRecord) (article.Address, error) {
	// Either id has the space in it.
	return t.record(ctx, Label{ClusterID: r.ClusterID + r.StoryID}, r)
}

// Erase implements [v1.Topics].
func (t *Topics) Erase(ctx context.Context, r api.EraseRecord) (article.Address, error) {
	return t.record(ctx, Label{ClusterID: r.ClusterID, Contact: r.Contact}, r)
}

// record writes a record to the topic of labels that is about a cluster or a contact.
func (t *Topics) record(ctx context.Context, one Label, r any) (article.Address, error) {
	var at article.Address
	var err error
	if one.Value, err = json.Marshal(r); err != nil {
		return at, err
	}
	all, err := t.Submit.Labels(ctx, []Label{one})
	if err != nil {
		return at, err
	}
	return all[0], nil
}

// Texts implements [v1.Topics].
func (t *Topics) Texts(ctx context.Context, of []article.Address) ([]v1.Text, error) {
	if t.Hidden {
		texts := make([]v1.Text, len(of))
		for i := range texts {
			texts[i].Gone = api.HiddenText
		}
		return texts, nil
	}
	found, err := t.Reread.Articles(ctx, of)
	if err != nil {
		return nil, err
	}
	texts := make([]v1.Text, len(found))
	for i, f := range found {
		texts[i] = v1.Text{
			FullText: api.FullText{Title: f.Article.Title, Content: f.Article.Content},
			Gone:     string(f.Gone),
		}
	}
	return texts, nil
}

// waiter waits for the result of an article.
type waiter struct {
	*tail.Subscription
	topics *Topics
	id     string
	of     article.Address
}

// Result implements [v1.Waiter].
func (w *waiter) Result(ctx context.Context) (events.Event, error) {
	e, err := w.Await(ctx, w.of)
	if err == nil {
		w.topics.Told(w.id, e.Address, w.of)
	}
	return event(&e, w.topics.Hidden), err
}

func event(e *tail.Event, hidden bool) events.Event {
	value := e.Value
	if hidden {
		value = hideEvent(e.Kind, value)
	}
	return events.Event{Kind: string(e.Kind), Source: e.Address, Value: value, Position: e.Position}
}

// Feed hands what comes at the ends of the topics to a hub while anybody listens there, until ctx
// ends. Hidden is that nothing that articles say is told.
func Feed(ctx context.Context, from *tail.Tail, to *events.Hub, hidden bool) {
	for ctx.Err() == nil {
		changed := to.Changed()
		if to.Active() {
			feed(ctx, from, to, hidden)
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// feed does so until nobody listens.
func feed(ctx context.Context, from *tail.Tail, to *events.Hub, hidden bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		for changed := to.Changed(); to.Active() && ctx.Err() == nil; changed = to.Changed() {
			select {
			case <-changed:
			case <-ctx.Done():
			}
		}
		cancel()
	}()
	subscription, err := from.Subscribe(ctx)
	if err != nil {
		return // nobody listens any more
	}
	defer subscription.Close()
	for {
		found, dropped, err := subscription.Next(ctx)
		if err != nil {
			return
		}
		if dropped > 0 {
			to.Lost(dropped)
		}
		all := make([]events.Event, len(found))
		for i := range found {
			all[i] = event(&found[i], hidden)
		}
		to.Publish(all...)
	}
}
