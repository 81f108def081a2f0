package pipeline

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/cli/demo/sample"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

var record = flag.String("record", "",
	"record "+earlierVersions+" anew with this binary of clusterd")

// How many articles come before the disk is kept, after it, and at last.
const (
	articlesOnDisk  = 80
	articlesInTopic = 40
	articlesLater   = 80
)

// recordEarlier records what a binary of clusterd leaves behind, and what it makes of further
// articles.
func recordEarlier(t *testing.T, binary string) {
	t.Helper()
	for method, partitions := range map[string]int32{"simhash": 2, "minhash": 1} {
		dir := filepath.Join(earlierVersions, method)
		b, disk := newEarlierBench(t, dir, partitions), t.TempDir()
		articles := madeUp(partitions)
		round := func(articles []line) { runBinary(b, binary, dir, disk, articles) }
		round(articles[:articlesOnDisk])
		keep := filepath.Join(dir, "state")
		if err := errors.Join(os.RemoveAll(keep), os.CopyFS(keep, os.DirFS(disk))); err != nil {
			t.Fatal(err)
		}
		round(articles[articlesOnDisk : articlesOnDisk+articlesInTopic])
		left, later := dump(b), articles[articlesOnDisk+articlesInTopic:]
		round(later)
		writeLines(t, filepath.Join(dir, "topics.jsonl"), left)
		writeLines(t, filepath.Join(dir, "more.jsonl"), later)
		writeLines(t, filepath.Join(dir, "want.jsonl"), outcomes(b, left))
	}
}

// runBinary runs a binary of clusterd, by the configuration in dir, until it has worked on the
// articles. They come one partition after the other, so that no two spaces have transactions open
// at the same time: a dump shows how many markers follow a record, and not whose they are.
func runBinary(b *bench, binary, dir, disk string, articles []line) {
	b.Helper()
	settings, err := os.ReadFile(filepath.Join(dir, "config.yaml"))
	if err != nil {
		b.Fatal(err)
	}
	settings = fmt.Appendf(settings,
		"kafka: {brokers: [%q]}\nstate: {dir: %q}\nhttp: {listen: \"\"}\n",
		b.config.Kafka.Brokers[0], disk)
	file := filepath.Join(b.TempDir(), "config.yaml")
	if err := os.WriteFile(file, settings, 0o600); err != nil {
		b.Fatal(err)
	}
	var log wait.Buffer
	cmd := exec.CommandContext(b.Context(), binary, "run", "-c", file)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	for p := range b.partitions() {
		elsewhere := func(l line) bool { return int(l.Partition) != p }
		produceLines(b, slices.DeleteFunc(slices.Clone(articles), elsewhere))
		b.committed()
	}
	if err := errors.Join(cmd.Process.Signal(syscall.SIGTERM), cmd.Wait()); err != nil {
		b.Fatalf("%v; log:\n%s", err, &log)
	}
}

// madeUp returns records of articles, over all partitions in turn. Some have no key, some are no
// articles, some have no text.
func madeUp(partitions int32) []line {
	const topic = "articles"
	feed := sample.New(1, time.Date(2025, 1, 6, 8, 0, 0, 0, time.UTC))
	lines := make([]line, articlesOnDisk+articlesInTopic+articlesLater)
	for i := range lines {
		a := feed.Next()
		content := []rune(a.Content)
		a.Content = string(content[:min(len(content), 200)]) // small files
		if i%19 == 17 {
			a.Title, a.Content = "", "!"
		}
		value := string(a.JSON())
		if i%17 == 13 {
			value = strings.TrimSuffix(value, "}")
		}
		lines[i] = line{
			Topic: topic, Partition: int32(i) % partitions,
			Time: a.PublishedAt.UnixMilli(), Value: &value,
		}
		if i%3 != 0 {
			lines[i].Key = &a.Source
		}
	}
	return lines
}

func writeLines(t *testing.T, path string, lines []line) {
	t.Helper()
	if err := os.WriteFile(path, encodeLines(t, lines), 0o644); err != nil {
		t.Fatal(err)
	}
}
