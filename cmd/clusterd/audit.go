package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/audit"
	"github.com/clusterd/clusterd/internal/audit/report"
	"github.com/clusterd/clusterd/internal/cli"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/files"
)

// auditFlags say how an audit is done and shown.
type auditFlags struct {
	seen                  []string
	show                  int
	json, strict, aborted bool
	tmp                   string
}

const auditLong = "Reads the topics of a clusterd, which may be running, and works everything " +
	"out again: that each input record came out\n" +
	"exactly once, in order, that its result or dead letter says what the record says, " +
	"that it has the cluster that a plain\n" +
	"model gives it, with the labels and signals of that, and that the clusters topic and the " +
	"group's offsets agree. Of other\n" +
	"methods than simhash it does not check that a cluster is the nearest; " +
	"docs/reliability.md says what is checked and what\n" +
	"cannot be. Configuration and version must be those that all of it was made with: " +
	"another distance, window, scope or field\n" +
	"gives other results. Exits with 0 if everything that can be checked holds, with 1 if not."

func newAudit() *cobra.Command {
	var file string
	var flags auditFlags
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Check on the topics that every record came out once, and right",
		Long:  auditLong,
		Example: "  clusterd audit -c clusterd.yaml\n" +
			"  kcat -b 127.0.0.1:9092 -C -t article-clusters -e " +
			"-X isolation.level=read_committed > before.jsonl\n" +
			"  clusterd audit -c clusterd.yaml --seen before.jsonl",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if flags.show < 0 {
				return usageError{fmt.Errorf("--show: %d: must be 0 or more", flags.show)}
			}
			c, _, err := loadConfig(cmd, file)
			if err != nil {
				return err
			}
			return auditTopics(cmd, c, flags)
		},
	}
	configFlag(cmd, &file)
	f := cmd.Flags()
	f.StringArrayVar(&flags.seen, "seen", nil, "results that were read earlier must still be there: "+
		"a `FILE` of one JSON value a line, or -; may be repeated")
	f.IntVar(&flags.show, "show", 10, "show the first `N` violations of each promise")
	f.BoolVar(&flags.json, "json", false, "print one JSON object instead of the table")
	f.BoolVar(&flags.strict, "strict", false, "exit with 1 also where a promise could not be checked")
	f.BoolVar(&flags.aborted, "aborted", false,
		"also count the records of aborted transactions, which reads the output topics twice")
	f.StringVar(&flags.tmp, "tmp", "", "put temporary files, about 400 bytes an article and its "+
		"sketch, into `DIR` instead of the system's place")
	return cmd
}

func auditTopics(cmd *cobra.Command, c config.Config, flags auditFlags) error {
	opened, closeFiles, err := files.OpenRaw(cmd.InOrStdin(), flags.seen)
	if err != nil {
		return fmt.Errorf("--seen: %w", err)
	}
	defer closeFiles()
	var earlier []audit.Source
	for _, f := range opened {
		earlier = append(earlier, audit.Source(f))
	}
	errs := cmd.ErrOrStderr()
	log := newLogger(c.Log, errs)
	options := audit.Options{
		Seen: earlier, Show: flags.show, Aborted: flags.aborted, TempDir: flags.tmp, Log: log,
	}
	bar := newBar(errs, -1, "auditing")
	options.Stage = func(what string) {
		if cli.IsTerminal(errs) {
			bar.Describe(what)
		} else {
			log.Info(what)
		}
	}
	options.Progress = func(done, total int64) {
		bar.ChangeMax64(total)
		_ = bar.Set64(done) // a bar that cannot be drawn does no harm
	}
	found, err := audit.Run(cmd.Context(), c, options)
	_ = bar.Clear()
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted: nothing is known about the topics")
	}
	if err != nil {
		return err
	}
	if err := writeReport(cmd, found, flags.json); err != nil {
		return err
	}
	switch {
	case found.Violations() > 0:
		return fmt.Errorf("%d violations of what clusterd promises", found.Violations())
	case flags.strict && found.Unchecked() > 0:
		return fmt.Errorf("%d promises could not be checked wholly", found.Unchecked())
	}
	return nil
}

func writeReport(cmd *cobra.Command, r *report.Report, asJSON bool) error {
	if !asJSON {
		return r.Write(cmd.OutOrStdout())
	}
	e := json.NewEncoder(jsonOut(cmd))
	e.SetEscapeHTML(false)
	return e.Encode(r)
}
