package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/cli"
	"github.com/clusterd/clusterd/internal/cli/compare"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/files"
)

func newCompare() *cobra.Command {
	var file, format string
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "Compare two articles: what methods say, and where they differ",
		Long: "Reads two files, of which - is standard input and a name that ends in .gz is unpacked. " +
			"A file that is a JSON object\n" +
			"is an article by input.fields; documents, such as .html and .docx, are read as 'clusterd " +
			"cluster' does; any other file\n" +
			"is the content of an article, plain or HTML. Says by each method how far they are apart and " +
			"whether that makes them\n" +
			"the same; then which passages they share (two spaces) and which only A (-) or only B (+) " +
			"has. Whether the two are the\n" +
			"same or not, it exits with 0.",
		Example: "  clusterd compare a.txt b.html\n  clusterd compare --format json article.json -",
		RunE: func(cmd *cobra.Command, names []string) error {
			switch {
			case len(names) != 2:
				return usageError{errors.New("compare: name two files")}
			case names[0] == "-" && names[1] == "-":
				return usageError{errors.New("compare: only one of the two can be standard input")}
			case format != "text" && format != "json":
				return usageError{fmt.Errorf("--format: %q is neither text nor json", format)}
			}
			c, _, err := loadConfig(cmd, file)
			if err != nil {
				return err
			}
			report, err := compareFiles(cmd, c, names)
			if err != nil {
				return err
			}
			if format == "json" {
				return writeJSON(cmd, report)
			}
			return report.WriteText(cmd.OutOrStdout(), cli.HasColours(cmd.OutOrStdout()))
		},
	}
	configFlag(cmd, &file)
	cmd.Flags().StringVar(&format, "format", "text",
		"`FORM` of what is written to standard output: text or json")
	return cmd
}

func compareFiles(cmd *cobra.Command, c config.Config, names []string) (compare.Report, error) {
	var texts [2]compare.Text
	for i, name := range names {
		var said string
		var err error
		if texts[i], said, err = readText(cmd.InOrStdin(), c.Input, name); err != nil {
			return compare.Report{}, fmt.Errorf("%s: %w", name, err)
		}
		if said != "" {
			newLogger(c.Log, cmd.ErrOrStderr()).Warn(said, "file", name)
		}
	}
	return compare.Articles(c, texts[0], texts[1])
}

func readText(
	stdin io.Reader, c config.Input, name string,
) (text compare.Text, said string, err error) {
	opened, closeFile, err := files.Open(stdin, []string{name}, io.Discard)
	if err != nil {
		return compare.Text{}, "", err
	}
	defer closeFile()
	a, said, err := files.ReadWhole(c, opened[0])
	return compare.Text{File: name, Article: a}, said, err
}
