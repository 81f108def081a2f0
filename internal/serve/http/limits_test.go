package httpapi

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Whoever is slow, sends much or says nothing is not waited for.
func TestLimits(t *testing.T) {
	address := serve(t, "", ready(), quick())
	for _, tt := range []struct{ name, sent, want string }{
		{"nothing", "", ""},
		{"half a header", "GET /livez HTTP/1.1\r\nHost: x\r\nX-Slow: ", ""},
		{"a large header", "GET /livez HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 64<<10) +
			"\r\n\r\n", "HTTP/1.1 431 "},
		{"a request and then nothing", "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 "},
		{
			"a body that does not come",
			"GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n", "HTTP/1.1 413 ",
		},
		{
			"a body without end",
			"POST /livez HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n",
			"HTTP/1.1 405 ",
		},
		{
			"a body of unknown length",
			"GET /livez HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 413 ",
		},
		{"no HTTP", "\x16\x03\x01 hello\r\n\r\n", "HTTP/1.1 400 "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := say(t, dial(t, address), tt.sent); !strings.HasPrefix(got, tt.want) || tt.want == "" &&
				got != "" {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

const getLivez = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"

// However many connect and then say nothing, or half of something, or keep what they have open:
// whoever asks next is answered, and the number of connections stays bounded.
func TestNobodyIsShutOut(t *testing.T) {
	l := defaultLimits()
	l.connections, l.inHand = 256, 192
	// nothing ends by itself
	l.header, l.read, l.write, l.idle = time.Hour, time.Hour, time.Hour, time.Hour
	for _, tt := range []struct {
		name, sent string
		answered   bool
	}{
		{"silent", "", false},
		{"half a request line", "GET /liv", false},
		{"half a header", "GET /livez HTTP/1.1\r\nHost: x\r\nX-Slow: ", false},
		{"kept open after an answer", getLivez, true},
		{"kept open after a refusal", "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n", true},
		{"a second request half sent", getLivez + "GET /", true},
		{
			"a body that does not come", "POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n",
			true,
		},
	} {
		for _, n := range []int{64, 500} {
			t.Run(fmt.Sprintf("%s, %d times", tt.name, n), func(t *testing.T) {
				t.Parallel()
				address := serve(t, canary, ready(), l)
				for range n {
					conn := dial(t, address)
					if _, err := io.WriteString(conn, tt.sent); err != nil {
						t.Fatal(err)
					}
					if !tt.answered {
						continue
					}
					if _, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil {
						t.Fatal(err)
					}
				}
				for path, authorization := range map[string]string{"/livez": "", "/readyz": "Bearer " +
					canary} {
					if answer, body := ask(t, request(t, "GET", "http://"+address+path, "",
						authorization)); answer.StatusCode != http.StatusOK {
						t.Errorf("%s: %d %s", path, answer.StatusCode, body)
					}
				}
			})
		}
	}
}

// The oldest of those that are idle goes, and one that has just been answered counts as new.
func TestConnectionsAreBounded(t *testing.T) {
	l := defaultLimits()
	l.connections = 2
	address := serve(t, "", ready(), l)
	open := func() (net.Conn, *bufio.Reader) {
		conn := dial(t, address)
		return conn, bufio.NewReader(conn)
	}
	get := func(conn net.Conn, from *bufio.Reader) error {
		if _, err := io.WriteString(conn, getLivez); err != nil {
			return err
		}
		answer, err := http.ReadResponse(from, nil)
		if err == nil {
			_, err = io.Copy(io.Discard, answer.Body)
		}
		return err
	}
	first, fromFirst := open()
	second, fromSecond := open()
	for name, err := range map[string]error{
		"the first":  get(first, fromFirst),
		"the second": get(second, fromSecond),
	} {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if err := get(first, fromFirst); err != nil { // again, so that the second is idle for longer
		t.Fatal(err)
	}
	third, fromThird := open()
	if err := get(third, fromThird); err != nil {
		t.Errorf("the third: %v", err)
	}
	if err := get(second, fromSecond); err == nil {
		t.Error("the second is still open: there are three")
	}
	if err := get(first, fromFirst); err != nil {
		t.Errorf("the first, which was used after the second, was closed: %v", err)
	}
}
