package audit

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/audit/replay"
	"github.com/clusterd/clusterd/internal/audit/spill"
	"github.com/clusterd/clusterd/internal/audit/topics"
	"github.com/clusterd/clusterd/internal/audit/wire"
	"github.com/clusterd/clusterd/internal/config"
)

// Of a transaction that was not over when the cut was made, some results may be below the ends of
// the topics and some not.
func TestHalfATransaction(t *testing.T) {
	t.Parallel()
	a := newAudit(config.Default(), Options{Show: 10})
	a.positions = 100
	a.cut = topics.Cut{
		Committed: map[int32]int64{0: 2},
		Input:     topics.Span{Topic: "articles"}, Clusters: topics.Span{Topic: "clusters"},
	}
	var err error
	if a.dir, err = spill.NewDir(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	defer a.dir.Close()
	a.expected, err = replay.NewOf(spelled{3}, a.config, a.dir, a.seed, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	hashes := [...]uint64{0, 0xff, 0xff00, 0, 0xff0000, 0, 0, 0xff000000}
	for _, position := range []int64{0, 1, 2, 4, 7} {
		row := replay.ResultRow{Size: 1}
		row.Article.Source = wire.Address{Offset: position}
		row.Article.Cluster, row.Article.Fingerprint.Hash = row.Article.Source, hashes[position]
		if err := a.addAt(position, row, ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.replayAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"I4 articles/0/0: a record in clusters; found none",
		"I4 articles/0/1: a record in clusters; found none",
	}
	if got := violations(a.report); !slices.Equal(got, want) {
		t.Errorf("found %q, want only what the clusters topic must have by now: %q", got, want)
	}
	if n := a.report.Counts; n.Later != 2 || n.Clusters != 3 {
		t.Errorf("counts %+v, want 3 clusters and 2 results that are left to the next audit", n)
	}
}

// An article of which nothing says when it was published has the stream time.
func TestStreamTime(t *testing.T) {
	t.Parallel()
	for _, right := range []bool{true, false} {
		s := newStage(t, nil)
		items := slices.Clone(story)
		items[10].kind = "undated"
		in := s.article(items[10], 10)
		addresses := s.input(items[:10])
		in.Timestamp = time.UnixMilli(-1)
		if err := s.client.ProduceSync(t.Context(), in.Record).FirstErr(); err != nil {
			t.Fatal(err)
		}
		s.inputs[wire.AddressOf(in.Record)] = in
		items[10].minute = 9 // the stream time
		if !right {
			items[10].minute = 8
		}
		s.cluster(items[:11], append(addresses, wire.AddressOf(in.Record)))
		s.write()
		var want []string
		if !right {
			want = []string{"input article-clusters/0/7"}
		}
		if found := s.audit(Options{}); !slices.Equal(firsts(found), want) {
			t.Errorf("found:\n%s\nwant %q", strings.Join(violations(found), "\n"), want)
		}
	}
}
