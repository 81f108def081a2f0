// Package kafkatest starts brokers in the test's own process, kfake, and connects to them. They
// speak the protocol, and are no proof of what Apache Kafka does: the tests in integration are.
package kafkatest

import (
	"net"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/clusterd/clusterd/internal/kafka"
)

// Start starts n brokers on free ports, unless the options say otherwise. They end with the test.
func Start(t testing.TB, n int, options ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	cluster, err := kfake.NewCluster(append([]kfake.Opt{
		kfake.NumBrokers(n),
		kfake.ListenFn(
			func(network, _ string) (net.Listener, error) { return net.Listen(network, "127.0.0.1:0") },
		),
	}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	return cluster
}

// Connect returns a client with these options. It is closed with the test.
func Connect(t testing.TB, o kafka.Options) *kafka.Client {
	t.Helper()
	client, err := kafka.NewClient(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}
