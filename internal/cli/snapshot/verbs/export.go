package verbs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/cli"
	"github.com/clusterd/clusterd/internal/cli/snapshot"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/space/state"
)

func (s Shell) export() *cobra.Command {
	var work string
	var keep int
	cmd := &cobra.Command{
		Use:   "export TARGET",
		Short: "Write a snapshot of the clusters",
		Long: "Reads the clusters topic to its end, as a standby does, and writes a snapshot of the " +
			"clusters to TARGET: " + where + ". It asks no running clusterd, and disturbs none. With " +
			"--work, the next export reads only what was written since. Prints the name of the snapshot, " +
			"which is the time in UTC. A snapshot is whole, or it is not listed.",
		Example: "  clusterd state export -c clusterd.yaml /backup/clusterd " +
			"--work /var/cache/clusterd\n" +
			"  clusterd state export -c clusterd.yaml s3://backup/clusterd --keep 7",
		Args: s.one("target"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if keep < 0 {
				return s.Usage(fmt.Errorf("--keep %d: give 1 or more, or 0 for all", keep))
			}
			c, err := s.Load(cmd)
			if err != nil {
				return err
			}
			to, err := open(c.S3, args[0])
			if err != nil {
				return err
			}
			log := s.Log(c.Log, cmd.ErrOrStderr())
			m, err := export(cmd.Context(), &c, to, work, log)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintln(cmd.OutOrStdout(), m.Name); err != nil || keep == 0 {
				return err
			}
			removed, err := snapshot.Prune(cmd.Context(), to, m, keep, log)
			if removed > 0 {
				log.Info("removed older snapshots", "target", to.String(), "snapshots", removed)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&work, "work", "",
		"keep what was read in `DIR`, for the next export (default: a temporary directory)")
	cmd.Flags().IntVar(&keep, "keep", 0,
		"afterwards remove all snapshots of these clusters but the newest `N`; 0 keeps all")
	_ = cmd.MarkFlagDirname("work") // it fails without the flag alone
	return cmd
}

// export writes a snapshot of all spaces, which it keeps in the directory work.
func export(
	ctx context.Context, c *config.Config, to snapshot.Target, work string, log *slog.Logger,
) (_ *snapshot.Manifest, err error) {
	began := time.Now()
	if work == "" {
		if work, err = os.MkdirTemp("", "clusterd-export-"); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	}
	dir, err := state.OpenDir(work, log)
	if err != nil {
		return nil, fmt.Errorf("--work: %w", err)
	}
	defer func() { _ = dir.Close() }() // the lock goes with the process at the latest
	all, err := newSpaces(ctx, c, dir, log)
	if err != nil {
		return nil, err
	}
	defer all.close()
	var sources []snapshot.Source
	for _, r := range all.replicas {
		sources = append(sources, func(ctx context.Context, dir string) (state.Copy, error) {
			defer r.Close() // of many spaces, one is open at a time
			return r.CopyTo(ctx, dir)
		})
	}
	m, err := snapshot.Export(ctx, sources, snapshot.Options{
		To: to, Scratch: work, Version: cli.GetVersion().Version, Log: log, Now: time.Now,
	})
	if err == nil {
		log.Info("exported", "snapshot", m.Name, "target", to.String(), "spaces", len(m.Spaces),
			"clusters", m.Clusters(), "bytes", m.Bytes(), "took", time.Since(began).Round(time.Millisecond))
	}
	return m, err
}
