package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/kafka/embedded"
	"github.com/clusterd/clusterd/internal/monitor"
	"github.com/clusterd/clusterd/internal/pipeline"
	"github.com/clusterd/clusterd/internal/sample"
)

// demoAddress is where the demo's broker listens if it can: kcat's and everyone's default.
const demoAddress = "127.0.0.1:9092"

type demoOptions struct {
	articles string
	rate     float64
	duration time.Duration
}

func newDemo() *cobra.Command {
	var o demoOptions
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "See it work: a broker, a stream of articles and live clusters, all in this terminal",
		Long: "Starts a broker of its own, plays articles in Chinese and English that it makes up (stories, copies, edits, reordered\n" +
			"sentences, HTML, comment spam) or yours, and shows which cluster each goes to. Nothing is kept.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !(o.rate > 0 && o.rate <= maxDemoRate) { // nor NaN
				return usageError{fmt.Errorf("--rate %v: must be above 0 and at most %d", o.rate, maxDemoRate)}
			}
			if o.duration < 0 {
				return usageError{fmt.Errorf("--for %v: must not be negative", o.duration)}
			}
			return demo(cmd.Context(), o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().StringVar(&o.articles, "articles", "", "play the articles of `FILE` (JSON, one a line) instead of made-up ones")
	cmd.Flags().Float64Var(&o.rate, "rate", 5, "articles a second, `N`")
	cmd.Flags().DurationVar(&o.duration, "for", 0, "stop after `DURATION` (default: at Ctrl-C)")
	return cmd
}

// maxDemoRate is as fast as articles can be played one by one.
const maxDemoRate = 10_000

// maxDemoPause keeps the time between two articles to what a duration can hold.
const maxDemoPause = 24 * time.Hour

func demo(ctx context.Context, o demoOptions, out, errs io.Writer) error {
	articles := io.Reader(nil)
	if o.articles != "" {
		f, err := os.Open(o.articles)
		if err != nil {
			return fmt.Errorf("--articles: %w", err)
		}
		defer f.Close()
		articles = f
	}
	c := config.Default()
	c.Log.Level = "warn"
	log := newLogger(c.Log, errs)
	b, err := startDemoBroker(log)
	if err != nil {
		return err
	}
	defer b.Close()
	c.Kafka.Brokers, c.Kafka.CreateTopics = []string{b.Address()}, true
	if c.State.Dir, err = os.MkdirTemp("", "clusterd-demo-"); err != nil {
		return err
	}
	defer os.RemoveAll(c.State.Dir)
	client, err := kafka.NewClient(c.Kafka)
	if err != nil {
		return err
	}
	defer client.Close()

	show := newShow(out, errs, c, b.Address())
	show.begin()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if o.duration > 0 {
		// No deadline: it would end requests by itself, and not as a stop.
		defer time.AfterFunc(o.duration, stop).Stop()
	}
	err = runDemo(ctx, o.rate, articles, c, client, log, show)
	show.end()
	if ctx.Err() != nil {
		return nil // the time is up, or Ctrl-C
	}
	return err
}

// runDemo makes the topics, and plays, clusters and shows until ctx ends or one of them fails.
func runDemo(ctx context.Context, rate float64, articles io.Reader, c config.Config, client *kafka.Client, log *slog.Logger, show *show) error {
	for _, topic := range []string{c.Input.Topic, c.Output.Topic, c.Output.DeadLetterTopic} {
		if err := client.CreateTopic(ctx, kafka.TopicSpec{Name: topic, Partitions: embedded.Partitions}); err != nil {
			return err
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return pipeline.Run(ctx, c, client, log, monitor.New(version())) })
	group.Go(func() error { return play(ctx, rate, c.Kafka.Brokers[0], c.Input.Topic, articles, show) })
	group.Go(func() error { return follow(ctx, client, log, c, show) })
	return group.Wait()
}

// startDemoBroker takes a free port where the usual one is taken, as by a Kafka on this machine.
func startDemoBroker(log *slog.Logger) (*embedded.Broker, error) {
	b, err := embedded.Start(demoAddress, "", log)
	if err != nil {
		host, _, _ := net.SplitHostPort(demoAddress)
		return embedded.Start(net.JoinHostPort(host, "0"), "", log)
	}
	return b, nil
}

// play writes articles to the topic at a steady rate: the lines of a file, or made-up ones without
// end. A file that is played to its end leaves the demo running, for what others send.
func play(ctx context.Context, rate float64, address, topic string, articles io.Reader, show *show) error {
	writer := &kafkago.Writer{
		Addr: kafkago.TCP(address), Topic: topic, Balancer: &kafkago.Hash{}, RequiredAcks: kafkago.RequireAll, BatchTimeout: time.Millisecond,
	}
	defer writer.Close()
	next := madeUp(show)
	if articles != nil {
		next = lines(articles)
	}
	ticker := time.NewTicker(time.Duration(min(float64(time.Second)/rate, float64(maxDemoPause))))
	defer ticker.Stop()
	for {
		value, err := next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("--articles: %w", err)
		}
		if err := writer.WriteMessages(ctx, kafkago.Message{Value: value}); err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func madeUp(show *show) func() ([]byte, error) {
	generator := sample.New(uint64(time.Now().UnixNano()), time.Now())
	return func() ([]byte, error) {
		a := generator.Next()
		show.sent(a)
		return a.JSON(), nil
	}
}

// lines reads a file line by line; one that is longer than the topic takes is an error of the
// writer, not of the reader.
func lines(r io.Reader) func() ([]byte, error) {
	buffered := bufio.NewReader(r)
	return func() ([]byte, error) {
		line, err := buffered.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) > 0 {
			err = nil
		}
		return line, err
	}
}

// follow shows what clusterd writes, as any other reader of the topics sees it, and a line of totals
// each second.
func follow(ctx context.Context, client *kafka.Client, log *slog.Logger, c config.Config, show *show) error {
	group, ctx := errgroup.WithContext(ctx)
	results, dead := make(chan consumer.Chunk), make(chan consumer.Chunk)
	from := make(map[int]int64, embedded.Partitions)
	for p := range embedded.Partitions {
		from[p] = 0
	}
	group.Go(func() error {
		return consumer.NewLog(client, log, c.Output.Topic, from, c.Batch.Bytes).Read(ctx, results)
	})
	group.Go(func() error {
		return consumer.NewLog(client, log, c.Output.DeadLetterTopic, from, c.Batch.Bytes).Read(ctx, dead)
	})
	group.Go(func() error {
		second := time.NewTicker(time.Second)
		defer second.Stop()
		for {
			select {
			case chunk := <-results:
				for _, r := range chunk.Records {
					if err := show.result(r); err != nil {
						return err
					}
				}
			case chunk := <-dead:
				for _, r := range chunk.Records {
					show.deadLetter(r)
				}
			case <-second.C:
				show.totals()
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
	return group.Wait()
}
