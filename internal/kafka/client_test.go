package kafka_test

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"maps"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol/metadata"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
)

// startBroker starts an in-process broker on a free port.
func startBroker(t *testing.T, options ...kfake.Opt) (*kfake.Cluster, kafka.Options) {
	t.Helper()
	cluster := kafkatest.Start(t, 1, options...)
	return cluster, kafka.Options{Brokers: cluster.ListenAddrs()}
}

func TestNewClientNamesTheSettingThatCannotBeUsed(t *testing.T) {
	dir := t.TempDir()
	missing, garbage := filepath.Join(dir, "missing.pem"), filepath.Join(dir, "garbage.pem")
	if err := os.WriteFile(garbage, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		config kafka.Options
		want   []string
	}{
		"no CA file":              {kafka.Options{TLS: kafka.TLS{Enabled: true, CAFile: missing}}, []string{"kafka.tls.ca_file", missing}},
		"CA file without content": {kafka.Options{TLS: kafka.TLS{Enabled: true, CAFile: garbage}}, []string{"kafka.tls.ca_file", garbage, "no PEM certificate"}},
		"no certificate":          {kafka.Options{TLS: kafka.TLS{Enabled: true, CertFile: missing, KeyFile: garbage}}, []string{"kafka.tls.cert_file", missing}},
		"bad certificate":         {kafka.Options{TLS: kafka.TLS{Enabled: true, CertFile: garbage, KeyFile: garbage}}, []string{"kafka.tls.cert_file", "kafka.tls.key_file"}},
		"unknown mechanism":       {kafka.Options{SASL: kafka.SASL{Mechanism: "gssapi"}}, []string{"kafka.sasl.mechanism", `"gssapi"`, "none, plain, scram-sha-256 or scram-sha-512"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := kafka.NewClient(tt.config)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error = %q, want %q in it", err, want)
				}
			}
		})
	}
}

func TestNewClientReadsNoFilesWithoutTLS(t *testing.T) {
	kafkatest.Connect(t, kafka.Options{Brokers: []string{"127.0.0.1:1"}, TLS: kafka.TLS{CAFile: "missing.pem", CertFile: "missing.pem"}})
}

func TestLogin(t *testing.T) {
	for mechanism, method := range map[string]string{"plain": "PLAIN", "scram-sha-256": "SCRAM-SHA-256", "scram-sha-512": "SCRAM-SHA-512"} {
		t.Run(mechanism, func(t *testing.T) {
			t.Parallel()
			cluster, c := startBroker(t, kfake.EnableSASL(), kfake.Superuser(method, "clusterd", "right"), kfake.SeedTopics(2, "articles"))
			c.SASL = kafka.SASL{Mechanism: mechanism, Username: "clusterd", Password: "right"}
			if got, err := kafkatest.Connect(t, c).Partitions(t.Context(), "articles"); err != nil || !slices.Equal(got, []int{0, 1}) {
				t.Errorf("Partitions = %v, %v", got, err)
			}
			refuseLogins(cluster)
			c.SASL.Password = "wrong"
			_, err := kafkatest.Connect(t, c).Partitions(t.Context(), "articles")
			if !kafka.Fatal(err) || kafka.Retriable(err) {
				t.Fatalf("error = %v, want one that waiting does not mend", err)
			}
			text := kafka.Explain(err).Error()
			if !strings.Contains(text, "the broker refused the login: check kafka.sasl.username and kafka.sasl.password") {
				t.Errorf("Explain = %q", text)
			}
			if strings.Contains(text, "wrong") {
				t.Errorf("the password is in the error: %q", text)
			}
		})
	}
}

// refuseLogins makes the broker answer as Apache Kafka does where a login is wrong. kfake hangs up
// instead.
func refuseLogins(cluster *kfake.Cluster) {
	cluster.ControlKey(int16(kmsg.SASLAuthenticate), func(request kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		response := request.ResponseKind().(*kmsg.SASLAuthenticateResponse)
		response.ErrorCode = int16(kafkago.SASLAuthenticationFailed)
		return response, nil, true
	})
}

