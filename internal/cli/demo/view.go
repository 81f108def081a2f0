package demo

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/rivo/uniseg"

	"github.com/clusterd/clusterd/internal/cli"
	"github.com/clusterd/clusterd/internal/cli/demo/sample"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/text/printable"
)

// A view is what the demo shows: a line an article on out, a line of totals a second on errs. On a
// terminal the totals stay at the bottom and words have colours; elsewhere it is all plain lines.
type view struct {
	out, errs io.Writer
	config    config.Config
	address   string
	began     time.Time
	live      bool // both are a terminal
	colour    bool
	width     int

	mutex sync.Mutex
	made  map[string]sample.Article // by id: what was sent, to say how it was made
	order []string                  // its keys, oldest first

	records, founded, joined, bare, dead int
	largest                              largest

	nearness  *nearness
	campaigns chan string // ids of clusters that are to be labelled
}

// remembered is how many of the articles that were sent are kept until their results come.
const remembered = 10_000

func newView(out, errs io.Writer, c config.Config, address string) (*view, error) {
	n, err := newNearness(c.MethodSettings())
	if err != nil {
		return nil, err
	}
	v := &view{
		out: out, errs: errs, config: c, address: address,
		began: time.Now(), width: 100, made: make(map[string]sample.Article),
		largest: make(largest), nearness: n, campaigns: make(chan string, 16),
	}
	if cli.IsTerminal(out) && cli.IsTerminal(errs) {
		v.live, v.colour = true, cli.HasColours(out)
		v.width = cli.Width(out, v.width)
	}
	return v, nil
}

// begin says where the page is, and what one may try.
func (v *view) begin() {
	fmt.Fprintf(v.errs, `Open http://%[6]s to look at it: what grows, what is
labelled as spam, what each copy shares with its original.

clusterd demo: an embedded broker on %[1]s, articles in topic
%[2]s, clusters as they form.

  From another terminal, send an article of your own, then the same with a word
  changed:
    echo '%[4]s' | kcat -b %[1]s -P -t %[2]s
    echo '%[5]s' | kcat -b %[1]s -P -t %[2]s
  Read the results as any program would:
    kcat -b %[1]s -C -t %[3]s \
      -X isolation.level=read_committed

`, v.address, v.config.Input.Topic, v.config.Output.Topic, bridge,
		strings.Replace(bridge, "Crowds", "Thousands", 1), v.config.HTTP.Listen)
}

// bridge is an article to try things out with.
const bridge = `{"title":"Harbour bridge opens","content":"The bridge over the harbour opened ` +
	`today after six years of work. Crowds walked across it in the morning, and the first buses ` +
	`followed at noon."}`

func (v *view) end() {
	v.totals()
	if v.live {
		fmt.Fprintln(v.errs)
	}
	fmt.Fprint(v.errs, v.largest.text(v.width), `
What next:
  Cluster a file of your own articles:
    clusterd cluster --method minhash FILE.jsonl
  A broker and a daemon that remember:
    clusterd run --embedded ./trial --set fingerprint.method=minhash
  The daemon on your Kafka:
    clusterd run -c configs/news.yaml
`)
}

// sent remembers an article that is about to be sent.
func (v *view) sent(a sample.Article) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	if len(v.order) >= remembered {
		delete(v.made, v.order[0])
		v.order = v.order[1:]
	}
	v.made[a.ID] = a
	v.order = append(v.order, a.ID)
}

// result shows a result: the article, how it was made, where it went, and what it says.
func (v *view) result(r kafka.Record) error {
	result, err := article.ParseResult(r.Value)
	if err != nil {
		return fmt.Errorf("%s/%d/%d: %w", r.Topic, r.Partition, r.Offset, err)
	}
	v.records++
	id, how, says := v.about(&result)
	head, colour, where := string(result.Status), cli.Green, ""
	switch result.Status {
	case article.New:
		v.founded++
		where = cmp.Or(v.nearMiss(&result), "founds a cluster")
	case article.Joined:
		v.joined++
		head, colour = "joins", cli.Cyan
		where = fmt.Sprintf("%s at distance %.2f, now %d", v.name(result.Representative.ID),
			*result.Distance, result.Size)
	default:
		v.bare++
		colour = cli.Faint
		where = "has no word to compare"
	}
	if len(result.Labels) > 0 {
		says = "[" + strings.Join(result.Labels, ", ") + "] " + says
	}
	if r := result.Representative; r != nil {
		v.largest.see(*result.ClusterID, known{
			founder: v.name(r.ID), says: cmp.Or(r.Title, r.Excerpt), size: result.Size,
		})
	}
	v.line(colour, fmt.Sprintf("%-7s", head), fmt.Sprintf("%-5s %-15s %-28s %s", id, how, where, says))
	v.report(&result)
	return nil
}

// about returns of a result's article what it is called, how it was made and how it begins.
func (v *view) about(r *article.Result) (id, how, says string) {
	v.mutex.Lock()
	made, known := v.made[r.ArticleID]
	v.mutex.Unlock()
	if !known {
		if r.Representative != nil {
			says = cmp.Or(r.Representative.Title, r.Representative.Excerpt)
		}
		return r.ArticleID, "yours", says
	}
	how = string(made.Kind)
	if made.Origin != "" {
		how += " of " + short(made.Origin)
	}
	if says = made.Title; says == "" {
		says = made.Content
	}
	return short(made.ID), how, says
}

// name returns what an article is called.
func (v *view) name(id string) string {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	if made, ok := v.made[id]; ok {
		return short(made.ID)
	}
	return id
}

// short returns the number in the id of a made-up article.
func short(id string) string {
	return "#" + strings.TrimLeft(id[strings.LastIndex(id, "-")+1:], "0")
}

func (v *view) deadLetter(r kafka.Record) {
	v.records++
	v.dead++
	headers := make(map[string]string)
	for _, h := range r.Headers {
		headers[h.Key] = string(h.Value)
	}
	v.line(cli.Red, "dead letter", fmt.Sprintf("%s %s: %s",
		headers[article.HeaderSource], headers[article.HeaderError], headers[article.HeaderReason]))
}

// totals shows the sums. On a terminal the line is written over.
func (v *view) totals() {
	took := time.Since(v.began)
	line := fmt.Sprintf(
		"%4ds  %d articles, %.1f/s: %d new, %d joined, %d unclustered, %d dead letters",
		int(took.Seconds()), v.records, float64(v.records)/took.Seconds(),
		v.founded, v.joined, v.bare, v.dead)
	if v.live {
		fmt.Fprint(v.errs, cli.ClearLine+cli.Fit(line, v.width-1))
		return
	}
	fmt.Fprintln(v.errs, line)
}

func (v *view) line(colour, head, rest string) {
	rest = printable.Text(rest)
	if v.live {
		rest = cli.Fit(rest, v.width-uniseg.StringWidth(head)-2)
	}
	if v.colour {
		head = colour + head + cli.Plain
	}
	if v.live {
		head = cli.ClearLine + head
	}
	fmt.Fprintln(v.out, head+" "+rest)
	if v.live {
		v.totals()
	}
}
