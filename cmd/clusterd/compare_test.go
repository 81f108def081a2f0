package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/testutil/golden"
)

const (
	noticeText = "港口大桥今天通车\n历时三年的港口大桥工程今天建成通车，居民沿着河岸庆祝，市长剪彩。\n" + noticeMiddle +
		"The city council will meet on Monday to discuss new bus lines."
	noticePage = "<html><body><h1>港口大橋今天通車</h1><p>本报讯：历时三年的港口大桥工程昨天建成通车，居民沿着河岸庆祝，市长剪彩。</p><p>" +
		noticeMiddle +
		"</p><p>The City Council met on Monday to discuss bus lines &amp; fares.</p></body></html>"
	noticeMiddle = "大桥全长三公里，设计时速八十公里，总投资二十亿元。专家表示，大桥将大大缩短两岸的通行时间，带动周边地区的发展。" +
		"工程技术人员先后解决了软土地基处理和大跨径钢箱梁吊装等难题，比计划提前两个月完工。沿线的三座新公园也同时开放。"
)

func TestCompare(t *testing.T) {
	othersGoroutines(t, "TestEval")
	t.Parallel()
	page := write(t, "page.html", []byte(noticePage))
	out, err := command(t, newCompare(), noticeText, "-", page)
	if err != nil {
		t.Fatal(err)
	}
	table, passages, _ := strings.Cut(out, "\n\n")
	lines := strings.Split(table, "\n")
	for i, name := range method.Names() {
		if row := strings.Fields(lines[i+1]); row[0] != name ||
			!strings.Contains("yes no", row[len(row)-1]) {
			t.Errorf("row %q, want one of %s", row, name)
		}
	}
	golden.Check(t, "testdata/compare.txt", []byte(strings.ReplaceAll(passages, page, "page.html")))
}

// A file is an article by input.fields where it is a JSON object, a document where its name says
// so, and else the content of an article.
func TestReadText(t *testing.T) {
	t.Parallel()
	c := config.Default().Input
	c.Fields.Title, c.Fields.Content = "headline", "body"
	var unpacked bytes.Buffer
	zip := gzip.NewWriter(&unpacked)
	fmt.Fprint(zip, `{"headline":"Bridge",`+"\n"+`"body":"It is open."}`)
	zip.Close()
	for name, tt := range map[string]struct{ file, title, content string }{
		"JSON":       {write(t, "a.json.gz", unpacked.Bytes()), "Bridge", "It is open."},
		"no JSON":    {write(t, "a.txt", []byte("{it} is open")), "", "{it} is open"},
		"a document": {write(t, "a.html", []byte("<p>It is open.</p>\n")), "", "<p>It is open.</p>"},
		"stdin":      {"-", "", "It is \uFFFD open."},
	} {
		a, _, err := readText(strings.NewReader("It is \xff open."), c, tt.file)
		if err != nil || a.Title != tt.title || a.Content != tt.content {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}

func TestCompareErrors(t *testing.T) {
	t.Parallel()
	good, small := write(t, "a.txt", []byte(noticeText)), write(t, "c.yaml",
		[]byte("input: {max_bytes: 1KiB}\n"))
	for name, tt := range map[string]struct {
		args  []string
		want  string
		usage bool
	}{
		"one file":    {[]string{good}, "compare: name two files", true},
		"three files": {[]string{good, good, good}, "compare: name two files", true},
		"twice -": {
			[]string{"-", "-"},
			"compare: only one of the two can be standard input",
			true,
		},
		"format": {
			[]string{"--format", "xml", good, good}, `--format: "xml" is neither text nor json`, true,
		},
		"missing": {
			[]string{good, "missing.txt"},
			"missing.txt: no such file or directory",
			false,
		},
		"empty": {[]string{good, write(t, "empty", nil)}, "empty: the value is empty", false},
		"too large": {
			[]string{
				"-c", small, good,
				write(t, "large", bytes.Repeat([]byte("a"), 1025)),
			},
			"too_large: the value is larger than input.max_bytes, 1024 bytes", false,
		},
		"no article": {
			[]string{good, write(t, "x.json", []byte(`{"name":"x"}`))},
			`empty: there is no field "title" and no field "content"`, false,
		},
		"no configuration": {[]string{"-c", "missing.yaml", good, good}, "missing.yaml", false},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := command(t, newCompare(), "", tt.args...)
			var usage usageError
			if err == nil || !strings.Contains(err.Error(), tt.want) || errors.As(err, &usage) != tt.usage ||
				out != "" {
				t.Errorf("error %v, output %q; want %s", err, out, tt.want)
			}
		})
	}
}
