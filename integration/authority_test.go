//go:build integration

package integration

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	cryptorand "crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"
	"time"
)

// An authority signs certificates.
type authority struct {
	*testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{T: t}
	made, key := a.certify(&x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign,
	})
	a.key = key
	var err error
	if a.cert, err = x509.ParseCertificate(made); err != nil {
		t.Fatal(err)
	}
	a.pem = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made})
	return a
}

// certify makes a key and signs a certificate for it: before there is one, the authority's own.
func (a *authority) certify(c *x509.Certificate) ([]byte, *ecdsa.PrivateKey) {
	a.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), cryptorand.Reader)
	if err != nil {
		a.Fatal(err)
	}
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = c, key
	}
	if c.NotBefore.IsZero() {
		c.NotBefore = time.Now().Add(-time.Hour)
	}
	if c.NotAfter.IsZero() {
		c.NotAfter = time.Now().Add(24 * time.Hour)
	}
	c.SerialNumber = big.NewInt(time.Now().UnixNano())
	made, err := x509.CreateCertificate(cryptorand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		a.Fatal(err)
	}
	return made, key
}

// pair makes a certificate for a name, at an address of this machine, and its key, both as PEM.
func (a *authority) pair(name string, change func(*x509.Certificate)) (cert, key []byte) {
	a.Helper()
	c := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, DNSNames: []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if change != nil {
		change(c)
	}
	made, private := a.certify(c)
	bytes, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		a.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: bytes})
}

// valid returns a change of a certificate: valid between two times from now on.
func valid(from, to time.Duration) func(*x509.Certificate) {
	return func(c *x509.Certificate) {
		c.NotBefore, c.NotAfter = time.Now().Add(from), time.Now().Add(to)
	}
}

// write replaces a file as a whole, as tools that renew certificates do, and makes it look as if
// that was some seconds ago.
func write(t *testing.T, path string, parts ...[]byte) string {
	t.Helper()
	if err := os.WriteFile(path+".new", bytes.Join(parts, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-5 * time.Second)
	if err := os.Chtimes(path+".new", past, past); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	return path
}

// An issuer makes tokens, which brokers check by its public key.
type issuer struct {
	*testing.T
	key    *rsa.PrivateKey
	server *httptest.Server // that hands out tokens
	asked  atomic.Int64     // how often it did
	life   time.Duration    // of those tokens
	down   atomic.Bool
}

const (
	issuerName   = "https://issuer.example"
	clientSecret = "client-secret-of-the-tests"
)

func newIssuer(t *testing.T, a *authority) *issuer {
	t.Helper()
	key, err := rsa.GenerateKey(cryptorand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return (&issuer{T: t, key: key, life: time.Hour}).serve(t, a)
}

// serve starts a server that hands out tokens.
func (i *issuer) serve(t *testing.T, a *authority) *issuer {
	t.Helper()
	cert, private := a.pair("tokens", nil)
	pair, err := tls.X509KeyPair(cert, private)
	if err != nil {
		t.Fatal(err)
	}
	i.server = httptest.NewUnstartedServer(i)
	i.server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	i.server.StartTLS()
	t.Cleanup(i.server.Close)
	return i
}

// ServeHTTP is the grant client_credentials of RFC 6749.
func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	switch {
	case i.down.Load():
		http.Error(w, "not now", http.StatusServiceUnavailable)
	case id != "clusterd" || secret != clientSecret ||
		r.FormValue("grant_type") != "client_credentials":
		w.WriteHeader(http.StatusUnauthorized)
		// A server that repeats what it was asked by, as none should.
		fmt.Fprintf(w, `{"error": "invalid_client", "error_description": %q}`, id+" "+secret)
	default:
		i.asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"access_token": %q, "token_type": "Bearer", "expires_in": %d}`,
			i.token("root", 0, i.life), int(i.life.Seconds()))
	}
}

// token makes a token for a user, valid between two times from now on.
func (i *issuer) token(user string, from, to time.Duration) string {
	now := time.Now()
	claims := fmt.Sprintf(`{"sub":%q,"iss":%q,"aud":"kafka","scope":"kafka","iat":%d,"nbf":%d,"exp":%d}`,
		user, issuerName, now.Add(from).Unix(), now.Add(from).Unix(), now.Add(to).Unix())
	encode := base64.RawURLEncoding.EncodeToString
	text := encode([]byte(`{"alg":"RS256","kid":"one","typ":"JWT"}`)) + "." + encode([]byte(claims))
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(cryptorand.Reader, i.key, crypto.SHA256, sum[:])
	if err != nil {
		i.Error(err)
	}
	return text + "." + encode(signature)
}

// keys returns the public key as a set of keys (RFC 7517).
func (i *issuer) keys() []byte {
	encode := base64.RawURLEncoding.EncodeToString
	set, err := json.Marshal(map[string]any{"keys": []any{map[string]string{
		"kty": "RSA", "kid": "one", "alg": "RS256", "use": "sig", "n": encode(i.key.N.Bytes()),
		"e": encode(big.NewInt(int64(i.key.E)).Bytes()),
	}}})
	if err != nil {
		i.Fatal(err)
	}
	return set
}
