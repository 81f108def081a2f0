package doctor

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"
)

// expires is how long before its end a certificate is warned of.
const expires = 14 * 24 * time.Hour

// checkHTTP looks at what the page and /v1 need, and asks the instance that runs there how it is.
func (e *examination) checkHTTP(ctx context.Context) {
	c := &e.config.HTTP
	if c.Listen == "" {
		e.ok("http", "off: http.listen is empty")
		return
	}
	if c.TLS.CertFile != "" {
		e.checkCertificate()
	}
	e.askInstance(ctx)
}

func (e *examination) checkCertificate() {
	const name = "http.tls"
	c := e.config.HTTP.TLS
	pair, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
	if err != nil {
		e.fail(name, "correct http.tls.cert_file and http.tls.key_file", "%v", err)
		return
	}
	left := pair.Leaf.NotAfter.Sub(e.now)
	until := pair.Leaf.NotAfter.Format(time.DateOnly)
	switch {
	case left < 0:
		e.fail(name, "renew it: clusterd reads it again by itself", "the certificate ended on %s", until)
	case left < expires:
		e.warn(name, "renew it: clusterd reads it again by itself", "the certificate ends on %s", until)
	default:
		e.ok(name, "the certificate is valid until %s", until)
	}
}

// readiness is what /readyz says.
type readiness struct {
	Ready         bool
	State, Reason string
	Version       string
}

// askInstance asks who listens at http.listen.
func (e *examination) askInstance(ctx context.Context) {
	const name = "instance"
	at := e.config.HTTP.Listen
	said, status, err := e.readyz(ctx)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		e.ok(name, "none runs at %s, which is free", at)
	case err != nil:
		e.fail(name, "end that program, or change http.listen",
			"another program listens at %s: %v", at, err)
	case status == http.StatusUnauthorized:
		e.ok(name, "one runs at %s, and wants a token before it says more", at)
	case !said.Ready:
		e.fail(name, "see docs/operations.md for what it says", "at %s it is %s and not ready: %s", at,
			said.State, said.Reason)
	default:
		e.ok(name, "at %s: %s", at, said.Reason)
	}
}

// readyz asks /readyz of this machine. An error that is none of the connection says that it was
// answered by something else than clusterd.
func (e *examination) readyz(ctx context.Context) (said readiness, status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	host, port, err := net.SplitHostPort(e.config.HTTP.Listen)
	if err != nil {
		return said, 0, err
	}
	if host == "" || net.ParseIP(host).IsUnspecified() {
		host = "127.0.0.1"
	}
	scheme, client := "http://", http.Client{}
	if e.config.HTTP.TLS.CertFile != "" {
		// The certificate is of a name, and this is an address: it was looked at above.
		client.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
		scheme = "https://"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet,
		scheme+net.JoinHostPort(host, port)+"/readyz", http.NoBody)
	if err != nil {
		return said, 0, err
	}
	if t := e.config.HTTP.Token.Reveal(); t != "" {
		request.Header.Set("Authorization", "Bearer "+t)
	}
	response, err := client.Do(request)
	if err != nil {
		return said, 0, err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusUnauthorized {
		return said, response.StatusCode, nil
	}
	err = json.NewDecoder(io.LimitReader(response.Body, 1<<20)).Decode(&said)
	if err == nil && said.State == "" {
		err = errors.New("it does not answer as clusterd does")
	}
	return said, response.StatusCode, err
}
