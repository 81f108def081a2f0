package main

import (
	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/cli/doctor"
	"github.com/clusterd/clusterd/internal/cli/snapshot/verbs"
	"github.com/clusterd/clusterd/internal/config"
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
	var file configFile
	cmd := doctor.Command(file.load, writeJSON)
	cmd.Args = noArguments
	configFlag(cmd, (*string)(&file))
	return cmd
}

func newState() *cobra.Command {
	var file configFile
	return verbs.Command(verbs.Shell{
		Usage: asUsage, NoArguments: noArguments, Load: file.load, Log: newLogger, WriteJSON: writeJSON,
		AddFlags: func(cmd *cobra.Command) { configFlag(cmd, (*string)(&file)) },
	})
}

// configFile is what -c names.
type configFile string

func (f *configFile) load(cmd *cobra.Command) (config.Config, error) {
	c, _, err := loadConfig(cmd, string(*f))
	return c, err
}
