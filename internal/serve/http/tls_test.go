package httpapi

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/testutil/certificate"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

// pair is a certificate of 127.0.0.1 and its key, in PEM.
type pair struct{ cert, key []byte }

func newPair(t *testing.T, serial int64) pair {
	t.Helper()
	cert, key := certificate.New(t, x509.Certificate{
		SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	})
	return pair{cert, key}
}

// encrypted is a server with TLS.
type encrypted struct {
	*testing.T
	address           string
	certFile, keyFile string
	log               *wait.Buffer
}

func (e *encrypted) write(p pair) {
	e.Helper()
	for path, data := range map[string][]byte{e.certFile: p.cert, e.keyFile: p.key} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			e.Fatal(err)
		}
	}
}

func serveTLS(t *testing.T, p pair) *encrypted {
	t.Helper()
	dir := t.TempDir()
	e := &encrypted{
		T: t, certFile: filepath.Join(dir, "cert.pem"), keyFile: filepath.Join(dir, "key.pem"),
		log: new(wait.Buffer),
	}
	e.write(p)
	o := at("127.0.0.1:0", canary)
	o.CertFile, o.KeyFile = e.certFile, e.keyFile
	ctx, stop := context.WithCancel(t.Context())
	s, err := Listen(ctx, o, ready(), slog.New(slog.NewTextHandler(e.log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("Run = %v", err)
		}
	})
	e.address = s.Address()
	return e
}

// serial returns that of the certificate that a client is shown, who trusts some.
func (e *encrypted) serial(trusted ...pair) int64 {
	e.Helper()
	roots := x509.NewCertPool()
	for _, p := range trusted {
		roots.AppendCertsFromPEM(p.cert)
	}
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: roots},
	}}
	answer, err := client.Do(request(e.T, "GET", "https://"+e.address+"/readyz", "", "Bearer "+canary))
	if err != nil {
		e.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK || answer.ProtoMajor != 1 {
		e.Errorf("%s %s, want 200 by HTTP/1.1", answer.Proto, answer.Status)
	}
	return answer.TLS.PeerCertificates[0].SerialNumber.Int64()
}

// A new certificate is taken without a restart. One that does not fit its key changes nothing but
// the log.
func TestCertificateIsReadAgain(t *testing.T) {
	first, second, third := newPair(t, 1), newPair(t, 2), newPair(t, 3)
	e := serveTLS(t, first)
	if got := e.serial(first); got != 1 {
		t.Fatalf("certificate %d, want 1", got)
	}
	e.write(second)
	wait.Until(t, "the second certificate", func() bool { return e.serial(first, second) == 2 })
	e.write(pair{third.cert, second.key})
	wait.Until(t, "the log", func() bool {
		if got := e.serial(second); got != 2 {
			t.Fatalf("certificate %d, want 2", got)
		}
		return strings.Contains(e.log.String(), "level=ERROR")
	})
	if !strings.Contains(e.log.String(), "http.tls has changed and cannot be used") ||
		strings.Contains(e.log.String(), "PRIVATE") {
		t.Errorf("logged %s", e.log.String())
	}
	e.write(third)
	wait.Until(t, "the third certificate", func() bool { return e.serial(second, third) == 3 })
}

func TestTLSRefuses(t *testing.T) {
	p := newPair(t, 1)
	e := serveTLS(t, p)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(p.cert)
	_, err := tls.Dial("tcp", e.address, &tls.Config{
		RootCAs: roots, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11,
	})
	if err == nil || !strings.Contains(err.Error(), "protocol version") {
		t.Errorf("TLS 1.1: %v", err)
	}
	if got := say(t, dial(t, e.address), getLivez); !strings.HasPrefix(got, "HTTP/1.0 400 ") {
		t.Errorf("plain HTTP: %q", got)
	}
}

func TestCertificateThatCannotBeUsed(t *testing.T) {
	a, b := newPair(t, 1), newPair(t, 2)
	for name, tt := range map[string]struct {
		pair
		want string
	}{
		"of another key": {pair{a.cert, b.key}, "private key does not match public key"},
		"no PEM":         {pair{[]byte("x"), a.key}, "failed to find any PEM data"},
		"exchanged":      {pair{a.key, a.cert}, "failed to find certificate PEM data"},
	} {
		dir := t.TempDir()
		e := &encrypted{T: t, certFile: filepath.Join(dir, "c"), keyFile: filepath.Join(dir, "k")}
		e.write(tt.pair)
		o := at("127.0.0.1:0", "")
		o.CertFile, o.KeyFile = e.certFile, e.keyFile
		var log bytes.Buffer
		_, err := Listen(t.Context(), o, ready(), slog.New(slog.NewTextHandler(&log, nil)))
		if err == nil || !strings.HasPrefix(err.Error(), "http.tls: "+e.certFile+" with "+e.keyFile) ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
}

// Who connects and says nothing shuts nobody out, with TLS too.
func TestSilentConnectionsWithTLS(t *testing.T) {
	p := newPair(t, 1)
	e := serveTLS(t, p)
	for range defaultLimits().connections + 50 {
		dial(t, e.address)
	}
	if got := e.serial(p); got != 1 {
		t.Errorf("certificate %d", got)
	}
}