func TestLoginByAMechanismThatTheBrokerDoesNotTake(t *testing.T) {
	cluster, c := startBroker(t, kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-256", "clusterd", "right"))
	cluster.ControlKey(int16(kmsg.SASLHandshake), func(request kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		response := request.ResponseKind().(*kmsg.SASLHandshakeResponse)
		response.ErrorCode, response.SupportedMechanisms = int16(kafkago.UnsupportedSASLMechanism), []string{"SCRAM-SHA-256"}
		return response, nil, true
	})
	c.SASL = kafka.SASL{Mechanism: "plain", Username: "clusterd", Password: "right"}
	_, err := kafkatest.Connect(t, c).Partitions(t.Context(), "articles")
	if !kafka.Fatal(err) || !strings.Contains(kafka.Explain(err).Error(), "check kafka.sasl.mechanism") {
		t.Errorf("error = %v, want a fatal one that names kafka.sasl.mechanism", kafka.Explain(err))
	}
}

func TestTLS(t *testing.T) {
	server := httptest.NewTLSServer(nil) // for its certificate, which is for 127.0.0.1
	defer server.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(ca, certificate, 0o600); err != nil {
		t.Fatal(err)
	}
	_, c := startBroker(t, kfake.TLS(&tls.Config{Certificates: server.TLS.Certificates}), kfake.SeedTopics(1, "articles"))
	for name, tt := range map[string]struct {
		tls   kafka.TLS
		fatal bool
	}{
		"trusted":              {kafka.TLS{Enabled: true, CAFile: ca}, false},
		"not verified":         {kafka.TLS{Enabled: true, InsecureSkipVerify: true}, false},
		"trusted by this name": {kafka.TLS{Enabled: true, CAFile: ca, ServerName: "example.com"}, false},
		"another name":         {kafka.TLS{Enabled: true, CAFile: ca, ServerName: "kafka.invalid"}, true},
		"not trusted":          {kafka.TLS{Enabled: true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := c
			c.TLS = tt.tls
			_, err := kafkatest.Connect(t, c).Partitions(t.Context(), "articles")
			switch {
			case !tt.fatal && err != nil:
				t.Error(err)
			case tt.fatal && (!kafka.Fatal(err) || kafka.Retriable(err)):
				t.Errorf("error = %v, want one that waiting does not mend", err)
			case tt.fatal && !strings.Contains(kafka.Explain(err).Error(), "the TLS handshake failed: check kafka.tls"):
				t.Errorf("Explain = %q", kafka.Explain(err))
			}
		})
	}
}

func TestTLSAgainstAPortWithoutIt(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler()) // it answers a handshake with plain text
	defer server.Close()
	client := kafkatest.Connect(t, kafka.Options{Brokers: []string{server.Listener.Addr().String()}, TLS: kafka.TLS{Enabled: true}})
	_, err := client.Partitions(t.Context(), "articles")
	if !kafka.Fatal(err) || kafka.Retriable(err) {
		t.Fatalf("error = %v, want one that waiting does not mend", err)
	}
	if text := kafka.Explain(err).Error(); !strings.Contains(text, "kafka.brokers names the TLS listener") {
		t.Errorf("Explain = %q", text)
	}
}

func TestUnreachableBroker(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close() // now nobody listens there
	_, err = kafkatest.Connect(t, kafka.Options{Brokers: []string{listener.Addr().String()}}).Partitions(t.Context(), "articles")
	if !kafka.Retriable(err) || kafka.Fatal(err) {
		t.Fatalf("error = %v, want one that may pass", err)
	}
	if text := kafka.Explain(err).Error(); !strings.Contains(text, "no broker listens there: check kafka.brokers") {
		t.Errorf("Explain = %q", text)
	}
}

func TestBrokerThatHangsUp(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conn.Close()
		}
	}()
	_, err = kafkatest.Connect(t, kafka.Options{Brokers: []string{listener.Addr().String()}}).Partitions(t.Context(), "articles")
	if !kafka.Retriable(err) {
		t.Errorf("error = %v, want one that may pass", err)
	}
}

