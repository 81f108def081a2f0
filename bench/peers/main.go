// Command peers clusters files of articles in one pass with clusterd's minhash and with what one
// might use in its place, in turns, each on one core. It prints how many articles a second each
// takes and how much memory, what ratio that is to clusterd's, and, where the truth is known, how
// right the clusters are.
//
//	python3 -m venv venv && venv/bin/pip install -r bench/peers/requirements.txt
//	go run ./bench/peers -python venv/bin/python -score score_expanded.py FILE.jsonl.gz ...
//
// A file has {"id", "title", "content"} a line. The score is that of a program which is called with
// the file's name without .jsonl.gz, and a file of {"id", "cluster"} a line; it prints pairs
// "(right/found/true)" and "wrong/1000 N". Rates are of processor time, and of each the best of the
// rounds, so that what else the machine does counts little. Memory is the peak of the whole
// process, with its interpreter and the articles. A peer that Python does not have is left out. It
// needs Linux.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"
)

// peers are the libraries to compare with, by their names in peers.py. The threshold is the one, of
// .65, .7, .75, .77 and .8, with the best mean F1 on the sets of docs/quality.md. That is without
// xwlb, whose seven pairs would decide.
var peers = []struct {
	name      string
	threshold float64
}{
	{"datasketch", 0.75},
	{"rensa", 0.75},
	{"gaoya", 0.77},
}

type settings struct {
	python, score, script string
	rounds, shingle       int
	similarity, threshold float64
	signature             string
	normalize             bool
}

func main() {
	var s settings
	var ours, clean bool
	flag.StringVar(&s.python, "python", "python3", "Python with bench/peers/requirements.txt")
	flag.StringVar(&s.script, "script", "bench/peers/peers.py", "the peers")
	flag.StringVar(&s.score, "score", "", "program that scores the results; empty scores nothing")
	flag.IntVar(&s.rounds, "rounds", 3, "how often each is measured, in turns")
	flag.IntVar(&s.shingle, "shingle", 5, "characters of a shingle, of all")
	flag.Float64Var(&s.threshold, "threshold", 0, "the peers' threshold; 0 is the best of each")
	flag.BoolVar(&s.normalize, "normalize", false,
		"give the peers clusterd's clean text, whose making is not in their rates")
	flag.Float64Var(&s.similarity, "similarity", 0, "clusterd's cluster.similarity; 0 is auto")
	flag.StringVar(&s.signature, "signature", "fast", "clusterd's fingerprint.signature")
	flag.BoolVar(&ours, "ours", false,
		"cluster FILE into RESULTS with clusterd, and print articles and seconds of processor time")
	flag.BoolVar(&clean, "clean", false, "write the articles of FILE into another with clean text")
	flag.Parse()
	run := s.compare
	if ours {
		run = s.cluster
	}
	if clean {
		run = normalize
	}
	if err := run(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// contender clusters a file into another: their names are the last arguments of its command.
type contender struct {
	name    string
	command []string
	clean   bool // it gets clean text
}

// contenders are clusterd and then the peers that Python has.
func (s settings) contenders() ([]contender, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	all := []contender{{name: "clusterd", command: []string{
		self, "-ours",
		"-similarity", fmt.Sprint(s.similarity), "-signature", s.signature,
		"-shingle", fmt.Sprint(s.shingle),
	}}}
	for _, p := range peers {
		if err := exec.Command(s.python, "-c", "import "+p.name).Run(); err != nil {
			fmt.Fprintf(os.Stderr, "peers: without %s: %s does not import it: %v\n", p.name,
				s.python, err)
			continue
		}
		threshold := p.threshold
		if s.threshold > 0 {
			threshold = s.threshold
		}
		all = append(all, contender{name: p.name, clean: s.normalize, command: []string{
			s.python, s.script, p.name, fmt.Sprint(threshold), fmt.Sprint(s.shingle),
		}})
	}
	return all, nil
}

func (s settings) compare(files []string) error {
	if len(files) == 0 {
		return errors.New("no files: want some of {\"id\", \"title\", \"content\"} a line")
	}
	contenders, err := s.contenders()
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "peers")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }() // it is only temporary
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	if _, err := fmt.Fprintln(table, "file\tby\tarticles/s\tclusterd's\tMiB\tof clusterd's\t"+
		"P\tR\tF1\twrong"); err != nil {
		return err
	}
	for _, file := range files {
		outcomes, err := s.inTurns(file, scratch, contenders)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		for i, o := range outcomes {
			if _, err := fmt.Fprintf(table, "%s\t%s\t%.0f\t%.1f times\t%.0f\t%.1f times\t%s\n", name,
				contenders[i].name, o.rate, outcomes[0].rate/o.rate, o.memory/(1<<20),
				o.memory/outcomes[0].memory, o.score); err != nil {
				return err
			}
		}
	}
	return table.Flush()
}
