package access

import (
	"net/http"
	"strings"
	"testing"
)

// The address of who asks is that of the connection, and where that is a trusted proxy's, the last
// one that is none.
func TestClientAddress(t *testing.T) {
	trusted, err := parseProxies([]string{"10.0.0.0/8", "192.168.1.7", "2001:db8::/32"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, from, forwarded, want string }{
		{"no proxy", "8.8.8.8:1", "", "8.8.8.8"},
		{"one that is not trusted", "8.8.8.8:1", "1.1.1.1", "8.8.8.8"},
		{"another address of its network", "192.168.1.8:1", "1.1.1.1", "192.168.1.8"},
		{"a proxy that says nothing", "10.0.0.1:1", "", "10.0.0.1"},
		{"a proxy", "10.0.0.1:1", "1.1.1.1", "1.1.1.1"},
		{"an address", "192.168.1.7:1", "1.1.1.1", "1.1.1.1"},
		{"two proxies", "10.0.0.1:1", "1.1.1.1, 10.0.0.2", "1.1.1.1"},
		{"two headers", "10.0.0.1:1", "1.1.1.1|10.0.0.2", "1.1.1.1"},
		{"made up before it", "10.0.0.1:1", "9.9.9.9, 10.0.0.9, 1.1.1.1", "1.1.1.1"},
		{"proxies alone", "10.0.0.1:1", "10.0.0.3, 10.0.0.2", "10.0.0.3"},
		{"rubbish", "10.0.0.1:1", "1.1.1.1, unknown", "10.0.0.1"},
		{"rubbish before it", "10.0.0.1:1", "<script>, 1.1.1.1, 10.0.0.2", "1.1.1.1"},
		{"a port", "10.0.0.1:1", "1.1.1.1:4711", "1.1.1.1"},
		{"IPv6", "[2001:db8::1]:1", "2001:4860::8888", "2001:4860::8888"},
		{"IPv6 with a port", "10.0.0.1:1", "[2001:4860::8888]:443", "2001:4860::8888"},
		{"IPv4 within IPv6", "[::ffff:10.0.0.1]:1", "::ffff:1.1.1.1", "1.1.1.1"},
		{"a zone", "[fe80::1%eth0]:1", "", "fe80::1"},
		{"many", "10.0.0.1:1", strings.Repeat("10.0.0.1,", 1000) + "1.1.1.1", "1.1.1.1"},
	} {
		r := &http.Request{RemoteAddr: tt.from, Header: http.Header{}}
		for value := range strings.SplitSeq(tt.forwarded, "|") {
			r.Header.Add("X-Forwarded-For", value)
		}
		if got := trusted.client(r).String(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	if _, err := parseProxies([]string{"ten"}); err == nil {
		t.Error("ten is a network")
	}
}

// Who has a network of IPv6 is one client, not 2^64.
func TestClientsOfIPv6(t *testing.T) {
	keys := make(map[string]bool)
	for _, from := range []string{"[2001:db8::1]:1", "[2001:db8::2]:1", "[2001:db8:0:0:ffff::]:1"} {
		keys[addressKey(peer(&http.Request{RemoteAddr: from}))] = true
	}
	if len(keys) != 1 {
		t.Errorf("they are %v", keys)
	}
	if addressKey(peer(&http.Request{RemoteAddr: "1.1.1.1:1"})) ==
		addressKey(peer(&http.Request{RemoteAddr: "1.1.1.2:1"})) {
		t.Error("two addresses of IPv4 are one client")
	}
}
