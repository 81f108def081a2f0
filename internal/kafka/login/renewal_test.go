package login

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	cryptorand "crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pair makes a certificate with a serial number, and its key, both as PEM.
func pair(t *testing.T, serial int64) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), cryptorand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(serial), NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0),
	}
	made, err := x509.CreateCertificate(cryptorand.Reader, c, c, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})
}

// A certificate that does not fit its key yet, or that is half written, leaves the old ones in
// force, and the log says so once.
func TestHalfAPair(t *testing.T) {
	dir := t.TempDir()
	files := TLS{
		Enabled: true, CertFile: filepath.Join(dir, "cert"), KeyFile: filepath.Join(dir, "key"),
	}
	put := func(path string, text []byte) {
		t.Helper()
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cert, key := pair(t, 1)
	put(files.CertFile, cert)
	put(files.KeyFile, key)
	cert, key = pair(t, 2)
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		d, err := New(files, SASL{}, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			name          string
			path          string
			text          []byte
			serial        int64
			errors, again int // lines of the log
		}{
			{"as it was", files.CertFile, nil, 1, 0, 0},
			{"half a certificate", files.CertFile, cert[:100], 1, 1, 0},
			{"the certificate without its key", files.CertFile, cert, 1, 2, 0},
			{"both", files.KeyFile, key, 2, 2, 1},
		} {
			if step.text != nil {
				put(step.path, step.text)
			}
			for range 3 {
				time.Sleep(2 * time.Second)
				c, err := d.config("kafka.example:9093")
				if err != nil {
					t.Fatal(err)
				}
				shown, err := c.GetClientCertificate(nil)
				if err != nil || shown.Leaf.SerialNumber.Int64() != step.serial {
					t.Errorf("%s: %v, %v", step.name, shown.Leaf.SerialNumber, err)
				}
			}
			said := log.String()
			if strings.Count(said, "level=ERROR") != step.errors ||
				strings.Count(said, "was read again") != step.again {
				t.Errorf("%s: the log says:\n%s", step.name, said)
			}
		}
	})
}
