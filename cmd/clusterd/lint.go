package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/text/printable"
)

func newLint() *cobra.Command {
	return &cobra.Command{
		Use:   "lint FILE...",
		Short: "Check configuration files: every error at once, with its line",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{errors.New("lint: name at least one configuration file")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, files []string) error {
			var all config.Errors
			for _, file := range files {
				c, given, err := config.LoadSet(file, nil)
				var found config.Errors
				switch {
				case errors.As(err, &found):
					all = append(all, found...)
				case err != nil:
					return err
				default:
					for _, warning := range c.Warnings() {
						fmt.Fprintf(cmd.ErrOrStderr(), "%s: warning: %s\n", printable.Text(file),
							printable.Text(warning))
					}
					for _, unused := range given.Unused(c.Fingerprint.Method) {
						fmt.Fprintln(cmd.ErrOrStderr(), unused)
					}
					fmt.Fprintf(cmd.OutOrStdout(), "%s: ok\n", printable.Text(file))
				}
			}
			if len(all) > 0 {
				return all
			}
			return nil
		},
	}
}
