package doctor

import (
	"crypto/x509"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/testutil/certificate"
)

// Whoever answers at http.listen is clusterd and well, or the doctor says who has to move.
func TestInstance(t *testing.T) {
	for _, tt := range []struct {
		name      string
		status    int
		body      string
		want      Status
		found, do string
	}{
		{"ready", 200, `{"ready":true,"state":"running","reason":"all is well"}`, OK, "all is well", ""},
		{
			"not ready", 503, `{"state":"starting","reason":"reading back"}`, Failure,
			"it is starting and not ready: reading back", "docs/operations.md",
		},
		{"wants a token", 401, "", OK, "wants a token", ""},
		{"another program", 200, "hello", Failure, "another program listens", "change http.listen"},
		{"another JSON", 200, "{}", Failure, "does not answer as clusterd does", "change http.listen"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(tt.body))
			}))
			defer server.Close()
			e := examination{config: config.Default()}
			e.config.HTTP.Listen = server.Listener.Addr().String()
			e.checkHTTP(t.Context())
			wantOne(t, e.report.Checks, tt.want, tt.found, tt.do)
		})
	}
}

// Nobody at http.listen is well, and so is no http.listen.
func TestNoInstance(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free.Close()
	for at, found := range map[string]string{"": "off", free.Addr().String(): "which is free"} {
		e := examination{config: config.Default()}
		e.config.HTTP.Listen = at
		e.checkHTTP(t.Context())
		wantOne(t, e.report.Checks, OK, found, "")
	}
}

// A certificate is warned of two weeks before it ends.
func TestCertificate(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	cert, key := certificateUntil(t, now)
	for _, tt := range []struct {
		name, key string
		now       time.Time
		want      Status
		found, do string
	}{
		{"valid", key, now.Add(-expires), OK, "is valid until 2026-03-01", ""},
		{"ends soon", key, now.Add(time.Second - expires), Warning, "ends on 2026-03-01", "renew it"},
		{"ended", key, now.Add(time.Second), Failure, "ended on 2026-03-01", "renew it"},
		{"no key", "/nowhere/key.pem", now, Failure, "/nowhere/key.pem", "http.tls.key_file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := examination{config: config.Default(), now: tt.now}
			e.config.HTTP.TLS.CertFile, e.config.HTTP.TLS.KeyFile = cert, tt.key
			e.checkCertificate()
			wantOne(t, e.report.Checks, tt.want, tt.found, tt.do)
		})
	}
}

// certificateUntil writes a certificate that ends then, and its key.
func certificateUntil(t *testing.T, end time.Time) (certFile, keyFile string) {
	t.Helper()
	return certificate.Write(t, x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: end})
}
