//go:build integration

package integration

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	trusted = ", tls: {enabled: true, ca_file: CAFILE}"
	mutual  = ", tls: {enabled: true, ca_file: CAFILE, cert_file: DIR/own.pem, key_file: DIR/own.key}"
	server  = ", sasl: {mechanism: oauthbearer, token_url: URL, token_ca_file: CAFILE, " +
		"client_id: clusterd, client_secret: " + clientSecret + ", scope: kafka}"
	file = ", sasl: {mechanism: oauthbearer, token_file: DIR/token}"
)

// password returns the YAML of a login by user and password.
func password(mechanism, user, word string) string {
	return ", sasl: {mechanism: " + mechanism + ", username: " + user + ", password: " + word + "}"
}

// own writes the certificate of a client, and its key.
func (w *world) own(a *authority, name string, change func(*x509.Certificate)) {
	w.Helper()
	cert, key := a.pair(name, change)
	write(w.T, filepath.Join(w.dir, "own.pem"), cert)
	write(w.T, filepath.Join(w.dir, "own.key"), key)
}

// A login is a way to reach a broker. Where it works, clusterd clusters articles, and otherwise it
// says what is wrong and which key to check, as the doctor does.
type login struct {
	name, listener, yaml string
	prepare              func(s *secured, w *world)
	says                 string // why it does not work; empty: it works
	waits                bool   // it does not work, and clusterd tries again
}

var logins = []login{
	{name: "TLS", listener: "TLS", yaml: trusted},
	{name: "TLS with a client certificate", listener: "MUTUAL", yaml: mutual},
	{name: "PLAIN", listener: "SASL", yaml: trusted + password("plain", "root", "root-secret")},
	{
		name: "SCRAM-SHA-256", listener: "SASL",
		yaml: trusted + password("scram-sha-256", "root", "root-secret"),
	},
	{
		name: "SCRAM-SHA-512", listener: "SASL",
		yaml: trusted + password("scram-sha-512", "root", "root-secret"),
	},
	{name: "a token from a file", listener: "SASL", yaml: trusted + file},
	{name: "a token from a server", listener: "SASL", yaml: trusted + server},

	{
		name: "a certificate for another name", listener: "NAMED", yaml: trusted,
		says: "the broker's certificate is for another name: let kafka.brokers and the broker's " +
			"advertised.listeners use a name in it, or set kafka.tls.server_name",
	},
	{
		name: "an expired certificate", listener: "EXPIRED", yaml: trusted,
		says: "the broker's certificate has expired: renew it at the broker",
	},
	{
		name: "a certificate of tomorrow", listener: "FUTURE", yaml: trusted,
		says: "the broker's certificate is not valid yet: check the clocks",
	},
	{
		name: "an unknown authority", listener: "TLS", yaml: ", tls: {enabled: true}",
		says: "the broker's certificate is signed by nobody whom clusterd trusts: name the authority " +
			"in kafka.tls.ca_file",
	},
	{
		name: "no client certificate", listener: "MUTUAL", yaml: trusted,
		says: "the broker wants a client certificate: set kafka.tls.cert_file and kafka.tls.key_file",
	},
	{
		name: "a client certificate of an unknown authority", listener: "MUTUAL", yaml: mutual,
		prepare: func(_ *secured, w *world) { w.own(newAuthority(w.T, "other"), "root", nil) },
		says: "the broker refused the client certificate in kafka.tls.cert_file: renew it, or let the " +
			"broker trust who signed it (ssl.truststore)",
	},
	{
		name: "an expired client certificate", listener: "MUTUAL", yaml: mutual,
		prepare: func(s *secured, w *world) {
			w.own(s.authority, "root", valid(-48*time.Hour, -24*time.Hour))
		},
		says: "the broker refused the client certificate in kafka.tls.cert_file, which expired at ",
	},
	{
		name: "TLS to a plain listener", listener: "PLAIN", yaml: trusted, waits: true,
		says: "the broker closed the connection in the TLS handshake, as a listener without TLS does: " +
			"check kafka.tls.enabled, and that kafka.brokers names the TLS listener",
	},
	{
		name: "no TLS to a TLS listener", listener: "TLS",
		says: "the broker wants TLS here: set kafka.tls.enabled, or name another listener in " +
			"kafka.brokers",
	},
	{
		name: "no login to a listener that asks for one", listener: "SASL", yaml: trusted, waits: true,
		says: "check that kafka.tls and kafka.sasl fit the listener that kafka.brokers names",
	},
	{
		name: "a login to a listener that asks for none", listener: "TLS",
		yaml: trusted + password("plain", "root", "root-secret"),
		says: "the broker takes no login here: check kafka.sasl.mechanism, and that kafka.brokers " +
			"names the SASL listener",
	},
	{
		name: "a wrong password", listener: "SASL",
		yaml: trusted + password("plain", "root", "wrong-word"),
		says: "the broker refused the login: check kafka.sasl.username and kafka.sasl.password",
	},
	{
		name: "a wrong password of SCRAM", listener: "SASL",
		yaml: trusted + password("scram-sha-512", "root", "wrong-word"),
		says: "the broker refused the login: check kafka.sasl.username and kafka.sasl.password",
	},
	{
		name: "a mechanism that the broker does not take", listener: "SASL",
		yaml: trusted + ", sasl: {mechanism: aws-msk-iam}",
		prepare: func(_ *secured, w *world) {
			w.env = []string{
				"AWS_ACCESS_KEY_ID=key", "AWS_SECRET_ACCESS_KEY=wrong-word", "AWS_REGION=eu-west-1",
			}
		},
		says: "the broker does not take this login, but ",
	},
	{
		name: "no keys of AWS", listener: "SASL", yaml: trusted + ", sasl: {mechanism: aws-msk-iam}",
		says: "there are no credentials for AWS: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
	},
	{
		name: "an expired token", listener: "SASL", yaml: trusted + file,
		prepare: func(s *secured, w *world) {
			w.writeToken(s.issuer.token("root", -2*time.Hour, -time.Hour))
		},
		says: "the broker refused the token in kafka.sasl.token_file, which expired at ",
	},
	{
		name: "a token of another issuer", listener: "SASL", yaml: trusted + file,
		prepare: func(s *secured, w *world) {
			w.writeToken(newIssuer(w.T, s.authority).token("root", 0, time.Hour))
		},
		says: "the broker refused the token in kafka.sasl.token_file: renew it, and check that the " +
			"broker knows who issues it",
	},
	{
		name: "an empty token file", listener: "SASL", yaml: trusted + file,
		prepare: func(_ *secured, w *world) { w.writeToken("\n") },
		says:    "token is empty: it must hold a token",
	},
	{
		name: "no server of tokens", listener: "SASL", yaml: trusted + server, waits: true,
		prepare: func(s *secured, w *world) { w.replace(s.issuer.server.URL, "https://127.0.0.1:9") },
		says: "there is no token, since its server does not answer: check kafka.sasl.token_url, " +
			"kafka.sasl.token_ca_file, and that the server runs",
	},
	{
		name: "a server of tokens that is not trusted", listener: "SASL",
		yaml: trusted + strings.Replace(server, "token_ca_file: CAFILE, ", "", 1),
		says: "there is no token, since its server does not answer: check kafka.sasl.token_url, " +
			"kafka.sasl.token_ca_file",
	},
	{
		name: "a client that the server of tokens does not know", listener: "SASL",
		yaml: trusted + strings.Replace(server, clientSecret, "wrong-word", 1),
		says: "the token server refused clusterd: check kafka.sasl.client_id, " +
			"kafka.sasl.client_secret, kafka.sasl.scope and kafka.sasl.token_url",
	},
}

