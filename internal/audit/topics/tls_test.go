package topics

import (
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/testutil/certificate"
	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
)

// writePEM writes a key and a certificate of localhost that it signs itself.
func writePEM(t *testing.T) (certFile, keyFile string) {
	t.Helper()
	return certificate.Write(t, x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	})
}

// The audit reaches brokers that ask for TLS, a client certificate and a password, with these and
// not without.
func TestConnection(t *testing.T) {
	t.Parallel()
	certFile, keyFile := writePEM(t)
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	clients := x509.NewCertPool()
	clients.AddCert(pair.Leaf)
	broker := kafkatest.Start(t, 1, kfake.EnableSASL(),
		kfake.Superuser("SCRAM-SHA-256", "audit", "secret"), kfake.Superuser("PLAIN", "audit", "secret"),
		kfake.ListenFn(func(network, _ string) (net.Listener, error) {
			return tls.Listen(network, "127.0.0.1:0", &tls.Config{
				Certificates: []tls.Certificate{pair},
				ClientAuth:   tls.RequireAndVerifyClientCert, ClientCAs: clients,
			})
		}))
	right := config.Kafka{
		Brokers: broker.ListenAddrs(),
		TLS: config.TLS{
			Enabled: true, CAFile: certFile, CertFile: certFile, KeyFile: keyFile, ServerName: "localhost",
		},
		SASL: config.SASL{Mechanism: "scram-sha-256", Username: "audit", Password: "secret"},
	}
	for name, test := range map[string]struct {
		change func(*config.Kafka)
		ok     bool
	}{
		"as it is": {func(*config.Kafka) {}, true},
		"plain":    {func(c *config.Kafka) { c.SASL.Mechanism = "plain" }, true},
		"no check": {func(c *config.Kafka) {
			c.TLS.CAFile, c.TLS.InsecureSkipVerify = "", true
		}, true},
		"unknown CA":     {func(c *config.Kafka) { c.TLS.CAFile = "" }, false},
		"another server": {func(c *config.Kafka) { c.TLS.ServerName = "elsewhere" }, false},
		"no certificate": {func(c *config.Kafka) { c.TLS.CertFile, c.TLS.KeyFile = "", "" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := right
			test.change(&c)
			client, err := NewClient(c, slog.New(slog.DiscardHandler), func(int64) {})
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			if err := client.client.Ping(t.Context()); (err == nil) != test.ok {
				t.Errorf("ping: %v; want it to work: %v", err, test.ok)
			}
		})
	}
}

// An error names the setting that cannot be used.
func TestTLSErrors(t *testing.T) {
	t.Parallel()
	certFile, keyFile := writePEM(t)
	for want, c := range map[string]config.TLS{
		"kafka.tls.ca_file: stat nowhere.pem":             {CAFile: "nowhere.pem"},
		"kafka.tls.ca_file: " + keyFile + " holds no PEM": {CAFile: keyFile},
		"kafka.tls.cert_file, kafka.tls.key_file: stat nowhere.pem": {
			CertFile: certFile, KeyFile: "nowhere.pem",
		},
	} {
		c.Enabled = true
		_, err := NewClient(config.Kafka{TLS: c}, slog.New(slog.DiscardHandler), func(int64) {})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
	}
}
