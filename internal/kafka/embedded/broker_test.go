package embedded_test

import (
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/kafka/embedded"
	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

const anyPort = "127.0.0.1:0"

var discard = slog.New(slog.DiscardHandler)

func start(t *testing.T, address, dir string) *embedded.Broker {
	t.Helper()
	b, err := embedded.Start(address, dir, discard)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func newClient(t *testing.T, b *embedded.Broker) *kafka.Client {
	t.Helper()
	return kafkatest.Connect(t, kafka.Options{Brokers: []string{b.Address()}})
}

func write(t *testing.T, b broker, topic string, values ...string) {
	t.Helper()
	w := &kafkago.Writer{
		Addr: kafkago.TCP(b.Address()), Topic: topic, RequiredAcks: kafkago.RequireAll,
		BatchTimeout: time.Millisecond,
	}
	defer w.Close()
	for _, v := range values {
		if err := w.WriteMessages(t.Context(), kafkago.Message{Value: []byte(v)}); err != nil {
			t.Fatal(err)
		}
	}
}

// read reads n records from the beginning of partition 0.
func read(t *testing.T, b *embedded.Broker, topic string, n int) string {
	t.Helper()
	r := kafkago.NewReader(kafkago.ReaderConfig{
		Brokers: []string{b.Address()}, Topic: topic, MaxWait: 100 * time.Millisecond,
	})
	defer r.Close()
	var values []string
	for range n {
		m, err := r.ReadMessage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, string(m.Value))
	}
	return strings.Join(values, " ")
}

func TestTopicWithoutANumberOfPartitions(t *testing.T) {
	b := start(t, anyPort, "")
	defer b.Close()
	client := newClient(t, b)
	if err := client.CreateTopic(t.Context(), kafka.TopicSpec{Name: "articles"}); err != nil {
		t.Fatal(err)
	}
	if partitions, err := client.Partitions(t.Context(), "articles"); err != nil ||
		len(partitions) != embedded.Partitions {
		t.Errorf("partitions = %v, %v; want %d", partitions, err, embedded.Partitions)
	}
}

func TestTheFolderKeepsTopicsAndRecords(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "by", "it")
	b := start(t, anyPort, dir)
	if err := newClient(t, b).CreateTopic(t.Context(),
		kafka.TopicSpec{Name: "articles", Partitions: 1}); err != nil {
		t.Fatal(err)
	}
	write(t, b, "articles", "大桥", "通车")
	b.Close()

	b = start(t, anyPort, dir) // on another port
	write(t, b, "articles", "again")
	if got := read(t, b, "articles", 3); got != "大桥 通车 again" {
		t.Errorf("records = %q", got)
	}
	b.Close()

	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o700 {
		t.Errorf("the folder's mode is %v: others can read the articles", info.Mode())
	}
}

func TestWithoutAFolderNothingIsKept(t *testing.T) {
	b := start(t, anyPort, "")
	if err := newClient(t, b).CreateTopic(t.Context(),
		kafka.TopicSpec{Name: "articles", Partitions: 1}); err != nil {
		t.Fatal(err)
	}
	address := b.Address()
	b.Close()
	if _, err := net.Dial("tcp", address); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("after Close somebody still answers: %v", err)
	}
	b = start(t, address, "") // the address is free again
	defer b.Close()
	if b.Address() != address {
		t.Errorf("address = %s, want %s", b.Address(), address)
	}
	if _, err := newClient(t, b).Partitions(t.Context(), "articles"); !errors.Is(err,
		kafka.ErrNoTopic) {
		t.Errorf("the topic: %v, want none", err)
	}
}

func TestOneBrokerAFolder(t *testing.T) {
	dir := t.TempDir()
	b := start(t, anyPort, dir)
	_, err := embedded.Start(anyPort, dir, discard)
	want := filepath.Join(dir, "clusterd.lock") + " is locked: another clusterd keeps its broker there"
	if err == nil || err.Error() != want {
		t.Errorf("error = %v, want %s", err, want)
	}
	b.Close()
	start(t, anyPort, dir).Close() // the lock is released
}

func TestOneBrokerAnAddress(t *testing.T) {
	b := start(t, anyPort, "")
	defer b.Close()
	dir := t.TempDir()
	_, err := embedded.Start(b.Address(), dir, discard)
	if !errors.Is(err, syscall.EADDRINUSE) || !strings.HasPrefix(err.Error(),
		"starting the embedded broker: "+b.Address()+
			" is taken, perhaps by another broker: give another port in kafka.brokers (") {
		t.Errorf("error = %v", err)
	}
	start(t, anyPort, dir).Close() // the failure left no lock
}

func TestStartErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ address, dir, want string }{
		"a file for a directory": {anyPort, file, "the embedded broker's folder: "},
		"below a file":           {anyPort, filepath.Join(file, "dir"), "the embedded broker's folder: "},
		"no such address": {
			"192.0.2.1:9092", "", "starting the embedded broker on 192.0.2.1:9092: ",
		},
		"no port": {"127.0.0.1", "", "starting the embedded broker on 127.0.0.1: "},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := embedded.Start(tt.address, tt.dir, discard)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("error = %v, want one that begins with %q", err, tt.want)
			}
		})
	}
}

// What the broker tells is for those who look for trouble: nothing of the usual course is shown.
func TestTheLogIsQuiet(t *testing.T) {
	for level, want := range map[slog.Level]bool{slog.LevelInfo: false, slog.LevelDebug: true} {
		var log wait.Buffer
		b, err := embedded.Start(anyPort, t.TempDir(),
			slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: level})))
		if err != nil {
			t.Fatal(err)
		}
		if err := newClient(t, b).CreateTopic(t.Context(),
			kafka.TopicSpec{Name: "articles"}); err != nil {
			t.Fatal(err)
		}
		write(t, b, "articles", "x")
		b.Close()
		if got := strings.Contains(log.String(), "embedded broker: "); got != want {
			t.Errorf("level %v: log %q", level, log.String())
		}
	}
}
