//go:build integration

package integration

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// A broker that ends each login after seconds (KIP-368) costs no transaction and no line of the
// log, and tokens that live as long are renewed on the way.
func (s *secured) testEnds(t *testing.T) {
	t.Parallel()
	const logins = 4
	short := (&issuer{T: t, key: s.issuer.key, life: 8 * time.Second}).serve(t, s.authority)
	for name, yaml := range map[string]string{
		"PLAIN":                password("plain", "root", "root-secret"),
		"SCRAM":                password("scram-sha-256", "root", "root-secret"),
		"tokens from a file":   file,
		"tokens from a server": server,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := s.world(t, "SHORT", trusted+yaml)
			w.replace(s.issuer.server.URL, short.server.URL)
			renewToken := func() { w.writeToken(s.issuer.token("root", -time.Second, short.life)) }
			renewToken()
			running := w.start()
			running.waitLive()
			began := time.Now()
			w.eventually("some logins to end", func() bool {
				renewToken()
				w.send(5)
				return time.Since(began) > logins*shortLogin
			})
			w.done()
			for _, kind := range []string{
				"clusterd_errors_total", `clusterd_transactions_total{result="aborted"}`,
			} {
				if n := running.metric(kind); n != 0 {
					t.Errorf("%s: %g", kind, n)
				}
			}
			committed := running.metric(`clusterd_transactions_total{result="committed"}`)
			running.stop()
			if running.complains("") {
				t.Errorf("it complains:\n%s", running.said())
			}
			t.Logf("%g transactions while each login ended after %s", committed, shortLogin)
			renewToken()
			w.audit()
		})
	}
	t.Cleanup(func() {
		if n := short.asked.Load(); n < 2 {
			t.Errorf("the server was asked for %d tokens", n)
		}
	})
}

func named(name string, from, to time.Duration) func(*x509.Certificate) {
	return func(c *x509.Certificate) {
		valid(from, to)(c)
		c.Subject = pkix.Name{CommonName: name}
	}
}

const soon = 6 * time.Second // a certificate's life that a test waits for

// All certificates are renewed while clusterd runs: its own, which expires, and the broker's, by
// another authority. The connections that it opens after that succeed.
func (s *secured) testRenewal(t *testing.T) {
	t.Parallel()
	w := s.world(t, "RENEWED", mutual)
	w.own(s.authority, "root", named("root", -time.Hour, soon))
	began := time.Now()
	running := w.start()
	running.waitLive()
	w.send(3)
	w.done()

	w.own(s.authority, "root", named("root", -time.Hour, time.Hour))
	next := newAuthority(t, "next authority")
	write(t, filepath.Join(w.dir, "ca.pem"), next.pem)
	cert, key := next.pair("broker", nil)
	store := write(t, filepath.Join(s.dir, "RENEWED.pem"), key, cert)
	if _, err := s.admin.AlterBrokerConfigs(t.Context(), []kadm.AlterConfig{
		{Name: "listener.name.renewed.ssl.keystore.location", Value: &store},
	}, 1); err != nil {
		t.Fatal(err)
	}
	w.eventually("the first certificate to expire", func() bool { return time.Since(began) > soon })
	w.reconnects()
	w.eventually("the new partition to be read", func() bool { return w.committed()[1] > 0 })
	running.stop()
	if running.complains("") {
		t.Errorf("it complains:\n%s", running.said())
	}
	w.audit()
}

// reconnects makes clusterd join its group again, for which it opens connections: the input gets
// another partition, with an article.
func (w *world) reconnects() {
	w.Helper()
	if _, err := w.admin.CreatePartitions(w.Context(), 1, w.input); err != nil {
		w.Fatal(err)
	}
	w.eventually("another partition", func() bool { return len(w.ends(w.input)) == 2 })
	client := w.producer(kgo.RecordPartitioner(kgo.ManualPartitioner()))
	article := &kgo.Record{Partition: 1, Value: []byte(`{"content":"The keeper writes the log."}`)}
	if err := client.ProduceSync(w.Context(), article).FirstErr(); err != nil {
		w.Fatal(err)
	}
}

// The same without a renewal: what is not renewed ends clusterd, and it says why.
func (s *secured) testNoRenewal(t *testing.T) {
	t.Parallel()
	w := s.world(t, "MUTUAL", mutual)
	w.own(s.authority, "root", named("root", -time.Hour, soon))
	began := time.Now()
	running := w.start()
	running.waitLive()
	w.eventually("the certificate to expire", func() bool { return time.Since(began) > soon })
	w.reconnects()
	running.fails("the client certificate in kafka.tls.cert_file, which expired at ")
	if n := strings.Count(running.said(), "which expired at "); n != 1 {
		t.Errorf("it says so %d times:\n%s", n, running.said())
	}
}
