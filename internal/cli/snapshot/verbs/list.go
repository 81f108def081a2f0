package verbs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/cli/snapshot"
	"github.com/clusterd/clusterd/internal/text/printable"
)

// listed is what list says of a snapshot.
type listed struct {
	Name     string        `json:"name"`
	Made     time.Time     `json:"made,omitzero"`
	By       string        `json:"by,omitempty"` // the version of clusterd
	Clusters int           `json:"clusters"`
	Bytes    int64         `json:"bytes"`
	Spaces   []listedSpace `json:"spaces,omitempty"`
	Error    string        `json:"error,omitempty"` // why it cannot be imported
}

type listedSpace struct {
	Space    string        `json:"space"`
	Group    string        `json:"group"`
	Topic    string        `json:"topic"` // of the clusters
	Clusters int           `json:"clusters"`
	Offsets  map[int]int64 `json:"offsets"` // by partition of that topic, up to where it is complete
}

func (s Shell) list() *cobra.Command {
	var json bool
	cmd := &cobra.Command{
		Use:   "list SOURCE",
		Short: "List snapshots",
		Long: "Lists the snapshots of SOURCE, the oldest first: " + where + ". Says of each how many " +
			"clusters and bytes it has, and up to which offsets of the clusters topic it is complete. It " +
			"reads no more of them than their manifests, and needs no Kafka.",
		Example: "  clusterd state list -c clusterd.yaml s3://backup/clusterd\n" +
			"  clusterd state list /backup/clusterd --json | jq -r '.snapshots[-1].name'",
		Args: s.one("source"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := s.Load(cmd)
			if err != nil {
				return err
			}
			from, err := open(c.S3, args[0])
			if err != nil {
				return err
			}
			found, err := list(cmd.Context(), from)
			if err != nil {
				return err
			}
			if json {
				return s.WriteJSON(cmd, struct {
					Snapshots []listed `json:"snapshots"`
				}{found})
			}
			return show(cmd.OutOrStdout(), found)
		},
	}
	cmd.Flags().BoolVar(&json, "json", false, "write the list as a JSON object")
	return cmd
}

func list(ctx context.Context, from snapshot.Target) ([]listed, error) {
	names, err := snapshot.Names(ctx, from)
	if err != nil {
		return nil, err
	}
	found := make([]listed, 0, len(names))
	for _, name := range names {
		l := listed{Name: name}
		m, err := snapshot.Read(ctx, from, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			l.Error = "it is not finished, or was left behind"
		case err != nil:
			l.Error = printable.Text(err.Error())
		default:
			l.Made, l.By, l.Clusters, l.Bytes = m.Made, m.By, m.Clusters(), m.Bytes()
			for _, s := range m.Spaces {
				id := s.Identity
				l.Spaces = append(l.Spaces, listedSpace{
					id.Space, id.Group, id.Clusters, s.Copy.Clusters, s.Meta.Offsets,
				})
			}
		}
		found = append(found, l)
	}
	return found, nil
}

func show(out io.Writer, found []listed) error {
	if len(found) == 0 {
		_, err := fmt.Fprintln(out, "no snapshots")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SNAPSHOT\tCLUSTERS\tMB\tGROUP\tSPACE\tUP TO")
	for _, l := range found {
		if l.Error != "" {
			fmt.Fprintf(w, "%s\t-\t-\t-\t-\t%s\n", l.Name, l.Error)
			continue
		}
		for i, s := range l.Spaces {
			name, size := l.Name, fmt.Sprintf("%.1f", float64(l.Bytes)/1e6)
			if i > 0 {
				name, size = "", ""
			}
			fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\n", name, s.Clusters, size, printable.Text(s.Group),
				printable.Text(s.Space), upTo(&s))
		}
	}
	return w.Flush()
}

// upTo writes offsets as topic/partition@offset.
func upTo(s *listedSpace) string {
	var parts []string
	for _, p := range slices.Sorted(maps.Keys(s.Offsets)) {
		parts = append(parts, fmt.Sprintf("%s/%d@%d", printable.Text(s.Topic), p, s.Offsets[p]))
	}
	return strings.Join(parts, " ")
}
