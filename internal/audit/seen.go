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

// seen is what somebody read earlier, and whether it is still there. It is nil where nobody did.
type seen struct {
	check *report.Check
	topic string // the input
	rows  *spill.Partitions[seenRow]
	found map[int32]spill.Bitmap // what of rows is still there
}

// A seenRow is what somebody read of an article: 13 bytes.
type seenRow struct {
	Clustered bool
	Cluster   wire.Address
}

// id returns the cluster id as [wire.Result.ID] does.
func (s *seen) id(row seenRow) string {
	if !row.Clustered {
		return "null"
	}
	return row.Cluster.In(s.topic)
}

// readSeen reads what was read earlier.
func (a *audit) readSeen(ctx context.Context) error {
	if a.seen == nil {
		return nil
	}
	a.seen.rows = spill.NewPartitions[seenRow](a.dir, nil, a.cut.Input.To)
	a.seen.found = make(map[int32]spill.Bitmap)
	for _, reader := range a.options.Seen {
		decoder := json.NewDecoder(reader)
		for n := 1; ; n++ {
			var value json.RawMessage
			err := decoder.Decode(&value)
			if errors.Is(err, io.EOF) {
				break
			}
			at := fmt.Sprintf("%s, result %d", reader.Name, n)
			if err == nil {
				err = a.seen.add(value, at, a.cut.Input.To)
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

// add notes a result that was read; at names it in messages. The input has these ends.
func (s *seen) add(value []byte, at string, ends map[int32]int64) error {
	result, err := wire.ParseResult(bytes.TrimSpace(value))
	if err != nil {
		return err
	}
	s.check.Checked++
	source := result.Address()
	outside := source.Partition < 0 || source.Offset < 0 || source.Offset >= ends[source.Partition]
	if result.Source.Topic != s.topic || outside {
		s.check.Violate(at, "a result of a record of "+s.topic, "one of "+result.SourceID())
		return nil
	}
	row := seenRow{Clustered: result.ClusterID != nil}
	if row.Clustered {
		if row.Cluster, err = wire.ParseAddress(*result.ClusterID, s.topic); err != nil {
			return fmt.Errorf("cluster id %w", err)
		}
	}
	fresh, err := s.rows.Put(source.Partition, source.Offset, row)
	if err != nil || fresh {
		return err
	}
	before, _, err := s.rows.Get(source.Partition, source.Offset)
	if before != row {
		s.check.Violate(at, fmt.Sprintf("cluster %s of %s, as it was read before",
			s.id(before), source.In(s.topic)), "cluster "+s.id(row))
	}
	return err
}

// checkResult holds a result to what was read of the same article earlier, if it was.
func (s *seen) checkResult(source wire.Address, cluster, at string) error {
	if s == nil {
		return nil
	}
	row, ok, err := s.rows.Get(source.Partition, source.Offset)
	if !ok || err != nil {
		return err
	}
	if before := s.id(row); before != cluster {
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

// checkFound reports what was read earlier and is not there any more. That is a fault only if the
// topic of results is complete.
func (s *seen) checkFound(complete bool) {
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
