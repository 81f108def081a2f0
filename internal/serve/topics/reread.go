package topics

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
)

// A Text is an article, or why it is gone: the article is empty then.
type Text struct {
	Article article.Article
	Gone    Gone
	Reason  string // for a person, where it is gone
}

// A Gone says why an article cannot be read any more; empty: it can.
type Gone = consumer.Gone

// Why articles are gone.
const (
	ByRetention  = consumer.ByRetention  // the topic's retention took it, or the topic was made anew
	ByCompaction = consumer.ByCompaction // the topic keeps newer records of the same key alone
	Unreadable   = consumer.Unreadable   // what is there is no article, by the settings of now
)

// MaxTexts is how many articles are read at once, at most.
const MaxTexts = 1000

// A Reader reads articles of a topic. It is safe for concurrent use.
type Reader struct {
	Client   *kafka.Client
	Log      *slog.Logger
	Topic    string
	Decoder  article.Decoder
	MaxBytes int // of a record's value: input.max_bytes
}

// Articles returns the articles at these addresses, in their order. It waits for brokers that are
// away until ctx ends.
func (r *Reader) Articles(ctx context.Context, addresses []article.Address) ([]Text, error) {
	if len(addresses) > MaxTexts {
		return nil, fmt.Errorf("%d articles: at most %d are read at once", len(addresses), MaxTexts)
	}
	var places []consumer.Place
	for _, a := range addresses {
		if a.Topic == r.Topic {
			places = append(places, consumer.Place{Partition: a.Partition, Offset: a.Offset})
		}
	}
	found, err := consumer.Lookup(ctx, r.Client, r.Log, r.Topic, places, r.MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("reading articles again: %w", err)
	}
	texts := make([]Text, len(addresses))
	for i, a := range addresses {
		if a.Topic != r.Topic {
			texts[i] = Text{
				Gone: Unreadable, Reason: fmt.Sprintf("it is of topic %s, and not of %s", a.Topic, r.Topic),
			}
			continue
		}
		texts[i] = r.text(a, found[consumer.Place{Partition: a.Partition, Offset: a.Offset}])
	}
	return texts, nil
}

func (r *Reader) text(at article.Address, f consumer.Found) Text {
	switch f.Gone {
	case "":
	case ByRetention:
		return Text{Gone: f.Gone, Reason: "the input topic does not keep records for so long"}
	case ByCompaction:
		return Text{Gone: f.Gone, Reason: "the input topic keeps newer records in its place"}
	default:
		return Text{Gone: f.Gone, Reason: "it is in a record batch that cannot be read"}
	}
	a, rejection := r.Decoder.Decode(f.Record.Key, f.Record.Value, at)
	if rejection != nil {
		return Text{Gone: Unreadable, Reason: rejection.Error()}
	}
	return Text{Article: a}
}
