// Package embedded is a Kafka broker in the process: kfake, of franz-go, and workarounds for its
// faults, so that it loses nothing when the process is killed, the power fails or the disk is full.
// An address and a directory go in; a broker comes out that any Kafka client can use. It is one
// broker without replicas.
package embedded

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gofrs/flock"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// Partitions is how many partitions a topic has that is created without a number.
const Partitions = 4

// A Broker is a broker that runs. Close it to keep what it holds.
type Broker struct {
	cluster  *kfake.Cluster
	listener net.Listener
	address  string
	log      *slog.Logger
	failing  sync.Once
	failed   chan struct{}
	why      error // after failed
	// of one with a directory
	dir          string
	lock         *flock.Flock
	transactions *transactions
	space        *space
	topics       bool // they have changed, and the directory is not synced
	trimmed      time.Time
}

// Start starts a broker on address, host:port; port 0 takes a free one. With a directory it keeps
// topics and offsets there, and locks it: one broker at a time; with "" everything is in memory and
// gone at the end.
func Start(address, dir string, log *slog.Logger) (*Broker, error) {
	b := &Broker{dir: dir, log: log, failed: make(chan struct{}), topics: true}
	started := make(chan struct{})
	defer close(started)
	options := []kfake.Opt{
		kfake.NumBrokers(1), kfake.DefaultNumPartitions(Partitions), kfake.WithLogger(logger{b}),
		kfake.ListenFn(func(network, _ string) (_ net.Listener, err error) {
			b.listener, err = net.Listen(network, address)
			return gate{b.listener, started}, err
		}),
	}
	if dir != "" {
		if err := b.open(); err != nil {
			b.release()
			return nil, err
		}
		options = append(options, kfake.DataDir(dir), kfake.SyncWrites(), kfake.BrokerConfigs(settings),
			// Later ones begin and end transactions in other ways, which are not followed here.
			kfake.MaxVersions(kversion.V3_9_0()))
	}
	cluster, err := kfake.NewCluster(options...)
	if err != nil {
		b.release()
		if errors.Is(err, syscall.EADDRINUSE) {
			return nil, fmt.Errorf(
				"starting the embedded broker: %s is taken, perhaps by another broker: give another port in "+
					"kafka.brokers (%w)",
				address, err,
			)
		}
		return nil, fmt.Errorf("starting the embedded broker on %s: %w", address, err)
	}
	b.cluster, b.address = cluster, b.listener.Addr().String()
	cluster.ControlKey(-1, b.control)
	return b, nil
}

// open takes the directory, and makes it what it was before a crash.
func (b *Broker) open() error {
	if err := b.lockDir(); err != nil {
		return err
	}
	if err := recoverDir(b.dir, b.log); err != nil {
		return fmt.Errorf("recovering the embedded broker's folder: %w", err)
	}
	var err error
	if err = restoreEnds(b.dir); err != nil {
		return fmt.Errorf("recovering the embedded broker's folder: %w", err)
	}
	if b.transactions, err = newTransactions(b.dir, b.end); err != nil {
		return fmt.Errorf("the embedded broker's folder: %w", err)
	}
	b.space = newSpace(b.dir, b.log)
	return nil
}

// control sees each request before kfake does, one after the other. What it returns is the answer.
func (b *Broker) control(request kmsg.Request) (_ kmsg.Response, failed error, handled bool) {
	b.cluster.KeepControl()
	response, err := refuse(request)
	if err != nil || response != nil {
		return response, err, true
	}
	if b.dir == "" {
		return nil, nil, false
	}
	err = b.prepare(request)
	response = b.space.refuse(request)
	if err == nil && response == nil {
		response, err = b.transactions.observe(request)
	}
	if err != nil {
		b.fail(err)
	}
	if err := b.Err(); err != nil {
		return nil, err, true // which closes the connection
	}
	return response, nil, response != nil
}

// end returns where a partition ends.
func (b *Broker) end(topic string, partition int32) int64 {
	if info := b.cluster.PartitionInfo(topic, partition); info != nil {
		return info.HighWatermark
	}
	return 0
}

// prepare does what must be done before kfake handles a request.
func (b *Broker) prepare(request kmsg.Request) error {
	if b.topics {
		if err := syncDir(b.dir); err != nil {
			return err
		}
	}
	switch request.(type) {
	case *kmsg.CreateTopicsRequest, *kmsg.DeleteTopicsRequest, *kmsg.CreatePartitionsRequest,
		*kmsg.AlterConfigsRequest, *kmsg.IncrementalAlterConfigsRequest:
		b.topics = true
	default:
		b.topics = false
	}
	return b.trim(request)
}

// Address returns where clients find the broker, host:port.
func (b *Broker) Address() string { return b.address }

// Failed is closed when the broker could not write and has stopped. Err says why then.
func (b *Broker) Failed() <-chan struct{} { return b.failed }

// Err returns why the broker has failed, or nil.
func (b *Broker) Err() error {
	select {
	case <-b.failed:
		return b.why
	default:
		return nil
	}
}

// fail stops the broker: what kfake has in memory is no longer what is on the disk.
func (b *Broker) fail(err error) {
	b.failing.Do(func() {
		b.why = fmt.Errorf("the embedded broker cannot write to %s, and has stopped. Nothing that was "+
			"acknowledged is lost. See to the disk, and start clusterd again: it recovers (%w)", b.dir, err)
		close(b.failed)
	})
}

// Close stops the broker and writes what is not written yet. One that has failed writes nothing.
func (b *Broker) Close() {
	defer b.release()
	if b.Err() != nil {
		_ = b.listener.Close()
		return
	}
	b.cluster.Close()
	if b.dir == "" || b.Err() != nil {
		return
	}
	if err := markClosed(b.dir); err != nil {
		b.log.Warn("the embedded broker is closed, and recovers at the next start", "error", err)
	}
}

func (b *Broker) lockDir() error {
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return fmt.Errorf("the embedded broker's folder: %w", err)
	}
	name := filepath.Join(b.dir, "clusterd.lock")
	lock := flock.New(name, flock.SetPermissions(0o600))
	locked, err := lock.TryLock()
	if err != nil {
		return fmt.Errorf("the embedded broker's folder: locking %s: %w", name, err)
	}
	if !locked {
		return fmt.Errorf("%s is locked: another clusterd keeps its broker there", name)
	}
	b.lock = lock
	return nil
}

// release gives up the directory, which the end of the process does too.
func (b *Broker) release() {
	if b.transactions != nil {
		_ = b.transactions.close()
	}
	if b.lock != nil {
		_ = b.lock.Unlock()
	}
}

// logger passes on the log of kfake, at levels for users of clusterd. The log is the only place
// where kfake reports that it could not write something.
type logger struct{ broker *Broker }

func (l logger) Logf(level kfake.LogLevel, format string, args ...any) {
	text := strings.TrimSpace(fmt.Sprintf(format, args...))
	if level <= kfake.LogLevelWarn && l.broker.dir != "" &&
		(strings.HasPrefix(text, "persist ") || strings.HasPrefix(text, "endTx: ")) {
		l.broker.fail(errors.New(text))
	}
	if level <= kfake.LogLevelError {
		l.broker.log.Error("embedded broker: " + text)
		return
	}
	l.broker.log.Debug("embedded broker: " + text)
}
