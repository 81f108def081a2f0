//go:build integration

package integration

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const loginProperties = `process.roles=broker,controller
node.id=1
listeners=SASL://127.0.0.1:%[1]d,CONTROLLER://127.0.0.1:%[2]d
advertised.listeners=SASL://127.0.0.1:%[1]d,CONTROLLER://127.0.0.1:%[2]d
listener.security.protocol.map=SASL:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT
controller.listener.names=CONTROLLER
inter.broker.listener.name=SASL
controller.quorum.bootstrap.servers=127.0.0.1:%[2]d
sasl.enabled.mechanisms=PLAIN
sasl.mechanism.inter.broker.protocol=PLAIN
listener.name.sasl.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="broker" password="broker-secret" user_broker="broker-secret" user_clusterd="correct horse";
log.dirs=%[3]s/data
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
`

// A broker that asks for a login lets the right one in, and a wrong one ends clusterd with one line that
// says what to check.
func TestLogin(t *testing.T) {
	at := startLoginBroker(t)
	for _, test := range []struct{ name, sasl, want string }{
		{"right", `mechanism: plain, username: clusterd, password: "correct horse"`, ""},
		{"wrong password", `mechanism: plain, username: clusterd, password: battery`, "the broker refused the login: check kafka.sasl.username and kafka.sasl.password"},
		{"wrong mechanism", `mechanism: scram-sha-512, username: clusterd, password: "correct horse"`, "check kafka.sasl.mechanism"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := &world{T: t, config: filepath.Join(t.TempDir(), "clusterd.yaml")}
			text := fmt.Sprintf("kafka: {brokers: [%q], create_topics: true, sasl: {%s}}\nlog: {format: text}\n", at, test.sasl)
			if err := os.WriteFile(w.config, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			running := w.start()
			if test.want == "" {
				running.waitFor("msg=live")
				running.stop()
				return
			}
			var exit *exec.ExitError
			if err := running.wait(30 * time.Second); !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Errorf("%v, want exit code 1", err)
			}
			if !strings.Contains(running.said(), test.want) {
				t.Errorf("it does not say %q:\n%s", test.want, running.said())
			}
		})
	}
}

// startLoginBroker starts a broker beside the others' and returns its address.
func startLoginBroker(t *testing.T) string {
	t.Helper()
	libs, err := broker("libs")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	properties := filepath.Join(dir, "server.properties")
	port, controller := freePort(t), freePort(t)
	if err := os.WriteFile(properties, fmt.Appendf(nil, loginProperties, port, controller, dir), 0o600); err != nil {
		t.Fatal(err)
	}
	java := func(args ...string) *exec.Cmd {
		return exec.Command("java", append([]string{"-Xmx512m", "-cp", libs + "/*"}, args...)...)
	}
	if out, err := java("kafka.tools.StorageTool", "format", "-t", "AAAAAAAAAAAAAAAAAAAAAA", "-c", properties, "--standalone").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := java("kafka.Kafka", properties)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return fmt.Sprintf("127.0.0.1:%d", port)
}

// freePort is a port that nobody listens on now.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
