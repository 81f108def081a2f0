package article_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/golden"
)

func joined() article.Result {
	published := time.Date(2024, 5, 1, 4, 0, 0, 125e6, time.UTC)
	founder := article.Address{Topic: "articles", Partition: 0, Offset: 7}.String()
	return article.Result{
		ArticleID: "a<1>&\u2028", ClusterID: &founder, Status: article.Joined, Distance: new(3.0),
		Size:           2,
		Representative: &article.Representative{ID: "a0", Title: `标题 <b>"one"</b> & 😀`},
		Fingerprint:    new(article.Fingerprint(0x00ab_cdef_0123_4567)),
		PublishedAt:    &published, Source: here(), Pipeline: "simhash64/sdbm/log/1",
	}
}

func founded() article.Cluster {
	return article.Cluster{
		ClusterID: "articles/0/7", Seq: 18446744073709551615, Fingerprint: 1, Size: 2,
		FirstSeen:      time.Date(2024, 5, 1, 4, 0, 0, 0, time.UTC),
		LastSeen:       time.Date(2024, 5, 1, 4, 0, 0, 125e6, time.UTC),
		Representative: article.Representative{ID: "a0", Title: "标题 <b> & 😀"},
		Pipeline:       "simhash64/sdbm/log/1",
	}
}

func TestResultJSON(t *testing.T) {
	golden.Check(t, "testdata/result_joined.json", append(joined().JSON(), '\n'))
	r := joined()
	r.Status, r.Distance, r.Size, r.PublishedAt = article.New, new(0.0), 1, nil
	golden.Check(t, "testdata/result_new.json", append(r.JSON(), '\n'))
	r = article.Result{
		ArticleID: "a2", Status: article.Unclustered, Source: here(),
		Pipeline: "simhash64/sdbm/log/1",
	}
	golden.Check(t, "testdata/result_unclustered.json", append(r.JSON(), '\n'))
}

func TestClusterJSON(t *testing.T) {
	golden.Check(t, "testdata/cluster.json", append(founded().JSON(), '\n'))
}

func TestParseResult(t *testing.T) {
	for _, want := range []article.Result{
		joined(),
		{ArticleID: "a2", Status: article.Unclustered, Source: here()},
	} {
		got, err := article.ParseResult(want.JSON())
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v\nwant %+v", got, err, want)
		}
	}
	for _, bad := range []string{
		``, `x`, `[]`, `{"size":"2"}`, `{"fingerprint":"abc"}`,
		`{"fingerprint":"zzzzzzzzzzzzzzzz"}`,
	} {
		if _, err := article.ParseResult([]byte(bad)); err == nil ||
			!strings.HasPrefix(err.Error(), "not a result: ") {
			t.Errorf("%s: error = %v", bad, err)
		}
	}
}

func TestParseCluster(t *testing.T) {
	want := founded()
	got, err := article.ParseCluster(want.JSON())
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	for _, bad := range []string{
		``, `x`, `null`, `{}`, `{"cluster_id":"x"}`,
		`{"cluster_id":"a/0/1","seq":-1}`, `{"cluster_id":"a/0/1","fingerprint":1}`,
	} {
		if _, err := article.ParseCluster([]byte(bad)); err == nil ||
			!strings.HasPrefix(err.Error(), "not a cluster: ") {
			t.Errorf("%s: error = %v", bad, err)
		}
	}
}

