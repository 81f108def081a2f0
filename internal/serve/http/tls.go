package httpapi

import (
	"crypto/tls"
	"fmt"
	"log/slog"

	"github.com/clusterd/clusterd/internal/secret/reload"
)

// encryption returns how connections are encrypted, nil for not at all. The files are read again
// when they change; a pair that cannot be used leaves the one before in force.
func encryption(o Options, log *slog.Logger) (*tls.Config, error) {
	if o.CertFile == "" {
		return nil, nil
	}
	pair, err := reload.New("http.tls",
		[]reload.Source{{Path: o.CertFile}, {Path: o.KeyFile, Private: true}},
		func(files [][]byte) (*tls.Certificate, error) {
			pair, err := tls.X509KeyPair(files[0], files[1])
			if err != nil {
				return nil, fmt.Errorf("%s with %s: %w", o.CertFile, o.KeyFile, err)
			}
			return &pair, nil
		}, log)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return pair.Get(), nil
		},
	}, nil
}
