package doctor

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/cli"
	"github.com/clusterd/clusterd/internal/config"
)

// narrow is the width of lines where no terminal says its own.
const narrow = 80

// Command returns the verb doctor. It is given how a configuration is loaded, and how a report is
// written as JSON.
func Command(
	load func(*cobra.Command) (config.Config, error), writeJSON func(*cobra.Command, any) error,
) *cobra.Command {
	var json bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look at what clusterd needs: what is wrong, and what to do",
		Long: "Asks each broker, looks at the topics and at what the login may do with them, makes a " +
			"transaction and aborts it, and looks at\n" +
			"clock, disk, memory and open files, and at the instance that runs here, if one does. Each " +
			"line says ok, warning or failure,\n" +
			"and what to do. It takes ten seconds at most, and changes nothing that anybody reads. Run it " +
			"on the machine and as the user\n" +
			"that runs clusterd. Exits with 0 if there is no failure, with 1 if there is one.",
		Example: "  clusterd doctor -c clusterd.yaml\n" +
			"  clusterd doctor -c clusterd.yaml --json | jq '.checks[] | select(.status != \"ok\")'",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := load(cmd)
			if err != nil {
				return err
			}
			report := Examine(cmd.Context(), c)
			if out := cmd.OutOrStdout(); json {
				err = writeJSON(cmd, report)
			} else {
				err = report.Show(out, cli.Width(out, narrow), cli.HasColours(out))
			}
			if n := report.Count(Failure); err == nil && n > 0 {
				err = fmt.Errorf("doctor: %d of %d checks failed", n, len(report.Checks))
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&json, "json", false, "write the report as a JSON object")
	return cmd
}
