//go:build integration

package integration

import (
	"cmp"
	"crypto/x509"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// securedProperties are those of a broker with an authorizer that allows nothing by itself. What
// follows the listeners is added to them.
const securedProperties = `process.roles=broker,controller
node.id=1
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAIN
allow.everyone.if.no.acl.found=false
super.users=User:ANONYMOUS;User:root;User:CN=root
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=2
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=2
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=100
connection.failed.authentication.delay.ms=1
sasl.oauthbearer.expected.audience=kafka
sasl.oauthbearer.expected.issuer=` + issuerName + `
sasl.oauthbearer.clock.skew.seconds=0
sasl.oauthbearer.jwt.validator.class=org.apache.kafka.common.security.oauthbearer.BrokerJwtValidator
`

// authorizer is there from Kafka 3.2 on.
const authorizer = "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer\n"

// A secured broker has a listener for each way to reach one.
type secured struct {
	*brokers
	dir       string
	ports     map[string]int // of the listeners, by their names
	authority *authority
	issuer    *issuer
	cmd       *exec.Cmd
	said      *os.File
}

// securedListeners are the listeners, and what each has beside its protocol.
var securedListeners = []struct{ name, protocol string }{
	{"PLAIN", "PLAINTEXT"},
	{"TLS", "SSL"},
	{"MUTUAL", "SSL"},
	{"EXPIRED", "SSL"},
	{"FUTURE", "SSL"},
	{"NAMED", "SSL"},
	{"SASL", "SASL_SSL"},
	{"SHORT", "SASL_SSL"}, // whose logins end after seconds
	{"RENEWED", "SSL"},    // whose certificate a test renews
	{"CONTROLLER", "PLAINTEXT"},
}

const shortLogin = 3 * time.Second

// startSecured starts a secured broker.
func startSecured(t *testing.T) *secured {
	t.Helper()
	s := startSecuredOf(t, authorizer)
	s.addUsers(t)
	return s
}

// startSecuredOf starts a secured broker with further settings, of the Kafka that the options of
// the script say.
func startSecuredOf(t *testing.T, further string, options ...string) *secured {
	t.Helper()
	a := newAuthority(t, "authority")
	s := &secured{
		dir: t.TempDir(), ports: make(map[string]int), authority: a, issuer: newIssuer(t, a),
	}
	for _, l := range securedListeners {
		s.ports[l.name] = freePort(t)
	}
	properties := s.configure(t, further)
	java := s.java(t, options...)
	if out, err := java("kafka.tools.StorageTool", "format", "-t", "AAAAAAAAAAAAAAAAAAAAAA", "-c",
		properties).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.cmd = java("kafka.Kafka", properties)
	var err error
	if s.said, err = os.Create(filepath.Join(s.dir, "kafka.log")); err != nil {
		t.Fatal(err)
	}
	s.cmd.Stdout, s.cmd.Stderr = s.said, s.said
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		if said, err := os.ReadFile(s.said.Name()); t.Failed() && err == nil {
			t.Logf("the secured broker said:\n%s", said[max(0, len(said)-8<<10):])
		}
	})
	s.connect(t)
	return s
}

// java returns how to run Java with Kafka's jars, and tells it where the keys of tokens may be.
func (s *secured) java(t *testing.T, options ...string) func(args ...string) *exec.Cmd {
	t.Helper()
	libs, err := (&brokers{folder: options}).script("libs")
	if err != nil {
		t.Fatal(err)
	}
	return func(args ...string) *exec.Cmd {
		return exec.Command("java", slices.Concat([]string{
			"-Xmx512m",
			"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=file://" + filepath.Join(s.dir, "keys.json"),
		}, shortLived, []string{"-cp", libs + "/*"}, args)...)
	}
}

// connect waits for the broker.
func (s *secured) connect(t *testing.T) {
	t.Helper()
	s.brokers = &brokers{addresses: []string{s.at("PLAIN")}}
	var err error
	if s.client, err = kgo.NewClient(kgo.SeedBrokers(s.addresses...),
		kgo.RequestTimeoutOverhead(answerTimeout)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.client.Close)
	s.admin = kadm.NewClient(s.client)
	w := &world{T: t, brokers: s.brokers, timeout: time.Minute}
	w.eventually("the broker to answer", func() bool {
		found, err := s.admin.ListBrokers(t.Context())
		return err == nil && len(found) == 1
	})
}