func TestSilentBrokerIsGivenUp(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") // it accepts, and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client := kafkatest.Connect(t, kafka.Options{Brokers: []string{listener.Addr().String()}})
	_, err = kafka.DoWithin[*metadata.Response](t.Context(), client, &metadata.Request{}, 20*time.Millisecond)
	if !kafka.Retriable(err) || !errors.Is(err, context.DeadlineExceeded) || !strings.HasPrefix(err.Error(), "Metadata: ") {
		t.Errorf("error = %v, want the request's name and that its time is over", err)
	}
}

func TestTopics(t *testing.T) {
	_, c := startBroker(t, kfake.SeedTopics(3, "articles"))
	client, ctx := kafkatest.Connect(t, c), t.Context()

	partitions, err := client.Partitions(ctx, "articles")
	if err != nil || !slices.Equal(partitions, []int{0, 1, 2}) {
		t.Fatalf("Partitions = %v, %v", partitions, err)
	}
	leaders, err := client.Leaders(ctx, "articles")
	if err != nil || !maps.Equal(leaders, map[int]int{0: 0, 1: 0, 2: 0}) {
		t.Errorf("Leaders = %v, %v", leaders, err)
	}
	for name, ask := range map[string]func() error{
		"Partitions": func() error { _, err := client.Partitions(ctx, "nothing"); return err },
		"Leaders":    func() error { _, err := client.Leaders(ctx, "nothing"); return err },
	} {
		if err := ask(); !errors.Is(err, kafka.ErrNoTopic) || !strings.Contains(err.Error(), "topic nothing: it does not exist") {
			t.Errorf("%s of no topic: %v", name, err)
		}
	}

	writer := &kafkago.Writer{Addr: kafkago.TCP(c.Brokers...), Topic: "articles", RequiredAcks: kafkago.RequireAll, BatchSize: 1, Balancer: &kafkago.RoundRobin{}}
	defer writer.Close()
	if err := writer.WriteMessages(ctx, kafkago.Message{Value: []byte("0")}, kafkago.Message{Value: []byte("1")}, kafkago.Message{Value: []byte("2")}, kafkago.Message{Value: []byte("3")}); err != nil {
		t.Fatal(err)
	}
	last, err := client.Offsets(ctx, "articles", partitions, kafka.Last)
	if err != nil || len(last) != 3 || last[0]+last[1]+last[2] != 4 {
		t.Errorf("Offsets(Last) = %v, %v; want 4 records in 3 partitions", last, err)
	}
	first, err := client.Offsets(ctx, "articles", []int{2, 0}, kafka.First)
	if err != nil || !maps.Equal(first, map[int]int64{0: 0, 2: 0}) {
		t.Errorf("Offsets(First) = %v, %v", first, err)
	}
	if none, err := client.Offsets(ctx, "articles", nil, kafka.First); err != nil || len(none) != 0 {
		t.Errorf("Offsets of no partitions = %v, %v", none, err)
	}
	if _, err := client.Offsets(ctx, "nothing", []int{0}, kafka.First); !kafka.NoTopic(err) {
		t.Errorf("Offsets of no topic: %v", err)
	}
	if _, err := client.Offsets(ctx, "articles", []int{0, 9}, kafka.First); !kafka.NoTopic(err) {
		t.Errorf("Offsets of no partition: %v", err)
	}
}

