package kafka_test

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
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
	"github.com/clusterd/clusterd/internal/kafka/login"
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
		"no CA file": {
			kafka.Options{TLS: login.TLS{Enabled: true, CAFile: missing}},
			[]string{"kafka.tls.ca_file", missing},
		},
		"CA file without content": {
			kafka.Options{TLS: login.TLS{Enabled: true, CAFile: garbage}},
			[]string{"kafka.tls.ca_file", garbage, "no PEM certificate"},
		},
		"no certificate": {kafka.Options{TLS: login.TLS{
			Enabled: true, CertFile: missing, KeyFile: garbage,
		}}, []string{"kafka.tls.cert_file", missing}},
		"bad certificate": {kafka.Options{TLS: login.TLS{
			Enabled: true, CertFile: garbage, KeyFile: garbage,
		}}, []string{"kafka.tls.cert_file", "kafka.tls.key_file"}},
		"unknown mechanism": {
			kafka.Options{SASL: login.SASL{Mechanism: "gssapi"}},
			[]string{"kafka.sasl.mechanism", `"gssapi"`, "none, plain, scram-sha-256, "},
		},
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
	kafkatest.Connect(t, kafka.Options{
		Brokers: []string{"127.0.0.1:1"}, TLS: login.TLS{CAFile: "missing.pem", CertFile: "missing.pem"},
	})
}

func TestLogin(t *testing.T) {
	for mechanism, method := range map[string]string{
		"plain":         "PLAIN",
		"scram-sha-256": "SCRAM-SHA-256", "scram-sha-512": "SCRAM-SHA-512",
	} {
		t.Run(mechanism, func(t *testing.T) {
			t.Parallel()
			cluster, c := startBroker(t, kfake.EnableSASL(), kfake.Superuser(method, "clusterd", "right"),
				kfake.SeedTopics(2, "articles"))
			c.SASL = login.SASL{Mechanism: mechanism, Username: "clusterd", Password: "right"}
			if got, err := kafkatest.Connect(t, c).Partitions(t.Context(), "articles"); err != nil ||
				!slices.Equal(got, []int{0, 1}) {
				t.Errorf("Partitions = %v, %v", got, err)
			}
			refuseLogins(cluster)
			c.SASL.Password = "wrong"
			_, err := kafkatest.Connect(t, c).Partitions(t.Context(), "articles")
			if !kafka.Fatal(err) || kafka.Retriable(err) {
				t.Fatalf("error = %v, want one that waiting does not mend", err)
			}
			text := kafka.Explain(err).Error()
			if !strings.Contains(text,
				"the broker refused the login: check kafka.sasl.username and kafka.sasl.password") {
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
	cluster.ControlKey(int16(kmsg.SASLAuthenticate),
		func(request kmsg.Request) (kmsg.Response, error, bool) {
			cluster.KeepControl()
			response := request.ResponseKind().(*kmsg.SASLAuthenticateResponse)
			response.ErrorCode = int16(kafkago.SASLAuthenticationFailed)
			return response, nil, true
		})
}

func TestLoginByAMechanismThatTheBrokerDoesNotTake(t *testing.T) {
	cluster, c := startBroker(t, kfake.EnableSASL(),
		kfake.Superuser("SCRAM-SHA-256", "clusterd", "right"))
	cluster.ControlKey(int16(kmsg.SASLHandshake),
		func(request kmsg.Request) (kmsg.Response, error, bool) {
			cluster.KeepControl()
			response := request.ResponseKind().(*kmsg.SASLHandshakeResponse)
			response.ErrorCode, response.SupportedMechanisms = int16(kafkago.UnsupportedSASLMechanism),
				[]string{"SCRAM-SHA-256"}
			return response, nil, true
		})
	c.SASL = login.SASL{Mechanism: "plain", Username: "clusterd", Password: "right"}
	_, err := kafkatest.Connect(t, c).Partitions(t.Context(), "articles")
	if !kafka.Fatal(err) || !strings.Contains(kafka.Explain(err).Error(),
		"check kafka.sasl.mechanism") {
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
	_, c := startBroker(t, kfake.TLS(&tls.Config{Certificates: server.TLS.Certificates}),
		kfake.SeedTopics(1, "articles"))
	for name, tt := range map[string]struct {
		tls   login.TLS
		fatal bool
	}{
		"trusted":              {login.TLS{Enabled: true, CAFile: ca}, false},
		"not verified":         {login.TLS{Enabled: true, InsecureSkipVerify: true}, false},
		"trusted by this name": {login.TLS{Enabled: true, CAFile: ca, ServerName: "example.com"}, false},
		"another name":         {login.TLS{Enabled: true, CAFile: ca, ServerName: "kafka.invalid"}, true},
		"not trusted":          {login.TLS{Enabled: true}, true},
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
			case tt.fatal && !strings.Contains(kafka.Explain(err).Error(),
				"the broker's certificate is "):
				t.Errorf("Explain = %q", kafka.Explain(err))
			}
		})
	}
}

func TestTLSAgainstAPortWithoutIt(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler()) // it answers a handshake with plain text
	defer server.Close()
	client := kafkatest.Connect(t, kafka.Options{
		Brokers: []string{server.Listener.Addr().String()}, TLS: login.TLS{Enabled: true},
	})
	_, err := client.Partitions(t.Context(), "articles")
	if !kafka.Fatal(err) || kafka.Retriable(err) {
		t.Fatalf("error = %v, want one that waiting does not mend", err)
	}
	if text := kafka.Explain(err).Error(); !strings.Contains(text,
		"kafka.brokers names the TLS listener") {
		t.Errorf("Explain = %q", text)
	}
}

func TestUnreachableBroker(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close() // now nobody listens there
	_, err = kafkatest.Connect(t,
		kafka.Options{Brokers: []string{listener.Addr().String()}}).Partitions(t.Context(), "articles")
	if !kafka.Retriable(err) || kafka.Fatal(err) {
		t.Fatalf("error = %v, want one that may pass", err)
	}
	if text := kafka.Explain(err).Error(); !strings.Contains(text,
		"no broker listens there: check kafka.brokers") {
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
	_, err = kafkatest.Connect(t,
		kafka.Options{Brokers: []string{listener.Addr().String()}}).Partitions(t.Context(), "articles")
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
	_, err = kafka.DoWithin[*metadata.Response](t.Context(), client, &metadata.Request{},
		20*time.Millisecond)
	if !kafka.Retriable(err) || !errors.Is(err, context.DeadlineExceeded) ||
		!strings.HasPrefix(err.Error(), "Metadata: ") {
		t.Errorf("error = %v, want the request's name and that its time is over", err)
	}
	want := "nothing at " + listener.Addr().String() + " has answered as a Kafka broker does"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error = %v, want %q in it", err, want)
	}
}
