package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/cli"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/quality/eval"
	"github.com/clusterd/clusterd/internal/quality/report"
)

// runsFlags are what eval and eval spam have in common: both measure runs on labelled documents.
type runsFlags struct {
	measureFlags
	eval.Options
	runs         []string
	labels, html string
	minBody      int
}

func (f *runsFlags) add(cmd *cobra.Command) {
	f.measureFlags.add(cmd)
	flags := cmd.Flags()
	flags.StringArrayVar(&f.runs, "run", nil,
		"measure `METHOD[,KEY=VALUE]...`; may be repeated (default: every method as configured)")
	flags.IntVar(&f.minBody, "min-body", 0,
		"leave documents of fewer than `N` characters of content, cleaned, out of all measures but "+
			"cost;\nthey are clustered all the same, as a stream has them")
	flags.StringVar(&f.html, "html", "",
		"write a report with plots to `FILE`, which needs nothing beside it")
	flags.IntVar(&f.Threads, "threads", 0,
		"make fingerprints with so many `THREADS` (default: one a processor)")
}

// check completes what the command line says, or finds it wrong.
func (f *runsFlags) check(func(flag string) bool) error {
	switch {
	case f.Threads < 0:
		return errors.New("--threads: less than 0")
	case f.minBody < 0:
		return errors.New("--min-body: less than 0")
	}
	if f.Threads == 0 {
		f.Threads = runtime.GOMAXPROCS(0)
	}
	if len(f.runs) == 0 {
		f.runs = method.Names()
	}
	return nil
}

// evaluate measures the files, and writes the report.
func (f *runsFlags) evaluate(cmd *cobra.Command, c config.Config, names []string) error {
	variants, err := parseVariants(c, f.runs)
	if err != nil {
		return err
	}
	docs, err := readDocuments(cmd, c, names, f.labels, f.Positive)
	if err == nil {
		err = f.leaveOut(c, docs)
	}
	if err != nil {
		return err
	}
	bar := newBar(cmd.ErrOrStderr(), int64(len(docs)*len(variants)), "measuring")
	f.Now, f.Progress = time.Now(), progress(bar)
	result, err := eval.Evaluate(cmd.Context(), docs, variants, f.Options)
	_ = bar.Clear()
	r := report.Report{Report: result}
	if err == nil && f.html != "" {
		err = f.writeHTML(r, names)
	}
	return f.write(cmd, r, err)
}

func (f *runsFlags) leaveOut(c config.Config, docs []eval.Document) error {
	if f.minBody == 0 {
		return nil
	}
	if err := eval.LeaveOut(c.Text, docs, f.minBody); err != nil {
		return err
	}
	if !slices.ContainsFunc(docs, func(d eval.Document) bool { return !d.LeftOut }) {
		return fmt.Errorf("no document has %d characters: lower --min-body", f.minBody)
	}
	return nil
}

func (f *runsFlags) writeHTML(r report.Report, names []string) error {
	bases := make([]string, len(names))
	for i, name := range names {
		bases[i] = filepath.Base(name)
	}
	page, err := r.HTML(report.Caption{
		Name: strings.Join(bases, ", "), Version: cli.GetVersion().Version, Made: time.Now(),
		Machine: fmt.Sprintf("%s, %s/%s, %d processors",
			runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU()),
	})
	if err == nil {
		err = os.WriteFile(f.html, page, 0o666)
	}
	if err != nil {
		return fmt.Errorf("--html: %w", err)
	}
	return nil
}
