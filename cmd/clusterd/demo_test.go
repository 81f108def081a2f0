package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/testutil/wait"
)

// demoing is a demo that runs until it has shown enough.
type demoing struct {
	out, errs wait.Buffer
	stop      context.CancelFunc
	code      chan int
}

func startDemo(t *testing.T, args ...string) *demoing {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	d := &demoing{stop: stop, code: make(chan int, 1)}
	go func() {
		d.code <- run(ctx, append([]string{"demo"}, args...), strings.NewReader(""), &d.out,
			&d.errs)
	}()
	t.Cleanup(stop)
	return d
}

func TestDemo(t *testing.T) {
	t.Parallel()
	d := startDemo(t, "--rate", "100")
	d.out.WaitFor(t, "\nnew ", 1)
	d.out.WaitFor(t, "\njoined ", 1)
	d.errs.WaitFor(t, " joined, ", 1)
	d.stop()
	if code := <-d.code; code != 0 {
		t.Errorf("exit %d, want 0; %s", code, &d.errs)
	}
	line := regexp.MustCompile(`^(new +#\d+ +\w+( of #\d+)? +founds articles/\d+/\d+ +\S.*` +
		`|joined +#\d+ +\w+( of #\d+)? +joins +articles/\d+/\d+ (at distance 0\.[0-2]\d|by [a-z]+:\S+), now \d+ +\S.*` +
		`|unclustered +#\d+ +\w+( of #\d+)? +has no word to compare .*)$`)
	for l := range strings.Lines(d.out.String()) {
		if !line.MatchString(strings.TrimSuffix(l, "\n")) {
			t.Errorf("line %q", l)
		}
	}
	errs := d.errs.String()
	for _, want := range []string{
		`(?m)^clusterd demo: an embedded broker on (127\.0\.0\.1:\d+), articles in topic articles, clusters as they form\.$`,
		`(?m)^    echo '.*' \| kcat -b 127\.0\.0\.1:\d+ -P -t articles$`,
		`(?m)^    kcat -b 127\.0\.0\.1:\d+ -C -t article-clusters -X isolation\.level=read_committed$`,
		`(?m)^ +\d+s  \d+ articles, \d+\.\d/s: \d+ new, \d+ joined, \d+ unclustered, \d+ dead letters$`,
		`(?m)^  clusterd run --embedded \./trial `,
	} {
		if !regexp.MustCompile(want).MatchString(errs) {
			t.Errorf("%s is not in:\n%s", want, errs)
		}
	}
	if strings.Contains(errs+d.out.String(), "\x1b") || strings.Contains(errs+d.out.String(), "\r") {
		t.Error("there are escape codes, and no terminal")
	}
	// The sums at the end are those of the lines.
	var articles, founded, joined, bare, dead int
	last := errs[strings.LastIndex(errs, "s  ")+3:]
	if _, err := fmt.Sscanf(last[strings.Index(last, ": ")+2:],
		"%d new, %d joined, %d unclustered, %d dead letters", &founded, &joined, &bare,
		&dead); err != nil {
		t.Fatalf("%q: %v", last, err)
	}
	if _, err := fmt.Sscan(last, &articles); err != nil {
		t.Fatal(err)
	}
	out := "\n" + d.out.String()
	if founded != strings.Count(out, "\nnew ") || joined != strings.Count(out, "\njoined ") ||
		articles != strings.Count(out, "\n")-1 || articles != founded+joined+bare+dead {
		t.Errorf("totals %q; lines:\n%s", last, out)
	}
}

func TestDemoEndsByItself(t *testing.T) {
	t.Parallel()
	for _, duration := range []string{"1ns", "1ms", "1500ms"} {
		d := startDemo(t, "--for", duration, "--rate", "50")
		if code := <-d.code; code != 0 {
			t.Errorf("--for %s: exit %d, want 0; %s", duration, code, &d.errs)
		}
	}
}

func TestDemoPlaysAFile(t *testing.T) {
	t.Parallel()
	// no line break at the end
	path := write(t, "mine.jsonl", []byte(bridge+"\n"+copied+"\n"+"{\n"+
		strings.Replace(market, "Market", `\u001b[31mMarket`, 1)))
	d := startDemo(t, "--articles", path, "--rate", "1000")
	// Lines may go to different partitions, and so either of the two may be first.
	d.out.WaitFor(t, "\njoined ", 1)
	d.out.WaitFor(t, "dead letter", 1)
	d.out.WaitFor(t, "Market prices rise", 1)
	d.stop()
	if code := <-d.code; code != 0 {
		t.Errorf("exit %d, want 0; %s", code, &d.errs)
	}
	out := d.out.String()
	for _, want := range []string{
		`(?m)^new         (bridge|copy) +yours +founds articles/\d/\d +港口大桥今天通车`,
		`(?m)^joined      (bridge|copy) +yours +joins  articles/\d/\d at distance 0\.00, now 2 +港口大桥今天通车`,
		`(?m)^dead letter articles/\d/\d bad_json: the value is not valid JSON$`,
		// it steers no terminal
		`(?m)^new         market +yours +founds articles/\d/\d +\\x1b\[31mMarket prices rise$`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("%s is not in:\n%s", want, out)
		}
	}
}

func TestDemoOfNoFile(t *testing.T) {
	got := clusterd(t, "", "demo", "--articles", "missing.jsonl")
	if got.code != exitFailed || got.errs != "clusterd: --articles: open missing.jsonl: no such "+
		"file or directory\n" {
		t.Errorf("exit %d, errors %q", got.code, got.errs)
	}
}
