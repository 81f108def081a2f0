package ask

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/files"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/serve/http/client"
	"github.com/clusterd/clusterd/internal/text/printable"
)

// errLabels is the error of labels of which some were not set.
var errLabels = errors.New("not all labels were set")

func (s Shell) label() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "label",
		Short: "Label clusters of a running clusterd, and list the labelled ones",
		Long: "Labels go through a running clusterd to labels.topic: each result from then on carries " +
			"what its cluster has.",
		Args: s.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(s.set(api.Add), s.set(api.Remove), s.resume(), s.list(), s.contacts(),
		s.importing(), s.export())
	return cmd
}

// labelFlags are what the command line of label add and label remove says.
type labelFlags struct {
	serverFlags
	articles, texts []string
	contacts        []string
	only            bool   // the articles alone
	space           string // of the contacts
	partition       int    // likewise; below 0: none is said
	note            string
	trial           bool
}

// set returns label add or label remove.
func (s Shell) set(action api.Action) *cobra.Command {
	f := labelFlags{serverFlags: serverFlags{Shell: s}}
	short, long := "Label clusters", "A text that is not known yet goes\nthrough the stream, and "+
		"founds the cluster that is labelled."
	if action == api.Remove {
		short, long = "Take a label away from clusters",
			"What the label has changed is undone,\nbut for results that are written."
	}
	cmd := &cobra.Command{
		Use:   string(action) + " LABEL [CLUSTER...]",
		Short: short,
		Long: "Names clusters by their ids, by articles of theirs, or by texts, and waits until it is " +
			"done. " + long + " Writes a line for each, and exits with 1 where one fails.",
		Example: fmt.Sprintf("  clusterd label %s spam articles/0/12\n", action) +
			fmt.Sprintf("  clusterd label %s spam --text 'great offer, call 555-0100 now'", action),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return s.Usage(fmt.Errorf("label %s: name the label", action))
			}
			labels := f.requests(action, args[0], args[1:])
			if len(labels) == 0 {
				return s.Usage(fmt.Errorf("label %s: name a cluster, or give --article, --text or --contact",
					action))
			}
			if f.only && len(f.articles) < len(labels) {
				return s.Usage(errors.New("--only is for articles: give --article, and nothing else"))
			}
			return f.send(cmd, labels)
		},
	}
	f.add(cmd)
	cmd.ValidArgsFunction = f.labelNames
	flags := cmd.Flags()
	flags.StringArrayVar(&f.articles, "article", nil, "`ID` of an article of the cluster")
	flags.StringArrayVar(&f.texts, "text", nil, "`TEXT` that belongs to the cluster")
	flags.BoolVar(&f.only, "only", false, "the articles alone, with those equal to them")
	flags.StringArrayVar(&f.contacts, "contact", nil,
		"`CONTACT`, such as number:+447700900123, instead of clusters")
	flags.StringVar(&f.space, "space", "", "`VALUE` of cluster.scope_field to which the contacts belong")
	flags.IntVar(&f.partition, "partition", -1,
		"`NUMBER` of the input partition to which the contacts belong")
	flags.StringVar(&f.note, "note", "", "`WORDS` that say why")
	flags.BoolVar(&f.trial, "trial", false, "on trial: results carry it apart")
	return cmd
}

// requests returns what is asked for, for each cluster that is named.
func (f *labelFlags) requests(action api.Action, label string, clusters []string) (
	all []api.LabelRequest,
) {
	one := api.LabelRequest{Label: label, Action: action, Note: f.note, Trial: f.trial}
	for _, id := range clusters {
		r := one
		r.ClusterID = api.ID(id)
		all = append(all, r)
	}
	for _, id := range f.articles {
		r := one
		r.ArticleID = api.ID(id)
		if f.only {
			r.Target = api.ForArticle
		}
		all = append(all, r)
	}
	for _, contact := range f.contacts {
		r := one
		r.Target, r.Contact = api.ForContact, contact
		if f.space != "" {
			r.Space = &f.space
		}
		if f.partition >= 0 {
			r.Partition = &f.partition
		}
		all = append(all, r)
	}
	for i := range f.texts {
		r := one
		r.Text = &f.texts[i]
		all = append(all, r)
	}
	return all
}

