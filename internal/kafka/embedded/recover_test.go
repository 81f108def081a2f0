package embedded_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/kafka/embedded"
)

// An image is what is in a folder: the names and contents of its files.
type image map[string]string

// imageOf is what a crash at this moment leaves of a folder.
func imageOf(t *testing.T, dir string) image {
	t.Helper()
	files := make(image)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == "clusterd.lock" {
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[name] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// write makes a folder of an image.
func (i image) write(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, content := range i {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A broker has an address.
type broker interface{ Address() string }

// A producer writes transactions to both partitions of topic out, with offsets of topic in.
type producer struct {
	*testing.T
	*kgo.Client
}

const transactionalID, group = "producer", "group"

func newProducer(t *testing.T, b broker) *producer {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(b.Address()), kgo.TransactionalID(transactionalID),
		kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return &producer{T: t, Client: client}
}

// begin writes a value to both partitions, and an offset, and leaves the transaction open.
func (p *producer) begin(value string, offset int64) {
	p.Helper()
	if err := p.BeginTransaction(); err != nil {
		p.Fatal(err)
	}
	for partition := range int32(2) {
		if err := p.ProduceSync(p.Context(), &kgo.Record{
			Topic: "out", Partition: partition, Value: fmt.Appendf(nil, "%s%d", value, partition),
		}).FirstErr(); err != nil {
			p.Fatal(err)
		}
	}
	id, epoch, err := p.ProducerID(p.Context())
	if err != nil {
		p.Fatal(err)
	}
	add := kmsg.NewPtrAddOffsetsToTxnRequest()
	add.TransactionalID, add.ProducerID, add.ProducerEpoch = transactionalID, id, epoch
	add.Group = group
	if response, err := add.RequestWith(p.Context(), p.Client); err != nil || response.ErrorCode != 0 {
		p.Fatal(err, response)
	}
	commit := kmsg.NewPtrTxnOffsetCommitRequest()
	commit.TransactionalID, commit.ProducerID, commit.ProducerEpoch = transactionalID, id, epoch
	commit.Group, commit.Generation = group, -1
	topic := kmsg.NewTxnOffsetCommitRequestTopic()
	topic.Topic = "in"
	partition := kmsg.NewTxnOffsetCommitRequestTopicPartition()
	partition.Offset = offset
	topic.Partitions = append(topic.Partitions, partition)
	commit.Topics = append(commit.Topics, topic)
	if response, err := commit.RequestWith(p.Context(), p.Client); err != nil ||
		response.Topics[0].Partitions[0].ErrorCode != 0 {
		p.Fatal(err, response)
	}
}

func (p *producer) end(commit kgo.TransactionEndTry) {
	p.Helper()
	if err := p.EndTransaction(p.Context(), commit); err != nil {
		p.Fatal(err)
	}
}

func (p *producer) commit(value string, offset int64) {
	p.Helper()
	p.begin(value, offset)
	p.end(kgo.TryCommit)
}

// commits makes two commits, and returns what is on the disk before and after the second one.
func commits(t *testing.T, b broker, dir string) (before, after image) {
	t.Helper()
	p := newProducer(t, b)
	p.commit("a", 1)
	p.begin("b", 2)
	before = imageOf(t, dir)
	p.end(kgo.TryCommit)
	return before, imageOf(t, dir)
}

// startWithTopics starts a broker that has the topics in and out.
func startWithTopics(t *testing.T, dir string) *embedded.Broker {
	t.Helper()
	b := start(t, anyPort, dir)
	client := newClient(t, b)
	for topic, partitions := range map[string]int{"in": 1, "out": 2} {
		if err := client.CreateTopic(t.Context(),
			kafka.TopicSpec{Name: topic, Partitions: partitions}); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// state is what a reader of committed records finds in topic out, and the group's offset.
func state(t *testing.T, b broker) string {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(b.Address()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	const end = "end" // behind all that is there
	ends := make(map[int32]int64)
	for partition := range int32(2) {
		r, err := client.ProduceSync(t.Context(),
			&kgo.Record{Topic: "out", Partition: partition, Value: []byte(end)}).First()
		if err != nil {
			t.Fatal(err)
		}
		ends[partition] = r.Offset
	}
	client.AddConsumePartitions(map[string]map[int32]kgo.Offset{
		"out": {0: kgo.NewOffset().AtStart(), 1: kgo.NewOffset().AtStart()},
	})
	var values []string
	for len(ends) > 0 {
		fetches := client.PollFetches(t.Context())
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if string(r.Value) != end {
				values = append(values, string(r.Value))
			} else if r.Offset == ends[r.Partition] {
				delete(ends, r.Partition)
			}
		})
	}
	slices.Sort(values)
	offsets, err := kadm.NewClient(client).FetchOffsets(t.Context(), group)
	if errors.Is(err, kerr.GroupIDNotFound) {
		return fmt.Sprint(strings.Join(values, " "), " @none")
	}
	if err != nil {
		t.Fatal(err)
	}
	offset, _ := offsets.Lookup("in", 0)
	return fmt.Sprint(strings.Join(values, " "), " @", offset.At)
}

// A commit that a crash interrupts is finished by the next start, at whatever byte it was
// interrupted: kfake writes its parts to many files.
func TestCommitIsWhole(t *testing.T) {
	dir := t.TempDir()
	b := startWithTopics(t, dir)
	before, after := commits(t, b, dir)
	b.Close()
	const first, second = "partitions/out-0/0", "partitions/out-1/0"
	for _, partitions := range [][]string{{first, second}, {second, first}} {
		crashed := maps.Clone(before)
		order := []string{
			"clusterd.commit", partitions[0] + ".dat", partitions[0] + ".idx", partitions[1] + ".dat",
			partitions[1] + ".idx", "groups.log", "pids.log",
		}
		for n, name := range order {
			was, is := before[name], after[name]
			if was == is {
				t.Fatalf("a commit writes nothing to %s: %q", name, is)
			}
			from := len(was)
			if n == 0 {
				from = 0 // it is written over the last one
			}
			for _, cut := range []int{from, (from + len(is)) / 2, len(is) - 1, len(is)} {
				crashed[name] = is[:cut]
				if n == 0 && cut < len(was) {
					crashed[name] += was[cut:]
				}
				want := "a0 a1 b0 b1 @2"
				if n == 0 && cut < len(is) {
					want = "a0 a1 @1" // it had not begun
				}
				left := maps.Clone(crashed)
				t.Run(fmt.Sprintf("%s cut at %d", name, cut), func(t *testing.T) {
					t.Parallel()
					comesBack(t, left, want)
				})
			}
		}
	}
}

// The same where one of these writes has failed, and the others have not.
func TestCommitIsWholeThoughAWriteFailed(t *testing.T) {
	dir := t.TempDir()
	b := startWithTopics(t, dir)
	before, after := commits(t, b, dir)
	b.Close()
	for _, name := range []string{
		"partitions/out-0/0.dat", "partitions/out-1/0.dat", "partitions/out-1/0.idx", "groups.log",
		"pids.log",
	} {
		crashed := maps.Clone(after)
		crashed[name] = before[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			comesBack(t, crashed, "a0 a1 b0 b1 @2")
		})
	}
}

// What a group commits after a transaction is not undone by the note of the transaction.
func TestLaterOffsetsStay(t *testing.T) {
	dir := t.TempDir()
	b := startWithTopics(t, dir)
	p := newProducer(t, b)
	p.commit("a", 1)
	if err := kadm.NewClient(p.Client).CommitAllOffsets(t.Context(), group,
		kadm.OffsetsFromRecords(kgo.Record{Topic: "in", Partition: 0, Offset: 6})); err != nil {
		t.Fatal(err)
	}
	crashed := imageOf(t, dir)
	b.Close()
	comesBack(t, crashed, "a0 a1 @7")
}

// A start never gives a producer an epoch that another one had: the two could not be told apart.
func TestEpochsGoUp(t *testing.T) {
	dir := t.TempDir()
	b := startWithTopics(t, dir)
	newProducer(t, b).commit("a", 1)
	_, was, err := newProducer(t, b).ProducerID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	crashed := imageOf(t, dir)
	b.Close()
	b = start(t, anyPort, crashed.write(t))
	defer b.Close()
	if _, is, err := newProducer(t, b).ProducerID(t.Context()); err != nil || is <= was {
		t.Errorf("after the crash the epoch is %d, %v, and it was %d before", is, err, was)
	}
}

// comesBack starts a broker of what a crash has left, and crashes again, twice.
func comesBack(t *testing.T, crashed image, want string) {
	t.Helper()
	dir := crashed.write(t)
	b := start(t, anyPort, dir)
	if got := state(t, b); got != want {
		t.Errorf("after the crash there is %q, want %q", got, want)
	}
	p := newProducer(t, b)
	p.begin("open", 7)
	crashed = imageOf(t, dir)
	b.Close()

	dir = crashed.write(t)
	b = start(t, anyPort, dir)
	if got := state(t, b); got != want {
		t.Errorf("after another crash there is %q, want %q", got, want)
	}
	p = newProducer(t, b)
	p.commit("z", 9)
	crashed = imageOf(t, dir)
	b.Close()

	values, _, _ := strings.Cut(want, " @")
	want = strings.TrimSpace(values+" z0 z1") + " @9"
	b = start(t, anyPort, crashed.write(t))
	defer b.Close()
	if got := state(t, b); got != want {
		t.Errorf("after the last crash there is %q, want %q", got, want)
	}
}

// A transaction that was open in a crash is aborted for good: no later commit of its producer
// brings its records back.
func TestOpenTransactionIsAborted(t *testing.T) {
	dir := t.TempDir()
	b := startWithTopics(t, dir)
	p := newProducer(t, b)
	p.begin("open", 1)
	crashed := imageOf(t, dir)
	b.Close()
	comesBack(t, crashed, " @none")
}

// A folder that was closed in good order is recovered all the same if an earlier clusterd, which
// does not know the note of that, has worked on it since and crashed.
func TestAnEarlierClusterdWorkedInBetween(t *testing.T) {
	dir := t.TempDir()
	b := startWithTopics(t, dir)
	newProducer(t, b).commit("a", 1)
	b.Close()
	earlier := startBare(t, dir)
	p := newProducer(t, earlier)
	p.commit("b", 2)
	p.begin("open", 3)
	crashed := imageOf(t, dir)
	earlier.Close()
	comesBack(t, crashed, "a0 a1 b0 b1 @2")
}

// A batch that was not written whole is cut off, with or without its entry in the index.
func TestTornBatch(t *testing.T) {
	dir := t.TempDir()
	b := startWithTopics(t, dir)
	p := newProducer(t, b)
	p.commit("a", 1)
	before := imageOf(t, dir)
	p.begin("open", 2)
	after := imageOf(t, dir)
	b.Close()
	const name = "partitions/out-0/0"
	for _, index := range []string{before[name+".idx"], after[name+".idx"], after[name+".idx"] + "x"} {
		from, to := len(before[name+".dat"]), len(after[name+".dat"])
		for _, cut := range []int{from, from + 10, from + 40, to} {
			for _, rest := range []string{"", strings.Repeat("\x00", to-cut)} {
				crashed := maps.Clone(before)
				crashed[name+".idx"], crashed[name+".dat"] = index, after[name+".dat"][:cut]+rest
				t.Run(fmt.Sprintf("%d of %d bytes and %d zeros, %d of index", cut-from, to-from, len(rest),
					len(index)), func(t *testing.T) {
					t.Parallel()
					comesBack(t, crashed, "a0 a1 @1")
				})
			}
		}
	}
}

// What a disk has damaged in the middle is not cut off, since good records are behind it.
func TestDamageIsNoTornBatch(t *testing.T) {
	dir := t.TempDir()
	b := startWithTopics(t, dir)
	p := newProducer(t, b)
	p.commit("a", 1)
	p.commit("b", 2)
	crashed := imageOf(t, dir)
	b.Close()
	const name = "partitions/out-1/0.dat"
	second := 12 + binary.BigEndian.Uint32([]byte(crashed[name][8:]))
	damaged := []byte(crashed[name])
	damaged[second+30] ^= 1
	crashed[name] = string(damaged)
	dir = crashed.write(t)
	_, err := embedded.Start(anyPort, dir, discard)
	want := fmt.Sprintf("%s is damaged at byte %d, and good records are behind that",
		filepath.Join(dir, name), second)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error = %v, want %q", err, want)
	}
	if got := imageOf(t, dir); got[name] != crashed[name] {
		t.Error("the damaged file was changed")
	}
}

// Where a crash has torn the last entry of kfake's logs, later entries are not lost behind it.
func TestTornStateLogs(t *testing.T) {
	dir := t.TempDir()
	b := startWithTopics(t, dir)
	newProducer(t, b).commit("a", 1)
	crashed := imageOf(t, dir)
	b.Close()
	for _, name := range []string{"groups.log", "pids.log"} {
		torn := maps.Clone(crashed)
		torn[name] += "\x40\x00\x00\x00torn"
		t.Run(name, func(t *testing.T) { comesBack(t, torn, "a0 a1 @1") })
	}
}

// A partition whose records are all deleted goes on where it ended, after any start.
func TestEmptiedPartitionGoesOn(t *testing.T) {
	for name, ended := range map[string]func(*testing.T, *embedded.Broker, string) string{
		"closed": func(_ *testing.T, b *embedded.Broker, dir string) string { b.Close(); return dir },
		"crashed": func(t *testing.T, b *embedded.Broker, dir string) string {
			crashed := imageOf(t, dir).write(t)
			if err := os.MkdirAll(filepath.Join(crashed, "partitions", "in-0"), 0o700); err != nil {
				t.Fatal(err) // an image has no empty folders
			}
			b.Close()
			return crashed
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			b := startWithTopics(t, dir)
			write(t, b, "in", "a", "b", "c")
			emptied := make(kadm.Offsets)
			emptied.Add(kadm.Offset{Topic: "in", At: 3})
			if _, err := kadm.NewClient(newProducer(t, b).Client).DeleteRecords(t.Context(),
				emptied); err != nil {
				t.Fatal(err)
			}
			b = start(t, anyPort, ended(t, b, dir))
			defer b.Close()
			write(t, b, "in", "d")
			r, err := kadm.NewClient(newProducer(t, b).Client).ListEndOffsets(t.Context(), "in")
			if err != nil {
				t.Fatal(err)
			}
			if end, _ := r.Lookup("in", 0); end.Offset != 4 {
				t.Errorf("the partition ends at %d, want 4", end.Offset)
			}
		})
	}
}

// Records are kept for as long as their topic says, and for ever if it does not say.
func TestRetention(t *testing.T) {
	dir := t.TempDir()
	b := startWithTopics(t, dir)
	write(t, b, "in", "old")
	write(t, b, "out", "kept")
	admin := kadm.NewClient(newProducer(t, b).Client)
	if _, err := admin.AlterTopicConfigs(t.Context(), []kadm.AlterConfig{
		{Op: kadm.SetConfig, Name: "retention.ms", Value: kadm.StringPtr("10")},
	}, "in"); err != nil {
		t.Fatal(err)
	}
	b.Close()
	time.Sleep(20 * time.Millisecond) // until it is too old
	b = start(t, anyPort, dir)
	defer b.Close()
	admin = kadm.NewClient(newProducer(t, b).Client)
	starts, err := admin.ListStartOffsets(t.Context(), "in", "out")
	if err != nil {
		t.Fatal(err)
	}
	in, _ := starts.Lookup("in", 0)
	out, _ := starts.Lookup("out", 0)
	if in.Offset != 1 || out.Offset != 0 {
		t.Errorf("the first offsets are %d and %d, want 1 and 0", in.Offset, out.Offset)
	}
}
