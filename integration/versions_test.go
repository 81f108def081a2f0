//go:build integration

package integration

import (
	"cmp"
	"crypto/x509"
	"crypto/x509/pkix"
	"flag"
	"strings"
	"testing"
)

var versions = flag.String("kafka", "",
	"versions of Kafka for TestVersions, with commas between; empty passes it over")

// Other versions of Kafka do as well: three brokers of each under the faults of TestKilled, and a
// secured one.
func TestVersions(t *testing.T) {
	if *versions == "" {
		t.Skip("-kafka names no version")
	}
	for version := range strings.SplitSeq(*versions, ",") {
		t.Run(version, func(t *testing.T) {
			t.Run("killed", func(t *testing.T) {
				on := ownBroker(t, "--brokers", "3", "--version", version)
				c := newCampaign(t, on, labelled, cmp.Or(*kills, 10), "", "")
				c.faults.every, c.mined = 5, true
				c.run()
			})
			t.Run("secured", func(t *testing.T) { testSecuredVersion(t, version) })
		})
	}
}

// testSecuredVersion has clusterd come in by TLS, by a client certificate and by a password. Other
// ways in are not in all versions.
func testSecuredVersion(t *testing.T, version string) {
	further := authorizer
	if strings.HasPrefix(version, "3.0.") || strings.HasPrefix(version, "3.1.") {
		further = ""
	}
	s := startSecuredOf(t, further, "--version", version)
	for _, l := range []login{
		{name: "TLS", listener: "TLS", yaml: trusted},
		{name: "client certificate", listener: "MUTUAL", yaml: mutual},
		{
			name: "password", listener: "SASL",
			yaml: trusted + password("plain", "root", "root-secret"),
		},
	} {
		t.Run(l.name, func(t *testing.T) {
			w := s.world(t, l.listener, l.yaml)
			w.own(s.authority, "root", func(c *x509.Certificate) {
				c.Subject = pkix.Name{CommonName: "root"}
			})
			running := w.start()
			running.waitLive()
			w.send(100)
			w.done()
			running.stop()
			w.audit()
		})
	}
}
