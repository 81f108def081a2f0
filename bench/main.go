// Command bench measures clusterd from end to end on a real Apache Kafka, and in the same run, in
// turns, what one might hold it to:
//
//   - ceiling: the same fetches and transactions with a record of the same size for each record of
//     the input, and nothing in between;
//   - streams: a Kafka Streams application with exactly-once and a store on RocksDB, a put and a
//     record for each record of the input, and no clustering;
//   - streams-simhash: clusterd's job on Kafka Streams, and streams-longest: the same with a faster
//     segmenter that errs more;
//   - python-datasketch: a like job in Python, with its clusters in memory alone, on the first
//     quarter of the input. These three compare within partitions, and clusterd the whole topic;
//   - fingerprint: clusterd's fingerprint stage alone, which reads the topic and writes nothing;
//   - role-fingerprint and role-assign: clusterd in these roles, each alone; the latter on what the
//     former has written.
//
// A rate is of the records after the first half (-skip), since dictionaries are loaded and Java
// compiles before, and before the last tenth. Trust the ratios of a round, and their median, before
// any single figure: the broker, and what else the machine does, have a share of its cores too. It
// needs Linux (/proc), the go command, for Kafka and streams Java 17 or newer and Maven, and for
// python-datasketch Python 3.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/clusterd/clusterd/bench/stage"
	"github.com/clusterd/clusterd/internal/config"
)

// settings are the flags.
type settings struct {
	brokers        string
	port           int
	news, comments int
	partitions     int
	rounds         int
	skip           float64
	method, index  string
	compression    string
	set            []string // KEY=VALUE
	roles, inputs  []string
	data           string
	json           string
	latency, grow  bool
	rate           int
	warmUp, length time.Duration
}

// parse reads the command line. role is what a child is to be, "" in the bench itself.
func parse(args []string) (s settings, role string, rest []string, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.StringVar(&s.brokers, "brokers", "",
		"Kafka `addresses`, host:port,…; without it integration/kafka starts one")
	flags.IntVar(
		&s.port, "port", 19092, "where that broker listens; its controller takes the next one",
	)
	flags.IntVar(&s.news, "news", 120_000, "articles of about 2 KB")
	flags.IntVar(&s.comments, "comments", 1_000_000, "comments of about 120 bytes")
	flags.IntVar(&s.partitions, "partitions", 4, "of the input and output topics")
	flags.IntVar(&s.rounds, "rounds", 3, "how often each process is measured, in turns")
	flags.Float64Var(&s.skip, "skip", 0.5, "share of the records after which measuring begins")
	flags.StringVar(&s.method, "method", "simhash", "clusterd's fingerprint.method")
	flags.StringVar(&s.index, "index", "btree", "clusterd's cluster.index")
	flags.StringVar(&s.compression, "compression", config.Default().Output.Compression,
		"clusterd's output.compression")
	flags.Func("set", "clusterd's `KEY=VALUE`, such as contacts.join=true; may be repeated",
		func(text string) error {
			s.set = append(s.set, text)
			_, err := s.config()
			return err
		})
	roles := flags.String("roles", "clusterd,ceiling,streams,fingerprint",
		"what to measure, of "+strings.Join(roleNames(), ","))
	inputs := flags.String("inputs", "news,comments", "on what")
	flags.StringVar(&s.data, "data", "../shared/data",
		"folder of the sets that the inputs are made of, beside the module; made-up ones where it is "+
			"missing")
	flags.StringVar(&s.json, "json", "", "write all figures to this `file` too")
	flags.BoolVar(&s.latency, "latency", true, "measure latency too")
	flags.IntVar(&s.rate, "rate", 1_000, "articles a second for latency")
	flags.DurationVar(&s.warmUp, "warm-up", 10*time.Second, "before latency is measured, at that rate")
	flags.DurationVar(&s.length, "for", 20*time.Second, "how long latency is measured")
	flags.BoolVar(
		&s.grow, "grow", false,
		"measure how cost grows with size, threads and partitions, instead of the rest",
	)
	flags.StringVar(
		&role, "role", "",
		"for the children of bench: be the `role` on -brokers; arguments: topic, and for the ceiling "+
			"output and group",
	)
	if err := flags.Parse(args); err != nil {
		return s, role, nil, err
	}
	s.roles, s.inputs = strings.Split(*roles, ","), strings.Split(*inputs, ",")
	if role != "" {
		return s, role, flags.Args(), nil
	}
	return s, role, nil, s.check(flags.Args())
}

