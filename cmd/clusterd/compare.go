package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/charset"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/document"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/printable"
	"github.com/clusterd/clusterd/internal/quality/diff"
)

func newCompare() *cobra.Command {
	var file, format string
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "Compare two articles: what each method makes of them, and where they differ",
		Long: "Reads two files, of which - is standard input and a name that ends in .gz is unpacked. A file that is a JSON object\n" +
			"is an article by input.fields; documents, such as .html and .docx, are read as 'clusterd cluster' does; any other file\n" +
			"is the content of an article, plain or HTML. Says by each method how far they are apart and whether that makes them\n" +
			"the same; then which passages they share (two spaces) and which only A (-) or only B (+) has. Whether the two are the\n" +
			"same or not, it exits with 0.",
		Example: "  clusterd compare a.txt b.html\n  clusterd compare --format json article.json -",
		RunE: func(cmd *cobra.Command, files []string) error {
			switch {
			case len(files) != 2:
				return usageError{errors.New("compare: name two files")}
			case files[0] == "-" && files[1] == "-":
				return usageError{errors.New("compare: only one of the two can be standard input")}
			case format != "text" && format != "json":
				return usageError{fmt.Errorf("--format: %q is neither text nor json", format)}
			}
			c, err := config.Load(file)
			if err != nil {
				return err
			}
			result, err := compareFiles(cmd.InOrStdin(), c, files)
			if err != nil {
				return err
			}
			if format == "json" {
				return result.writeJSON(jsonOut(cmd))
			}
			return result.writeText(cmd.OutOrStdout())
		},
	}
	configFlag(cmd, &file)
	cmd.Flags().StringVar(&format, "format", "text", "`FORM` of what is written to standard output: text or json")
	return cmd
}

// comparison is what compare writes.
type comparison struct {
	A        compared       `json:"a"`
	B        compared       `json:"b"`
	Methods  []verdict      `json:"methods"`
	Passages []diff.Passage `json:"passages"`
}

type compared struct {
	File       string `json:"file"`
	Characters int    `json:"characters"` // of title and content, as they came
}

// verdict is what a method says.
type verdict struct {
	Method   string   `json:"method"`
	Distance *float64 `json:"distance"` // nil where there is none
	Bound    float64  `json:"bound"`
	Same     bool     `json:"same"`
	Why      string   `json:"why,omitempty"` // there is no distance
}

func compareFiles(stdin io.Reader, c config.Config, files []string) (comparison, error) {
	var articles [2]article.Article
	var r comparison
	for i, about := range []*compared{&r.A, &r.B} {
		a, err := readArticle(stdin, c.Input, files[i])
		if err != nil {
			return comparison{}, fmt.Errorf("%s: %w", files[i], err)
		}
		articles[i] = a
		*about = compared{files[i], utf8.RuneCountInString(a.Title) + utf8.RuneCountInString(a.Content)}
	}
	for _, name := range method.Names() {
		c.Fingerprint.Method = name
		m, err := method.New(c)
		if err != nil {
			return comparison{}, err
		}
		r.Methods = append(r.Methods, judge(name, m, articles[0], articles[1]))
	}
	comparer, err := diff.New(c.Text.HTML, c.Text.Extract)
	if err != nil {
		return comparison{}, err
	}
	r.Passages, err = comparer.Passages(articles[0].Title, articles[0].Content, articles[1].Title, articles[1].Content)
	return r, err
}

