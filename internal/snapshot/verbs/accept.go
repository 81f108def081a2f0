package verbs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/replica"
	"github.com/clusterd/clusterd/internal/sink"
	"github.com/clusterd/clusterd/internal/state"
	"github.com/clusterd/clusterd/internal/topics"
)

// accepting says which topic is taken over, and who does it.
type accepting struct{ topic, by string }

func (s Shell) accept() *cobra.Command {
	var how accepting
	cmd := &cobra.Command{
		Use:   "accept --topic TOPIC",
		Short: "Go on with the clusters topic as it is",
		Long: "Takes output.clusters_topic over as it is, after clusterd has refused to start " +
			"since the topic has no checkpoint of the group, or lacks records that it had. Clusters that " +
			"are not in the topic are lost: copies of their articles found new ones. It is refused while " +
			"an instance runs, and where nothing is wrong. The checkpoint says from then on who has " +
			"accepted what, and when. A topic without a checkpoint is accepted only if there are no " +
			"results yet.",
		Example: "  clusterd state accept -c clusterd.yaml --topic clusters --by alice",
		Args:    s.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := s.Load(cmd)
			if err != nil {
				return err
			}
			if how.topic != c.Output.ClustersTopic {
				return s.Usage(fmt.Errorf("--topic %q: give output.clusters_topic of the configuration, "+
					"which is %s", how.topic, c.Output.ClustersTopic))
			}
			if !c.Assigns() {
				return fmt.Errorf("role is %s: run it with the configuration of an instance that assigns",
					c.Role)
			}
			return kafka.Explain(how.run(cmd.Context(), &c, s.Log(c.Log, cmd.ErrOrStderr())))
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&how.topic, "topic", "", "`TOPIC` that is accepted: output.clusters_topic")
	flags.StringVar(&how.by, "by", os.Getenv("USER"), "`NAME` of who accepts it")
	return cmd
}

func (how accepting) run(ctx context.Context, c *config.Config, log *slog.Logger) error {
	dir, err := state.OpenDir(c.State.Dir, log)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }() // the lock goes with the process at the latest
	all, err := newSpaces(ctx, c, dir, log)
	if err != nil {
		return err
	}
	defer all.close()
	source := c.Source()
	switch n, err := all.client.Members(ctx, source.Group); {
	case err != nil:
		return err
	case n > 0:
		return fmt.Errorf("group %s has %d members: stop all instances first", source.Group, n)
	}
	inputs, err := all.client.Partitions(ctx, source.Topic)
	if err != nil {
		return fmt.Errorf("topic %s: %w", source.Topic, err)
	}
	accepted := 0
	for id, partitions := range c.Owners(inputs) {
		r := all.of(partitions)
		if r == nil {
			continue
		}
		r.Source = source
		switch err := how.accept(ctx, c, all.client, r, id, log); {
		case errors.Is(err, replica.ErrNothingMissing):
			log.Info("nothing is missing", "space", r.Name())
		case err != nil:
			return fmt.Errorf("space %s: %w", r.Name(), err)
		default:
			accepted++
		}
	}
	if accepted == 0 {
		return fmt.Errorf("topic %s: %w. Nothing was written", how.topic, replica.ErrNothingMissing)
	}
	return nil
}

// of returns the space of some input partitions, or of all.
func (s *spaces) of(partitions []int) *replica.Replica {
	for _, r := range s.replicas {
		if r.Inputs == nil || len(partitions) == 1 && r.Inputs[0] == partitions[0] {
			return r
		}
	}
	return nil
}

// accept writes the checkpoint of one space, under the transactional id of its owner.
func (how accepting) accept(
	ctx context.Context, c *config.Config, client *kafka.Client, r *replica.Replica, id string,
	log *slog.Logger,
) error {
	producer, err := sink.NewProducer(client, log, sink.Settings{
		TransactionalID: id, Group: r.Source.Group, Compression: c.Output.Compression,
	})
	if err != nil {
		return err
	}
	if err := producer.Fence(ctx); err != nil {
		return err
	}
	read, err := r.ReadByGroup(ctx)
	if err != nil {
		return err
	}
	if err := r.CatchUp(ctx); err != nil {
		return err
	}
	record, err := r.Accept(read, how.by, time.Now().UTC().Truncate(time.Millisecond))
	if err != nil {
		return err
	}
	if r.Space().Meta().Checkpoint == nil {
		switch never, err := topics.NeverWritten(ctx, client, log, c.Output.Topic); {
		case err != nil:
			return err
		case !never:
			return fmt.Errorf("topic %s has results, and new ones would have the same positions. Nothing "+
				"was written: %s", c.Output.Topic, replica.StartAnew)
		}
	}
	_, err = producer.Commit(ctx, sink.Batch{Records: []kafka.Record{record}})
	if errors.Is(err, sink.ErrFenced) {
		return errors.New("an instance has started meanwhile: stop it, and run the command again")
	}
	if err == nil {
		log.Info("accepted", "topic", how.topic, "space", r.Name(), "by", how.by)
	}
	return err
}
