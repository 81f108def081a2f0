package offline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/cli/demo/sample"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/files"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/space"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/texts"
)

// clusterText clusters files of these contents, named f0, f1, ….
func clusterText(
	t testing.TB, c config.Config, contents ...string,
) (results []article.Result, rejections []string, totals Totals) {
	t.Helper()
	var inputs []files.File
	for i, content := range contents {
		inputs = append(inputs, files.File{
			Name: fmt.Sprintf("f%d", i), Lines: iotest.HalfReader(strings.NewReader(content)),
		})
	}
	var out bytes.Buffer
	totals, err := run(t.Context(), c, testFingerprinter(t, c), inputs, &out, func(r Rejected) error {
		rejections = append(rejections, fmt.Sprintf("%s:%d: %s (%d bytes)", r.File, r.Line, r.Class,
			len(r.Value)))
		return nil
	}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		r, err := article.ParseResult([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
	}
	return results, rejections, totals
}

// Which index finds the nearest centre makes no difference to the results.
func TestResultsDoNotDependOnTheIndex(t *testing.T) {
	var content strings.Builder
	articles := sample.New(3, time.Date(2026, 4, 30, 12, 0, 0, 0, time.UTC))
	n := 3000
	if check.Race {
		n = 600
	}
	for range n {
		fmt.Fprintf(&content, "%s\n", articles.Next().JSON())
	}
	c := config.Default()
	c.Cluster.Distance = 6                                 // with ties
	c.Cluster.Window = time.Duration(n) * time.Hour / 3000 // and with centres that go
	var want []article.Result
	for _, index := range []string{"btree", "mih"} {
		c.Cluster.Index = index
		got, _, totals := clusterText(t, c, content.String())
		if totals.Joined == 0 || totals.New <= totals.Clusters {
			t.Fatalf("%s: %+v: nothing joined, or nothing expired", index, totals)
		}
		if want == nil {
			want = got
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-first +this):\n%s", index, diff)
		}
	}
}

func line(story uint64, id string) string {
	return string(texts.ArticleJSON(id, "t", texts.Sentence(story, 60))) + "\n"
}

func TestCluster(t *testing.T) {
	results, rejections, totals := clusterText(
		t, config.Default(),
		line(1, "a")+line(2, "b")+"\n"+line(1, "c"),
		"",
		strings.ReplaceAll(line(2, "d")+`{"id":"e","title":"!!!"}`+"\n"+"{\n"+"\n", "\n", "\r\n"),
		strings.TrimSuffix(line(1, "f"), "\n"),
	)
	var got []string
	for _, r := range results {
		id := "-"
		if r.ClusterID != nil {
			id = *r.ClusterID
		}
		got = append(got, fmt.Sprintf("%s %s %s %s %d", r.ArticleID, r.Source, r.Status, id, r.Size))
	}
	want := []string{
		"a articles/0/0 new articles/0/0 1",
		"b articles/0/1 new articles/0/1 1",
		"c articles/0/3 joined articles/0/0 2",
		"d articles/0/4 joined articles/0/1 2",
		"e articles/0/5 unclustered - 0",
		"f articles/0/8 joined articles/0/0 3",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{
		"f0:3: empty (0 bytes)", "f2:3: bad_json (1 bytes)",
		"f2:4: empty (0 bytes)",
	}, rejections); diff != "" {
		t.Errorf("rejections (-want +got):\n%s", diff)
	}
	if want := (Totals{
		Counts: space.Counts{New: 2, Joined: 3, Unclustered: 1}, Lines: 9, Rejected: 3,
		Clusters: 2,
	}); totals != want {
		t.Errorf("totals = %+v, want %+v", totals, want)
	}
}

func TestClusterOfNothing(t *testing.T) {
	results, rejections, totals := clusterText(t, config.Default(), "", "")
	if results != nil || rejections != nil || totals != (Totals{}) {
		t.Errorf("results %v, rejections %v, totals %+v; want none", results, rejections, totals)
	}
}

func TestClusterOfText(t *testing.T) {
	c := config.Default()
	c.Input.Format = "text"
	results, rejections, _ := clusterText(t, c, texts.Sentence(1, 60)+"\n"+`{"id":"x"}`+"\n\n"+
		texts.Sentence(1, 60))
	if len(results) != 3 || results[0].ArticleID != "articles/0/0" ||
		results[2].ArticleID != "articles/0/3" || *results[2].ClusterID != "articles/0/0" {
		t.Errorf("results = %+v", results)
	}
	if diff := cmp.Diff([]string{"f0:3: empty (0 bytes)"}, rejections); diff != "" {
		t.Errorf("rejections (-want +got):\n%s", diff)
	}
}

// More lines than are fingerprinted at a time keep their order.
func TestClusterOfManyChunks(t *testing.T) {
	c := config.Default()
	c.Input.Format = "text"
	const n = 2*chunkEntries + 10
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "词%d\n", i)
	}
	results, _, totals := clusterText(t, c, b.String())
	if totals.Lines != n || len(results) != n {
		t.Fatalf("%d lines and %d results, want %d", totals.Lines, len(results), n)
	}
	for i, r := range results {
		if r.Source.Offset != int64(i) {
			t.Fatalf("result %d is of offset %d", i, r.Source.Offset)
		}
	}
}

// spaces is an endless line.
type spaces struct{ left int }

