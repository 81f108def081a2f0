package consumer

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/kafka"
)

// reportInterval is how often it is logged again that a transaction is open.
const reportInterval = time.Minute

// positions watches where a topic's partitions stand, and logs open transactions that hold the
// reading up. It is safe for concurrent use.
type positions struct {
	log   *slog.Logger
	topic string
	long  time.Duration // how long a transaction may be open until it is reported; 0: kafka.LongOpen

	mutex sync.Mutex
	open  map[int]*opened // by partition
}

// opened is the open transaction that a partition has been read up to.
type opened struct {
	kafka.OpenTransaction
	logged time.Time // zero: not yet
}

func (o *opened) where() string { return fmt.Sprintf("%s/%d", o.Topic, o.Partition) }

// at returns where a partition stands that was fetched from the offset next on.
func (w *positions) at(
	now time.Time, p *kmsg.FetchResponseTopicPartition, next int64,
) kafka.Position {
	at := kafka.Position{Topic: w.topic, Partition: int(p.Partition), Next: next, End: p.HighWatermark}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	stable := p.LastStableOffset
	if stable < 0 || next < stable || stable >= p.HighWatermark {
		w.over(at.Partition)
		return at
	}
	o := w.open[at.Partition]
	if o == nil || o.Offset != stable {
		w.over(at.Partition)
		o = &opened{
			OpenTransaction: kafka.OpenTransaction{
				Topic: w.topic, Partition: at.Partition, Offset: stable, Since: now, LongAfter: w.long,
			},
		}
		w.open[at.Partition] = o
	}
	o.Records = p.HighWatermark - stable
	if o.Long(now) && now.Sub(o.logged) >= reportInterval {
		o.logged = now
		w.log.Warn("an open transaction holds a partition back", "where", o.where(), "offset", o.Offset,
			"open_for", now.Sub(o.Since).Round(time.Second), "records", o.Records, "what_to_do", o.Advice())
	}
	transaction := o.OpenTransaction
	at.Open = &transaction
	return at
}

// over forgets the open transaction of a partition.
func (w *positions) over(partition int) {
	if o := w.open[partition]; o != nil && !o.logged.IsZero() {
		w.log.Info("the open transaction has ended", "where", o.where(), "offset", o.Offset)
	}
	delete(w.open, partition)
}