// Whatever an article holds, its result and its cluster are one line of JSON and come back as
// they were.
func TestEncodingRoundTrips(t *testing.T) {
	check.OneGoroutine(t)
	random := rand.New(rand.NewPCG(1, 1))
	alphabet := []rune("ab中文 \n\r\t\"\\<>&\x00\u2028\u2029\uFFFD😀é/")
	text := func(n int) string {
		s := make([]rune, random.IntN(n))
		for i := range s {
			s[i] = alphabet[random.IntN(len(alphabet))]
		}
		return string(s)
	}
	for range 500 {
		at := time.UnixMilli(random.Int64N(253402300799999)).UTC()
		id := article.Address{Topic: "t", Partition: random.IntN(1 << 30), Offset: random.Int64()}
		rep := article.NewRepresentative(article.Article{ID: text(40), Title: text(700)})
		fingerprint := article.Fingerprint(random.Uint64())
		r := article.Result{
			ArticleID: text(40), ClusterID: new(id.String()), Status: article.New,
			Distance: new(float64(random.IntN(65)) / 64), Size: random.Int(),
			Representative: &rep, Fingerprint: &fingerprint, PublishedAt: &at, Source: id,
			Pipeline: text(20),
		}
		line := r.JSON()
		if bytes.ContainsAny(line, "\n\r") || !json.Valid(line) {
			t.Fatalf("not one line of JSON: %q", line)
		}
		if got, err := article.ParseResult(line); err != nil || !reflect.DeepEqual(got, r) {
			t.Fatalf("got %+v, %v\nwant %+v", got, err, r)
		}
		c := article.Cluster{
			ClusterID: id.String(), Seq: random.Uint64(), Fingerprint: fingerprint, Size: random.Int(),
			FirstSeen: at, LastSeen: at,
			Sketch: []byte("\x00" + text(9)), Representative: rep, Pipeline: text(20),
		}
		line = c.JSON()
		if bytes.ContainsAny(line, "\n\r") {
			t.Fatalf("not one line: %q", line)
		}
		if got, err := article.ParseCluster(line); err != nil || !reflect.DeepEqual(got, c) {
			t.Fatalf("got %+v, %v\nwant %+v", got, err, c)
		}
	}
}

func TestFingerprintText(t *testing.T) {
	for f, want := range map[article.Fingerprint]string{
		0: "0000000000000000", 255: "00000000000000ff",
		1<<64 - 1: "ffffffffffffffff",
	} {
		text, err := f.MarshalText()
		if err != nil || string(text) != want {
			t.Errorf("%d is written %s, %v; want %s", uint64(f), text, err, want)
		}
		var back article.Fingerprint
		if err := back.UnmarshalText(text); err != nil || back != f {
			t.Errorf("%s is read %d, %v; want %d", text, back, err, f)
		}
	}
	for _, bad := range []string{
		"", "ff", "+00000000000000f", "0x000000000000ff", "00000000000000000",
		"g000000000000000", "0_00000000000000",
	} {
		f := article.Fingerprint(9)
		if err := f.UnmarshalText([]byte(bad)); err == nil ||
			!strings.Contains(err.Error(), "want 16 hexadecimal digits") {
			t.Errorf("%q: error = %v", bad, err)
		} else if f != 9 {
			t.Errorf("%q changed the fingerprint beside an error", bad)
		}
	}
}

func TestNewRepresentative(t *testing.T) {
	for name, title := range map[string]string{
		"empty": "", "short": "标题", "at the limit": strings.Repeat("a", article.MaxTitleBytes),
		"one over":                strings.Repeat("a", article.MaxTitleBytes+1),
		"two bytes a rune":        strings.Repeat("é", 400),
		"three bytes a rune":      strings.Repeat("文", 400),
		"four bytes a rune":       "a" + strings.Repeat("😀", 400),
		"a rune across the limit": strings.Repeat("a", article.MaxTitleBytes-1) + "文章",
	} {
		got := article.NewRepresentative(article.Article{ID: "id", Title: title, Content: "c"})
		if got.ID != "id" {
			t.Errorf("%s: id = %q", name, got.ID)
		}
		if len(title) <= article.MaxTitleBytes {
			if got.Title != title {
				t.Errorf("%s: title = %q, want it whole", name, got.Title)
			}
			continue
		}
		kept, marked := strings.CutSuffix(got.Title, "…")
		if !marked || !strings.HasPrefix(title, kept) || !utf8.ValidString(kept) {
			t.Errorf("%s: title = %q, want a beginning of whole runes and an ellipsis", name, got.Title)
		}
		if len(kept) > article.MaxTitleBytes || len(kept) <= article.MaxTitleBytes-utf8.UTFMax {
			t.Errorf("%s: %d bytes are kept, want as many runes as fit in %d", name, len(kept),
				article.MaxTitleBytes)
		}
	}
}

// A representative outlives the record of which it was decoded.
func TestNewRepresentativeKeepsNothingOfTheRecord(t *testing.T) {
	value := []byte(`{"id":"a0","title":"标题"}`)
	a, err := jsonDecoder(defaultFields(), maxBytes, "auto").Decode(nil, value, here())
	if err != nil {
		t.Fatal(err)
	}
	got := article.NewRepresentative(a)
	clear(value)
	if want := (article.Representative{ID: "a0", Title: "标题"}); got != want {
		t.Errorf("after the record was overwritten: %q, want %q", got, want)
	}
}

