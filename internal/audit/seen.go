// seen.go holds results that somebody read earlier to those that are there now.

package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/clusterd/clusterd/internal/audit/report"
	"github.com/clusterd/clusterd/internal/audit/spill"
	"github.com/clusterd/clusterd/internal/audit/wire"
)

// A Source is results that a reader got earlier: their values, one JSON object after the other.
type Source struct {
	Name string // for messages
	io.Reader
}

// Seen is what somebody read earlier, and whether it is still there. It is nil where nobody did.
type Seen struct {
	check *report.Check
	topic string // the input
	rows  *spill.Partitions[row]
	found map[int32]spill.Bitmap // what of rows is still there
	ends  map[int32]int64        // of the input
}

// A row is what somebody read of an article: 13 bytes.
type row struct {
	Clustered bool
	Cluster   wire.Address
}

// newSeen returns what somebody read, still nothing, of a topic with these ends.
func newSeen(check *report.Check, topic string, dir *spill.Dir, ends map[int32]int64) *Seen {
	return &Seen{
		check: check, topic: topic, rows: spill.NewPartitions[row](dir, nil, ends),
		found: make(map[int32]spill.Bitmap), ends: ends,
	}
}

// id returns the cluster id as [wire.Result.ID] does.
func (s *Seen) id(r row) string {
	if !r.Clustered {
		return "null"
	}
	return r.Cluster.In(s.topic)
}

// Read reads what was read earlier.
func (s *Seen) Read(ctx context.Context, from []Source) error {
	for _, reader := range from {
		decoder := json.NewDecoder(reader)
		for n := 1; ; n++ {
			var value json.RawMessage
			err := decoder.Decode(&value)
			if errors.Is(err, io.EOF) {
				break
			}
			at := fmt.Sprintf("%s, result %d", reader.Name, n)
			if err == nil {
				err = s.add(value, at)
			}
			if err != nil {
				return fmt.Errorf("%s: result %d: %w", reader.Name, n, err)
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// add notes a result that was read; at names it in messages.
func (s *Seen) add(value []byte, at string) error {
	result, err := wire.ParseResult(bytes.TrimSpace(value))
	if err != nil {
		return err
	}
	if result.Source.Topic == "" {
		return errors.New("it has no source, by which it could be compared: see output.fields")
	}
	s.check.Checked++
	source := result.Address()
	outside := source.Partition < 0 || source.Offset < 0 || source.Offset >= s.ends[source.Partition]
	if result.Source.Topic != s.topic || outside {
		s.check.Violate(at, "a result of a record of "+s.topic, "one of "+result.SourceID())
		return nil
	}
	read := row{Clustered: result.ClusterID != nil}
	if read.Clustered {
		if read.Cluster, err = wire.ParseAddress(*result.ClusterID, s.topic); err != nil {
			return fmt.Errorf("cluster id %w", err)
		}
	}
	fresh, err := s.rows.Put(source.Partition, source.Offset, read)
	if err != nil || fresh {
		return err
	}
	before, _, err := s.rows.Get(source.Partition, source.Offset)
	if before != read {
		s.check.Violate(at, fmt.Sprintf("cluster %s of %s, as it was read before",
			s.id(before), source.In(s.topic)), "cluster "+s.id(read))
	}
	return err
}

// CheckResult holds a result to what was read of the same article earlier, if it was.
func (s *Seen) CheckResult(source wire.Address, cluster, at string) error {
	if s == nil {
		return nil
	}
	read, ok, err := s.rows.Get(source.Partition, source.Offset)
	if !ok || err != nil {
		return err
	}
	if before := s.id(read); before != cluster {
		s.check.Violate(at, fmt.Sprintf("cluster %s of %s, as it was read earlier",
			before, source.In(s.topic)), "cluster "+cluster)
	}
	found := s.found[source.Partition]
	if found == nil {
		found = make(spill.Bitmap)
		s.found[source.Partition] = found
	}
	if !found.Add(source.Offset) {
		s.check.Violate(at, "one result of "+source.In(s.topic), "another one")
	}
	return nil
}

// CheckFound reports what was read earlier and is not there any more. That is a fault only if the
// topic of results is complete.
func (s *Seen) CheckFound(complete bool) {
	if s == nil {
		return
	}
	for _, p := range s.rows.All() {
		for offset := range s.rows.Offsets(p) {
			if s.found[p].Has(offset) {
				continue
			}
			if !complete {
				s.check.Skip("some of what was read earlier is not there, " +
					"and results have been deleted by retention")
				return
			}
			s.check.Violate(wire.Address{Partition: p, Offset: offset}.In(s.topic),
				"a result, as one was read earlier", "none")
		}
	}
}
