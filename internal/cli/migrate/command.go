package migrate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/cli/migrate/beside"
	"github.com/clusterd/clusterd/internal/cli/migrate/overlap"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafka"
)

// A Shell is what these verbs have in common with all others.
type Shell struct {
	Usage       func(error) error // makes an error that of a command line
	NoArguments cobra.PositionalArgs
	// Connect returns a client of the brokers of a configuration.
	Connect   func(config.Kafka, *slog.Logger) (*kafka.Client, error)
	NewLogger func(config.Log, io.Writer) *slog.Logger
	WriteJSON func(*cobra.Command, any) error
}

// Command returns the verb migrate.
func Command(s Shell) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Change the method, the dictionary or a threshold without an outage",
		Long: "A second space clusters the same articles with another configuration, beside the first. " +
			"When it has caught up,\n" +
			"it takes over the topic of results that readers read: none is missing there, and none is " +
			"there twice.\n\n" +
			"  plan     write the configuration of the second space\n" +
			"  status   say how far both are\n" +
			"  compare  say how their clusters differ\n" +
			"  map      write a topic of old ids and new ids\n" +
			"  labels   give the new space the labels of the old one\n" +
			"  switch   let the second space write what readers read\n" +
			"  back     let the first go on beside it, for a switch back\n\n" +
			"  broker   copy what an embedded broker has kept to a Kafka",
		Args: s.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(s.plan(), s.status(), s.compare(), s.idMap(), s.labels(), s.switchOver(),
		s.back(), s.broker())
	return cmd
}

// open loads a configuration and connects.
func (s Shell) open(cmd *cobra.Command, file string) (beside.Space, error) {
	c, err := config.Load(file)
	if err != nil {
		return beside.Space{}, err
	}
	return s.connect(cmd, file, c)
}

func (s Shell) connect(cmd *cobra.Command, file string, c config.Config) (beside.Space, error) {
	log := s.NewLogger(c.Log, cmd.ErrOrStderr())
	client, err := s.Connect(c.Kafka, log)
	return beside.Space{Config: c, File: file, Client: client, Log: log}, err
}

// two returns a command with the arguments OLD.yaml and NEW.yaml.
func (s Shell) two(
	cmd *cobra.Command, run func(ctx context.Context, cmd *cobra.Command, t beside.Two) error,
) *cobra.Command {
	cmd.Use += " OLD.yaml NEW.yaml"
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) != 2 {
			return s.Usage(fmt.Errorf("migrate %s: name two configuration files, the old one first",
				cmd.Name()))
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		var t beside.Two
		if t.Old, err = s.open(cmd, args[0]); err != nil {
			return err
		}
		defer t.Old.Client.Close()
		if t.New, err = s.open(cmd, args[1]); err != nil {
			return err
		}
		defer t.New.Client.Close()
		if err := t.Check(); err != nil {
			return err
		}
		err = run(cmd.Context(), cmd, t)
		if errors.Is(err, context.Canceled) {
			return errors.New("interrupted; run it again to go on")
		}
		return err
	}
	return cmd
}

func (s Shell) plan() *cobra.Command {
	var file, out, group, from string
	var set []string
	cmd := &cobra.Command{
		Use:   "plan -c OLD.yaml -o NEW.yaml --set KEY=VALUE",
		Short: "Write the configuration of a second space",
		Long: "Writes OLD.yaml once more, with the settings that --set gives, and with a group, output " +
			"topics, labels, a directory\n" +
			"and an address of its own. Run clusterd with it beside the first: it begins at the first " +
			"article that is there, or\nwhere --from says.",
		Example: "  clusterd migrate plan -c old.yaml --set fingerprint.method=minhash -o new.yaml\n" +
			"  clusterd migrate plan -c old.yaml --set cluster.distance=4 --from 168h -o new.yaml",
		Args: s.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file == "" || out == "" {
				return s.Usage(errors.New("migrate plan: name the old file with -c and the new one with -o"))
			}
			at, err := when(from, time.Now())
			if err != nil {
				return s.Usage(fmt.Errorf("--from: %w", err))
			}
			prior, err := s.open(cmd, file)
			if err != nil {
				return err
			}
			defer prior.Client.Close()
			c, err := Plan(prior, group, set, out)
			if err != nil {
				return err
			}
			if !at.IsZero() {
				next, err := s.connect(cmd, out, c)
				if err != nil {
					return err
				}
				defer next.Client.Close()
				offsets, err := StartAt(cmd.Context(), beside.Two{Old: prior, New: next}, at)
				if err != nil {
					return err
				}
				for _, p := range slices.Sorted(maps.Keys(offsets)) {
					fmt.Fprintf(cmd.OutOrStdout(), "%s/%d begins at offset %d\n", c.Input.Topic, p, offsets[p])
				}
			}
			return s.next(cmd, c, file, out)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&file, "config", "c", "", "configuration `FILE` of the space that runs")
	f.StringVarP(&out, "output", "o", "", "write the new configuration to this `FILE` beside it")
	f.StringArrayVar(&set, "set", nil, "what is to be another: `KEY=VALUE`; may be repeated")
	f.StringVar(&group, "group", "", "input.group of the new space (default: that of the old one, "+
		"with the next number)")
	f.StringVar(&from, "from", "beginning", "begin at the first article that is there, or at a `TIME`: "+
		"as 2026-01-02T15:04:05Z, or as 168h ago")
	_ = cmd.MarkFlagFilename("config", "yaml", "yml")
	_ = cmd.MarkFlagFilename("output", "yaml", "yml")
	return cmd
}

