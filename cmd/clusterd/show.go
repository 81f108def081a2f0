package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/rivo/uniseg"
	"golang.org/x/term"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/printable"
	"github.com/clusterd/clusterd/internal/sample"
)

// show is what the demo shows: a line an article on out, a line of totals a second on errs. On a
// terminal the totals stay at the bottom and words have colours; elsewhere it is all plain lines.
type show struct {
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
}

// remembered is how many of the articles that were sent are kept until their results come.
const remembered = 10_000

func newShow(out, errs io.Writer, c config.Config, address string) *show {
	s := &show{out: out, errs: errs, config: c, address: address, began: time.Now(), width: 100, made: make(map[string]sample.Article)}
	if f, ok := out.(*os.File); ok && isTerminal(out) && isTerminal(errs) {
		s.live, s.colour = true, os.Getenv("NO_COLOR") == ""
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			s.width = w
		}
	}
	return s
}

func (s *show) begin() {
	fmt.Fprintf(s.errs, `clusterd demo: an embedded broker on %[1]s, articles in topic %[2]s, clusters as they form.

  From another terminal, send an article of your own, then the same with a word changed:
    echo '{"title":"Harbour bridge opens","content":"..."}' | kcat -b %[1]s -P -t %[2]s
  Read the results as any program would:
    kcat -b %[1]s -C -t %[3]s -X isolation.level=read_committed

`, s.address, s.config.Input.Topic, s.config.Output.Topic)
}

func (s *show) end() {
	s.totals()
	if s.live {
		fmt.Fprintln(s.errs)
	}
	fmt.Fprint(s.errs, `
What next:
  clusterd cluster FILE.jsonl           cluster a file of your own articles
  clusterd run --embedded ./trial       a broker and the daemon that keep what they learn
  clusterd run -c configs/news.yaml     the daemon on your Kafka
`)
}

// sent remembers an article that is about to be sent.
func (s *show) sent(a sample.Article) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if len(s.order) >= remembered {
		delete(s.made, s.order[0])
		s.order = s.order[1:]
	}
	s.made[a.ID] = a
	s.order = append(s.order, a.ID)
}

// result shows a result: the article, how it was made, where it went, and what it says.
func (s *show) result(r kafka.Record) error {
	result, err := article.ParseResult(r.Value)
	if err != nil {
		return fmt.Errorf("%s/%d/%d: %w", r.Topic, r.Partition, r.Offset, err)
	}
	s.records++
	id, how, says := s.about(result)
	head, colour, where := string(result.Status), colourNew, ""
	switch result.Status {
	case article.New:
		s.founded++
		where = "founds " + *result.ClusterID
	case article.Joined:
		s.joined++
		colour = colourJoined
		where = fmt.Sprintf("joins  %s at distance %v, now %d", *result.ClusterID, *result.Distance, result.Size)
	default:
		s.bare++
		colour = colourQuiet
		where = "has no word to compare"
	}
	s.line(colour, fmt.Sprintf("%-11s", head), fmt.Sprintf("%-6s %-16s %-42s %s", id, how, where, says))
	return nil
}

// about says of a result's article what it is called, how it was made and how it begins.
func (s *show) about(r article.Result) (id, how, says string) {
	s.mutex.Lock()
	made, known := s.made[r.ArticleID]
	s.mutex.Unlock()
	if !known {
		if r.Representative != nil {
			says = r.Representative.Title
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

// short is the number in the id of a made-up article.
func short(id string) string {
	return "#" + strings.TrimLeft(id[strings.LastIndex(id, "-")+1:], "0")
}

func (s *show) deadLetter(r kafka.Record) {
	s.records++
	s.dead++
	headers := make(map[string]string)
	for _, h := range r.Headers {
		headers[h.Key] = string(h.Value)
	}
	s.line(colourDead, fmt.Sprintf("%-11s", "dead letter"), fmt.Sprintf("%s %s: %s",
		headers[article.HeaderSource], headers[article.HeaderError], headers[article.HeaderReason]))
}

// totals shows the sums. On a terminal the line is written over.
func (s *show) totals() {
	took := time.Since(s.began)
	line := fmt.Sprintf("%4ds  %d articles, %.1f/s: %d new, %d joined, %d unclustered, %d dead letters",
		int(took.Seconds()), s.records, float64(s.records)/took.Seconds(), s.founded, s.joined, s.bare, s.dead)
	if s.live {
		fmt.Fprint(s.errs, "\r\x1b[2K"+fit(line, s.width-1))
		return
	}
	fmt.Fprintln(s.errs, line)
}

// The colours of a line's first word, as terminals number them.
const (
	colourNew    = "\x1b[32m"
	colourJoined = "\x1b[36m"
	colourQuiet  = "\x1b[2m"
	colourDead   = "\x1b[31m"
	colourOff    = "\x1b[0m"
)

func (s *show) line(colour, head, rest string) {
	rest = printable.Text(rest)
	if s.live {
		rest = fit(rest, s.width-uniseg.StringWidth(head)-2)
	}
	if s.colour {
		head = colour + head + colourOff
	}
	if s.live {
		head = "\r\x1b[2K" + head
	}
	fmt.Fprintln(s.out, head+" "+rest)
	if s.live {
		s.totals()
	}
}

// fit cuts text to a width in terminal cells: a Chinese character takes two.
func fit(text string, width int) string {
	if uniseg.StringWidth(text) <= width {
		return text
	}
	var b strings.Builder
	used := 0
	for graphemes := uniseg.NewGraphemes(text); graphemes.Next(); {
		if used+graphemes.Width() > width-1 {
			break
		}
		used += graphemes.Width()
		b.WriteString(graphemes.Str())
	}
	return b.String() + "…"
}
