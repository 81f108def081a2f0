// Command peers clusters files of articles in one pass with clusterd's methods and with what one
// might use in their place, in turns, each on one core, and prints how many articles a second each
// takes, the ratio of the two, and, where the truth is known, how right it is.
//
//	python3 -m venv venv && venv/bin/pip install -r bench/peers/requirements.txt
//	go run ./bench/peers -python venv/bin/python -score score_expanded.py FILE.jsonl.gz ...
//
// A file has {"id", "title", "content"} a line. The score is that of a program which is called with
// the file's name without .jsonl.gz, and a file of {"id", "cluster"} a line; it prints pairs
// "(right/found/true)" and "wrong/1000 N". Rates are of processor time, and of each the best of the
// rounds, so that what else the machine does counts little. It needs Linux or another Unix.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"
)

type settings struct {
	python, score, script string
	rounds                int
	similarity            float64
	signature             string
}

func main() {
	var s settings
	var ours bool
	flag.StringVar(&s.python, "python", "python3", "Python with bench/peers/requirements.txt")
	flag.StringVar(&s.script, "script", "bench/peers/datasketch_minhash.py", "the peer")
	flag.StringVar(&s.score, "score", "", "program that scores the results; empty scores nothing")
	flag.IntVar(&s.rounds, "rounds", 3, "how often each is measured, in turns")
	flag.Float64Var(&s.similarity, "similarity", 0, "clusterd's cluster.similarity; 0 is auto")
	flag.StringVar(&s.signature, "signature", "fast", "clusterd's fingerprint.signature")
	flag.BoolVar(&ours, "ours", false,
		"cluster FILE into RESULTS with clusterd, and print articles and seconds of processor time")
	flag.Parse()
	run := s.compare
	if ours {
		run = s.cluster
	}
	if err := run(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// outcome is what a contender made of a file.
type outcome struct {
	rate  float64 // articles a second
	score string
}

func (s settings) compare(files []string) error {
	if len(files) == 0 {
		return errors.New("no files: want some of {\"id\", \"title\", \"content\"} a line")
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	results, err := os.MkdirTemp("", "peers")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(results) }() // it is only temporary
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	if _, err := fmt.Fprintln(table, "file\tpeer/s\tclusterd/s\tratio\tpeer\tclusterd"); err != nil {
		return err
	}
	for _, file := range files {
		peer, ours, err := s.inTurns(file, filepath.Join(results, "clusters"),
			[]string{s.python, s.script},
			[]string{self, "-ours", "-similarity", fmt.Sprint(s.similarity), "-signature", s.signature})
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		if _, err := fmt.Fprintf(table, "%s\t%.0f\t%.0f\t%.1f\t%s\t%s\n",
			name, peer.rate, ours.rate, ours.rate/peer.rate, peer.score, ours.score); err != nil {
			return err
		}
	}
	return table.Flush()
}

// inTurns has two contenders cluster a file, each as often as there are rounds.
func (s settings) inTurns(
	file, results string, peerCommand, ourCommand []string,
) (peer, ours outcome, err error) {
	for range s.rounds {
		for _, turn := range []struct {
			command []string
			into    *outcome
		}{{peerCommand, &peer}, {ourCommand, &ours}} {
			rate, err := measure(append(turn.command[:len(turn.command):len(turn.command)], file, results))
			if err != nil {
				return peer, ours, err
			}
			turn.into.rate = max(turn.into.rate, rate)
			if turn.into.score == "" {
				if turn.into.score, err = s.scored(file, results); err != nil {
					return peer, ours, err
				}
			}
		}
	}
	return peer, ours, nil
}

// measure runs a contender on one core, and returns its articles a second.
func measure(command []string) (rate float64, err error) {
	if taskset, err := exec.LookPath("taskset"); err == nil {
		command = append([]string{taskset, "-c", "0"}, command...)
	}
	child := exec.Command(command[0], command[1:]...)
	// With more threads numpy would use other cores too.
	child.Env = append(os.Environ(), "GOMAXPROCS=1", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")
	child.Stderr = os.Stderr
	out, err := child.Output()
	if err != nil {
		return 0, fmt.Errorf("running %s: %w", strings.Join(command, " "), err)
	}
	var articles, seconds float64
	if _, err := fmt.Sscan(string(out), &articles, &seconds); err != nil {
		return 0, fmt.Errorf("%s printed %q, want articles and seconds: %w", strings.Join(command, " "),
			out, err)
	}
	return articles / seconds, nil
}

// scored returns what the score says of pairs and of wrong merges, "" where no truth is known.
func (s settings) scored(file, results string) (string, error) {
	base := strings.TrimSuffix(file, ".jsonl.gz")
	if _, err := os.Stat(base + ".clusters_j80.tsv.gz"); s.score == "" || err != nil {
		return "", nil //nolint:nilerr // without a truth there is nothing to score
	}
	out, err := exec.Command(s.python, s.score, base, results).Output()
	if err != nil {
		return "", fmt.Errorf("scoring: %w", err)
	}
	found := regexp.MustCompile(`\((\d+)/(\d+)/(\d+)\).*wrong/1000 ([\d.]+)`).FindStringSubmatch(
		string(out))
	if found == nil {
		return "", fmt.Errorf("%s printed %q: no pairs and wrong merges in it", s.score, out)
	}
	var n [3]float64
	for i := range n {
		if n[i], err = strconv.ParseFloat(found[i+1], 64); err != nil {
			return "", err
		}
	}
	right, all, truth := n[0], n[1], n[2]
	return fmt.Sprintf("P %.3f R %.3f F1 %.3f wrong %s", right/max(all, 1), right/max(truth, 1),
		2*right/max(all+truth, 1), found[4]), nil
}
