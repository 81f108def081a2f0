//go:build integration

package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"github.com/clusterd/clusterd/internal/testutil/wait"
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
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
allow.everyone.if.no.acl.found=true
super.users=User:broker;User:ANONYMOUS
log.dirs=%[3]s/data
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
offsets.topic.num.partitions=1
transaction.state.log.num.partitions=1
group.initial.rebalance.delay.ms=0
`

const rightLogin = `mechanism: plain, username: clusterd, password: "correct horse"`

// A right that is withdrawn while clusterd runs ends it, and nothing is lost.
func TestRightWithdrawn(t *testing.T) {
	t.Parallel()
	testUnauthorised(t, startLoginBroker(t))
}

func newLoginWorld(t *testing.T, at, sasl string) *world {
	dir := t.TempDir()
	w := &world{
		T: t, input: "articles", output: "results", clusters: "clusters", dead: "dead", group: "clusterd",
		timeout: wait.Timeout, dir: dir, config: filepath.Join(dir, "clusterd.yaml"),
	}
	w.configure(fmt.Sprintf("kafka: {brokers: [%q], create_topics: true, sasl: {%s}}\n", at, sasl))
	return w
}

// Without the right to write results, clusterd stops, says which right is missing, and loses
// nothing.
func testUnauthorised(t *testing.T, at string) {
	w := newLoginWorld(t, at, rightLogin)
	client, err := kgo.NewClient(kgo.SeedBrokers(at), kgo.DefaultProduceTopic(w.input),
		kgo.SASL(plain.Auth{User: "broker", Pass: "broker-secret"}.AsMechanism()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	send := func(n int) {
		for i := range n {
			value := fmt.Appendf(nil, `{"content":"The lighthouse keeper writes page %d of the log."}`, i)
			if err := client.ProduceSync(t.Context(), &kgo.Record{Value: value}).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
	}
	done := func() bool {
		ends, err := admin.ListEndOffsets(t.Context(), w.input)
		if err != nil {
			t.Fatal(err)
		}
		committed, err := admin.FetchOffsets(t.Context(), w.group)
		if err != nil {
			t.Fatal(err)
		}
		all := true
		ends.Each(func(o kadm.ListedOffset) {
			c, _ := committed.Lookup(o.Topic, o.Partition)
			all = all && c.At >= o.Offset
		})
		return all
	}
	denied := kadm.NewACLs().Topics(w.output).Deny("User:clusterd").DenyHosts("*").Operations(
		kadm.OpWrite).ResourcePatternType(kadm.ACLPatternLiteral)

	running := w.start()
	send(10)
	w.eventually("ten articles to be done", done)
	if _, err := admin.CreateACLs(t.Context(), denied); err != nil {
		t.Fatal(err)
	}
	send(10)
	running.fails(w.output)
	if done() {
		t.Error("articles without a result are committed")
	}
	if _, err := admin.DeleteACLs(t.Context(), denied); err != nil {
		t.Fatal(err)
	}
	running = w.start()
	w.eventually("twenty articles to be done", done)
	running.stop()
	w.audit()
}

// startLoginBroker starts a broker beside the others' and returns its address.
func startLoginBroker(t *testing.T) string {
	t.Helper()
	libs, err := shared.script("libs")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	properties := filepath.Join(dir, "server.properties")
	port, controller := freePort(t), freePort(t)
	if err := os.WriteFile(properties, fmt.Appendf(nil, loginProperties, port, controller, dir),
		0o600); err != nil {
		t.Fatal(err)
	}
	java := func(args ...string) *exec.Cmd {
		return exec.Command("java", slices.Concat([]string{"-Xmx512m"}, shortLived,
			[]string{"-cp", libs + "/*"}, args)...)
	}
	if out, err := java("kafka.tools.StorageTool", "format", "-t", "AAAAAAAAAAAAAAAAAAAAAA", "-c",
		properties, "--standalone").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := java("kafka.Kafka", properties)
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the broker that asks for a login said:\n%s", said.String())
		}
	})
	return fmt.Sprintf("127.0.0.1:%d", port)
}
