package kafka

// A Position is where the reading of a partition stands.
type Position struct {
	Topic     string
	Partition int
	Next      int64 // the offset to be read next
	End       int64 // behind the last record, committed or not: the high watermark
	// Open is the open transaction that the partition has been read up to, nil for none. Most are a
	// few milliseconds old.
	Open *OpenTransaction
}

// Lag returns how many records were not read, by their offsets.
func (p Position) Lag() int64 { return max(0, p.End-p.Next) }