// addUsers gives the users of SCRAM their passwords.
func (s *secured) addUsers(t *testing.T) {
	t.Helper()
	for _, user := range []string{"root", "clusterd"} {
		for _, mechanism := range []kadm.ScramMechanism{kadm.ScramSha256, kadm.ScramSha512} {
			altered, err := s.admin.AlterUserSCRAMs(t.Context(), nil, []kadm.UpsertSCRAM{
				{User: user, Mechanism: mechanism, Iterations: 4096, Password: user + "-secret"},
			})
			if err = cmp.Or(err, altered.Error()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// at returns the address of a listener.
func (s *secured) at(listener string) string {
	return fmt.Sprintf("127.0.0.1:%d", s.ports[listener])
}

// configure writes the broker's settings and certificates, and returns the name of the settings.
func (s *secured) configure(t *testing.T, further string) string {
	t.Helper()
	var names, protocols []string
	for _, l := range securedListeners {
		names = append(names, l.name+"://"+s.at(l.name))
		protocols = append(protocols, l.name+":"+l.protocol)
	}
	listeners := strings.Join(names, ",")
	// Kafka 3 refuses to be told where the controller is, and 4 does without.
	advertised := strings.Join(names[:len(names)-1], ",")
	keys := write(t, filepath.Join(s.dir, "keys.json"), s.issuer.keys())
	ca := write(t, filepath.Join(s.dir, "ca.pem"), s.authority.pem)
	all := []string{
		securedProperties + further,
		"listeners=" + listeners, "advertised.listeners=" + advertised,
		"listener.security.protocol.map=" + strings.Join(protocols, ","),
		fmt.Sprintf("controller.quorum.voters=1@127.0.0.1:%d", s.ports["CONTROLLER"]),
		"log.dirs=" + filepath.Join(s.dir, "data"),
		"ssl.truststore.type=PEM", "ssl.truststore.location=" + ca, "ssl.keystore.type=PEM",
		"listener.name.mutual.ssl.client.auth=required",
		"listener.name.renewed.ssl.client.auth=required",
		"sasl.oauthbearer.jwks.endpoint.url=file://" + keys,
	}
	for name, change := range map[string]func(*x509.Certificate){
		"TLS": nil, "MUTUAL": nil, "SASL": nil, "SHORT": nil, "RENEWED": nil,
		"EXPIRED": valid(-48*time.Hour, -24*time.Hour), "FUTURE": valid(24*time.Hour, 48*time.Hour),
		"NAMED": func(c *x509.Certificate) {
			c.IPAddresses, c.DNSNames = nil, []string{"kafka.example"}
		},
	} {
		cert, key := s.authority.pair("broker", change)
		file := write(t, filepath.Join(s.dir, name+".pem"), key, cert)
		all = append(all, fmt.Sprintf("listener.name.%s.ssl.keystore.location=%s",
			strings.ToLower(name), file))
	}
	for _, name := range []string{"sasl", "short"} {
		for setting, value := range map[string]string{
			"sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
			"plain.sasl.jaas.config": "org.apache.kafka.common.security.plain.PlainLoginModule required " +
				`user_root="root-secret" user_clusterd="clusterd-secret";`,
			"scram-sha-256.sasl.jaas.config": scramModule, "scram-sha-512.sasl.jaas.config": scramModule,
			"oauthbearer.sasl.jaas.config": "org.apache.kafka.common.security.oauthbearer." +
				"OAuthBearerLoginModule required;",
			"oauthbearer.sasl.server.callback.handler.class": "org.apache.kafka.common.security." +
				"oauthbearer.OAuthBearerValidatorCallbackHandler",
		} {
			all = append(all, fmt.Sprintf("listener.name.%s.%s=%s", name, setting, value))
		}
	}
	for _, mechanism := range []string{"plain", "scram-sha-256", "oauthbearer"} {
		all = append(all, fmt.Sprintf("listener.name.short.%s.connections.max.reauth.ms=%d", mechanism,
			shortLogin.Milliseconds()))
	}
	return write(t, filepath.Join(s.dir, "server.properties"), []byte(strings.Join(all, "\n")+"\n"))
}

const scramModule = "org.apache.kafka.common.security.scram.ScramLoginModule required;"

// world makes topics and a configuration on the secured broker. Of the YAML of the key kafka,
// BROKER stands for the address of a listener, DIR for the folder of the test, CA for the
// authority's certificate and URL for the server of tokens.
func (s *secured) world(t *testing.T, listener, kafka string) *world {
	t.Helper()
	w := s.newWorld(t, 1, "kafka: {brokers: [BROKER], create_topics: true"+kafka+"}\n"+noLinger)
	w.timeout = 30 * time.Second
	write(t, filepath.Join(w.dir, "ca.pem"), s.authority.pem)
	w.replace("BROKER", fmt.Sprintf("%q", s.at(listener)))
	w.replace("CAFILE", filepath.Join(w.dir, "ca.pem"))
	w.replace("DIR/", w.dir+"/")
	w.replace("URL", s.issuer.server.URL)
	return w
}
