// Package embedded is an embedded Kafka broker for the demo, for trying clusterd without a Kafka,
// and for tests. An address and a directory go in; a broker comes out that any Kafka client can
// use. It has one event loop and no replication: it is not for production.
package embedded

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/gofrs/flock"
	"github.com/twmb/franz-go/pkg/kfake"
)

// Partitions is how many partitions a topic has that is created without a number.
const Partitions = 4

// A Broker is a broker that runs. Close it to keep what it holds.
type Broker struct {
	cluster *kfake.Cluster
	lock    *flock.Flock // nil without a directory
	address string
}

// Start starts a broker on address, host:port; port 0 takes a free one. With a directory it keeps
// topics and offsets there, and locks it: one broker at a time; with "" everything is in memory and
// gone at the end.
func Start(address, dir string, log *slog.Logger) (*Broker, error) {
	b := &Broker{}
	options := []kfake.Opt{
		kfake.NumBrokers(1), kfake.DefaultNumPartitions(Partitions), kfake.WithLogger(logger{log}),
		kfake.ListenFn(
			func(network, _ string) (net.Listener, error) { return net.Listen(network, address) },
		),
	}
	if dir != "" {
		if err := b.lockDir(dir); err != nil {
			return nil, err
		}
		options = append(options, kfake.DataDir(dir))
	}
	cluster, err := kfake.NewCluster(options...)
	if err != nil {
		b.unlock()
		if errors.Is(err, syscall.EADDRINUSE) {
			return nil, fmt.Errorf(
				"starting the embedded broker: %s is taken, perhaps by another broker: give another port in "+
					"kafka.brokers (%w)",
				address, err,
			)
		}
		return nil, fmt.Errorf("starting the embedded broker on %s: %w", address, err)
	}
	b.cluster, b.address = cluster, cluster.ListenAddrs()[0]
	return b, nil
}

// Address returns where clients find the broker, host:port.
func (b *Broker) Address() string { return b.address }

// Close stops the broker and writes what is not written yet.
func (b *Broker) Close() {
	b.cluster.Close()
	b.unlock()
}

func (b *Broker) lockDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("the embedded broker's folder: %w", err)
	}
	name := filepath.Join(dir, "clusterd.lock")
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

func (b *Broker) unlock() {
	if b.lock != nil {
		_ = b.lock.Unlock() // which the end of the process does too
	}
}

// logger passes on what kfake has to say, at a level below that of a user of clusterd.
type logger struct{ log *slog.Logger }

func (l logger) Logf(level kfake.LogLevel, format string, args ...any) {
	text := strings.TrimSpace(fmt.Sprintf(format, args...))
	if level <= kfake.LogLevelError {
		l.log.Error("embedded broker: " + text)
		return
	}
	l.log.Debug("embedded broker: " + text)
}
