package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
)

// outcome is what a contender made of a file.
type outcome struct {
	rate   float64 // articles a second
	memory float64 // the peak, in bytes
	score  string
}

// inTurns has each contender cluster a file as often as there are rounds.
func (s settings) inTurns(
	file, scratch string, contenders []contender,
) (outcomes []outcome, err error) {
	clean, results := filepath.Join(scratch, "clean"), filepath.Join(scratch, "clusters")
	if s.normalize {
		// In a child: what this process ever took of memory would count as that of its children.
		command := exec.Command(contenders[0].command[0], "-clean", file, clean)
		if out, err := command.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("cleaning: %w: %s", err, out)
		}
	}
	outcomes = make([]outcome, len(contenders))
	for range s.rounds {
		for i, c := range contenders {
			source := file
			if c.clean {
				source = clean
			}
			o, err := measure(append(c.command[:len(c.command):len(c.command)], source, results))
			if err != nil {
				return nil, err
			}
			best := &outcomes[i]
			if best.memory == 0 || o.memory < best.memory {
				best.memory = o.memory
			}
			best.rate = max(best.rate, o.rate)
			if best.score == "" {
				if best.score, err = s.scored(file, results); err != nil {
					return nil, err
				}
			}
		}
	}
	return outcomes, nil
}

// measure runs a contender on one core.
func measure(command []string) (o outcome, err error) {
	if taskset, err := exec.LookPath("taskset"); err == nil {
		command = append([]string{taskset, "-c", "0"}, command...)
	}
	child := exec.Command(command[0], command[1:]...)
	// With more threads numpy and Rust's rayon would use other cores too.
	child.Env = append(os.Environ(), "GOMAXPROCS=1", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1",
		"RAYON_NUM_THREADS=1")
	child.Stderr = os.Stderr
	out, err := child.Output()
	if err != nil {
		return o, fmt.Errorf("running %s: %w", strings.Join(command, " "), err)
	}
	var articles, seconds float64
	if _, err := fmt.Sscan(string(out), &articles, &seconds); err != nil {
		return o, fmt.Errorf("%s printed %q, want articles and seconds: %w", strings.Join(command, " "),
			out, err)
	}
	used, ok := child.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return o, errors.New("the peak of memory is not known here")
	}
	return outcome{rate: articles / seconds, memory: float64(used.Maxrss) * 1024}, nil
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
	return parseScore(string(out))
}

var scoreForm = regexp.MustCompile(`\((\d+)/(\d+)/(\d+)\).*wrong/1000 ([\d.]+)`)

// parseScore returns precision, recall and F1 of pairs, and how many of a thousand articles are in
// a wrong cluster, with tabs between, of what the score printed.
func parseScore(printed string) (string, error) {
	found := scoreForm.FindStringSubmatch(printed)
	if found == nil {
		return "", fmt.Errorf("the score is %q: no pairs and wrong merges in it", printed)
	}
	var n [3]float64
	for i := range n {
		var err error
		if n[i], err = strconv.ParseFloat(found[i+1], 64); err != nil {
			return "", err
		}
	}
	right, all, truth := n[0], n[1], n[2]
	return fmt.Sprintf("%.3f\t%.3f\t%.3f\t%s", right/max(all, 1), right/max(truth, 1),
		2*right/max(all+truth, 1), found[4]), nil
}
