package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

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
	d.out.WaitFor(t, "\njoins ", 1)
	d.errs.WaitFor(t, " joined, ", 1)
	d.stop()
	if code := <-d.code; code != 0 {
		t.Errorf("exit %d, want 0; %s", code, &d.errs)
	}
	line := regexp.MustCompile(`^(new +#\d+ +\w+( of #\d+)? +` +
		`(founds a cluster|[01]\.\d{3} from #\d+, limit 0\.\d\d) +\S.*` +
		`|joins +#\d+ +\w+( of #\d+)? +#\d+ (at distance 0\.[0-2]\d|by [a-z]+), now \d+ +\S.*` +
		`|label +#\d+ +spam +from now on its copies carry the label` +
		`|unclustered +#\d+ +\w+( of #\d+)? +has no word to compare .*)$`)
	for l := range strings.Lines(d.out.String()) {
		if !line.MatchString(strings.TrimSuffix(l, "\n")) {
			t.Errorf("line %q", l)
		}
	}
	errs := d.errs.String()
	for _, want := range []string{
		`^Open http://127\.0\.0\.1:\d+ to look at it`,
		`(?m)^clusterd demo: an embedded broker on (127\.0\.0\.1:\d+), articles in topic$`,
		`(?m)^    kcat -b 127\.0\.0\.1:\d+ -C -t article-clusters \\$`,
		`(?m)^The largest clusters, by articles:\n +\d+  #\d+ +\S`,
		`(?m)^ +\d+s  \d+ articles, \d+\.\d/s: \d+ new, \d+ joined, \d+ unclustered, \d+ dead letters$`,
		`(?m)^    clusterd run --embedded \./trial --set fingerprint\.method=minhash$`,
	} {
		if !regexp.MustCompile(want).MatchString(errs) {
			t.Errorf("%s is not in:\n%s", want, errs)
		}
	}
	if strings.Contains(errs+d.out.String(), "\x1b") || strings.Contains(errs+d.out.String(), "\r") {
		t.Error("there are escape codes, and no terminal")
	}
	// No copy comes before its original.
	shown := make(map[string]bool)
	for _, m := range regexp.MustCompile(`(?m)^\w+ +(#\d+) +\w+(?: of (#\d+))?`).
		FindAllStringSubmatch(d.out.String(), -1) {
		if shown[m[1]] = true; m[2] != "" && !shown[m[2]] {
			t.Errorf("%s is shown before %s, which it is made of", m[1], m[2])
		}
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
	results := strings.Count(out, "\n") - 1 - strings.Count(out, "\nlabel ")
	if founded != strings.Count(out, "\nnew ") || joined != strings.Count(out, "\njoins ") ||
		articles != results || articles != founded+joined+bare+dead {
		t.Errorf("totals %q; lines:\n%s", last, out)
	}
}

// The two articles that the demo invites to send are found to be the same.
func TestDemoInvitation(t *testing.T) {
	t.Parallel()
	d := startDemo(t, "--rate", "1")
	d.out.WaitFor(t, "\n", 1)
	invited := regexp.MustCompile(`(?m)^    echo '(.*)' \| kcat -b (127\.0\.0\.1:\d+) -P -t articles$`).
		FindAllStringSubmatch(d.errs.String(), -1)
	if len(invited) != 2 || invited[0][1] == invited[1][1] {
		t.Fatalf("invited to send %q", invited)
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(invited[0][2]))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for i, m := range invited {
		r := &kgo.Record{Topic: "articles", Value: []byte(m[1])}
		if err := client.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
		d.out.WaitFor(t, " yours ", i+1)
	}
	d.stop()
	<-d.code
	want := regexp.MustCompile(`(?m)^joins +articles/\d+/\d+ +yours +articles/\d+/\d+ at distance ` +
		`0\.\d\d, now 2 +Harbour bridge opens$`)
	if !want.MatchString(d.out.String()) {
		t.Errorf("no %s in\n%s", want, &d.out)
	}
}

// A campaign gets a label while one looks, and its later copies carry it.
func TestDemoLabelsACampaign(t *testing.T) {
	t.Parallel()
	d := startDemo(t, "--rate", "100")
	d.out.WaitFor(t, "\nlabel ", 1)
	d.out.WaitFor(t, " [spam] ", 1)
	page := regexp.MustCompile(`http://\S+`).FindString(d.errs.String())
	answer, err := http.Get(page + "/?label=spam") //nolint:noctx // the test ends with the demo
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	shown, err := io.ReadAll(answer.Body)
	if err != nil || !strings.Contains(string(shown), `class="chip spam"`) {
		t.Errorf("%v; the page shows no labelled campaign:\n%s", err, shown)
	}
	d.stop()
	<-d.code
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
	d.out.WaitFor(t, "\njoins ", 1)
	d.out.WaitFor(t, "dead letter", 1)
	d.out.WaitFor(t, "Market prices rise", 1)
	d.stop()
	if code := <-d.code; code != 0 {
		t.Errorf("exit %d, want 0; %s", code, &d.errs)
	}
	out := d.out.String()
	for _, want := range []string{
		`(?m)^new     bridge +yours +founds a cluster +港口大桥今天通车`,
		`(?m)^joins   copy  yours +bridge at distance 0\.00, now 2 +港口大桥今天通车`,
		`(?m)^dead letter articles/\d/\d bad_json: the value is not valid JSON$`,
		// it steers no terminal
		`(?m)^new     market +yours +founds a cluster +\\x1b\[31mMarket prices rise$`,
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
