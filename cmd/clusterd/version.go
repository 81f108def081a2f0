package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/cli"
)

func newVersion() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "version", Short: "Print the version", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				return writeJSON(cmd, cli.GetVersion())
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "clusterd", cli.GetVersion())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write an object, with the commit")
	return cmd
}
