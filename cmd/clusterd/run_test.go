package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

// freeAddress returns a configuration with an address that was free a moment ago, and with more
// lines.
func freeAddress(t *testing.T, more ...string) (file string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return write(t, "c.yaml", fmt.Appendf(nil, "kafka: {brokers: [%q]}\nhttp: {listen: \"\"}\n%s",
		listener.Addr(), strings.Join(more, "\n")))
}

var address = regexp.MustCompile(`"address":"([^"]+)"`)

// startEmbedded starts the daemon with its own broker, and says where that is.
func startEmbedded(t *testing.T, file, dir string) (p *process, broker string) {
	t.Helper()
	p = start(t, "run", "-c", file, "--embedded", dir)
	p.errs.WaitFor(t, `"msg":"live"`, 1)
	return p, address.FindStringSubmatch(p.errs.String())[1]
}

func produce(t *testing.T, broker string, values ...string) {
	t.Helper()
	w := &kafkago.Writer{
		Addr: kafkago.TCP(broker), Topic: "articles",
		RequiredAcks: kafkago.RequireAll, BatchTimeout: time.Millisecond,
	}
	defer w.Close()
	messages := make([]kafkago.Message, len(values))
	for i, v := range values {
		messages[i] = kafkago.Message{Key: []byte("one partition"), Value: []byte(v)}
	}
	if err := w.WriteMessages(t.Context(), messages...); err != nil {
		t.Fatal(err)
	}
}

// waitForResults reads the results topic, as a read_committed client does, until n have come, by
// the article's id.
func waitForResults(t *testing.T, broker string, n int) map[string]article.Result {
	t.Helper()
	client := kafkatest.Connect(t, kafka.Options{Brokers: []string{broker}})
	ctx, cancel := context.WithTimeout(t.Context(), wait.Timeout)
	defer cancel()
	chunks, failed := make(chan consumer.Chunk), make(chan error, 1)
	from := map[int]int64{0: 0, 1: 0, 2: 0, 3: 0}
	go func() {
		failed <- consumer.NewLog(client, slog.New(slog.DiscardHandler), "article-clusters", from,
			1<<20).Read(ctx, chunks)
	}()
	byID := make(map[string]article.Result)
	for len(byID) < n {
		select {
		case chunk := <-chunks:
			for _, r := range chunk.Records {
				result, err := article.ParseResult(r.Value)
				if err != nil {
					t.Fatal(err)
				}
				byID[result.ArticleID] = result
			}
		case err := <-failed:
			t.Fatalf("%d of %d results came: %v", len(byID), n, err)
		}
	}
	return byID
}

func TestRunEmbedded(t *testing.T) {
	t.Parallel()
	file := freeAddress(t)
	dir := filepath.Join(t.TempDir(), "trial")

	p, broker := startEmbedded(t, file, dir)
	produce(t, broker, bridge, market)
	first := waitForResults(t, broker, 2)
	if code := p.signal(syscall.SIGTERM); code != 0 {
		t.Errorf("exit %d, want 0; log:\n%s", code, &p.errs)
	}
	log := p.errs.String()
	for _, want := range []string{
		`"msg":"starting"`, "one process and one disk, without replicas",
		`"msg":"created topic","topic":"articles"`, `"msg":"stopped"`,
	} {
		if !strings.Contains(log, want) {
			t.Errorf("%s is not in the log:\n%s", want, log)
		}
	}
	if p.out.String() != "" {
		t.Errorf("output %q, want none: the log goes to standard error", &p.out)
	}

	p, broker = startEmbedded(t, file, dir) // with what it learnt
	produce(t, broker, copied)
	second := waitForResults(t, broker, 3)["copy"]
	if second.Status != article.Joined || *second.ClusterID != *first["bridge"].ClusterID ||
		second.Size != 2 {
		t.Errorf("after a restart the copy is %s: %+v; want it to join %s", second.Status, second,
			*first["bridge"].ClusterID)
	}
	if code := p.signal(syscall.SIGINT); code != 0 {
		t.Errorf("exit %d, want 0; log:\n%s", code, &p.errs)
	}
}
