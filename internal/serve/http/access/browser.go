package access

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// browsers keeps pages of others from asking in the name of whoever looks at them.
type browsers struct {
	hosts   []string // by which the server is called, in lower case
	origins []string // that may ask, beside the server's own
	// CrossOriginProtection refuses what changes something and comes from another origin. The first
	// lets origins ask; a cookie goes by the second.
	others, own *http.CrossOriginProtection
}

func newBrowsers(listen string, hosts, origins []string) (*browsers, error) {
	b := &browsers{
		origins: origins,
		others:  http.NewCrossOriginProtection(), own: http.NewCrossOriginProtection(),
	}
	host, _, _ := net.SplitHostPort(listen)
	for _, name := range append([]string{"localhost", host}, hosts...) {
		if name != "" {
			b.hosts = append(b.hosts, bare(name))
		}
	}
	for _, origin := range origins {
		if err := b.others.AddTrustedOrigin(origin); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// bare returns a host in lower case without a port, brackets and the dot of a full name.
func bare(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.TrimSuffix(strings.ToLower(host), ".")
}

// knows reports whether the request calls the server by a name of its own. A page that has its own
// name lead to this machine (DNS rebinding) is of the same origin for its browser, and only the
// name gives it away. Addresses that are known are those of the machine and of the connection.
func (b *browsers) knows(r *http.Request) bool {
	host := bare(r.Host)
	if address, err := netip.ParseAddr(host); err == nil {
		address = plain(address)
		if address.IsLoopback() || address == local(r) {
			return true
		}
	}
	return slices.Contains(b.hosts, host)
}

// local returns the address of this end of the connection.
func local(r *http.Request) netip.Addr {
	if address, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok {
		return plain(address.AddrPort().Addr())
	}
	return netip.Addr{}
}

// foreign reports whether the request is of a page that is neither the server's own nor one of the
// origins.
func (b *browsers) foreign(r *http.Request) bool {
	origin := r.Header.Values("Origin")
	if len(origin) > 1 {
		return true
	}
	if len(origin) == 1 && !b.listed(r) {
		parsed, err := url.Parse(origin[0])
		ours := err == nil && parsed.Host != "" && strings.EqualFold(parsed.Host, r.Host)
		if !ours && r.Header.Get("Sec-Fetch-Site") != "same-origin" {
			return true
		}
	}
	return b.others.Check(r) != nil
}

// listed reports whether the request is of a page of one of the origins.
func (b *browsers) listed(r *http.Request) bool {
	return slices.Contains(b.origins, r.Header.Get("Origin"))
}

// ownPage reports whether the server's own page makes a request, or one that changes nothing. A
// browser sends the cookie by itself, so it must also say by whom.
func (b *browsers) ownPage(r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	said := r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") == "same-origin"
	return said && b.own.Check(r) == nil
}

// Protect sets the headers by which a browser takes an answer for data, and shows it to nobody
// else.
func Protect(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
}

// share lets a page of one of the origins read the answer, and reports whether the request only
// asks whether it may. A cookie is never shared: such a page bears a token.
func (b *browsers) share(h http.Header, r *http.Request) (asksOnly bool) {
	if len(b.origins) == 0 {
		return false
	}
	h.Add("Vary", "Origin")
	if !b.listed(r) {
		return false
	}
	h.Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
	h.Set("Access-Control-Expose-Headers", "Retry-After, WWW-Authenticate")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST")
	h.Set("Access-Control-Allow-Headers", "Accept, Authorization, Content-Type, Last-Event-ID")
	h.Set("Access-Control-Max-Age", "600")
	return true
}
