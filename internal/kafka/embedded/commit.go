package embedded

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// kfake ends a transaction by writes to many files: a marker for each partition, the offsets of
// groups, the state of the producer. A crash between them would commit a part of it. So what a
// commit writes is noted in a file before it begins, and a start after a crash does it once more.

// names in the directory of the broker
const (
	commitFile = "clusterd.commit" // the latest commit
	pidsLog    = "pids.log"        // kfake's producer ids
	groupsLog  = "groups.log"      // kfake's offsets of groups
)

// A commit lists the writes that commit a transaction.
type commit struct {
	PID   int64 `json:"pid"`
	Epoch int16 `json:"epoch"`
	// Partitions have the transaction's records, all of them before these offsets.
	Partitions map[string]map[int32]int64 `json:"partitions"`
	Offsets    []groupOffset              `json:"offsets"`
	// PIDsLog is how long the log of producer ids was before the commit.
	PIDsLog int64 `json:"pids_log"`
}

// A groupOffset is an offset as kfake logs it.
type groupOffset struct {
	Type     string  `json:"type"`
	Group    string  `json:"g"`
	Topic    string  `json:"t"`
	Part     int32   `json:"p"`
	Offset   int64   `json:"o"`
	Epoch    int32   `json:"e"`
	Metadata *string `json:"m,omitempty"`
	At       int64   `json:"lc"` // Unix time in milliseconds
}

// transactions follows what transactions have in them, by the requests that kfake is about to
// handle. It calls for one after the other.
type transactions struct {
	dir  string
	file *os.File // of the latest commit
	// end returns where a partition ends.
	end    func(topic string, partition int32) int64
	open   map[string]*commit // by transactional id
	latest *commit
}

// newTransactions begins to follow them, after a start has recovered.
func newTransactions(dir string, end func(string, int32) int64) (*transactions, error) {
	f, err := os.OpenFile(filepath.Join(dir, commitFile), os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	return &transactions{dir: dir, file: f, end: end, open: make(map[string]*commit)}, syncDir(dir)
}

// of returns the transaction that a producer has open.
func (t *transactions) of(id string, pid int64, epoch int16) *commit {
	c := t.open[id]
	if c == nil || c.PID != pid || c.Epoch != epoch {
		c = &commit{PID: pid, Epoch: epoch, Partitions: make(map[string]map[int32]int64)}
		t.open[id] = c
	}
	return c
}

// observe takes in a request. The response is nil if kfake may handle it.
func (t *transactions) observe(request kmsg.Request) (kmsg.Response, error) {
	switch r := request.(type) {
	case *kmsg.InitProducerIDRequest:
		if r.TransactionalID != nil {
			delete(t.open, *r.TransactionalID)
		}
	case *kmsg.AddPartitionsToTxnRequest:
		c := t.of(r.TransactionalID, r.ProducerID, r.ProducerEpoch)
		for _, topic := range r.Topics {
			if c.Partitions[topic.Topic] == nil {
				c.Partitions[topic.Topic] = make(map[int32]int64)
			}
			for _, p := range topic.Partitions {
				c.Partitions[topic.Topic][p] = 0
			}
		}
	case *kmsg.TxnOffsetCommitRequest:
		c := t.of(r.TransactionalID, r.ProducerID, r.ProducerEpoch)
		for _, topic := range r.Topics {
			for _, p := range topic.Partitions {
				c.Offsets = append(c.Offsets, groupOffset{
					Type: "commit", Group: r.Group, Topic: topic.Topic, Part: p.Partition, Offset: p.Offset,
					Epoch: p.LeaderEpoch, Metadata: p.Metadata, At: time.Now().UnixMilli(),
				})
			}
		}
	case *kmsg.EndTxnRequest:
		return t.ends(r), nil
	case *kmsg.OffsetCommitRequest:
		return nil, t.forget(r.Group)
	case *kmsg.OffsetDeleteRequest:
		return nil, t.forget(r.Group)
	case *kmsg.DeleteGroupsRequest:
		return nil, t.forget(r.Groups...)
	}
	return nil, nil
}

// ends notes a commit. If that fails, the commit must not begin.
func (t *transactions) ends(r *kmsg.EndTxnRequest) kmsg.Response {
	c := t.open[r.TransactionalID]
	if c != nil && c.PID == r.ProducerID && c.Epoch == r.ProducerEpoch && r.Commit {
		if err := t.note(c); err != nil {
			response := r.ResponseKind().(*kmsg.EndTxnResponse)
			response.ErrorCode = kerr.KafkaStorageError.Code
			return response
		}
	}
	delete(t.open, r.TransactionalID)
	return nil
}

// note writes the commit over the previous one. kfake handles one request after the other, so the
// previous commit is complete.
func (t *transactions) note(c *commit) error {
	info, err := os.Stat(filepath.Join(t.dir, pidsLog))
	if err != nil {
		return err // there is one: the producer has an id
	}
	c.PIDsLog = info.Size()
	for topic, partitions := range c.Partitions {
		for p := range partitions {
			partitions[p] = t.end(topic, p)
		}
	}
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if _, err := t.file.WriteAt(frame(data), 0); err != nil {
		return err
	}
	t.latest = c
	return t.file.Sync()
}

// forget removes the note of the latest commit if it has offsets of a group, which are about to
// change.
func (t *transactions) forget(groups ...string) error {
	if t.latest == nil || !slices.ContainsFunc(t.latest.Offsets,
		func(o groupOffset) bool { return slices.Contains(groups, o.Group) }) {
		return nil
	}
	t.latest = nil
	return errors.Join(t.file.Truncate(0), t.file.Sync())
}

func (t *transactions) close() error { return t.file.Close() }

// latestCommit returns the commit that was noted last, or nil. kfake has refused one of a producer
// that had another epoch.
func latestCommit(dir string, pids []stateEntry) (*commit, error) {
	raw, err := os.ReadFile(filepath.Join(dir, commitFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	data, size := unframe(raw)
	if size == 0 {
		return nil, nil // it was not noted whole, so it did not begin
	}
	c := new(commit)
	if err := json.Unmarshal(data, c); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, commitFile), err)
	}
	rewritten := len(pids) == 0 || pids[len(pids)-1].end < c.PIDsLog
	var last *stateEntry // of its producer, before it
	for i, e := range pids {
		if e.PID == c.PID && (e.end <= c.PIDsLog || rewritten) {
			last = &pids[i]
		}
	}
	if last == nil || last.Epoch != c.Epoch {
		return nil, nil
	}
	return c, nil
}
