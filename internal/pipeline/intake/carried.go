package intake

import (
	"bytes"
	"slices"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/pipeline/tracing"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
)

// How much of the headers of its input record a result carries: a record may have megabytes of
// them.
const (
	maxHeaders     = 64
	maxHeaderBytes = 16 << 10 // of names and values
)

// Carried says what results have of their input records beside the articles.
type Carried struct {
	keys    bool            // the keys of the records
	headers []string        // names of headers
	all     bool            // headers of any name
	tracer  *tracing.Tracer // says of which span a record is; nil: nobody traces
}

// KeySource is the setting of output.key with which results have the keys of their articles.
const KeySource = "source"

// CarriedBy returns what results carry by a configuration.
func CarriedBy(c config.Output, t *tracing.Tracer) *Carried {
	return &Carried{
		keys: c.Key == KeySource, headers: c.Headers, tracer: t,
		all: slices.Contains(c.Headers, config.AllHeaders),
	}
}

// add sets what an article carries of its record.
func (c *Carried) add(a *fingerprint.Article, r *kafka.Record) {
	if c.keys {
		a.Key = r.Key
		if len(r.Key) > article.MaxIDBytes {
			// too long for results to repeat, as the whole
			a.Key = bytes.Clone(r.Key[:article.MaxIDBytes+1])
		}
	}
	if len(r.Headers) > 0 && len(c.headers) > 0 {
		c.addHeaders(a, r.Headers)
	}
}

// addHeaders adds the headers that results carry, in their order and under names that are not
// clusterd's. One that does not fit beside those before it is left out.
func (c *Carried) addHeaders(a *fingerprint.Article, headers []kafka.Header) {
	left, size := 0, 0
	for _, h := range headers {
		if !c.all && !slices.Contains(c.headers, h.Key) {
			continue
		}
		if n := len(h.Key) + len(h.Value); len(a.Headers) < maxHeaders && size+n <= maxHeaderBytes {
			size += n
			a.Headers = append(a.Headers, fingerprint.Header{
				Key: article.ForeignHeader(h.Key), Value: bytes.Clone(h.Value),
			})
		} else {
			left++
		}
	}
	if left > 0 {
		a.Notes = article.WithoutHeaders(a.Notes, "%d of %d headers of the record do not fit: a result "+
			"carries at most %d, of %d bytes in all; output.headers names those that are wanted",
			left, len(headers), maxHeaders, maxHeaderBytes)
	}
}

// addSpace sets the space of an article from a header of its record, the first of that name. A
// record without it is of the space without a value.
func addSpace(a *fingerprint.Article, name string, headers []kafka.Header) {
	for _, h := range headers {
		if h.Key == name {
			a.Fingerprint.Space, a.Notes = article.SpaceOfHeader(a.Notes, name, h.Value)
			return
		}
	}
}