func TestCreateTopic(t *testing.T) {
	cluster, c := startBroker(t, kfake.DefaultNumPartitions(2))
	client, ctx := kafkatest.Connect(t, c), t.Context()
	spec := kafka.TopicSpec{Name: "clusters", Partitions: 5, Configs: map[string]string{"cleanup.policy": "compact", "max.message.bytes": "2000000"}}
	for range 2 { // the second time it is there already
		if err := client.CreateTopic(ctx, spec); err != nil {
			t.Fatal(err)
		}
	}
	spec.Partitions = 7 // and is left as it is
	if err := client.CreateTopic(ctx, spec); err != nil {
		t.Fatal(err)
	}
	if got, err := client.Partitions(ctx, "clusters"); err != nil || len(got) != 5 {
		t.Errorf("Partitions = %v, %v; want 5", got, err)
	}
	if got, err := client.TopicConfig(ctx, "clusters"); err != nil || got != (kafka.TopicConfig{CleanupPolicy: "compact", MaxMessageBytes: 2_000_000, LimitKnown: true, DeleteRetention: 24 * time.Hour}) {
		t.Errorf("TopicConfig = %+v, %v", got, err)
	}
	if err := client.CreateTopic(ctx, kafka.TopicSpec{Name: "results"}); err != nil {
		t.Fatal(err)
	}
	if got, err := client.Partitions(ctx, "results"); err != nil || len(got) != 2 {
		t.Errorf("Partitions = %v, %v; want the broker's default, 2", got, err)
	}
	if got, err := client.TopicConfig(ctx, "results"); err != nil || got != (kafka.TopicConfig{CleanupPolicy: "delete", MaxMessageBytes: 1_048_588, LimitKnown: true, DeleteRetention: 24 * time.Hour}) {
		t.Errorf("TopicConfig = %+v, %v; want Kafka's defaults", got, err)
	}
	cluster.ControlKey(int16(kmsg.CreateTopics), func(request kmsg.Request) (kmsg.Response, error, bool) { // kfake takes any name
		response := request.ResponseKind().(*kmsg.CreateTopicsResponse)
		topic := kmsg.NewCreateTopicsResponseTopic()
		topic.Topic, topic.ErrorCode = "no/such name", int16(kafkago.InvalidTopic)
		response.Topics = append(response.Topics, topic)
		return response, nil, true
	})
	err := client.CreateTopic(ctx, kafka.TopicSpec{Name: "no/such name"})
	if !errors.Is(err, kafkago.InvalidTopic) || !kafka.Fatal(err) || !strings.Contains(err.Error(), "creating topic no/such name") {
		t.Errorf("error = %v, want that the name is not allowed", err)
	}
	if _, err := client.TopicConfig(ctx, "nothing"); !kafka.NoTopic(err) {
		t.Errorf("TopicConfig of no topic: %v", err)
	}
}

func TestTopicConfigWithoutTheRightToReadIt(t *testing.T) {
	_, c := startBroker(t, kfake.EnableSASL(), kfake.EnableACLs(), kfake.Superuser("PLAIN", "admin", "admin"),
		kfake.User("PLAIN", "clusterd", "pw"), kfake.SeedTopics(1, "articles"))
	c.SASL = kafka.SASL{Mechanism: "plain", Username: "clusterd", Password: "pw"}
	got, err := kafkatest.Connect(t, c).TopicConfig(t.Context(), "articles")
	if err != nil || got != (kafka.TopicConfig{MaxMessageBytes: 1_048_588, DeleteRetention: 24 * time.Hour}) {
		t.Errorf("TopicConfig = %+v, %v; want Kafka's default size and no policy", got, err)
	}
}

func TestTopicSpecCommand(t *testing.T) {
	for want, spec := range map[string]kafka.TopicSpec{
		"kafka-topics --create --topic results":                {Name: "results"},
		"kafka-topics --create --topic results --partitions 4": {Name: "results", Partitions: 4},
		"kafka-topics --create --topic clusters --partitions 1 --config cleanup.policy=compact --config max.message.bytes=9": {
			Name: "clusters", Partitions: 1, Configs: map[string]string{"max.message.bytes": "9", "cleanup.policy": "compact"},
		},
	} {
		if got := spec.Command(); got != want {
			t.Errorf("Command() = %q, want %q", got, want)
		}
	}
}

func TestTopicConfigOfTombstones(t *testing.T) {
	_, c := startBroker(t)
	client := kafkatest.Connect(t, c)
	for value, want := range map[string]time.Duration{
		"0": 0, "3600000": time.Hour, "9223372036854775807": math.MaxInt64 / time.Millisecond * time.Millisecond,
	} {
		topic := "kept-" + value
		if err := client.CreateTopic(t.Context(), kafka.TopicSpec{Name: topic, Partitions: 1, Configs: map[string]string{"delete.retention.ms": value}}); err != nil {
			t.Fatal(err)
		}
		if got, err := client.TopicConfig(t.Context(), topic); err != nil || got.DeleteRetention != want {
			t.Errorf("delete.retention.ms %s: %v, %v; want %v", value, got.DeleteRetention, err, want)
		}
	}
}
