package migrate

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/cli/migrate/beside"
	"github.com/clusterd/clusterd/internal/cli/migrate/carry"
	"github.com/clusterd/clusterd/internal/text/printable"
)

func (s Shell) labels() *cobra.Command {
	return s.two(&cobra.Command{
		Use:   "labels",
		Short: "Give the new space the labels of the old one",
		Long: "Writes label records to the new space's topic of labels: for each label of an old " +
			"cluster, for the new clusters of\n" +
			"which half of the articles have it; for labels of single articles; and for contacts. Who " +
			"set a label, and when,\n" +
			"stays. It says which labels it cannot carry. It can be run again: it writes what is not " +
			"there yet.",
		Example: "  clusterd migrate labels old.yaml new.yaml",
	}, func(ctx context.Context, cmd *cobra.Command, t beside.Two) error {
		p, written, err := carry.Run(ctx, t)
		if err != nil {
			return err
		}
		out := cmd.OutOrStdout()
		fmt.Fprintf(out, "%d labels of clusters, %d of articles and %d of contacts; %d records written "+
			"to %s\n", p.Clusters, p.Articles, p.Contacts, written, t.New.Labels.Topic)
		if len(p.Lost) > 0 {
			fmt.Fprintf(out, "%d labels have no place in the new space:\n", len(p.Lost))
		}
		for _, lost := range p.Lost {
			fmt.Fprintln(out, "  "+printable.Text(lost))
		}
		return nil
	})
}
