// Package ask has the verbs of the command line that ask a running clusterd over HTTP: check,
// label, erase, tap and health. What the user says goes in; a line for each answer comes out, or
// JSON.
package ask

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/serve/http/client"
)

const (
	defaultServer = "http://127.0.0.1:8080"
	// TokenVariable is what the environment has the token in.
	TokenVariable = "CLUSTERD_TOKEN"
	maxToken      = 4 << 10 // bytes of a file that holds one
)

// A Shell is what these verbs have in common with all others.
type Shell struct {
	Usage       func(error) error // makes an error that of a command line
	NoArguments cobra.PositionalArgs
	JSON        func(cmd *cobra.Command) io.Writer // where JSON is written to
}

// Commands returns the verbs.
func Commands(s Shell) []*cobra.Command {
	return []*cobra.Command{s.check(), s.label(), s.erase(), s.tap(), s.health()}
}

// serverFlags say which daemon is asked, and by which token. A token is never on the command line,
// which every user of the machine can read.
type serverFlags struct {
	Shell
	server, tokenFile string
}

func (f *serverFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.server, "server", defaultServer, "`URL` of a running clusterd")
	flags.StringVar(&f.tokenFile, "token-file", "",
		"`FILE` that holds the token (default: what the environment has as "+TokenVariable+", or none)")
}

// client returns a client of that daemon.
func (f *serverFlags) client() (*client.Client, error) {
	token := os.Getenv(TokenVariable)
	if f.tokenFile != "" {
		file, err := os.Open(f.tokenFile)
		if err != nil {
			return nil, fmt.Errorf("--token-file: %w", err)
		}
		defer func() { _ = file.Close() }() // nothing was written
		text, err := io.ReadAll(io.LimitReader(file, maxToken))
		if err != nil {
			return nil, fmt.Errorf("--token-file: %w", err)
		}
		token = strings.TrimSpace(string(text))
	}
	c, err := client.New(f.server, token)
	if err != nil {
		return nil, f.Usage(fmt.Errorf("--server: %w", err))
	}
	return c, nil
}

// labelNames completes the first argument by the labels that the daemon's clusters have. Whoever
// presses a key does not wait for long, and does not want to read errors.
func (f *serverFlags) labelNames(
	cmd *cobra.Command, args []string, _ string,
) ([]string, cobra.ShellCompDirective) {
	const patience = 2 * time.Second
	c, err := f.client()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), patience)
	defer cancel()
	names, err := c.LabelNames(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
