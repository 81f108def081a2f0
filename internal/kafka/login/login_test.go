package login

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// The message of AWS_MSK_IAM is the documented one: a presigned request of kafka-cluster:Connect by
// Signature Version 4, as JSON with names in lower case. The signature is worked out once more.
func TestMessageForMSK(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
	t.Setenv("AWS_SESSION_TOKEN", "a token+with/signs=")
	d, err := New(TLS{}, SASL{Mechanism: "aws-msk-iam"}, discard())
	if err != nil {
		t.Fatal(err)
	}
	const host = "b-1.news.abc123.c2.kafka.eu-west-1.amazonaws.com"
	var got map[string]string
	synctest.Test(t, func(t *testing.T) { // whose clock is at midnight of 1 January 2000
		_, message, err := d.mechanism.Authenticate(t.Context(), host+":9098")
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(message, &got); err != nil {
			t.Fatal(err)
		}
	})
	want := map[string]string{
		"version": "2020_10_22", "host": host, "user-agent": "clusterd",
		"action": "kafka-cluster:Connect", "x-amz-algorithm": "AWS4-HMAC-SHA256",
		"x-amz-credential": "AKIDEXAMPLE/20000101/eu-west-1/kafka-cluster/aws4_request",
		"x-amz-date":       "20000101T000000Z", "x-amz-expires": "300", "x-amz-signedheaders": "host",
		"x-amz-security-token": "a token+with/signs=",
	}
	query := make([]string, 0, len(want))
	for name, key := range map[string]string{
		"Action": "action", "X-Amz-Algorithm": "x-amz-algorithm", "X-Amz-Credential": "x-amz-credential",
		"X-Amz-Date": "x-amz-date", "X-Amz-Expires": "x-amz-expires",
		"X-Amz-Security-Token": "x-amz-security-token", "X-Amz-SignedHeaders": "x-amz-signedheaders",
	} {
		query = append(query, name+"="+strings.ReplaceAll(url.QueryEscape(want[key]), "+", "%20"))
	}
	slices.Sort(query)
	hash := func(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }
	request := "GET\n/\n" + strings.Join(query, "&") + "\nhost:" + host + "\n\nhost\n" + hash("")
	signed := "AWS4-HMAC-SHA256\n20000101T000000Z\n20000101/eu-west-1/kafka-cluster/aws4_request\n" +
		hash(request)
	key := []byte("AWS4wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
	for _, part := range []string{"20000101", "eu-west-1", "kafka-cluster", "aws4_request", signed} {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(part))
		key = mac.Sum(nil)
	}
	want["x-amz-signature"] = hex.EncodeToString(key)
	if !maps.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// Without credentials the login fails before anything is sent.
func TestNoKeysOfAWS(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	_, err := environment(t.Context())
	var failed *Error
	if !errors.As(err, &failed) || !failed.Fatal ||
		!strings.Contains(failed.Advice, "set AWS_ACCESS_KEY_ID") {
		t.Errorf("error %v", err)
	}
}

// A server of tokens is asked again when a fifth of a token's time is left; where it then gives
// none, the token counts until its end.
func TestTokenIsRenewed(t *testing.T) {
	asked, status := 0, http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked++; r.FormValue("scope") != "one two" {
			t.Errorf("scope %q", r.FormValue("scope"))
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"access_token":"t%d","expires_in":100,"error_description":"hunter2"}`, asked)
	}))
	defer server.Close()
	tokens, err := newTokenServer(SASL{
		TokenURL: server.URL, ClientID: "u", ClientSecret: "hunter2", Scope: "one two",
	})
	if err != nil {
		t.Fatal(err)
	}
	s := tokens.(*tokenServer)
	want := func(when, token string) {
		t.Helper()
		got, err := s.token(t.Context())
		if got != token || (err == nil) != (token != "") {
			t.Errorf("%s: %q, %v; want %q", when, got, err, token)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: it shows the secret: %v", when, err)
		}
	}
	want("at first", "t1")
	if left := time.Until(s.renewAt); left < 70*time.Second || left > 80*time.Second {
		t.Errorf("the token of 100 s is renewed after %s", left)
	}
	want("a moment later", "t1")
	s.renewAt = time.Now()
	want("with a fifth left", "t2")
	s.renewAt, status = time.Now(), http.StatusServiceUnavailable
	want("with a server that is down", "t2")
	s.current.Expiry = time.Now()
	want("after its end", "")
	_, err = s.token(t.Context())
	var failed *Error
	if !errors.As(err, &failed) || failed.Fatal {
		t.Errorf("%v is not worth waiting", err)
	}
	status = http.StatusUnauthorized
	if _, err := s.token(t.Context()); !errors.As(err, &failed) || !failed.Fatal {
		t.Errorf("%v is worth waiting", err)
	}
	status = http.StatusOK
	asked = 6
	want("when it is back", "t7")
	s.refused()
	want("when a broker has refused it", "t8")
}

// A file of tokens is read again; one that is damaged changes nothing, and the log says so once.
func TestTokenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]string{
		" \n": path + " is empty", "one two": path + " holds no token", "é": path + " holds no token",
	} {
		put(text)
		if _, err := newTokenFile(path, discard()); err == nil ||
			!strings.Contains(err.Error(), "kafka.sasl.token_file: "+want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	put("first\n")
	var log bytes.Buffer
	tokens, err := newTokenFile(path, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := tokens.token(t.Context()); got != "first" || err != nil {
		t.Errorf("token %q, %v", got, err)
	}
}

// What a token says of its time is for people; a broker decides.
func TestValidity(t *testing.T) {
	encode := func(claims string) string {
		return "e30." + strings.TrimRight(base64.URLEncoding.EncodeToString([]byte(claims)), "=") + ".x"
	}
	for token, want := range map[string]string{
		"opaque":                 "",
		"a.b.c":                  "",
		encode(`[]`):             "",
		encode(`{"exp":1}`):      ", which expired at 1970-01-01T00:00:01Z",
		encode(`{"exp":9e9}`):    "",
		encode(`{"nbf":9e9}`):    ", which is not valid before 2255-03-14T16:00:00Z",
		encode(`{"exp":"soon"}`): "",
	} {
		if got := validity(token); got != want {
			t.Errorf("%s: %q, want %q", token, got, want)
		}
	}
}

// Messages are counted however a stream is cut.
func TestFrames(t *testing.T) {
	var stream []byte
	sizes := []int{0, 1, 3, 700, 0, 12}
	for _, size := range sizes {
		stream = binary.BigEndian.AppendUint32(stream, uint32(size))
		stream = append(stream, make([]byte, size)...)
	}
	for cut := 1; cut <= len(stream); cut++ {
		var f frames
		for part := range slices.Chunk(stream, cut) {
			f.pass(part)
		}
		if n := f.n.Load(); n != int64(len(sizes)) || !f.whole() {
			t.Fatalf("cut by %d: %d messages, want %d", cut, n, len(sizes))
		}
		f.pass(stream[:2])
		if f.whole() {
			t.Fatalf("cut by %d: half a size is a whole message", cut)
		}
	}
}

// Whoever breaks a dial off does not wait for a broker that says nothing.
func TestDialIsBrokenOff(t *testing.T) {
	silent := httptest.NewUnstartedServer(nil) // nobody takes its connections
	defer silent.Listener.Close()
	d, err := New(TLS{Enabled: true}, SASL{}, discard())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := d.Dial(ctx, "tcp", silent.Listener.Addr().String()); err == nil {
		t.Error("there is a connection")
	}
	if took := time.Since(began); took > timeout/2 {
		t.Errorf("it took %s", took)
	}
}
