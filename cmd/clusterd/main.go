// Command clusterd reads articles from Kafka and writes, next to each, the id of the cluster of
// near-copies that it belongs to.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/clusterd/clusterd/internal/cli"
	"github.com/clusterd/clusterd/internal/cli/ask"
	"github.com/clusterd/clusterd/internal/cli/migrate"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/daemon"
	"github.com/clusterd/clusterd/internal/text/printable"
)

// Exit codes. 78 is EX_CONFIG of sysexits.h.
const (
	exitFailed = 1
	exitUsage  = 2
	exitConfig = 78
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// A usageError is the error of a command line that cannot be understood.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }
func asUsage(err error) error      { return usageError{err} }

// run does what main does, with everything that it touches from outside, and returns the exit code.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errs)
	cli.StrictArguments(root, noArguments)
	cli.FitHelp(root)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	var configErrors config.Errors
	var usage usageError
	switch {
	case errors.As(err, &configErrors):
		fmt.Fprintln(errs, configErrors)
		return exitConfig
	case errors.As(err, &usage):
		fmt.Fprintf(errs, "clusterd: %s\nTry '%s --help'.\n", printable.Text(err.Error()),
			cmd.CommandPath())
		return exitUsage
	default:
		fmt.Fprintf(errs, "clusterd: %s\n", printable.Text(err.Error()))
		return exitFailed
	}
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "clusterd",
		Short: "Clusters a stream of texts that is full of copies",
		Long: "clusterd reads articles from a Kafka topic and writes, next to each, the id of the " +
			"cluster of\nnear-copies that it belongs to: exactly once, while it streams.\n\n" +
			"Begin with:  clusterd demo",
		SilenceErrors: true, SilenceUsage: true,
		// Without this, cobra takes any word for an argument of the root and prints the help.
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(flagError)
	root.Version = cli.GetVersion().String()
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.AddCommand(newRun(), newDemo(), newCluster(), newCompare(), newEval(), newIDF(), newAudit(),
		newDoctor(), newState(), newLint(), newConfig(), newVersion(), cli.ManPages())
	shell := ask.Shell{Usage: asUsage, NoArguments: noArguments, JSON: jsonOut}
	root.AddCommand(ask.Commands(shell)...)
	root.AddCommand(migrate.Command(migrate.Shell{
		Usage: asUsage, NoArguments: noArguments, Connect: daemon.Connect, NewLogger: newLogger,
		WriteJSON: writeJSON,
	}))
	cli.Complete(root)
	return root
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		where := strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()), " ")
		if where != "" {
			where += ": "
		}
		return usageError{fmt.Errorf("%sunknown command or argument %q%s", where, args[0],
			meant(cmd, args[0], ""))}
	}
	return nil
}

// flagError names the flag that was likely meant by one that is not there.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return usageError{err}
	}
	var flags cobra.Command // whose commands are the flags, for cobra compares names of commands only
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		flags.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
	})
	return usageError{fmt.Errorf("%w%s", err, meant(&flags, unknown.GetSpecifiedName(), "--"))}
}

// meant returns a question for the first of a command's own that is near to a word.
func meant(cmd *cobra.Command, word, prefix string) string {
	// letters; a longer word is no misspelling, and comparing it is expensive
	const changes, longest = 2, 64
	cmd.SuggestionsMinimumDistance = changes
	if near := cmd.SuggestionsFor(word); len(word) <= longest && len(near) > 0 {
		return ": did you mean " + prefix + near[0] + "?"
	}
	return ""
}

// loadConfig returns the configuration that -c and --set say, and which keys they give.
func loadConfig(cmd *cobra.Command, file string) (config.Config, config.Given, error) {
	set, _ := cmd.Flags().GetStringArray("set") // configFlag has added it
	return config.LoadSet(file, set)
}

// configFlag adds -c FILE and --set KEY=VALUE.
func configFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVarP(file, "config", "c", "",
		"configuration `FILE` (YAML; default: every key's default)")
	cmd.Flags().StringArray("set", nil,
		"override a key of the configuration: `KEY=VALUE`, such as log.level=debug; may be repeated")
	_ = cmd.MarkFlagFilename("config", "yaml", "yml") // it fails without the flag alone
}

// newLogger logs to w as the configuration says: in auto, text for a terminal and JSON elsewhere.
func newLogger(c config.Log, w io.Writer) *slog.Logger {
	return newLoggerAt(c.Severity(), c, w)
}

// newLoggerAt does what newLogger does, but at a level that may change.
func newLoggerAt(level slog.Leveler, c config.Log, w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: durationWithUnit}
	if c.Format == "text" || c.Format == "auto" && cli.IsTerminal(w) {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(printable.JSON(w), options))
}

// jsonOut returns the writer for JSON: as it is, but to a terminal nothing that would steer it.
func jsonOut(cmd *cobra.Command) io.Writer {
	out := cmd.OutOrStdout()
	if cli.IsTerminal(out) {
		return printable.JSON(out)
	}
	return out
}

// writeJSON writes a report as one object.
func writeJSON(cmd *cobra.Command, report any) error {
	e := json.NewEncoder(jsonOut(cmd))
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(report)
}

// durationWithUnit writes a duration in JSON as it is in text: "1.5s", not 1500000000.
func durationWithUnit(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}
