package cli

import "github.com/spf13/cobra"

// StrictArguments makes an unknown shell a usage error, which cobra's own command answers with its
// help and exit code 0. It comes after root.SetOut, since that command keeps its output.
func StrictArguments(root *cobra.Command, noArguments cobra.PositionalArgs) {
	root.InitDefaultCompletionCmd()
	for _, completion := range root.Commands() {
		if completion.Name() != "completion" {
			continue
		}
		completion.RunE = root.RunE
		for _, cmd := range append(completion.Commands(), completion) {
			cmd.Args = noArguments
		}
	}
}