func (s Shell) resume() *cobra.Command {
	f := serverFlags{Shell: s}
	cmd := &cobra.Command{
		Use:   "resume LABEL",
		Short: "Do nothing, for scripts of earlier versions: no label is suspended any more",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return s.Usage(errors.New("label resume: name one label"))
			}
			return f.send(cmd, []api.LabelRequest{{Label: args[0], Action: api.Resume}})
		},
	}
	f.add(cmd)
	cmd.ValidArgsFunction = f.labelNames
	return cmd
}

// send asks for labels, and says what became of each.
func (f *serverFlags) send(cmd *cobra.Command, labels []api.LabelRequest) error {
	c, err := f.client()
	if err != nil {
		return err
	}
	failed := false
	err = c.Label(cmd.Context(), labels, func(l api.Labelled) error {
		failed = failed || l.Error != ""
		_, err := fmt.Fprintln(cmd.OutOrStdout(), printable.Text(labelled(l)))
		return err
	})
	if err == nil && failed {
		return errLabels
	}
	return err
}

// labelled says in a line what became of a label.
func labelled(l api.Labelled) string {
	line := strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %s %s", l.Action, l.Label, l.ClusterID,
		l.ArticleID, l.Contact)), " ")
	switch {
	case l.Error != "":
		return line + ": failed: " + l.Error
	case !l.Applied:
		return line + ": written as " + l.Record + ", and not applied yet"
	case l.Members != nil:
		return fmt.Sprintf("%s: %d articles", line, *l.Members)
	}
	return line + ": done"
}

func (s Shell) importing() *cobra.Command {
	f := serverFlags{Shell: s}
	cmd := &cobra.Command{
		Use:   "import [FILE...]",
		Short: "Set the labels that files name",
		Long: "Reads files of labels, of which - is standard input and a name that ends in .gz is " +
			"unpacked; without any, standard\n" +
			"input. A file has a JSON object in each line, or is CSV whose first line names the fields: " +
			"label, and one of\n" +
			"cluster_id, article_id, text, or title and content; then action, note and trial. With target " +
			"article it is for\n" +
			"the article alone, with target contact for contact, space and partition. So it takes what " +
			"label export writes.\n" +
			"Nothing is sent before all files are read.",
		Example: "  clusterd label import spam.csv\n  clusterd label export | " +
			"clusterd label import --server http://10.0.0.7:8080",
		RunE: func(cmd *cobra.Command, names []string) error {
			labels, err := readLabels(cmd, names)
			if err != nil {
				return err
			}
			return f.send(cmd, labels)
		},
	}
	f.add(cmd)
	return cmd
}

func readLabels(cmd *cobra.Command, names []string) (all []api.LabelRequest, err error) {
	if len(names) == 0 {
		names = []string{"-"}
	}
	opened, closeFiles, err := files.Open(cmd.InOrStdin(), names, io.Discard)
	if err != nil {
		return nil, err
	}
	defer closeFiles()
	for _, file := range opened {
		if file.Document != nil {
			return nil, fmt.Errorf("%s: is a document, and not JSON lines or CSV", file.Name)
		}
		labels, err := client.ReadLabels(file.Lines)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file.Name, err)
		}
		all = append(all, labels...)
	}
	return all, nil
}

func (s Shell) list() *cobra.Command {
	f := serverFlags{Shell: s}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the labelled clusters, articles and contacts",
		Args:  s.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.each(cmd, func(page api.Clusters) error {
				for line := range listed(&page) {
					if _, err := fmt.Fprintln(cmd.OutOrStdout(), printable.Text(line)); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	f.add(cmd)
	return cmd
}

func (s Shell) export() *cobra.Command {
	f := serverFlags{Shell: s}
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write all labels as JSON lines, which label import takes",
		Args:  s.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := json.NewEncoder(f.JSON(cmd))
			out.SetEscapeHTML(false)
			return f.each(cmd, func(page api.Clusters) error {
				for record := range page.Records() {
					if err := out.Encode(record); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	f.add(cmd)
	return cmd
}

// each calls with each page of what is labelled.
func (f *serverFlags) each(cmd *cobra.Command, call func(api.Clusters) error) error {
	c, err := f.client()
	if err != nil {
		return err
	}
	return c.Labelled(cmd.Context(), call)
}