func TestAddress(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		want := article.Address{Topic: "t._-9", Partition: int(random.Int32()), Offset: random.Int64()}
		if got, err := article.ParseAddress(want.String()); err != nil || got != want {
			t.Fatalf("ParseAddress(%q) = %+v, %v; want %+v", want, got, err, want)
		}
	}
	for bad, want := range map[string]string{
		"": "want topic/partition/offset", "t": "want topic/partition/offset",
		"t/0": "want topic/partition/offset", "t/0/1/2": "want topic/partition/offset",
		"/0/1": "want topic/partition/offset", "t/x/1": "partition:", "t//1": "partition:",
		"t/-1/1": "partition:", "t/+1/1": "partition:",
		"t/2147483648/1": "partition:", "t/0/": "offset:", "t/0/-1": "offset:", "t/0/1.5": "offset:",
		"t/0/9223372036854775808": "offset:", "t/0/1 ": "offset:",
	} {
		if got, err := article.ParseAddress(bad); err == nil || !strings.Contains(err.Error(), want) ||
			got != (article.Address{}) {
			t.Errorf("ParseAddress(%q) = %+v, %v; want an error with %q", bad, got, err, want)
		}
	}
}

// A result on its caller's stack stays there, with all that it points to.
func TestAppendJSONDoesNotAllocate(t *testing.T) {
	buf := make([]byte, 0, 1024)
	published := time.Date(2024, 5, 1, 4, 0, 0, 125e6, time.UTC)
	if n := testing.AllocsPerRun(10, func() {
		clusterID, distance, fingerprint, at := "articles/0/7", 3.0, article.Fingerprint(7), published
		representative := article.Representative{ID: "a0", Title: "标题 \"one\"\n"}
		r := article.Result{
			ArticleID: "a1", ClusterID: &clusterID, Status: article.Joined, Distance: &distance, Size: 2,
			Representative: &representative, Fingerprint: &fingerprint, PublishedAt: &at, Source: here(),
			Pipeline: "p", Publisher: "x", Copied: `{"a":1}`,
			Signals: &article.Signals{Publishers: article.NewPublishers(99), FirstSeen: at, LastSeen: at},
		}
		c := article.Cluster{
			ClusterID: clusterID, Fingerprint: fingerprint, FirstSeen: at, LastSeen: at,
			Representative: representative, Signals: &article.ClusterSignals{State: []byte("x")},
		}
		buf = here().AppendTo(c.AppendJSON(r.AppendJSON(buf[:0], article.AllParts)))
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// benchmarkResult is one as they usually are, of some 350 bytes.
func benchmarkResult() article.Result {
	r := joined()
	r.ArticleID, r.Representative.ID, r.Representative.Title = "20240501-000124", "20240501-000123",
		"本市今日举行活动，1200多名代表参加"
	return r
}

func BenchmarkResultJSON(b *testing.B) {
	r, buf := benchmarkResult(), []byte(nil)
	for way, encode := range map[string]func(){
		"plain":  func() { buf = plainJSON(r) },
		"new":    func() { buf = r.JSON() },
		"append": func() { buf = r.AppendJSON(buf[:0], article.AllParts) },
	} {
		b.Run(way, func(b *testing.B) {
			b.SetBytes(int64(len(r.JSON())))
			b.ReportAllocs()
			for b.Loop() {
				encode()
			}
		})
	}
}

func TestForeignHeader(t *testing.T) {
	for name, want := range map[string]string{
		"trace": "trace", "": "", "clusterd": "clusterd", "clusterdx.error": "clusterdx.error",
		"Clusterd.error": "Clusterd.error", "input.trace": "input.trace",
		"x.clusterd.error": "x.clusterd.error", "input.": "input.", "input.input.x": "input.input.x",
		"clusterd.error": "input.clusterd.error", "clusterd.": "input.clusterd.",
		"clusterd.of tomorrow":       "input.clusterd.of tomorrow",
		"input.clusterd.error":       "input.input.clusterd.error",
		"input.input.clusterd.error": "input.input.input.clusterd.error",
	} {
		if got := article.ForeignHeader(name); got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
}