// config returns clusterd's configuration, but for where it reads and writes.
func (s settings) config() (config.Config, error) {
	c := config.Default()
	for _, setting := range slices.Concat([]string{
		"fingerprint.method=" + s.method, "cluster.index=" + s.index,
		"output.compression=" + s.compression,
	}, s.set) {
		key, text, _ := strings.Cut(setting, "=")
		if err := c.Set(key, text); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (s settings) check(rest []string) error {
	var errs []error
	for _, r := range s.roles {
		if !slices.Contains(roleNames(), r) {
			errs = append(errs, fmt.Errorf("-roles: %q is none of %s", r, strings.Join(roleNames(), ", ")))
		}
	}
	for _, i := range s.inputs {
		if i != "news" && i != "comments" {
			errs = append(errs, fmt.Errorf("-inputs: %q is neither news nor comments", i))
		}
	}
	if min(s.news, s.comments, s.partitions, s.rounds, s.rate) < 1 || s.length <= 0 {
		errs = append(
			errs, errors.New("-news, -comments, -partitions, -rounds, -rate and -for must be positive"),
		)
	}
	if s.skip < 0 || s.skip >= 1-tail {
		errs = append(errs, fmt.Errorf("-skip: want 0 to less than %v", 1-tail))
	}
	if len(rest) > 0 {
		errs = append(errs, fmt.Errorf("%q: no arguments are taken", rest))
	}
	return errors.Join(errs...)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s, role, args, err := parse(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	case role != "":
		err = stage.Play(ctx, role, s.brokers, s.method, args, os.Stdout)
	default:
		err = run(ctx, s)
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
	}
	if err != nil {
		os.Exit(1)
	}
}

// run measures all that the settings say. Whatever it has written goes in the end, unless something
// failed: then the logs stay.
func run(ctx context.Context, s settings) (err error) {
	dir, err := os.MkdirTemp("", "clusterd-bench-")
	if err != nil {
		return err
	}
	defer func() {
		if err == nil || ctx.Err() != nil {
			_ = os.RemoveAll(dir)
			return
		}
		err = fmt.Errorf("%w\nthe logs are in %s", err, dir)
	}()
	b := &bench{settings: s, dir: dir, prefix: fmt.Sprintf("bench-%d-", time.Now().UnixNano())}
	if err := b.build(ctx); err != nil {
		return err
	}
	if b.kafka, err = startKafka(ctx, b.root, dir, s); err != nil {
		return err
	}
	defer func() {
		ctx := context.WithoutCancel(ctx)
		if err != nil && s.brokers != "" { // what an unfinished job has made
			err = errors.Join(err, b.kafka.dropTopics(ctx, b.prefix))
		}
		err = errors.Join(err, b.kafka.stop(ctx))
	}()
	if b.news, b.comments, b.report.Texts, err = readTexts(filepath.Join(b.root, s.data)); err != nil {
		return err
	}
	b.report.Cores, b.report.Go, b.report.Method, b.report.Index = runtime.NumCPU(), runtime.Version(),
		s.method, s.index
	b.report.Partitions, b.report.Skip = s.partitions, s.skip
	if err := b.measureAll(ctx); err != nil {
		return err
	}
	if s.json != "" {
		if err := b.report.writeJSON(s.json); err != nil {
			return err
		}
	}
	_, err = os.Stdout.WriteString(b.report.markdown())
	return err
}

func (b *bench) measureAll(ctx context.Context) error {
	if b.settings.grow {
		return b.grow(ctx)
	}
	if err := b.throughput(ctx); err != nil {
		return err
	}
	if b.settings.latency {
		return b.latencies(ctx)
	}
	return nil
}

// say reports how far it is to whoever waits.
func say(format string, args ...any) { fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...) }
