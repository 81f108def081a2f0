package ask

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/httpapi/api"
	"github.com/clusterd/clusterd/internal/printable"
)

func (s Shell) erase() *cobra.Command {
	f := serverFlags{Shell: s}
	var articles []string
	var note string
	cmd := &cobra.Command{
		Use:   "erase [CLUSTER...]",
		Short: "Erase the texts that a running clusterd keeps of articles",
		Long: "A cluster has the title or excerpt of the article that founded it, and stories have " +
			"headlines and terms. These are\n" +
			"erased for good, from the clusters, the disk, and snapshots that are made later. Names " +
			"clusters by their ids, or an\n" +
			"article. Needs labels.topic, and the rights label and write. It erases no record of Kafka: " +
			"docs/personal-data.md says\n" +
			"what else to do.",
		Example: "  clusterd erase articles/0/12\n" +
			"  clusterd erase --article comment-4711 --note 'asked by mail'",
		RunE: func(cmd *cobra.Command, clusters []string) error {
			var all []api.EraseRequest
			for _, id := range clusters {
				all = append(all, api.EraseRequest{ClusterID: api.ID(id), Note: note})
			}
			for _, id := range articles {
				all = append(all, api.EraseRequest{ArticleID: api.ID(id), Note: note})
			}
			if len(all) == 0 {
				return s.Usage(errors.New("erase: name a cluster, or give --article"))
			}
			return f.erase(cmd, all)
		},
	}
	f.add(cmd)
	cmd.Flags().StringArrayVar(&articles, "article", nil, "`ID` of an article")
	cmd.Flags().StringVar(&note, "note", "", "`WORDS` that say why")
	return cmd
}

// erase erases one article after the other, and says what became of each.
func (f *serverFlags) erase(cmd *cobra.Command, all []api.EraseRequest) error {
	c, err := f.client()
	if err != nil {
		return err
	}
	for _, q := range all {
		e, err := c.Erase(cmd.Context(), q)
		if err != nil {
			return fmt.Errorf("erase %s%s: %w", q.ClusterID, q.ArticleID, err)
		}
		if _, err := fmt.Fprintln(cmd.OutOrStdout(), printable.Text(erased(e))); err != nil {
			return err
		}
	}
	return nil
}

// erased says in a line what became of an article.
func erased(e api.Erased) string {
	line := "erase " + e.Source
	switch {
	case !e.Applied:
		return line + ": written as " + e.Record + ", and not applied yet"
	case !e.Founder:
		return line + ": done; no text of it was kept, since it did not found cluster " + e.ClusterID
	}
	return line + ": done"
}
