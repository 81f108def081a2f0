package ask

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/text/printable"
)

// checkFlags are what the command line of check says.
type checkFlags struct {
	serverFlags
	files     []string
	json      bool
	partition int
	space     string
	api.CheckOptions
}

func (s Shell) check() *cobra.Command {
	f := checkFlags{serverFlags: serverFlags{Shell: s}}
	cmd := &cobra.Command{
		Use:   "check [TEXT...]",
		Short: "Ask a running clusterd what would become of a text",
		Long: "Asks a running clusterd which cluster each text would join, and with which labels, as " +
			"the stream would answer\n" +
			"now. Nothing is stored. Without a text or --file, standard input is one text. Writes a line " +
			"for each text, or with\n" +
			"--json what the server answers. It exits with 0 whatever would become of the texts.",
		Example: "  clusterd check 'great offer, call 555-0100 now'\n" +
			"  clusterd check --file comment.txt --json --runners-up 3\n" +
			"  clusterd check --server https://clusterd.example.com --token-file token < comment.txt",
		RunE: func(cmd *cobra.Command, texts []string) error {
			if cmd.Flags().Changed("partition") {
				f.Partition = &f.partition
			}
			if cmd.Flags().Changed("space") {
				f.Space = &f.space
			}
			if f.RunnersUp < 0 || f.RunnersUp > api.MaxRunnersUp {
				return s.Usage(fmt.Errorf("--runners-up: must be 0 to %d", api.MaxRunnersUp))
			}
			return f.run(cmd, texts)
		},
	}
	f.add(cmd)
	flags := cmd.Flags()
	flags.StringArrayVar(&f.files, "file", nil, "`FILE` that is a text; - is standard input")
	flags.BoolVar(&f.json, "json", false, "write what the server answers, an object for each text")
	flags.IntVar(&f.RunnersUp, "runners-up", 0, "`N` next nearest clusters to name, up to 10")
	flags.IntVar(&f.partition, "partition", 0,
		"`NUMBER` of the input partition whose clusters are asked for; only with cluster.scope: partition or field")
	flags.StringVar(&f.space, "space", "",
		"`VALUE` of cluster.scope_field that the text would have; only with cluster.scope: field")
	return cmd
}

func (f *checkFlags) run(cmd *cobra.Command, args []string) error {
	if len(args) == 0 && len(f.files) == 0 {
		f.files = []string{"-"}
	}
	var texts []api.TextRequest
	for i := range args {
		texts = append(texts, api.TextRequest{Text: &args[i]})
	}
	for _, name := range f.files {
		text, err := readAll(cmd, name)
		if err != nil {
			return err
		}
		texts = append(texts, api.TextRequest{Text: &text})
	}
	c, err := f.client()
	if err != nil {
		return err
	}
	out := json.NewEncoder(f.JSON(cmd))
	out.SetEscapeHTML(false)
	return c.Check(cmd.Context(), texts, f.CheckOptions, func(answer api.Checked) error {
		if f.json {
			return out.Encode(answer)
		}
		_, err := fmt.Fprintln(cmd.OutOrStdout(), printable.Text(checked(answer)))
		return err
	})
}

// readAll returns what a file holds, of which - is standard input. Longer than a request can be it
// is not read.
func readAll(cmd *cobra.Command, name string) (string, error) {
	in := cmd.InOrStdin()
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return "", err
		}
		defer func() { _ = file.Close() }() // nothing was written
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, api.MaxBody+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w", name, err)
	case len(text) > api.MaxBody:
		return "", fmt.Errorf("%s: is larger than %d bytes", name, api.MaxBody)
	}
	return string(text), nil
}

// checked says in a line what would become of a text.
func checked(a api.Checked) string {
	line := string(a.Status)
	if a.Cluster != nil {
		line += fmt.Sprintf(" %s size %d", a.Cluster.ClusterID, a.Cluster.Size)
	}
	if a.Distance != nil {
		line += fmt.Sprintf(" distance %g", *a.Distance)
	}
	if len(a.Labels) > 0 {
		line += " labels " + strings.Join(a.Labels, ",")
	}
	if len(a.TrialLabels) > 0 {
		line += " on trial " + strings.Join(a.TrialLabels, ",")
	}
	for _, l := range a.LabelledBy {
		line += fmt.Sprintf(" %s by %s", l.Label, l.Contact)
	}
	line += suspect(a.Suspect)
	for _, near := range a.RunnersUp {
		line += fmt.Sprintf("; then %s distance %g", near.Cluster.ClusterID, near.Distance)
	}
	return line
}

// suspect says which labelled cluster is nearest, if any is.
func suspect(near *api.Near) string {
	if near == nil {
		return ""
	}
	var labels []string
	for _, l := range near.Cluster.Labels {
		labels = append(labels, l.Label)
	}
	return fmt.Sprintf("; nearest with labels %s distance %g labels %s", near.Cluster.ClusterID,
		near.Distance, strings.Join(labels, ","))
}
