package monitor

import (
	"time"

	"github.com/clusterd/clusterd/internal/kafka"
)

// instance is a monitor with a clock that stands still until it is told to go on.
type instance struct {
	*Monitor
	clock time.Time
}

func newInstance() *instance {
	i := &instance{clock: time.Date(2026, 1, 2, 3, 4, 5, 600_000_000, time.UTC)}
	i.Monitor = newMonitor("v1.2.3", func() time.Time { return i.clock })
	return i
}

func (i *instance) wait(d time.Duration) { i.clock = i.clock.Add(d) }

// fetching lets time pass while fetches of the input come back empty.
func (i *instance) fetching(d time.Duration) {
	for end := i.clock.Add(d); i.clock.Before(end); {
		i.wait(500 * time.Millisecond)
		i.PolledInput("all", nil)
	}
}

// owner makes an instance that has joined, recovered and begun to work.
func (i *instance) owner(partitions ...int) {
	i.Joining()
	i.Joined(partitions)
	i.Recovering("all", "reading clusters back")
	i.Live("all", partitions)
	i.PolledInput("all", nil)
}

// opened lets time pass in which fetches show an open transaction.
func (i *instance) opened(d time.Duration) {
	t := &kafka.OpenTransaction{
		Topic: "articles", Partition: 0, Offset: 7, Since: i.now(), Records: 1600,
	}
	i.fetching(d)
	i.PolledInput("all", []kafka.Position{stands(0, 1600, t)})
}

// stands returns where a partition of the input stands, with so many records that were not fetched.
func stands(partition int, lag int64, open *kafka.OpenTransaction) kafka.Position {
	return kafka.Position{Topic: "articles", Partition: partition, Next: 7, End: 7 + lag, Open: open}
}