func (w *world) writeToken(token string) {
	w.Helper()
	write(w.T, filepath.Join(w.dir, "token"), []byte(token+"\n"))
}

// A broker with TLS, client certificates, logins and an authorizer: each way in works, and each
// mistake is one sentence, of clusterd and of its doctor.
func TestSecured(t *testing.T) {
	t.Parallel()
	s := startSecured(t)
	t.Run("logins that end", s.testEnds)
	t.Run("certificates that are renewed", s.testRenewal)
	t.Run("certificates that are not", s.testNoRenewal)
	t.Run("rights", s.testRights)
	t.Run("secrets", s.testSecrets)
	t.Run("logins", func(t *testing.T) {
		for _, l := range logins {
			t.Run(l.name, func(t *testing.T) {
				t.Parallel()
				s.tryLogin(t, &l)
			})
		}
	})
}

func (s *secured) tryLogin(t *testing.T, l *login) {
	w := s.world(t, l.listener, l.yaml)
	w.own(s.authority, "root", func(c *x509.Certificate) { c.Subject = pkix.Name{CommonName: "root"} })
	w.writeToken(s.issuer.token("root", -time.Minute, time.Hour))
	if l.prepare != nil {
		l.prepare(s, w)
	}
	running := w.start()
	switch {
	case l.says == "":
		running.waitLive()
		w.send(3)
		w.done()
		running.stop()
		w.audit()
	case l.waits:
		running.waitFor(l.says)
		running.stop()
	default:
		running.fails(l.says)
	}
	if strings.Contains(running.said(), "wrong-word") {
		t.Errorf("it says what nobody should know:\n%s", running.said())
	}
	if l.says == "" {
		for _, d := range w.doctor() {
			if d.Status == "failure" {
				t.Errorf("the doctor: %+v", d)
			}
		}
		return
	}
	for _, d := range w.doctor() {
		if strings.Contains(d.Found+d.Do, "wrong-word") {
			t.Errorf("the doctor says what nobody should know: %+v", d)
		}
		if d.Name == "brokers" && strings.Contains(d.Found+" → "+d.Do, l.says) {
			t.Logf("%s", d.Do)
			return
		}
	}
	t.Errorf("the doctor does not say %q: %+v", l.says, w.doctor())
}
