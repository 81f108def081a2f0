package ask

import (
	"fmt"
	"iter"
	"time"

	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/text/printable"
)

func (s Shell) contacts() *cobra.Command {
	f := serverFlags{Shell: s}
	show := "all"
	cmd := &cobra.Command{
		Use:   "contacts",
		Short: "List contacts that clusters share or that labels have marked",
		Long: "Those that most clusters without labels share come first. label add LABEL --contact " +
			"CONTACT labels all of these.",
		Args: s.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := f.client()
			if err != nil {
				return err
			}
			return c.Contacts(cmd.Context(), show, func(contact api.Contact) error {
				line := fmt.Sprintf("%s: %d clusters without labels", nameOf(&contact), contact.Clusters)
				if contact.Oldest != nil {
					line += ": " + titleOf(contact.Oldest)
				}
				if _, err := fmt.Fprintln(cmd.OutOrStdout(), printable.Text(line)); err != nil {
					return err
				}
				for i := range contact.Marks {
					line := "  " + marked(&contact.Marks[i])
					if _, err := fmt.Fprintln(cmd.OutOrStdout(), printable.Text(line)); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&show, "show", show, "`WHICH`: shared by clusters, marked by labels, or all")
	return cmd
}

// nameOf names a contact with the space to which it belongs.
func nameOf(c *api.Contact) string {
	name := c.Contact
	if c.Space != nil {
		name += fmt.Sprintf(" of %q", *c.Space)
	}
	if c.Partition != nil {
		name += fmt.Sprintf(" in partition %d", *c.Partition)
	}
	return name
}

func titleOf(c *api.Cluster) string {
	if c.Representative.Title != "" {
		return c.Representative.Title
	}
	return c.Representative.Excerpt
}

// marked says in a line what labels have made of a contact.
func marked(m *api.Mark) string {
	line := fmt.Sprintf("%s: %d of %d clusters, %.2g votes, harmless by %d, exceptions in %d clusters",
		named(m.Label, m.Trial), m.Used, m.Reach, m.Votes, m.Hams, m.Excepted)
	if !m.Counts {
		line += ", counts no more"
	}
	for _, b := range m.Clicked {
		line += fmt.Sprintf("; labelled by %s at %s", b.By, b.At.Format(time.RFC3339))
	}
	for _, b := range m.Harmless {
		line += fmt.Sprintf("; harmless by %s at %s", b.By, b.At.Format(time.RFC3339))
	}
	return line
}

func named(label string, trial bool) string {
	if trial {
		return label + " (on trial)"
	}
	return label
}

// listed says in a line each what is labelled.
func listed(page *api.Clusters) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range page.Clusters {
			for _, line := range listedCluster(&page.Clusters[i]) {
				if !yield(line) {
					return
				}
			}
		}
		for i := range page.Contacts {
			c := &page.Contacts[i]
			for j := range c.Marks {
				if !yield(nameOf(c) + " " + marked(&c.Marks[j])) {
					return
				}
			}
		}
	}
}

func listedCluster(c *api.Cluster) (lines []string) {
	line := func(what string, l *api.Label, size int) {
		by := "by " + l.By
		if l.Contact != "" {
			by = "by contact " + l.Contact
		}
		lines = append(lines, fmt.Sprintf("%s %s %s at %s: %d articles: %s", what,
			named(l.Label, l.Trial), by, l.At.Format(time.RFC3339), size, titleOf(c)))
	}
	for i := range c.Labels {
		line(c.ClusterID, &c.Labels[i], c.Size)
	}
	for i := range c.Exceptions {
		for j := range c.Exceptions[i].Labels {
			line(c.ClusterID+" article "+c.Exceptions[i].ArticleID, &c.Exceptions[i].Labels[j], 1)
		}
	}
	return lines
}
