// Package demo shows clusterd at work, on its page and in one terminal: a broker of its own, a
// stream of articles, the daemon, and which cluster each article goes to. Nothing is kept.
package demo

import (
	"context"
	"io"
	"log/slog"
	"net"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/daemon"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/kafka/embedded"
	"github.com/clusterd/clusterd/internal/text/fold"
)

// MaxRate is how many articles a second can be played one by one.
const MaxRate = 10_000

// brokerAddress is where the broker listens if it can: kcat's and everyone's default.
const brokerAddress = "127.0.0.1:9092"

// memberBytes is the disk that the members of clusters may take.
const memberBytes = 256 << 20

// Options are what a demo depends on.
type Options struct {
	Articles io.Reader     // JSON, one a line; nil for made-up ones without end
	Rate     float64       // articles a second, at most MaxRate
	Duration time.Duration // 0: until the context ends
	Version  string        // of clusterd
	Log      *slog.Logger
}

// Run plays articles, and shows on out what becomes of each and on errs the totals, until ctx ends
// or the time is up, which is no error.
func Run(ctx context.Context, o Options, out, errs io.Writer) error {
	b, err := startBroker(o.Log)
	if err != nil {
		return err
	}
	defer b.Close()
	c := profile()
	listener, err := listen(ctx, c.HTTP.Listen)
	if err != nil {
		return err
	}
	defer listener.Close()
	c.HTTP.Listen = listener.Addr().String()
	c.Kafka.Brokers, c.Kafka.CreateTopics = []string{b.Address()}, true
	if c.State.Dir, err = os.MkdirTemp("", "clusterd-demo-"); err != nil {
		return err
	}
	defer os.RemoveAll(c.State.Dir)
	client, err := daemon.Connect(c.Kafka, o.Log)
	if err != nil {
		return err
	}
	defer client.Close()

	view, err := newView(out, errs, c, b.Address())
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if o.Duration > 0 {
		// No deadline: it would end requests by itself, and not as a stop.
		defer time.AfterFunc(o.Duration, stop).Stop()
	}
	view.begin()
	err = run(ctx, o, c, client, listener, view)
	view.end()
	if ctx.Err() != nil {
		return nil // the time is up, or Ctrl-C
	}
	return err
}

// profile is what serves news and adverts in one stream: the method of news.yaml, and contacts;
// labels, publishers and members, so that the page has all that it can show.
func profile() config.Config {
	c := config.Default()
	c.Fingerprint.Method = "minhash"
	c.Text.Fold, c.Contacts.Join = fold.Latest, true
	c.Signals.Enabled = true
	c.Labels.Topic, c.Labels.Corrections = "article-labels", "article-corrections"
	c.Serve.Bytes = memberBytes
	return c
}

// listen takes a free port where the one of an address is taken.
func listen(ctx context.Context, address string) (net.Listener, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return config.Listen(ctx, "tcp", anyPort(address))
	}
	return l, nil
}

func anyPort(address string) string {
	host, _, _ := net.SplitHostPort(address) // it is one of ours
	return net.JoinHostPort(host, "0")
}

// startBroker takes a free port where the usual one is taken, as by a Kafka on this machine.
func startBroker(log *slog.Logger) (*embedded.Broker, error) {
	b, err := embedded.Start(brokerAddress, "", log)
	if err != nil {
		return embedded.Start(anyPort(brokerAddress), "", log)
	}
	return b, nil
}

// run makes the topics, and plays, clusters and shows until ctx ends or one of them fails.
func run(
	ctx context.Context, o Options, c config.Config, client *kafka.Client, listener net.Listener,
	view *view,
) error {
	for _, topic := range []string{c.Input.Topic, c.Output.Topic, c.Output.DeadLetterTopic} {
		// In one partition no copy comes before its original.
		spec := kafka.TopicSpec{Name: topic, Partitions: 1}
		if err := client.CreateTopic(ctx, spec); err != nil {
			return err
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return daemon.Run(ctx, daemon.Options{
			Config: c, Version: o.Version, Log: o.Log, Listener: listener,
		})
	})
	group.Go(func() error { return view.moderate(ctx) })
	group.Go(func() error { return play(ctx, o, client.NewWriter(c.Input.Topic), view) })
	group.Go(func() error { return follow(ctx, client, o.Log, c, view) })
	return group.Wait()
}
