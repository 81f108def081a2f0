package embedded

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/testutil/wait"
)

const gib = 1 << 30

func TestAFullDiskTakesNoRecords(t *testing.T) {
	produce := kmsg.NewPtrProduceRequest()
	produce.Version, produce.Acks = 9, -1
	produce.Topics = []kmsg.ProduceRequestTopic{
		{Topic: "in", Partitions: []kmsg.ProduceRequestTopicPartition{{Partition: 2}}},
	}
	forgotten := kmsg.NewPtrProduceRequest() // nobody waits for the answer
	end := kmsg.NewPtrEndTxnRequest()
	for name, tt := range map[string]struct {
		request     kmsg.Request
		free, total uint64
		refused     bool
	}{
		"a large disk with space":    {produce, 64 << 20, 100 * gib, false},
		"a large disk":               {produce, 64<<20 - 1, 100 * gib, true},
		"a small disk with space":    {produce, 1 << 20, 16 << 20, false},
		"a small disk":               {produce, 1<<20 - 1, 16 << 20, true},
		"the end of a transaction":   {end, 0, gib, false},
		"a record nobody waits for":  {forgotten, 0, gib, false},
		"a record, and no byte free": {produce, 0, gib, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSpace("dir", slog.New(slog.DiscardHandler))
			s.usage = func(string) (vfs.DiskUsage, error) {
				return vfs.DiskUsage{AvailBytes: tt.free, TotalBytes: tt.total}, nil
			}
			response := s.refuse(tt.request)
			if (response != nil) != tt.refused {
				t.Fatalf("response = %v, refused is %v", response, tt.refused)
			}
			if !tt.refused {
				return
			}
			topic := response.(*kmsg.ProduceResponse).Topics[0]
			if p := topic.Partitions[0]; topic.Topic != "in" || p.Partition != 2 ||
				p.ErrorCode != kerr.KafkaStorageError.Code {
				t.Errorf("the answer is %+v", topic)
			}
		})
	}
}

// The log says once that the disk is full, and once that it has space again.
func TestAFullDiskIsSaidOnce(t *testing.T) {
	var log wait.Buffer
	s := newSpace("the-folder", slog.New(slog.NewTextHandler(&log, nil)))
	for _, free := range []uint64{gib, 0, 1, 2, gib, gib, 0} {
		s.usage = func(string) (vfs.DiskUsage, error) {
			return vfs.DiskUsage{AvailBytes: free, TotalBytes: 100 * gib}, nil
		}
		s.enough()
	}
	var got []string
	for line := range strings.Lines(log.String()) {
		_, said, _ := strings.Cut(line, "level=")
		level, _, _ := strings.Cut(said, " ")
		got = append(got, level)
		if !strings.Contains(said, "dir=the-folder") {
			t.Errorf("it does not say which disk: %s", line)
		}
	}
	if strings.Join(got, " ") != "ERROR INFO ERROR" {
		t.Errorf("the log has %v:\n%s", got, log.String())
	}
}
