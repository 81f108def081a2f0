package ask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/serve/http/client"
	"github.com/clusterd/clusterd/internal/text/printable"
)

const (
	// firstPause is between the end of a stream and the next attempt. Each attempt that fails doubles
	// it, up to lastPause.
	firstPause = time.Second
	lastPause  = 30 * time.Second
)

// tapFlags are what the command line of tap says.
type tapFlags struct {
	serverFlags
	client.Filter
	json  bool
	count int
}

func (s Shell) tap() *cobra.Command {
	f := tapFlags{serverFlags: serverFlags{Shell: s}}
	cmd := &cobra.Command{
		Use:   "tap",
		Short: "Watch results and labels of a running clusterd as they come",
		Long: "Writes a line for each event as it is committed, until Ctrl-C: when it came, what " +
			"became of the article, the size\n" +
			"of its cluster, the cluster, the distance from its founder, who published it, the " +
			"labels that it carries,\n" +
			"and by which contacts it has them, and the title of the cluster's founder. On a terminal a " +
			"line is cut to its\n" +
			"width. With --json it is the event as " +
			"the server sends it.\n\n" +
			"Where several of --label, --cluster, --status and --publisher are given, all must match. If " +
			"the server goes away,\n" +
			"tap says so and connects again. The stream repeats nothing: what was committed in between " +
			"is not seen. A program\n" +
			"that must have everything reads the topics.",
		Example: "  clusterd tap\n  clusterd tap --label spam --json\n" +
			"  clusterd tap --status new --count 10 --server https://clusterd.example.com " +
			"--token-file token",
		Args: s.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.count < 0 {
				return s.Usage(fmt.Errorf("--count %d: must not be negative", f.count))
			}
			return f.run(cmd)
		},
	}
	f.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.Label, "label", "", "only events of this `LABEL`")
	flags.StringVar(&f.Cluster, "cluster", "", "only events of this cluster: its `ID`")
	flags.StringVar(&f.Status, "status", "", "only results with this `STATUS`: new, joined or unclustered")
	flags.StringVar(&f.Publisher, "publisher", "", "only results of this publisher: its `NAME`")
	// It fails without the flag alone.
	_ = cmd.RegisterFlagCompletionFunc("label",
		func(cmd *cobra.Command, _ []string, text string) ([]string, cobra.ShellCompDirective) {
			return f.labelNames(cmd, nil, text)
		})
	_ = cmd.RegisterFlagCompletionFunc("status", cobra.FixedCompletions([]string{
		string(article.New), string(article.Joined), string(article.Unclustered),
	}, cobra.ShellCompDirectiveNoFileComp))
	flags.BoolVar(&f.json, "json", false,
		"write each event as the server sends it, an object in a line")
	flags.IntVar(&f.count, "count", 0, "end after `N` events (default: never)")
	return cmd
}

func (f *tapFlags) run(cmd *cobra.Command) error {
	c, err := f.client()
	if err != nil {
		return err
	}
	t := tap{
		stream: func(ctx context.Context, opened func(), each func(client.Event) error) error {
			return c.Stream(ctx, f.Filter, opened, each)
		},
		errs: cmd.ErrOrStderr(), count: f.count, pause: firstPause, now: time.Now,
	}
	if f.json {
		t.out = func(e client.Event) error {
			_, err := f.JSON(cmd).Write(append(e.Data, '\n'))
			return err
		}
	} else {
		view := newEventView(cmd.OutOrStdout())
		t.out = func(e client.Event) error { return view.write(t.now(), e) }
	}
	return t.follow(cmd.Context())
}

// A tap follows a stream over its breaks.
type tap struct {
	stream func(ctx context.Context, opened func(), each func(client.Event) error) error
	out    func(client.Event) error
	errs   io.Writer
	count  int           // of events to show; 0: all
	pause  time.Duration // before the first attempt after a break
	now    func() time.Time

	shown int
	since time.Time // when the stream broke; zero: it did not
}

// errEnough ends a stream of which as many events were shown as were asked for.
var errEnough = errors.New("there are enough events")

// follow shows events until there are enough, or until the context ends, which is no error. A
// server that is not there at first is one: the address may be wrong.
func (t *tap) follow(ctx context.Context) error {
	connected, pause := false, t.pause
	for {
		opened := func() {
			connected, pause = true, t.pause
			t.again()
		}
		err := t.stream(ctx, opened, t.show)
		var broken client.BrokenError
		switch {
		case ctx.Err() != nil || errors.Is(err, errEnough):
			return nil
		case !connected || !errors.As(err, &broken):
			return err
		case t.since.IsZero():
			t.since = t.now()
		}
		t.say("%v; connecting again in %v", err, pause)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil
		}
		pause = min(2*pause, lastPause)
	}
}

// again says after a break what is missing.
func (t *tap) again() {
	if !t.since.IsZero() {
		t.say("connected again: the events of %v were not seen",
			t.now().Sub(t.since).Round(time.Millisecond))
		t.since = time.Time{}
	}
}

func (t *tap) show(e client.Event) error {
	if e.Kind == "dropped" {
		var dropped struct{ Count uint64 }
		if err := json.Unmarshal(e.Data, &dropped); err != nil {
			return fmt.Errorf("an event that is not clusterd's: %w", err)
		}
		t.say("%d events were not sent, since they were read too slowly", dropped.Count)
		return nil
	}
	if err := t.out(e); err != nil {
		return err
	}
	if t.shown++; t.shown == t.count {
		return errEnough
	}
	return nil
}

func (t *tap) say(format string, args ...any) {
	fmt.Fprintln(t.errs, "clusterd tap: "+printable.Text(fmt.Sprintf(format, args...)))
}