// when reads a time; zero is the beginning.
func when(text string, now time.Time) (time.Time, error) {
	if text == "beginning" {
		return time.Time{}, nil
	}
	if ago, err := time.ParseDuration(text); err == nil && ago > 0 {
		return now.Add(-ago), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, fmt.Errorf("%q: must be beginning, a time as 2026-01-02T15:04:05Z or for how long, "+
			"as 168h", text)
	}
	return at, nil
}

// next says what to do with a new file.
func (s Shell) next(cmd *cobra.Command, c config.Config, before, file string) error {
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "%s: group %s, results in %s, clusters in %s.\n", file, c.Input.Group,
		c.Output.Topic, c.Output.ClustersTopic)
	if !c.Kafka.CreateTopics {
		fmt.Fprintln(out, "Create its topics first, or set kafka.create_topics: true in it.")
	}
	_, err := fmt.Fprintf(out, "Next:\n  clusterd run -c %[2]s\n"+
		"  clusterd migrate status %[1]s %[2]s\n"+
		"  clusterd migrate compare %[1]s %[2]s\n", before, file)
	return err
}

func (s Shell) status() *cobra.Command {
	var json bool
	cmd := s.two(&cobra.Command{
		Use:   "status",
		Short: "Say how far both spaces are",
		Long: "Says of both how many instances run, how many articles they have still to read and " +
			"since when they write results,\nand whether the new one is far enough for a switch.",
	}, func(ctx context.Context, cmd *cobra.Command, t beside.Two) error {
		status, err := StatusOf(ctx, t)
		switch {
		case err != nil:
			return err
		case json:
			return s.WriteJSON(cmd, status)
		}
		return status.Write(cmd.OutOrStdout())
	})
	cmd.Flags().BoolVar(&json, "json", false, "write the status as a JSON object")
	return cmd
}

func (s Shell) compare() *cobra.Command {
	var json bool
	var window overlap.Window
	var examples int
	cmd := s.two(&cobra.Command{
		Use:   "compare",
		Short: "Say how the clusters of both spaces differ",
		Long: "Reads the results of both, and compares the clusters over the articles that both have: " +
			"pairs of articles that are\n" +
			"together, B-cubed, sizes, and which clusters were split or merged. The old clusters stand " +
			"where a truth does: a low\n" +
			"precision says that the new space puts more together, not that it is wrong.",
		Example: "  clusterd migrate compare old.yaml new.yaml --for 1h\n" +
			"  clusterd migrate compare old.yaml new.yaml --last 1000000 --json",
	}, func(ctx context.Context, cmd *cobra.Command, t beside.Two) error {
		if window.For < 0 || window.Last < 0 || examples < 0 {
			return s.Usage(errors.New("--for, --last, --examples: must not be negative"))
		}
		if window.For == 0 && !cmd.Flags().Changed("last") {
			window.Last = 100_000
		}
		c, err := overlap.Compare(ctx, t, window, examples)
		switch {
		case err != nil:
			return err
		case json:
			return s.WriteJSON(cmd, c)
		}
		return c.Write(cmd.OutOrStdout())
	})
	f := cmd.Flags()
	f.DurationVar(&window.For, "for", 0, "compare the articles of the last `DURATION`")
	f.Int64Var(&window.Last, "last", 100_000, "compare the last `N` articles, about; 0 is all")
	f.IntVar(&examples, "examples", 5, "show `N` clusters that were split, and as many merged")
	f.BoolVar(&json, "json", false, "write the comparison as a JSON object")
	cmd.MarkFlagsMutuallyExclusive("for", "last")
	return cmd
}

