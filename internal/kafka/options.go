package kafka

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"
)

// Options say how a cluster is reached.
type Options struct {
	Brokers []string // at least one, each host:port
	TLS     TLS
	SASL    SASL
}

// TLS says how connections to the brokers are encrypted. File names are empty where none was given.
type TLS struct {
	Enabled            bool
	CAFile             string
	CertFile           string // set exactly when KeyFile is
	KeyFile            string
	ServerName         string
	InsecureSkipVerify bool
}

// SASL says how clusterd names itself to the brokers.
type SASL struct {
	Mechanism string // none, plain, scram-sha-256 or scram-sha-512
	Username  string
	Password  string
}

// Config returns how connections are encrypted, nil where they are not. The error names the
// setting.
func (t TLS) Config() (*tls.Config, error) {
	if !t.Enabled {
		return nil, nil
	}
	c := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		ServerName:         t.ServerName,
		InsecureSkipVerify: t.InsecureSkipVerify, // the user's explicit choice, off by default
	}
	if t.CAFile != "" {
		pem, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("kafka.tls.ca_file: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("kafka.tls.ca_file: %s holds no PEM certificate", t.CAFile)
		}
	}
	if t.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("kafka.tls.cert_file, kafka.tls.key_file: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

func (s SASL) mechanism() (sasl.Mechanism, error) {
	switch s.Mechanism {
	case "", "none":
		return nil, nil
	case "plain":
		return plain.Mechanism{Username: s.Username, Password: s.Password}, nil
	case "scram-sha-256":
		return scram.Mechanism(scram.SHA256, s.Username, s.Password)
	case "scram-sha-512":
		return scram.Mechanism(scram.SHA512, s.Username, s.Password)
	default:
		return nil, fmt.Errorf("kafka.sasl.mechanism: %q: must be none, plain, scram-sha-256 or "+
			"scram-sha-512", s.Mechanism)
	}
}
