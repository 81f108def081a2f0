// Package kafkatest starts brokers in the test's own process, kfake, and connects to them. They
// speak the protocol, and are no proof of what Apache Kafka does: the tests in integration are.
package kafkatest

import (
	"net"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

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
	withoutMetrics(cluster)
	return cluster
}

// withoutMetrics has the brokers refuse the metrics of clients, as those do that nobody has told
// what to collect. To pack and send them takes a client of franz-go longer than all else it does
// in a short test.
func withoutMetrics(cluster *kfake.Cluster) {
	cluster.ControlKey(int16(kmsg.GetTelemetrySubscriptions),
		func(request kmsg.Request) (kmsg.Response, error, bool) {
			cluster.KeepControl()
			response := request.ResponseKind().(*kmsg.GetTelemetrySubscriptionsResponse)
			response.ErrorCode = kerr.UnsupportedVersion.Code
			return response, nil, true
		})
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
