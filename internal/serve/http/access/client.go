package access

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"
)

// proxies are the addresses that are believed what they say of whom they ask for.
type proxies []netip.Prefix

// parseProxies reads addresses and networks, which the configuration has checked.
func parseProxies(texts []string) (proxies, error) {
	var all proxies
	for _, text := range texts {
		if address, err := netip.ParseAddr(text); err == nil {
			address = plain(address)
			all = append(all, netip.PrefixFrom(address, address.BitLen()))
			continue
		}
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, err
		}
		all = append(all, network.Masked())
	}
	return all, nil
}

func (p proxies) trust(address netip.Addr) bool {
	for _, network := range p {
		if network.Contains(address) {
			return true
		}
	}
	return false
}

// peer returns the address at the other end of the connection.
func peer(r *http.Request) netip.Addr {
	address, _ := netip.ParseAddrPort(r.RemoteAddr)
	return plain(address.Addr())
}

// plain returns an IPv4 address as such, and no zone.
func plain(address netip.Addr) netip.Addr { return address.Unmap().WithZone("") }

// client returns the address from which somebody asks: that of the connection, and where that is a
// proxy's, what the proxy says. X-Forwarded-For grows at its end, so that all before the last
// address that is no proxy's may be made up.
func (p proxies) client(r *http.Request) netip.Addr {
	address := peer(r)
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && p.trust(address); i-- {
		before, ok := parseHop(strings.TrimSpace(hops[i]))
		if !ok {
			break
		}
		address = before
	}
	return address
}

// parseHop reads an address, which some proxies write with its port.
func parseHop(text string) (netip.Addr, bool) {
	address, err := netip.ParseAddr(text)
	if err != nil {
		host, _, _ := net.SplitHostPort(text)
		address, err = netip.ParseAddr(host)
	}
	return plain(address), err == nil
}

// user returns who a proxy says that asks. It is "" where it says nobody, and not valid where it
// says what can be no name.
func (p proxies) user(r *http.Request, header string) (name string, valid bool) {
	if header == "" || !p.trust(peer(r)) {
		return "", true
	}
	values := r.Header.Values(header)
	if len(values) == 0 {
		return "", true
	}
	name = strings.TrimSpace(values[0])
	// What nobody sees would make one name look like another.
	unseen := func(r rune) bool {
		return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
	}
	odd := !utf8.ValidString(name) || strings.ContainsFunc(name, unseen) ||
		name == Local || name == Owner
	return name, len(values) == 1 && len(name) <= maxName && !odd
}

// secure reports whether the client's connection is encrypted, as far as is known.
func (p proxies) secure(r *http.Request) bool {
	return r.TLS != nil || p.trust(peer(r)) && r.Header.Get("X-Forwarded-Proto") == "https"
}

// addressKey returns what clients are told apart by: of IPv6, which gives everybody a network, the
// network.
func addressKey(address netip.Addr) string {
	if address.Is6() {
		if network, err := address.Prefix(64); err == nil {
			return network.String()
		}
	}
	return address.String()
}