func (s *spaces) Read(p []byte) (int, error) {
	if s.left <= 0 {
		return 0, io.EOF
	}
	n := min(len(p), s.left)
	for i := range p[:n] {
		p[i] = ' '
	}
	s.left -= n
	return n, nil
}

func TestClusterHoldsNoLineOverTheLimit(t *testing.T) {
	c := config.Default()
	c.Input.MaxBytes = 2000
	f := testFingerprinter(t, c)
	fits := `{"id":"fits","title":"` + strings.Repeat("港口大桥 ", 100) + `"}`
	fits += strings.Repeat(" ", c.Input.MaxBytes-len(fits))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const huge = 64 << 20
	lines := io.MultiReader(strings.NewReader(fits+"\r\n"+fits+" \n"), &spaces{huge},
		strings.NewReader("\n"+fits))
	var out bytes.Buffer
	var rejections []Rejected
	totals, err := run(t.Context(), c, f, []files.File{{Name: "big", Lines: lines}}, &out,
		func(r Rejected) error {
			rejections = append(rejections, r)
			return nil
		}, nil, nil)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if want := (Totals{
		Counts: space.Counts{New: 1, Joined: 1}, Lines: 4, Rejected: 2,
		Clusters: 1,
	}); totals != want {
		t.Errorf("totals = %+v, want %+v", totals, want)
	}
	for i, r := range rejections {
		if r.Class != article.TooLarge || r.Line != i+2 || len(r.Value) != c.Input.MaxBytes+1 {
			t.Errorf("rejection %d: line %d, %s with %d bytes of it; want the first %d", i, r.Line, r.Class,
				len(r.Value), c.Input.MaxBytes+1)
		}
	}
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > huge/8 {
		t.Errorf("%d bytes were allocated for a line of %d", allocated, huge)
	}
}

func TestClusterErrors(t *testing.T) {
	c := config.Default()
	f := testFingerprinter(t, c)
	good, keep := strings.Repeat(line(1, "a"), 10), func(Rejected) error { return nil }
	broken, full := errors.New("broken disk"), errors.New("dead letters are full")
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tt := range map[string]struct {
		ctx      context.Context
		in       io.Reader
		out      io.Writer
		rejected func(Rejected) error
		want     error
		text     string
	}{
		"reader": {
			t.Context(), io.MultiReader(strings.NewReader(good), iotest.ErrReader(broken)), io.Discard, keep,
			broken, "reading news.jsonl: line 1: broken disk",
		},
		"writer": {
			t.Context(), strings.NewReader(good),
			failingWriter{},
			keep, errDiskFull,
			"writing results: disk full",
		},
		"writer, early": {
			t.Context(), strings.NewReader(strings.Repeat(good, 1000)),
			failingWriter{},
			keep, errDiskFull,
			"writing results: disk full",
		},
		"rejected": {
			t.Context(), strings.NewReader("{\n"), io.Discard, func(Rejected) error { return full }, full,
			full.Error(),
		},
		"context": {
			canceled, strings.NewReader(good), io.Discard, keep, context.Canceled, "context canceled",
		},
		"endless, early": {
			t.Context(), io.MultiReader(strings.NewReader("{\n"), newEndless()), io.Discard,
			func(Rejected) error { return full }, full, full.Error(),
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := run(tt.ctx, c, f, []files.File{{Name: "news.jsonl", Lines: tt.in}}, tt.out,
				tt.rejected, nil, nil)
			if !errors.Is(err, tt.want) || err.Error() != tt.text {
				t.Errorf("error = %v, want %s", err, tt.text)
			}
		})
	}
}

// endless repeats bad lines.
type endless struct{}

func newEndless() io.Reader { return endless{} }

func (endless) Read(p []byte) (int, error) { return copy(p, "{\n"), nil }

func TestClusterIsCanceledWhileItReads(t *testing.T) {
	c := config.Default()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := run(ctx, c, testFingerprinter(t, c),
		[]files.File{{Name: "endless", Lines: newEndless()}}, io.Discard, func(Rejected) error {
			cancel()
			return nil
		}, nil, nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want that of the context", err)
	}
}

func BenchmarkCluster(b *testing.B) {
	c := config.Default()
	f := testFingerprinter(b, c)
	var content strings.Builder
	for _, v := range texts.Feed(1, 2000) {
		fmt.Fprintf(&content, "%s\n", v)
	}
	b.SetBytes(int64(content.Len()))
	for b.Loop() {
		file := files.File{Name: "feed", Lines: strings.NewReader(content.String())}
		if _, err := run(b.Context(), c, f, []files.File{file}, io.Discard,
			func(r Rejected) error { return r.Rejection }, nil, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// loadFingerprinter loads the dictionary once for all tests that have the default cluster settings.
var loadFingerprinter = sync.OnceValues(func() (*fingerprint.Fingerprinter,
	error,
) {
	return fingerprint.New(config.Default())
})

func testFingerprinter(t testing.TB, c config.Config) *fingerprint.Fingerprinter {
	t.Helper()
	f, err := loadFingerprinter()
	if err == nil && c.Cluster != config.Default().Cluster {
		f, err = fingerprint.New(c)
	} else if err == nil {
		f, err = fingerprint.With(f.Method, c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// failingWriter refuses everything.
type failingWriter struct{}

var errDiskFull = errors.New("disk full")

func (failingWriter) Write([]byte) (int, error) { return 0, errDiskFull }
