package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// An earlyRow is what somebody read of an article earlier: 13 bytes on disk, by the offset in its
// partition.
type earlyRow struct {
	Clustered bool
	Cluster   place
}

// earlyID is the cluster id as a result has it.
func (a *audit) earlyID(row earlyRow) string {
	if !row.Clustered {
		return "null"
	}
	return row.Cluster.in(a.config.Input.Topic)
}

// readEarly takes in what was read earlier.
func (a *audit) readEarly(ctx context.Context) error {
	for _, s := range a.options.Seen {
		decoder := json.NewDecoder(s)
		for n := 1; ; n++ {
			var value json.RawMessage
			err := decoder.Decode(&value)
			if errors.Is(err, io.EOF) {
				break
			}
			if err == nil {
				err = a.takeEarly(value, fmt.Sprintf("%s, result %d", s.Name, n))
			}
			if err != nil {
				return fmt.Errorf("%s: result %d: %w", s.Name, n, err)
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *audit) takeEarly(value []byte, at string) error {
	m, err := parseMessage(bytes.TrimSpace(value))
	if err != nil {
		return err
	}
	a.again.Checked++
	source, topic := m.source(), a.config.Input.Topic
	if m.Source.Topic != topic || source.Partition < 0 || source.Offset < 0 || source.Offset >= a.cut.input.to[source.Partition] {
		a.again.violated(at, "a result of a record of "+topic, "one of "+source.in(m.Source.Topic))
		return nil
	}
	row := earlyRow{Clustered: m.ClusterID != nil}
	if row.Clustered {
		if row.Cluster, err = parsePlace(*m.ClusterID, topic); err != nil {
			return fmt.Errorf("cluster id %w", err)
		}
	}
	t := a.early[source.Partition]
	if t == nil {
		if t, err = newTable[earlyRow](a.dir); err != nil {
			return err
		}
		a.early[source.Partition], a.found[source.Partition] = t, make(bitmap)
	}
	fresh, err := t.put(source.Offset, row)
	if err != nil || fresh {
		return err
	}
	before, _, err := t.get(source.Offset)
	if before != row {
		a.again.violated(at, fmt.Sprintf("cluster %s of %s, as it was read before", a.earlyID(before), source.in(topic)), "cluster "+a.earlyID(row))
	}
	return err
}

// compareWithEarly holds a result to what was read of the same article earlier, if it was.
func (a *audit) compareWithEarly(source place, cluster, at string) error {
	t := a.early[source.Partition]
	if t == nil {
		return nil
	}
	row, ok, err := t.get(source.Offset)
	if !ok || err != nil {
		return err
	}
	if before := a.earlyID(row); before != cluster {
		a.again.violated(at, fmt.Sprintf("cluster %s of %s, as it was read earlier", before, source.in(a.config.Input.Topic)), "cluster "+cluster)
	}
	if !a.found[source.Partition].add(source.Offset) {
		a.again.violated(at, "one result of "+source.in(a.config.Input.Topic), "another one")
	}
	return nil
}

// compareEarly looks for what was read earlier and is not there any more.
func (a *audit) compareEarly() {
	for _, p := range slices.Sorted(maps.Keys(a.early)) {
		for offset := range a.early[p].set.all() {
			if a.found[p].has(offset) {
				continue
			}
			if !a.complete {
				a.again.notChecked("some of what was read earlier is not there, and results have been deleted by retention")
				return
			}
			a.again.violated(place{p, offset}.in(a.config.Input.Topic), "a result, as one was read earlier", "none")
		}
	}
}
