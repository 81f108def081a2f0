package ask

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/text/printable"
)

func (s Shell) erase() *cobra.Command {
	f := serverFlags{Shell: s}
	var articles, contacts []string
	var note string
	var space string
	var partition int
	cmd := &cobra.Command{
		Use:   "erase [CLUSTER...]",
		Short: "Erase texts and contacts that a running clusterd keeps",
		Long: "A cluster has the title or excerpt of the article that founded it, and stories have " +
			"headlines and terms. These are\n" +
			"erased for good, from the clusters, the disk, and snapshots that are made later. Name " +
			"clusters by their ids, or an\n" +
			"article; or a contact, such as a telephone number, which clusters and marks forget. Needs " +
			"labels.topic, and the rights\n" +
			"label and write. It erases no record of Kafka: docs/personal-data.md says what else to do.",
		Example: "  clusterd erase articles/0/12\n" +
			"  clusterd erase --article comment-4711 --note 'asked by mail'\n" +
			"  clusterd erase --contact number:+447700900123",
		RunE: func(cmd *cobra.Command, clusters []string) error {
			var all []api.EraseRequest
			for _, id := range clusters {
				all = append(all, api.EraseRequest{ClusterID: api.ID(id), Note: note})
			}
			for _, id := range articles {
				all = append(all, api.EraseRequest{ArticleID: api.ID(id), Note: note})
			}
			set := cmd.Flags().Changed
			for _, name := range contacts {
				q := api.EraseRequest{ContactRef: api.ContactRef{Contact: name}, Note: note}
				if set("space") {
					q.Space = &space
				}
				if set("partition") {
					q.Partition = &partition
				}
				all = append(all, q)
			}
			switch {
			case len(all) == 0:
				return s.Usage(errors.New("erase: name a cluster, or give --article or --contact"))
			case len(contacts) == 0 && (set("space") || set("partition")):
				return s.Usage(errors.New("erase: --space and --partition are for --contact"))
			}
			return f.erase(cmd, all)
		},
	}
	f.add(cmd)
	cmd.Flags().StringArrayVar(&articles, "article", nil, "`ID` of an article")
	cmd.Flags().StringArrayVar(&contacts, "contact", nil, "a contact, as `KIND:VALUE`")
	cmd.Flags().StringVar(&space, "space", "",
		"`VALUE` of cluster.scope_field to which the contact belongs, with cluster.scope field")
	cmd.Flags().IntVar(&partition, "partition", 0,
		"`PARTITION` of the input to which the contact belongs, with cluster.scope partition")
	cmd.Flags().StringVar(&note, "note", "", "`WORDS` that say why")
	return cmd
}

// erase erases one after the other, and says what became of each.
func (f *serverFlags) erase(cmd *cobra.Command, all []api.EraseRequest) error {
	c, err := f.client()
	if err != nil {
		return err
	}
	for _, q := range all {
		e, err := c.Erase(cmd.Context(), q)
		if err != nil {
			return fmt.Errorf("erase %s%s%s: %w", q.ClusterID, q.ArticleID, q.Contact, err)
		}
		if _, err := fmt.Fprintln(cmd.OutOrStdout(), printable.Text(erased(e))); err != nil {
			return err
		}
	}
	return nil
}

// erased says in a line what became of an article or a contact.
func erased(e api.Erased) string {
	line := "erase " + e.Source + e.Contact
	switch {
	case !e.Applied:
		return line + ": written as " + e.Record + ", and not applied yet"
	case e.Founder != nil && !*e.Founder:
		return line + ": done; no text of it was kept, since it did not found cluster " + e.ClusterID
	}
	return line + ": done"
}
