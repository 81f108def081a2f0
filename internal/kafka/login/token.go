package login

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/clusterd/clusterd/internal/secret/reload"
)

// A source gives tokens.
type source interface {
	token(context.Context) (string, error) // one that a broker should take now
	refused() string                       // that a broker did not take the last one: what to check
}

func newSource(s SASL, log *slog.Logger) (source, error) {
	if s.TokenURL == "" {
		return newTokenFile(s.TokenFile, log)
	}
	return newTokenServer(s)
}

// tokenFile is a token in a file, which somebody else renews.
type tokenFile struct{ current *reload.Value[string] }

func newTokenFile(path string, log *slog.Logger) (source, error) {
	current, err := reload.New("kafka.sasl.token_file", []reload.Source{{Path: path, Private: true}},
		func(files [][]byte) (string, error) { return parseToken(path, files[0]) }, log)
	if err != nil {
		return nil, err
	}
	return &tokenFile{current: current}, nil
}

// parseToken returns the token in a file. RFC 6750 says of which characters one may be.
func parseToken(path string, file []byte) (string, error) {
	token := string(bytes.TrimSpace(file))
	if token == "" {
		return "", fmt.Errorf("%s is empty: it must hold a token", path)
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("%s holds no token: it must be one word of visible ASCII characters", path)
	}
	return token, nil
}

func (f *tokenFile) token(context.Context) (string, error) { return f.current.Get(), nil }

func (f *tokenFile) refused() string {
	return "the broker refused the token in kafka.sasl.token_file" + validity(f.current.Get()) +
		": renew it, and check that the broker knows who issues it and for whom it is"
}

// validity says of a token that it has expired, or is not valid yet, if it is a JWT that says so.
func validity(token string) string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return ""
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return ""
	}
	var claims struct {
		Exp float64 `json:"exp"`
		Nbf float64 `json:"nbf"`
	}
	if json.Unmarshal(payload, &claims) != nil {
		return ""
	}
	at := func(t float64) string { return time.Unix(int64(t), 0).UTC().Format(time.RFC3339) }
	switch now := float64(time.Now().Unix()); {
	case claims.Exp > 0 && claims.Exp <= now:
		return ", which expired at " + at(claims.Exp)
	case claims.Nbf > now:
		return ", which is not valid before " + at(claims.Nbf)
	}
	return ""
}

// tokenServer asks a server for tokens, by the grant client_credentials of OAuth 2.
type tokenServer struct {
	settings clientcredentials.Config
	caFile   string

	mutex   sync.Mutex // held while the server is asked: the others would ask the same
	current *oauth2.Token
	renewAt time.Time
}

func newTokenServer(s SASL) (source, error) {
	server := &tokenServer{caFile: s.TokenCAFile, settings: clientcredentials.Config{
		ClientID: s.ClientID, ClientSecret: s.ClientSecret.Reveal(), TokenURL: s.TokenURL,
		Scopes: strings.Fields(s.Scope),
	}}
	_, err := server.client() // so that a wrong file is found at once
	return server, err
}

// client returns how to reach the server. Its certificates are read anew: it is asked rarely.
func (s *tokenServer) client() (*http.Client, error) {
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, ForceAttemptHTTP2: true,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
	}
	if s.caFile != "" {
		pem, err := os.ReadFile(s.caFile)
		if err == nil {
			transport.TLSClientConfig.RootCAs, err = authorities(s.caFile, pem)
		}
		if err != nil {
			return nil, fmt.Errorf("kafka.sasl.token_ca_file: %w", err)
		}
	}
	return &http.Client{Transport: transport}, nil
}

// token returns the current token until a fifth of its time is left. Where the server then gives no
// other one, it holds until its end.
func (s *tokenServer) token(ctx context.Context) (string, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	now := time.Now()
	if s.current != nil && now.Before(s.renewAt) {
		return s.current.AccessToken, nil
	}
	client, err := s.client()
	var token *oauth2.Token
	if err == nil {
		token, err = s.settings.Token(context.WithValue(ctx, oauth2.HTTPClient, client))
	}
	if err != nil {
		if s.current != nil && now.Before(s.current.Expiry) {
			return s.current.AccessToken, nil
		}
		return "", s.explain(err)
	}
	s.current, s.renewAt = token, now
	if left := token.Expiry.Sub(now); left > 0 { // else it does not say how long it holds
		s.renewAt = now.Add(left * 4 / 5)
	}
	return token.AccessToken, nil
}

// explain says what is wrong with the server, or with what it is asked by. It leaves out what the
// server says in its own words: they might repeat the secret.
func (s *tokenServer) explain(err error) error {
	var answer *oauth2.RetrieveError
	if !errors.As(err, &answer) {
		var untrusted *tls.CertificateVerificationError
		return &Error{
			ours: true, Err: err, Fatal: errors.As(err, &untrusted),
			Advice: "there is no token, since its server does not answer: check kafka.sasl.token_url, " +
				"kafka.sasl.token_ca_file, and that the server runs",
		}
	}
	status := answer.Response.StatusCode
	said := &Error{ours: true, Err: fmt.Errorf("%s: %s", s.settings.TokenURL, answer.Response.Status)}
	if refused := status >= 400 && status < 500; refused && status != http.StatusTooManyRequests &&
		status != http.StatusRequestTimeout {
		said.Fatal = true
		said.Advice = "the token server refused clusterd: check kafka.sasl.client_id, " +
			"kafka.sasl.client_secret, kafka.sasl.scope and kafka.sasl.token_url"
	} else {
		said.Advice = "the token server is not well, so there is no token: look into its log, and " +
			"check kafka.sasl.token_url"
	}
	return said
}

// refused forgets the token: a broker may not take one that has not expired.
func (s *tokenServer) refused() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	said := ""
	if s.current != nil {
		said = validity(s.current.AccessToken)
	}
	s.current = nil
	return "the broker refused the token of kafka.sasl.token_url" + said +
		": check that the broker knows who issues it, and kafka.sasl.scope"
}
