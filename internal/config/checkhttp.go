package config

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// minTokenBytes is how many bytes keep a token from being guessed.
const minTokenBytes = 16

// checkHTTP keeps what an instance tells, and takes, from everybody on the network.
func (d *decoder) checkHTTP(c *HTTP) {
	const cert, key = "http.tls.cert_file", "http.tls.key_file"
	d.checkPair(cert, c.TLS.CertFile, key, c.TLS.KeyFile)
	d.checkPair(key, c.TLS.KeyFile, cert, c.TLS.CertFile)
	d.checkProxies(c)
	const listen, token, file = "http.listen", "http.token", "http.tokens_file"
	if d.hasFailed(listen, token, file, proxies, userHeader) ||
		c.Listen == "" || isLoopback(c.Listen) ||
		len(c.Token) >= minTokenBytes || c.Token == "" && (c.TokensFile != "" || c.UserHeader != "") {
		return
	}
	d.report(d.where(listen), listen, c.Listen, fmt.Sprintf(
		"is open to other machines while %s has %d bytes: give it at least %d, or name %s, or listen on "+
			"127.0.0.1", token, len(c.Token), minTokenBytes, file))
}

const proxies, userHeader = "http.trusted_proxies", "http.user_header"

// checkProxies keeps a header from being believed that anybody can send.
func (d *decoder) checkProxies(c *HTTP) {
	if d.hasFailed(proxies, userHeader) {
		return
	}
	if c.UserHeader != "" && len(c.TrustedProxies) == 0 {
		d.report(d.where(userHeader), userHeader, c.UserHeader, "is given while "+proxies+
			" is empty: name the addresses of those that may say who asks, or remove this")
	}
	for _, text := range c.TrustedProxies {
		if strings.HasSuffix(text, "/0") {
			d.report(d.where(proxies), proxies, text, "trusts every address, so that anybody can say who "+
				"asks: name those of the proxies")
		}
	}
}

// httpWarnings are those of an interface that is open wider than it seems.
func (c Config) httpWarnings() (all []string) {
	h := c.HTTP
	switch named := h.Token != "" || h.TokensFile != ""; {
	case h.Listen == "":
	case named && !isLoopback(h.Listen) && h.TLS.CertFile == "" && len(h.TrustedProxies) == 0:
		all = append(all, "http.listen: tokens cross the network as plain text: set http.tls.cert_file "+
			"and key_file, or listen on 127.0.0.1 behind a proxy with TLS")
	case !named && h.UserHeader == "" && len(h.TrustedProxies) > 0:
		all = append(all, proxies+": whoever the proxies let through has all rights: set "+userHeader+
			", or give tokens")
	}
	return all
}

// isLoopback reports whether address is of this machine. It looks no name up: what localhost means
// is fixed (RFC 6761), what others mean may change.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
