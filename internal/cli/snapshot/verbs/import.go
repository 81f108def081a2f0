package verbs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/cli/snapshot"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/space/replica"
	"github.com/clusterd/clusterd/internal/space/state"
)

// An importing is how a snapshot is to be taken.
type importing struct {
	name               string // of the snapshot; empty: the latest
	replace, ifMissing bool
}

func (s Shell) importing() *cobra.Command {
	var how importing
	cmd := &cobra.Command{
		Use:   "import SOURCE",
		Short: "Put the clusters of a snapshot on disk",
		Long: "Puts the clusters of a snapshot into state.dir, while no clusterd runs there, so that " +
			"the next start reads only what was written since. SOURCE is " + where + ". Checks first that " +
			"the snapshot is of these clusters and that clusterd could go on from it, then the " +
			"checksum of each file, and replaces nothing before. If it ends early, the disk is as it was.",
		Example: "  clusterd state import -c clusterd.yaml s3://backup/clusterd\n" +
			"  clusterd state import -c clusterd.yaml /backup/clusterd --snapshot 20260501T120000.000Z " +
			"--replace",
		Args: s.one("source"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if how.replace && how.ifMissing {
				return s.Usage(errors.New("--replace and --if-missing: give one of them"))
			}
			c, err := s.Load(cmd)
			if err != nil {
				return err
			}
			from, err := open(c.S3, args[0])
			if err != nil {
				return err
			}
			return how.run(cmd.Context(), &c, from, s.Log(c.Log, cmd.ErrOrStderr()))
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&how.name, "snapshot", "",
		"`NAME` of the snapshot, as state list has it (default: the latest that is whole)")
	flags.BoolVar(&how.replace, "replace", false, "replace the clusters that are on disk")
	flags.BoolVar(&how.ifMissing, "if-missing", false,
		"do nothing, without an error, where clusters are on disk, or no snapshot is there or is "+
			"young enough")
	return cmd
}

func (how importing) run(
	ctx context.Context, c *config.Config, from snapshot.Target, log *slog.Logger,
) error {
	began := time.Now()
	dir, err := state.OpenDir(c.State.Dir, log)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }() // the lock goes with the process at the latest
	m, err := how.read(ctx, from)
	if how.ifMissing && errors.Is(err, fs.ErrNotExist) {
		log.Warn("nothing was imported", "reason", err)
		return nil
	}
	if err != nil {
		return err
	}
	switch err := snapshot.Vacant(m, dir); {
	case errors.Is(err, snapshot.ErrOccupied) && how.ifMissing:
		log.Info("clusters are on disk already; nothing was imported", "dir", c.State.Dir)
		return nil
	case errors.Is(err, snapshot.ErrOccupied) && !how.replace:
		return fmt.Errorf("state.dir: %w: --replace takes those of the snapshot in their place", err)
	case err != nil && !errors.Is(err, snapshot.ErrOccupied):
		return fmt.Errorf("state.dir: %w", err)
	}
	all, err := newSpaces(ctx, c, dir, log)
	if err != nil {
		return err
	}
	defer all.close()
	err = all.fit(ctx, m, log)
	if how.ifMissing && errors.Is(err, replica.ErrStale) {
		log.Warn("nothing was imported", "snapshot", m.Name, "source", from.String(), "reason", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("snapshot %s of %s cannot be gone on from: %w. Nothing was changed", m.Name,
			from,
			err)
	}
	if err := snapshot.Restore(ctx, from, m, dir, log); err != nil {
		return fmt.Errorf("%w. Nothing was replaced", err)
	}
	log.Info("imported", "snapshot", m.Name, "source", from.String(), "dir", c.State.Dir,
		"clusters", m.Clusters(), "bytes", m.Bytes(), "took", time.Since(began).Round(time.Millisecond))
	return nil
}

func (how importing) read(ctx context.Context, from snapshot.Target) (*snapshot.Manifest, error) {
	if how.name == "" {
		return snapshot.Latest(ctx, from)
	}
	return snapshot.Read(ctx, from, how.name)
}

// fit looks whether each space of a snapshot is one of these, and could go on from there. A space
// that the snapshot has not is read from Kafka.
func (s *spaces) fit(ctx context.Context, m *snapshot.Manifest, log *slog.Logger) error {
	byName := make(map[string]*replica.Replica)
	for _, r := range s.replicas {
		byName[r.Name()] = r
	}
	for _, found := range m.Spaces {
		name := found.Identity.Space
		r, ok := byName[name]
		if !ok {
			return fmt.Errorf("it has space %.80q, which the configuration has not (cluster.scope)", name)
		}
		delete(byName, name)
		if err := r.Fits(ctx, &found.Copy); err != nil {
			return fmt.Errorf("space %s: %w", name, err)
		}
	}
	for name := range byName {
		log.Warn("the snapshot does not have this space; it will be read from Kafka", "space", name)
	}
	return nil
}
