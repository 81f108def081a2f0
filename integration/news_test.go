//go:build integration

package integration

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Real news, sent and read with kcat, comes out exactly once, each article with the representative
// that a plain single pass gives it; from one partition with the ids of clusterd cluster.
func TestNewsThroughKcat(t *testing.T) {
	t.Parallel()
	articles := gunzip(t, sharedData(t, "data/zh_events.jsonl.gz"))
	lines := bytes.Count(articles, []byte("\n"))
	for _, partitions := range []int32{4, 1} {
		t.Run(fmt.Sprintf("%d partitions", partitions), func(t *testing.T) {
			w := newWorld(t, partitions, "")
			// Without the option, kcat sends all that comes within 10 ms to one partition.
			w.kcat(articles, "-P", "-t", w.input, "-X", "sticky.partitioning.linger.ms=0")
			for p, end := range w.ends(w.input) {
				if end == 0 {
					t.Errorf("kcat sent nothing to partition %d", p)
				}
			}
			running := w.start()
			w.done()
			running.stop()
			w.audit()

			results := w.kcatResults()
			if len(results) != lines {
				t.Fatalf("kcat reads %d results of %d articles", len(results), lines)
			}
			if partitions == 1 {
				w.compare(results, w.cluster(articles))
			}
			scored := filepath.Join(t.TempDir(), "results.jsonl")
			w.write(scored, results)
			atLeast(t, "zh_events", scored, .95, .55, 2)
		})
	}
}

// The pairs that each method finds in real sets, and how many of a thousand articles it puts where
// they do not belong, without Kafka.
func TestQuality(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		method, set              string
		precision, recall, wrong float64
	}{
		{"simhash", "dxy_news", .97, .90, 2},
		{"simhash", "ccert_email", .95, .62, 2},
		{"simhash+verify", "zh_events", .97, .90, 0},
		{"simhash+verify", "dxy_news", .97, .93, 0},
		{"minhash", "zh_events", .95, .95, 0},
		{"minhash", "dxy_news", .98, .94, 0},
		{"minhash", "ccert_email", .98, .88, 0},
		{"minhash", "ecbplus", .94, .99, 0},
		{"minhash", "mccormick", .99, .99, 0},
		{"minhash", "xwlb", .7, .4, 0},
	} {
		t.Run(tt.method+"/"+tt.set, func(t *testing.T) {
			results := filepath.Join(t.TempDir(), "results.jsonl")
			out, err := os.Create(results)
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			cmd := exec.Command(binary, "cluster", "--method", tt.method,
				sharedData(t, "data/"+tt.set+".jsonl.gz"))
			cmd.Stdout = out
			if err := cmd.Run(); err != nil {
				t.Fatal(err)
			}
			atLeast(t, tt.set, results, tt.precision, tt.recall, tt.wrong)
		})
	}
}

var pairs = regexp.MustCompile(`pairs P ([\d.]+) .* R ([\d.]+) \(.*wrong/1000 ([\d.]+)`)

// atLeast scores results with a program that is not part of the project either.
func atLeast(t *testing.T, name, results string, precision, recall, wrong float64) {
	t.Helper()
	base := strings.TrimSuffix(sharedData(t, "data/"+name+".jsonl.gz"), ".jsonl.gz")
	out, err := exec.Command("python3", sharedData(t, "tools/score_expanded.py"), base,
		results).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s: %s", name, out)
	match := pairs.FindSubmatch(out)
	if match == nil {
		t.Fatalf("no pairs in %s", out)
	}
	p, errP := strconv.ParseFloat(string(match[1]), 64)
	r, errR := strconv.ParseFloat(string(match[2]), 64)
	w, errW := strconv.ParseFloat(string(match[3]), 64)
	if err := errors.Join(errP, errR, errW); err != nil || p < precision || r < recall || w > wrong {
		t.Errorf("%s: precision %v, recall %v, %v of a thousand wrong (%v); want %v, %v and %v", name, p,
			r, w, err, precision, recall, wrong)
	}
}

func gunzip(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func (w *world) kcat(in []byte, args ...string) []byte {
	w.Helper()
	cmd := exec.Command("kcat", append([]string{"-b", w.addresses[0]}, args...)...)
	cmd.Stdin = bytes.NewReader(in)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		w.Fatalf("kcat %v: %v\n%s", args, err, errs.String())
	}
	return out
}

// kcatResults returns the results as kcat reads them.
func (w *world) kcatResults() []string {
	w.Helper()
	out := w.kcat(nil, "-C", "-t", w.output, "-e", "-q", "-X", "isolation.level=read_committed", "-f",
		"%s\n")
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

// cluster returns what clusterd cluster makes of the same lines.
func (w *world) cluster(articles []byte) []string {
	w.Helper()
	cmd := exec.Command(binary, "cluster", "-c", w.config)
	cmd.Stdin = bytes.NewReader(articles)
	out, err := cmd.Output()
	if err != nil {
		w.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

// compare holds two sets of result lines to one another, whatever their order.
func (w *world) compare(got, want []string) {
	w.Helper()
	count := make(map[string]int)
	for _, line := range want {
		count[line]++
	}
	for _, line := range got {
		if count[line]--; count[line] < 0 {
			r := parseResult(w.T, []byte(line))
			w.Errorf("%s in Kafka is not what clusterd cluster gives: %s", r.Source, r.Status)
		}
	}
	if len(got) != len(want) {
		w.Errorf("%d results in Kafka, %d from clusterd cluster", len(got), len(want))
	}
}

func (w *world) write(path string, lines []string) {
	w.Helper()
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		w.Fatal(err)
	}
}

// sharedData returns a real set of articles, which is not part of the project. Where CI is set it
// must be there; elsewhere the test is passed over.
func sharedData(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "shared", name)
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skipf("needs %s, which is not part of the project", path)
	}
	return path
}
