// Package login opens connections to brokers: TCP, TLS and SASL in one step, for any Kafka client
// that takes a function to dial with. Settings go in, connections come out, over which the client
// may ask at once. Certificates, keys and tokens are those of the moment of the dial, so that one
// that was renewed needs no restart. Errors say which broker, what is wrong and which key to check.
package login

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/sasl"

	"github.com/clusterd/clusterd/internal/secret/redacted"
	"github.com/clusterd/clusterd/internal/secret/reload"
)

// timeout bounds a dial with all that belongs to it, and is short: a broker that is there answers
// at once, and clients try again.
const timeout = 5 * time.Second

// TLS says how connections to the brokers are encrypted. File names are empty where none was given.
type TLS struct {
	Enabled            bool
	CAFile             string
	CertFile           string // set exactly when KeyFile is
	KeyFile            string
	ServerName         string
	InsecureSkipVerify bool
}

// SASL says how clusterd names itself to the brokers. Which of the fields are set depends on the
// mechanism.
type SASL struct {
	Mechanism    string // none, plain, scram-sha-256, scram-sha-512, oauthbearer or aws-msk-iam
	Username     string
	Password     redacted.Text
	TokenFile    string // of oauthbearer, where TokenURL is empty
	TokenURL     string
	TokenCAFile  string
	ClientID     string
	ClientSecret redacted.Text
	Scope        string
}

// A Dialer opens connections. It is safe for concurrent use.
type Dialer struct {
	tls         TLS
	authorities *reload.Value[*x509.CertPool]  // nil: the system's
	own         *reload.Value[tls.Certificate] // nil: there is none
	mechanism   sasl.Mechanism                 // nil: there is none
	refused     func() string                  // what to check where a broker refused a login
	secrets     []redacted.Text                // that a broker or a token server might send back
}

// New prepares connections, and reads the files that the settings name. It logs when one of them
// has changed, and when it can no longer be used. An error names the setting.
func New(t TLS, s SASL, log *slog.Logger) (*Dialer, error) {
	d := &Dialer{tls: t, secrets: []redacted.Text{s.Password, s.ClientSecret}}
	if err := d.readCertificates(log); err != nil {
		return nil, err
	}
	if err := d.chooseMechanism(s, log); err != nil {
		return nil, err
	}
	return d, nil
}

// Dial connects to a broker, encrypts the connection and logs in, as far as the settings say so.
func (d *Dialer) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	raw, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: raw, dialer: d, broker: address, plain: !d.tls.Enabled}
	c.within = func() (context.Context, context.CancelFunc) {
		return context.WithTimeout(context.WithoutCancel(ctx), timeout)
	}
	if err := c.secure(ctx); err != nil {
		_ = raw.Close() // what is wrong has been found
		return nil, err
	}
	return c, nil
}

// secure encrypts a connection and logs in.
func (c *conn) secure(ctx context.Context) error {
	deadline, _ := ctx.Deadline()
	if err := c.SetDeadline(deadline); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })()
	if c.dialer.tls.Enabled {
		settings, err := c.dialer.config(c.broker)
		if err != nil {
			return err
		}
		encrypted := tls.Client(c.Conn, settings)
		if err := encrypted.HandshakeContext(ctx); err != nil {
			return c.dialer.handshakeError(c.broker, err)
		}
		c.Conn = encrypted
	}
	if c.dialer.mechanism != nil {
		if err := c.login(ctx); err != nil {
			return err
		}
	}
	return c.SetDeadline(time.Time{})
}

// readCertificates reads those of the settings.
func (d *Dialer) readCertificates(log *slog.Logger) (err error) {
	if t := d.tls; t.Enabled && t.CAFile != "" {
		d.authorities, err = reload.New("kafka.tls.ca_file", []reload.Source{{Path: t.CAFile}},
			func(files [][]byte) (*x509.CertPool, error) { return authorities(t.CAFile, files[0]) }, log)
		if err != nil {
			return err
		}
	}
	if t := d.tls; t.Enabled && t.CertFile != "" {
		d.own, err = reload.New("kafka.tls.cert_file, kafka.tls.key_file",
			[]reload.Source{{Path: t.CertFile}, {Path: t.KeyFile, Private: true}},
			func(files [][]byte) (tls.Certificate, error) {
				return tls.X509KeyPair(files[0], files[1])
			}, log)
	}
	return err
}

// authorities reads the certificates of a file.
func authorities(path string, pem []byte) (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s holds no PEM certificate", path)
	}
	return pool, nil
}

// config returns how the connection to an address is encrypted, with what the files hold now.
func (d *Dialer) config(address string) (*tls.Config, error) {
	c := &tls.Config{
		MinVersion: tls.VersionTLS12, ServerName: d.tls.ServerName,
		InsecureSkipVerify: d.tls.InsecureSkipVerify, // the user's explicit choice, off by default
	}
	if c.ServerName == "" {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		c.ServerName = host
	}
	if d.authorities != nil {
		c.RootCAs = d.authorities.Get()
	}
	if d.own != nil {
		// Unlike Certificates, this shows it also where the broker names other authorities: then the
		// broker says that it does not like it, and not that there is none.
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			pair := d.own.Get()
			return &pair, nil
		}
	}
	return c, nil
}
