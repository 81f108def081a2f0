package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/bench/build"
)

// cluster is the Kafka that everything is measured on.
type cluster struct {
	address string
	client  *kgo.Client
	admin   *kadm.Client
	pid     int    // of the broker, 0 where it is somebody else's
	script  string // integration/kafka
	dir     string // of the broker, "" where it is somebody else's
}

// startKafka starts a broker under dir, or connects to the one that the settings name.
func startKafka(ctx context.Context, root, dir string, s settings) (*cluster, error) {
	k := &cluster{address: s.brokers, script: filepath.Join(root, "integration", "kafka")}
	var err error
	if k.address == "" {
		k.dir, k.address = filepath.Join(dir, "kafka"), fmt.Sprintf("127.0.0.1:%d", s.port)
		err = k.start(ctx, s.port)
	}
	if err == nil {
		k.client, err = kgo.NewClient(kgo.SeedBrokers(strings.Split(k.address, ",")...))
	}
	if err != nil {
		return nil, errors.Join(err, k.stop(context.WithoutCancel(ctx)))
	}
	k.admin = kadm.NewClient(k.client)
	return k, nil
}

func (k *cluster) start(ctx context.Context, port int) error {
	say("starting a broker on port %d", port)
	if err := build.Run(
		exec.CommandContext(ctx, k.script, "start", "--dir", k.dir, "--port", strconv.Itoa(port)),
	); err != nil {
		return err
	}
	pid, err := exec.CommandContext(ctx, k.script, "status", "--dir", k.dir).Output()
	if err != nil {
		return fmt.Errorf("%s status: %w", k.script, err)
	}
	k.pid, err = strconv.Atoi(strings.TrimSpace(string(pid)))
	return err
}

// stop ends the broker, if it is ours, and deletes its data; its log stays.
func (k *cluster) stop(ctx context.Context) error {
	if k.client != nil {
		k.client.Close()
	}
	if k.dir == "" {
		return nil
	}
	return errors.Join(build.Run(exec.CommandContext(ctx, k.script, "stop", "--dir", k.dir)),
		os.RemoveAll(filepath.Join(k.dir, "data")))
}

// createTopic makes a topic; settings are names and values by turns.
func (k *cluster) createTopic(
	ctx context.Context, topic string, partitions int, settings ...string,
) error {
	configs := make(map[string]*string)
	for i := 0; i < len(settings); i += 2 {
		configs[settings[i]] = &settings[i+1]
	}
	if _, err := k.admin.CreateTopic(ctx, int32(partitions), -1, configs, topic); err != nil {
		return fmt.Errorf("creating topic %s: %w", topic, err)
	}
	return nil
}

// dropTopics deletes all topics whose names begin with prefix.
func (k *cluster) dropTopics(ctx context.Context, prefix string) error {
	topics, err := k.admin.ListTopics(ctx)
	if err != nil {
		return fmt.Errorf("listing topics: %w", err)
	}
	var drop []string
	for _, name := range topics.Names() {
		if strings.HasPrefix(name, prefix) {
			drop = append(drop, name)
		}
	}
	if _, err := k.admin.DeleteTopics(ctx, drop...); err != nil {
		return fmt.Errorf("deleting topics: %w", err)
	}
	return nil
}

// record returns article i of a corpus on its way to a topic of so many partitions, which take
// turns.
func (c corpus) record(topic string, partitions, i int) *kgo.Record {
	return &kgo.Record{
		Topic: topic, Partition: int32(i % partitions), Key: []byte(c.id(i)), Value: c.value(i),
	}
}

// producer returns a client that leaves partitions to its caller.
func (k *cluster) producer(linger time.Duration) (*kgo.Client, error) {
	return kgo.NewClient(kgo.SeedBrokers(strings.Split(k.address, ",")...),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchCompression(kgo.Lz4Compression()), kgo.ProducerLinger(linger))
}

// produce makes a topic of the first n articles, and returns how many bytes their values have.
func (k *cluster) produce(
	ctx context.Context, topic string, partitions int, c corpus, n int,
) (size int64, err error) {
	if err := k.createTopic(ctx, topic, partitions); err != nil {
		return 0, err
	}
	producer, err := k.producer(20 * time.Millisecond)
	if err != nil {
		return 0, err
	}
	defer producer.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for i := range n {
		r := c.record(topic, partitions, i)
		size += int64(len(r.Value))
		producer.Produce(ctx, r, func(_ *kgo.Record, err error) {
			if err != nil {
				cancel(fmt.Errorf("producing to %s: %w", topic, err)) // the first cause stays
			}
		})
	}
	_ = producer.Flush(ctx) // it fails only with ctx
	return size, context.Cause(ctx)
}

// committed returns how many records of a topic a group has committed; none while there is no such
// group.
func (k *cluster) committed(ctx context.Context, group, topic string) (n int64, err error) {
	offsets, err := k.admin.FetchOffsets(ctx, group)
	if err != nil && !kerr.IsRetriable(err) && !errors.Is(err, kerr.GroupIDNotFound) {
		return 0, fmt.Errorf("the offsets of group %s: %w", group, err)
	}
	for _, o := range offsets[topic] {
		n += max(0, o.At)
	}
	return n, nil
}

// count returns how many committed records a topic holds.
func (k *cluster) count(ctx context.Context, topic string) (n int64, err error) {
	ends, err := k.admin.ListEndOffsets(ctx, topic)
	if err == nil {
		err = ends.Error()
	}
	if err != nil {
		return 0, fmt.Errorf("the end of topic %s: %w", topic, err)
	}
	from := make(map[int32]kgo.Offset)
	for p, end := range ends[topic] {
		if end.Offset > 0 {
			from[p] = kgo.NewOffset().AtStart()
		}
	}
	if len(from) == 0 {
		return 0, nil
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(strings.Split(k.address, ",")...),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.KeepControlRecords(), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}))
	if err != nil {
		return 0, err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, stallTimeout)
	defer cancel()
	for len(from) > 0 {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return n, fmt.Errorf("counting the records of %s: %w", topic, err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if !r.Attrs.IsControl() {
				n++
			}
			// Aborted records at the very end do not come, but their control record does.
			if r.Offset >= ends[topic][r.Partition].Offset-1 {
				delete(from, r.Partition)
			}
		})
	}
	return n, nil
}
