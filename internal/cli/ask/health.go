package ask

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// probeTimeout is how long a probe waits: who calls it, calls it again.
const probeTimeout = 4 * time.Second

func (s Shell) health() *cobra.Command {
	f := serverFlags{Shell: s}
	var ready bool
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Say whether a running clusterd is well, for a container's health check",
		Long: "Asks a running clusterd whether its process answers, or with --ready whether it works " +
			"or could at once.\nIt exits with 0 if so, else with 1, within 4 seconds. Only --ready needs " +
			"a token, where one is set.",
		Example: "  clusterd health\n  clusterd health --ready",
		Args:    s.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := f.client()
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), probeTimeout)
			defer cancel()
			answer := "live"
			if ready {
				var reason string
				if ready, reason, err = c.Ready(ctx); err == nil && !ready {
					err = errors.New("not ready: " + reason)
				}
				answer = "ready: " + reason
			} else {
				err = c.Live(ctx)
			}
			if err == nil {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), answer)
			}
			return err
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&ready, "ready", false, "ask whether it works or could at once")
	return cmd
}
