package main

import (
	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/doctor"
)

func newConfig() *cobra.Command {
	var file string
	var reference bool
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print the resolved configuration, secrets masked",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if reference {
				_, err := cmd.OutOrStdout().Write(config.Reference())
				return err
			}
			c, _, err := loadConfig(cmd, file)
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(c.YAML())
			return err
		},
	}
	configFlag(cmd, &file)
	cmd.Flags().BoolVar(&reference, "reference", false,
		"print every key with its default and what it is for")
	return cmd
}

func newDoctor() *cobra.Command {
	var file string
	cmd := doctor.Command(func(cmd *cobra.Command) (config.Config, error) {
		c, _, err := loadConfig(cmd, file)
		return c, err
	}, writeJSON)
	cmd.Args = noArguments
	configFlag(cmd, &file)
	return cmd
}
