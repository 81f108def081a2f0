package kafka

import (
	"cmp"
	"fmt"
	"time"
)

// An OpenTransaction is a transaction that somebody has begun to write to a partition and has
// neither committed nor aborted. Committed records behind its first one cannot be read until then.
type OpenTransaction struct {
	Topic     string    `json:"topic"`
	Partition int       `json:"partition"`
	Offset    int64     `json:"offset"`  // of its first record: the partition's last stable offset
	Since     time.Time `json:"since"`   // when this instance first saw it there
	Records   int64     `json:"records"` // from its first one to the partition's end
	// LongAfter is how long it may be open until it is reported; 0 means [LongOpen].
	LongAfter time.Duration `json:"-"`
}

// LongOpen is how long a transaction may be open until it is reported. Most are over in far less.
const LongOpen = 10 * time.Second

// Long reports whether it has been open for so long that it is reported.
func (t OpenTransaction) Long(now time.Time) bool {
	return now.Sub(t.Since) >= cmp.Or(t.LongAfter, LongOpen)
}

// String returns where it is, and what waits for it.
func (t OpenTransaction) String() string {
	return fmt.Sprintf("an open transaction holds %s/%d back at offset %d since %s, with %d "+
		"records from there on",
		t.Topic, t.Partition, t.Offset, t.Since.UTC().Format(time.RFC3339), t.Records)
}

// Advice returns what to do about it.
func (t OpenTransaction) Advice() string {
	const tool = "kafka-transactions.sh --bootstrap-server HOST:PORT"
	return fmt.Sprintf("it ends when its producer commits or aborts. Whose it is: %[1]s "+
		"describe-producers --topic %[2]s --partition %[3]d. "+
		"Whether nobody will end it: %[1]s find-hanging --topic %[2]s --partition %[3]d. To end it: "+
		"%[1]s abort --topic %[2]s --partition %[3]d --start-offset %[4]d",
		tool, t.Topic, t.Partition, t.Offset)
}
