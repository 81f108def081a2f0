package verbs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/sink"
	"github.com/clusterd/clusterd/internal/space/replica"
	"github.com/clusterd/clusterd/internal/space/state"
)

// accepting says which topics are taken over, how, and who does it.
type accepting struct {
	topics        []string
	fromBeginning bool
	by            string
}

func (s Shell) accept() *cobra.Command {
	var how accepting
	cmd := &cobra.Command{
		Use:   "accept --topic TOPIC",
		Short: "Go on with topics as they are",
		Long: "Takes topics over as they are, after clusterd has refused to start: since " +
			"output.clusters_topic has no checkpoint of the group, or lacks records that it had, or since " +
			"a topic is another one than before (it has another id). It is refused while an instance " +
			"runs, and where nothing is wrong. The checkpoint says from then on who has accepted what, " +
			"and when.\n\n" +
			"output.clusters_topic: clusters that are not in it are lost, and copies of their articles " +
			"found new ones. Without a checkpoint it is accepted only if there are no results yet.\n\n" +
			"input.topic and labels.topic: clusterd goes on at the offsets that it has reached, so the " +
			"topic must have the same records at the same offsets, as after a restore. Records of another " +
			"topic would be passed over. A topic of labels can be read --from-beginning instead.",
		Example: "  clusterd state accept -c clusterd.yaml --topic clusters --by alice\n" +
			"  clusterd state accept -c clusterd.yaml --topic labels --from-beginning --by alice",
		Args: s.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := s.Load(cmd)
			if err != nil {
				return err
			}
			if err := how.check(&c); err != nil {
				return s.Usage(err)
			}
			if !c.Assigns() {
				return fmt.Errorf("role is %s: run it with the configuration of an instance that assigns",
					c.Role)
			}
			return kafka.Explain(how.run(cmd.Context(), &c, s.Log(c.Log, cmd.ErrOrStderr())))
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&how.topics, "topic", nil, "`TOPIC` that is accepted; may be given several times")
	flags.BoolVar(&how.fromBeginning, "from-beginning", false,
		"read all of labels.topic: none of its records was read before")
	flags.StringVar(&how.by, "by", os.Getenv("USER"), "`NAME` of who accepts it")
	return cmd
}

// check returns an error for topics that cannot be accepted.
func (how accepting) check(c *config.Config) error {
	known := []string{c.Output.ClustersTopic, c.Source().Topic}
	if c.Labels.Topic != "" {
		known = append(known, c.Labels.Topic)
	}
	if how.topics == nil {
		return fmt.Errorf("--topic is missing: give one of %s", strings.Join(known, ", "))
	}
	for _, topic := range how.topics {
		if !slices.Contains(known, topic) {
			return fmt.Errorf("--topic %q: give one of the configuration, which are %s", topic,
				strings.Join(known, ", "))
		}
	}
	if how.fromBeginning && !slices.Contains(how.topics, c.Labels.Topic) {
		return errors.New("--from-beginning is for labels.topic alone: articles that are read again " +
			"would be counted twice")
	}
	return nil
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
		return fmt.Errorf("topic %s: %w. Nothing was written", strings.Join(how.topics, ", "),
			replica.ErrNothingMissing)
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
	committed := maps.Clone(read)
	record, err := r.Accept(ctx, read, replica.Acceptance{
		Topics: how.topics, FromBeginning: how.fromBeginning,
		Accepted: checkpoint.Accepted{
			By: how.by, At: time.Now().UTC().Truncate(time.Millisecond),
		},
	})
	if err != nil {
		return err
	}
	if r.Space().Meta().Checkpoint == nil {
		switch results, err := consumer.Any(ctx, client, c.Output.Topic); {
		case err != nil:
			return fmt.Errorf("topic %s: %w", c.Output.Topic, err)
		case results:
			return fmt.Errorf("topic %s has results, and new ones would have the same positions. Nothing "+
				"was written: %s", c.Output.Topic, replica.StartAnew)
		}
	}
	batch := sink.Batch{Records: []kafka.Record{record}}
	for p, next := range read {
		if _, ok := committed[p]; !ok {
			batch.Offsets = append(batch.Offsets, sink.Offset{
				Topic: r.Source.Topic, Partition: p, Offset: next,
			})
		}
	}
	_, err = producer.Commit(ctx, batch)
	if errors.Is(err, sink.ErrFenced) {
		return errors.New("an instance has started meanwhile: stop it, and run the command again")
	}
	if err == nil {
		log.Info("accepted", "topics", how.topics, "space", r.Name(), "by", how.by)
	}
	return err
}
