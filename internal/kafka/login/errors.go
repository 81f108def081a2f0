package login

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

// An Error says why a connection could not be opened, where the settings are to blame or could be.
type Error struct {
	Broker string // host:port
	Advice string // what happened, and which key to check
	Fatal  bool   // whether it will be there after waiting
	Err    error

	ours bool // found before anything was sent to the broker
}

// Error says where it happened and what was seen, without the advice.
func (e *Error) Error() string {
	if e.Broker == "" {
		return e.Err.Error()
	}
	return "broker " + e.Broker + ": " + e.Err.Error()
}

// Unwrap returns what was seen.
func (e *Error) Unwrap() error { return e.Err }

const (
	wantsTLS = "the broker wants TLS here: set kafka.tls.enabled, or name another listener in " +
		"kafka.brokers"
	maybeWantsTLS = "the broker closed the connection before it answered, as a listener with TLS " +
		"does: if this goes on, check kafka.tls.enabled and the port in kafka.brokers"
	wantsNoTLS = "the TLS handshake failed, for this listener has no TLS: check kafka.tls.enabled, " +
		"and that kafka.brokers names the TLS listener"
	maybeNoTLS = "the broker closed the connection in the TLS handshake, as a listener without TLS " +
		"does: check kafka.tls.enabled, and that kafka.brokers names the TLS listener"
	closedAtLogin = "the broker closed the connection at the login: if this goes on, check " +
		"kafka.sasl.mechanism, and that kafka.tls fits the listener that kafka.brokers names"
)

var errTLSAlert = errors.New("it answered with an alert of TLS")

// handshakeError explains why a TLS handshake failed.
func (d *Dialer) handshakeError(broker string, err error) error {
	said := &Error{Broker: broker, Fatal: true, Err: err}
	var (
		host      x509.HostnameError
		authority x509.UnknownAuthorityError
		invalid   x509.CertificateInvalidError
		record    tls.RecordHeaderError
		any       *tls.CertificateVerificationError
	)
	switch {
	case errors.As(err, &host):
		said.Advice = "the broker's certificate is for another name: let kafka.brokers and the " +
			"broker's advertised.listeners use a name in it, or set kafka.tls.server_name"
	case errors.As(err, &authority):
		said.Advice = "the broker's certificate is signed by nobody whom clusterd trusts: name the " +
			"authority in kafka.tls.ca_file"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		said.Advice = "the broker's certificate has expired: renew it at the broker"
		if invalid.Cert != nil && time.Now().Before(invalid.Cert.NotBefore) {
			said.Advice = "the broker's certificate is not valid yet: check the clocks of this machine " +
				"and of who issued it"
		}
	case errors.As(err, &any):
		said.Advice = "the broker's certificate cannot be trusted: check kafka.tls.ca_file, and the " +
			"certificate"
	case errors.As(err, &record):
		said.Advice = wantsNoTLS
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		said.Advice, said.Fatal = maybeNoTLS, false
	default:
		return d.alertError(broker, err)
	}
	return said
}

// Alerts of TLS (RFC 8446, section 6) by which a broker refuses a client's certificate.
const (
	firstOfCertificate, lastOfCertificate = 42, 46
	unknownAuthority, certificateRequired = 48, 116
)

// alertError explains an alert that a broker has sent. Other errors come back as they are.
func (d *Dialer) alertError(broker string, err error) error {
	n, ok := alertOf(err)
	if !ok {
		return err
	}
	said := &Error{Broker: broker, Fatal: true, Err: err}
	switch {
	case n < firstOfCertificate, n > lastOfCertificate && n != unknownAuthority &&
		n != certificateRequired:
		said.Advice = "the broker ended the TLS handshake: check kafka.tls, and that the broker takes " +
			"TLS 1.2 or 1.3"
	case d.own == nil:
		said.Advice = "the broker wants a client certificate: set kafka.tls.cert_file and " +
			"kafka.tls.key_file"
	default:
		said.Advice = "the broker refused the client certificate in kafka.tls.cert_file" +
			d.ownValidity() + ": renew it, or let the broker trust who signed it (ssl.truststore)"
	}
	return said
}

// alertOf returns the number of the alert that the other side has sent. The type that crypto/tls
// has for it is its own, but the text is that of tls.AlertError.
func alertOf(err error) (number int, ok bool) {
	var remote *net.OpError
	if !errors.As(err, &remote) || remote.Op != "remote error" {
		return 0, false
	}
	for number := range 256 {
		if remote.Err.Error() == tls.AlertError(number).Error() {
			return number, true
		}
	}
	return 0, false
}

// ownValidity says of the client's certificate that it has expired, or is not valid yet.
func (d *Dialer) ownValidity() string {
	pair := d.own.Get()
	switch now := time.Now(); {
	case pair.Leaf == nil:
		return ""
	case now.After(pair.Leaf.NotAfter):
		return ", which expired at " + pair.Leaf.NotAfter.UTC().Format(time.RFC3339)
	case now.Before(pair.Leaf.NotBefore):
		return ", which is not valid before " + pair.Leaf.NotBefore.UTC().Format(time.RFC3339)
	}
	return ""
}

// credentialError explains that there is nothing to log in with.
func (d *Dialer) credentialError(broker string, err error) error {
	var said *Error
	if !errors.As(err, &said) {
		return fmt.Errorf("broker %s: preparing the login: %w", broker, err)
	}
	of := *said
	of.Broker = broker
	return &of
}

// mechanismError explains that a broker does not take a mechanism.
func mechanismError(broker, name string, takes []string, err error) error {
	said := &Error{Broker: broker, Fatal: true, Err: fmt.Errorf("%s: %w", name, err)}
	if len(takes) == 0 || errors.Is(err, kerr.IllegalSaslState) {
		said.Advice = "the broker takes no login here: check kafka.sasl.mechanism, and that " +
			"kafka.brokers names the SASL listener"
	} else {
		said.Advice = "the broker does not take this login, but " + strings.Join(takes, ", ") +
			": check kafka.sasl.mechanism"
	}
	return said
}

// refusal explains that a broker refused a login.
func (d *Dialer) refusal(broker string, err error) error {
	return &Error{Broker: broker, Advice: d.refused(), Fatal: true, Err: err}
}

func refusedPassword() string {
	return "the broker refused the login: check kafka.sasl.username and kafka.sasl.password"
}

func refusedKeys() string {
	return "the broker refused the login: check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and " +
		"AWS_SESSION_TOKEN, the region, and this machine's clock"
}

// hide takes out of what a broker says what it must not repeat.
func (d *Dialer) hide(text string) string {
	for _, secret := range d.secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret.Reveal(), secret.String())
		}
	}
	return text
}
