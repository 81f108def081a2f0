package cli

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// ManPages returns the verb that writes the man pages of all verbs, for who makes packages.
func ManPages() *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write the man pages",
		Long:   "Writes a man page for each verb to DIR, as of SOURCE_DATE_EPOCH if that is set.",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true // it would say when, and the header does
			return doc.GenManTree(root, &doc.GenManHeader{
				Section: "1", Source: "clusterd", Manual: "clusterd",
			}, args[0])
		},
	}
}
