package topics

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/sink"
)

// SubmitOptions are what a submitter needs.
type SubmitOptions struct {
	Client      *kafka.Client
	Log         *slog.Logger
	InputTopic  string
	LabelsTopic string         // empty: no labels are written
	Format      string         // of articles: input.format
	Fields      article.Fields // input.fields
	Encoding    string         // input.encoding
	MaxBytes    int            // input.max_bytes
	Compression string         // of record batches: none, gzip, snappy, lz4 or zstd
}

// A Submitter writes articles to the input topic, as its format and fields say, and labels to the
// topic of labels. [Submitter.Run] does the work; the other methods are safe for concurrent use.
type Submitter struct {
	SubmitOptions
	encoder  *encoder
	decoder  article.Decoder // that reads the articles again, as the stream does
	appender *sink.Appender
}

// NewSubmitter returns a submitter that writes nothing yet.
func NewSubmitter(o SubmitOptions) (*Submitter, error) {
	encoder, err := newEncoder(o.Format, o.Fields, o.Encoding)
	if err != nil {
		return nil, err
	}
	decoder, err := article.NewDecoder(o.Format, o.Fields, o.MaxBytes, o.Encoding)
	if err != nil {
		return nil, err
	}
	appender, err := sink.NewAppender(o.Client, o.Log, o.Compression)
	if err != nil {
		return nil, err
	}
	return &Submitter{o, encoder, decoder, appender}, nil
}

// Run writes what comes, until ctx ends.
func (s *Submitter) Run(ctx context.Context) { s.appender.Run(ctx) }

// AnyPartition lets an article go where its id says, or anywhere if it has none.
const AnyPartition = -1

// An Article is one that is to be written, and the partition for it, or [AnyPartition].
type Article struct {
	Input
	Partition int
}

// Articles writes articles and returns their addresses, once all replicas in sync have them. The
// error is an [api.InvalidError] if the topic has no place for an article, if it is too large or
// would become a dead letter: then nothing was written. With [sink.ErrUnknown] the articles may
// have been written or not, since the brokers did not answer in time. Other errors say what to do.
func (s *Submitter) Articles(ctx context.Context, articles []Article) ([]article.Address, error) {
	partitions, err := s.Client.Partitions(ctx, s.InputTopic)
	if err != nil {
		return nil, kafka.Explain(err)
	}
	records := make([]kafka.Record, len(articles))
	for i := range articles {
		a := &articles[i]
		r := &records[i]
		r.Topic, r.Partition = s.InputTopic, a.Partition
		if r.Key, r.Value, err = s.encoder.encode(&a.Input); err != nil {
			return nil, api.Invalid("", "%v", err)
		}
		if _, why := s.decoder.Decode(r.Key, r.Value, article.Address{Topic: s.InputTopic}); why != nil {
			return nil, api.Invalid("", "it would be a dead letter of class %s: %s", why.Class, why.Reason)
		}
		switch {
		case a.Partition >= len(partitions) || a.Partition < AnyPartition:
			return nil, api.Invalid("", "partition %d: topic %s has partitions 0 to %d", a.Partition,
				s.InputTopic, len(partitions)-1)
		case a.Partition >= 0:
		case r.Key != nil:
			r.Partition = sink.PartitionOf(r.Key, partitions)
		default:
			r.Partition = partitions[rand.IntN(len(partitions))]
		}
	}
	return s.write(ctx, records)
}

// A Label is a record of the topic of labels.
type Label struct {
	ClusterID string // empty: of no cluster
	Contact   string // of a record for a contact
	Value     []byte
}

// Labels writes labels and returns the addresses of their records. Those of one cluster keep their
// order: they go to the partition that its founder's says. Those of contacts keep theirs: they all
// go to the first partition. Errors are those of Articles.
func (s *Submitter) Labels(ctx context.Context, labels []Label) ([]article.Address, error) {
	partitions, err := s.Client.Partitions(ctx, s.LabelsTopic)
	if err != nil {
		return nil, kafka.Explain(err)
	}
	records := make([]kafka.Record, len(labels))
	for i, l := range labels {
		records[i] = kafka.Record{Topic: s.LabelsTopic, Value: l.Value}
		if l.ClusterID == "" {
			if l.Contact != "" {
				records[i].Key, records[i].Partition = []byte(l.Contact), partitions[0]
			}
			continue
		}
		founder, err := article.ParseAddress(l.ClusterID)
		if err != nil {
			return nil, api.Invalid("", "%v", err)
		}
		records[i].Key = []byte(l.ClusterID)
		records[i].Partition = partitions[founder.Partition%len(partitions)]
	}
	return s.write(ctx, records)
}

func (s *Submitter) write(
	ctx context.Context, records []kafka.Record,
) ([]article.Address, error) {
	offsets, err := s.appender.Append(ctx, records)
	var tooLarge *sink.TooLargeError
	if errors.As(err, &tooLarge) {
		return nil, api.Invalid("", "%v", err)
	}
	if err != nil {
		return nil, err
	}
	addresses := make([]article.Address, len(records))
	for i, r := range records {
		addresses[i] = article.Address{Topic: r.Topic, Partition: r.Partition, Offset: offsets[i]}
	}
	return addresses, nil
}