func (s Shell) idMap() *cobra.Command {
	var topic string
	var follow bool
	cmd := s.two(&cobra.Command{
		Use:   "map",
		Short: "Write a topic of old ids and new ids",
		Long: "Writes to a compacted topic, for each cluster of either space, with which clusters of " +
			"the other it has articles in\n" +
			"common, and whether it is the same, split, merged or moved. It can be run again: it writes " +
			"what has changed. Run it\nonce more when the old instances have stopped.",
		Example: "  clusterd migrate map old.yaml new.yaml --topic cluster-map --follow",
	}, func(ctx context.Context, cmd *cobra.Command, t beside.Two) error {
		if topic == "" {
			topic = t.New.Input.Group + "-map"
		}
		say := func(said string) { t.New.Log.Info(said, "topic", topic) }
		n, err := overlap.Map(ctx, t, topic, follow, say)
		if err == nil {
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d records written to %s\n", n, topic)
		}
		return err
	})
	cmd.Flags().StringVar(&topic, "topic", "", "compacted `TOPIC` of the map (default: the new "+
		"input.group, and -map)")
	cmd.Flags().BoolVar(&follow, "follow", false, "go on as results come, until Ctrl-C")
	return cmd
}

func (s Shell) switchOver() *cobra.Command {
	var out string
	var anyway bool
	cmd := s.two(&cobra.Command{
		Use:   "switch -o NEXT.yaml",
		Short: "Let the new space write what readers read",
		Long: "Readers go on reading the topics of the old space. Run this while both spaces work: it " +
			"says when to stop the old\n" +
			"instances, appends what the new ones have for the articles from there on, says when to stop " +
			"those, and writes the\n" +
			"configuration with which to start them again. No result is missing, and none is there twice, " +
			"whenever it is killed\nand run again. Old instances that start afterwards end with an error.",
		Example: "  clusterd migrate switch old.yaml new.yaml -o next.yaml\n" +
			"  clusterd run -c next.yaml",
	}, func(ctx context.Context, cmd *cobra.Command, t beside.Two) error {
		if out == "" {
			return s.Usage(errors.New("migrate switch: name the file to write with -o"))
		}
		return Switch(ctx, t, out, anyway, func(said string) { fmt.Fprintln(cmd.OutOrStdout(), said) })
	})
	cmd.Flags().StringVarP(&out, "output", "o", "",
		"write the configuration of after the switch to this `FILE`, beside NEW.yaml")
	cmd.Flags().BoolVar(&anyway, "anyway", false,
		"also while the new space is far behind, for which readers then wait")
	_ = cmd.MarkFlagFilename("output", "yaml", "yml")
	return cmd
}

func (s Shell) back() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "back OLD.yaml -o BACK.yaml",
		Short: "Let the old space go on beside the new one, for a switch back",
		Long: "Writes the configuration with which the old space goes on where it ended, into topics " +
			"of its own. When it has caught\n" +
			"up, it is switched to as to any other: clusterd migrate switch NEXT.yaml BACK.yaml -o FILE.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || filepath.Base(args[0]) == "." {
				return s.Usage(errors.New("migrate back: name the configuration file of the old space"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return s.Usage(errors.New("migrate back: name the file to write with -o"))
			}
			space, err := s.open(cmd, args[0])
			if err != nil {
				return err
			}
			defer space.Client.Close()
			c, err := Back(cmd.Context(), space, out)
			if err != nil {
				return err
			}
			return s.next(cmd, c, "NEXT.yaml", out)
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write the configuration to this `FILE` beside it")
	_ = cmd.MarkFlagFilename("output", "yaml", "yml")
	return cmd
}

func (s Shell) broker() *cobra.Command {
	var file, dir string
	cmd := &cobra.Command{
		Use:   "broker --embedded DIR -c FILE",
		Short: "Copy what an embedded broker has kept to a Kafka",
		Long: "Copies the topics of a configuration and the offsets of its group from the folder of an " +
			"embedded broker, which must\n" +
			"not run, to the Kafka that kafka.brokers names. Clusters, labels and results stay what they " +
			"are. The topics must not be\nthere. The records in the folder stay.",
		Example: "  clusterd migrate broker --embedded comments-data -c comments.yaml\n" +
			"  clusterd run -c comments.yaml",
		Args: s.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file == "" || dir == "" {
				return s.Usage(errors.New("migrate broker: name the folder with --embedded and the " +
					"configuration with -c"))
			}
			to, err := s.open(cmd, file)
			if err != nil {
				return err
			}
			defer to.Client.Close()
			return moveEmbedded(cmd.Context(), dir, to, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVarP(&file, "config", "c", "", "configuration `FILE` with the new kafka.brokers")
	cmd.Flags().StringVar(&dir, "embedded", "", "`DIR` of the embedded broker")
	_ = cmd.MarkFlagFilename("config", "yaml", "yml")
	_ = cmd.MarkFlagDirname("embedded")
	return cmd
}
