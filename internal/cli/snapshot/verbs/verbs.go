// Package verbs has the verbs of the command line about the clusters on disk and their topic: state
// export, state import and state list copy them elsewhere and back, state accept takes the topic
// over as it is. A configuration and the name of a target or a topic go in.
package verbs

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/cli"
	"github.com/clusterd/clusterd/internal/cli/snapshot"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/daemon"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/monitor"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/space/replica"
	"github.com/clusterd/clusterd/internal/space/state"
)

// A Shell is what these verbs have in common with all others.
type Shell struct {
	Usage       func(error) error // makes an error that of a command line
	NoArguments cobra.PositionalArgs
	// Load reads the configuration that the flags name, which AddFlags adds.
	Load      func(*cobra.Command) (config.Config, error)
	AddFlags  func(*cobra.Command)
	Log       func(config.Log, io.Writer) *slog.Logger
	WriteJSON func(*cobra.Command, any) error
}

// Command returns the verb state, with those below it.
func Command(s Shell) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "state",
		Short: "Copy the clusters on disk to a directory or a bucket, and back",
		Long: "What is on disk is a cache of the clusters topic. A copy of it, a snapshot, saves a new " +
			"machine the reading of that topic: it begins from the snapshot, and reads what was written " +
			"since. The topic stays the truth. A snapshot that does not fit it is refused.",
		Args: s.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, sub := range []*cobra.Command{s.export(), s.importing(), s.list(), s.accept()} {
		s.AddFlags(sub)
		cmd.AddCommand(sub)
	}
	return cmd
}

// where says what a target may be, for help.
const where = "a directory, or s3://BUCKET/PREFIX at s3.endpoint of the configuration"

// one wants one argument, the name of a target.
func (s Shell) one(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return s.Usage(fmt.Errorf("give one %s: %s", what, where))
		}
		return nil
	}
}

func open(c config.S3, name string) (snapshot.Target, error) {
	return snapshot.OpenTarget(name, snapshot.S3{
		Endpoint: c.Endpoint, Region: c.Region, AccessKey: c.AccessKey, SecretKey: c.SecretKey,
	})
}

// spaces are those of a configuration, by their replicas.
type spaces struct {
	replicas []*replica.Replica
	client   *kafka.Client
}

// newSpaces returns the replicas of all spaces of a configuration, which keep their disks in dir.
// None of them is open.
func newSpaces(
	ctx context.Context, c *config.Config, dir *state.Dir, log *slog.Logger,
) (_ *spaces, err error) {
	f, err := fingerprint.New(*c)
	if err != nil {
		return nil, err
	}
	client, err := daemon.Connect(c.Kafka, log)
	if err != nil {
		return nil, err
	}
	s := &spaces{client: client}
	defer func() {
		if err != nil {
			client.Close()
		}
	}()
	inputs, err := inputsOf(ctx, c, client)
	if err != nil {
		return nil, kafka.Explain(err)
	}
	m := monitor.New(cli.GetVersion().Version) // nobody looks at it
	for name, partitions := range inputs {
		o := replica.OptionsOf(c, f, name, partitions)
		o.Client, o.Log, o.Monitor, o.DiskOnly = client, log, m, true
		o.Dir, o.State = dir.Space(name), state.Options{Log: log}
		r, err := replica.New(ctx, o)
		if err != nil {
			return nil, err
		}
		s.replicas = append(s.replicas, r)
	}
	return s, nil
}

// inputsOf returns the input partitions of each space by its name, nil for all. The clusters topic
// must be there.
func inputsOf(
	ctx context.Context, c *config.Config, client *kafka.Client,
) (map[string][]int, error) {
	if _, err := client.Partitions(ctx, c.Output.ClustersTopic); err != nil {
		return nil, fmt.Errorf("topic %s: %w", c.Output.ClustersTopic, err)
	}
	if c.Cluster.Scope == config.ByTopic {
		return map[string][]int{checkpoint.WholeTopic: nil}, nil
	}
	partitions, err := client.Partitions(ctx, c.Input.Topic)
	if err != nil {
		return nil, fmt.Errorf("topic %s: %w", c.Input.Topic, err)
	}
	all := make(map[string][]int)
	for _, id := range partitions {
		all[strconv.Itoa(id)] = []int{id}
	}
	return all, nil
}

func (s *spaces) close() {
	for _, r := range s.replicas {
		r.Close()
	}
	s.client.Close()
}