// readArticle reads a file that is one article, of at most input.max_bytes.
func readArticle(stdin io.Reader, c config.Input, name string) (article.Article, error) {
	opened, closeFile, err := openArticles(stdin, []string{name}, io.Discard)
	if err != nil {
		return article.Article{}, err
	}
	defer closeFile()
	encoding, err := charset.Get(c.Encoding)
	if err != nil {
		return article.Article{}, err
	}
	if file := opened[0].Document; file != nil {
		d, err := document.Read(name, file, file.Size(), c.MaxBytes, encoding)
		return article.Article{Title: d.Title, Content: d.Content}, err
	}
	value, err := io.ReadAll(io.LimitReader(opened[0].Lines, int64(c.MaxBytes)+1))
	if err != nil {
		return article.Article{}, err
	}
	if len(value) <= c.MaxBytes {
		value = encoding.Text(value).UTF8
	}
	format := article.Text
	if trimmed := bytes.TrimSpace(value); bytes.HasPrefix(trimmed, []byte("{")) && json.Valid(trimmed) {
		format = article.JSON
	}
	decoder, err := article.NewDecoder(format, article.Fields(c.Fields), c.MaxBytes, charset.Auto)
	if err != nil {
		return article.Article{}, err
	}
	a, rejection := decoder.Decode(nil, value, article.Address{Topic: filepath.Base(name)})
	if rejection != nil {
		return article.Article{}, rejection
	}
	return a, nil
}

func judge(name string, m method.Method, a, b article.Article) verdict {
	v, printer := verdict{Method: name, Bound: m.Bound()}, m.NewPrinter()
	x, ok := printer(a.Title, a.Content)
	y, alsoOK := printer(b.Title, b.Content)
	if !ok || !alsoOK {
		v.Why = "nothing to compare"
		return v
	}
	distance := m.Distance(x, y)
	if v.Same = distance <= v.Bound; math.IsInf(distance, 1) {
		v.Why = "ruled out"
	} else {
		v.Distance = &distance
	}
	return v
}

func (r comparison) writeJSON(out io.Writer) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

func (r comparison) writeText(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "method\tdistance\tat most\tsame")
	for _, v := range r.Methods {
		distance, same := v.Why, "no"
		if v.Distance != nil {
			distance = fmt.Sprintf("%.4g", *v.Distance)
		}
		if v.Same {
			same = "yes"
		}
		fmt.Fprintf(table, "%s\t%s\t%.4g\t%s\n", v.Method, distance, v.Bound, same)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	var shared, onlyA, onlyB int
	for _, p := range r.Passages {
		n := utf8.RuneCountInString(p.Text)
		switch p.Kind {
		case diff.Same:
			shared += n
		case diff.OnlyA:
			onlyA += n
		case diff.OnlyB:
			onlyB += n
		}
	}
	fmt.Fprintf(out, "\nThe distance of simhash is in bits, of the others it is 1 less the similarity.\n\n- %s: %d characters alone\n+ %s: %d alone\n  both: %d\n\n",
		printable.Text(r.A.File), onlyA, printable.Text(r.B.File), onlyB, shared)
	return r.writePassages(out, isTerminal(out) && os.Getenv("NO_COLOR") == "")
}

// writePassages writes a passage a line or, where it has line breaks, more. White space is not shown.
func (r comparison) writePassages(out io.Writer, colour bool) error {
	var b strings.Builder
	for _, p := range r.Passages {
		mark, on := "  ", ""
		text := p.Text
		switch p.Kind {
		case diff.Same:
			text = abbreviated(text)
		case diff.OnlyA:
			mark, on = "- ", colourDead
		case diff.OnlyB:
			mark, on = "+ ", colourNew
		}
		for line := range strings.SplitSeq(text, "\n") {
			if strings.TrimSpace(line) == "" {
				continue
			}
			if line = strings.TrimRight(mark+printable.Text(line), " "); colour && on != "" {
				line = on + line + colourOff
			}
			b.WriteString(line + "\n")
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// shownAtEachEnd is how many characters of a long shared passage are shown where it begins and where it ends.
const shownAtEachEnd = 60

// abbreviated leaves the middle out of a long passage.
func abbreviated(text string) string {
	runes := []rune(text)
	left := len(runes) - 2*shownAtEachEnd
	if left < shownAtEachEnd {
		return text
	}
	return fmt.Sprintf("%s … (%d characters) … %s", string(runes[:shownAtEachEnd]), left, string(runes[len(runes)-shownAtEachEnd:]))
}
