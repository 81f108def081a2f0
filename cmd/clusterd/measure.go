package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/cli"
	"github.com/clusterd/clusterd/internal/cli/offline"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/files"
	"github.com/clusterd/clusterd/internal/quality/eval"
	"github.com/clusterd/clusterd/internal/text/printable"
)

// measureFlags are what eval and the verbs under it have in common.
type measureFlags struct{ config, format string }

func (f *measureFlags) add(cmd *cobra.Command) {
	configFlag(cmd, &f.config)
	cmd.Flags().StringVar(&f.format, "format", "table",
		"`FORM` of what is written to standard output: table or json")
}

// run returns what a measuring verb does. It checks the command line, and measures the files that
// it names by the configuration.
func (f *measureFlags) run(
	check func(given func(flag string) bool) error,
	measure func(cmd *cobra.Command, c config.Config, names []string) error,
) func(cmd *cobra.Command, names []string) error {
	return func(cmd *cobra.Command, names []string) error {
		if f.format != "table" && f.format != "json" {
			return usageError{fmt.Errorf("--format: %q is neither table nor json", f.format)}
		}
		names, err := inputNames(cmd, names)
		if err != nil {
			return err
		}
		if err := check(cmd.Flags().Changed); err != nil {
			return usageError{err}
		}
		c, _, err := loadConfig(cmd, f.config)
		if err != nil {
			return err
		}
		return measure(cmd, c, names)
	}
}

// inputNames returns the files to read: standard input where none is named, and those of folders.
func inputNames(cmd *cobra.Command, names []string) ([]string, error) {
	if len(names) > 0 {
		return files.Expand(names)
	}
	if cli.IsTerminal(cmd.InOrStdin()) {
		return nil, usageError{fmt.Errorf("%s: name a file, or pipe articles in", cmd.Name())}
	}
	return []string{"-"}, nil
}

// write writes what was measured, or says why nothing was.
func (f *measureFlags) write(
	cmd *cobra.Command, report interface{ WriteTable(io.Writer) error }, err error,
) error {
	switch {
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted: nothing was written")
	case err != nil:
		return err
	case f.format == "json":
		return writeJSON(cmd, report)
	default:
		return report.WriteTable(cmd.OutOrStdout())
	}
}

// parseVariants returns the variants that --run says.
func parseVariants(c config.Config, runs []string) ([]eval.Variant, error) {
	var variants []eval.Variant
	for _, run := range runs {
		v, err := eval.ParseVariant(c, run)
		if errors.Is(err, config.ErrSecret) {
			return nil, usageError{fmt.Errorf("--run: %w", err)} // without what it is
		} else if err != nil {
			return nil, usageError{fmt.Errorf("--run %s: %w", run, err)}
		}
		variants = append(variants, v)
	}
	return variants, nil
}

// progress returns a function that shows on a bar what is measured, and how much of it is done.
func progress(bar *progressbar.ProgressBar) func(what string, documents int) {
	return func(what string, documents int) {
		bar.Describe(printable.Text(what))
		_ = bar.Add(documents)
	}
}

// readDocuments reads files of articles, with the labels in a field if one is named. At least one
// of them must be the positive label, if that is not empty.
func readDocuments(
	cmd *cobra.Command, c config.Config, names []string, field, positive string,
) ([]eval.Document, error) {
	bar := newBar(cmd.ErrOrStderr(), files.Size(names), "reading", progressbar.OptionShowBytes(true))
	defer func() { _ = bar.Clear() }()
	log := newLogger(c.Log, cmd.ErrOrStderr())
	inputs, err := offline.Open(cmd.Context(), &c.Input, cmd.InOrStdin(), names, bar, log)
	if err != nil {
		return nil, err
	}
	defer inputs.Close()
	docs, skipped, err := eval.ReadDocuments(c.Input, field, inputs.Files, inputs.Tally)
	if err != nil {
		return nil, err
	}
	_ = bar.Clear()
	if odd := inputs.Oddities(); len(odd) > 0 {
		log.Warn("some articles are odd", odd...)
	}
	hasText := func(d eval.Document) bool { return strings.TrimSpace(d.Title+d.Content) != "" }
	if err := inputs.Verdict(slices.ContainsFunc(docs, hasText)); err != nil {
		return nil, err
	}
	if skipped > 0 {
		log.Warn("lines that are no articles were passed over", "lines", skipped)
	}
	labelled := func(d eval.Document) bool { return d.Label != "" }
	isPositive := func(d eval.Document) bool { return d.Label == positive }
	switch {
	case len(docs) == 0:
		return nil, errors.New("there are no documents")
	case field != "" && !slices.ContainsFunc(docs, labelled):
		return nil, fmt.Errorf("no document has a label in field %s; name the field with --labels, or, "+
			"for eval, a truth with --clusters or --truth", field)
	case positive != "" && !slices.ContainsFunc(docs, isPositive):
		return nil, fmt.Errorf("no document has the label %q in field %s", positive, field)
	}
	return docs, nil
}
