package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/config"
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
				_, err := config.Load(file)
				var found config.Errors
				switch {
				case errors.As(err, &found):
					all = append(all, found...)
				case err != nil:
					return err
				default:
					fmt.Fprintf(cmd.OutOrStdout(), "%s: ok\n", file)
				}
			}
			if len(all) > 0 {
				return all
			}
			return nil
		},
	}
}
