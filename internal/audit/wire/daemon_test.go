package wire_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/docs/schemas"
	"github.com/clusterd/clusterd/internal/audit/wire"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
)

// What is stated here is what the daemon writes. The package itself takes nothing from article:
// else a name that changes there would change here, and readers would be the first to see it.

func TestNamesAreTheDaemons(t *testing.T) {
	for stated, written := range map[string]string{
		wire.HeaderSource:    article.HeaderSource,
		wire.HeaderPosition:  article.HeaderPosition,
		wire.HeaderEventTime: article.HeaderEventTime,
		wire.HeaderError:     article.HeaderError,
		wire.HeaderReason:    article.HeaderReason,
		wire.HeaderStage:     article.HeaderStage,
		wire.HeaderTruncated: article.HeaderTruncated,
		wire.HeaderOffsets:   article.HeaderOffsets,
		wire.HeaderOwn:       article.HeaderOwn,
		wire.OwnCheckpoint:   article.OwnCheckpoint,
		wire.OwnStory:        article.OwnStory,

		wire.StatusNew:         string(article.New),
		wire.StatusJoined:      string(article.Joined),
		wire.StatusUnclustered: string(article.Unclustered),

		wire.BadBatch: string(article.BadBatch),

		wire.BadFingerprint: string(article.BadFingerprint),
		wire.BadLabel:       string(article.BadLabel),
		wire.UnknownCluster: string(article.UnknownCluster),
		wire.TooManyLabels:  string(article.TooManyLabels),
	} {
		if stated != written {
			t.Errorf("%q is stated, the daemon writes %q", stated, written)
		}
	}
	var written []string
	for _, class := range article.Classes {
		written = append(written, string(class))
	}
	if stated := wire.Classes(); !slices.Equal(stated, written) {
		t.Errorf("classes %q are stated, the daemon has %q", stated, written)
	}
	for _, name := range []string{wire.HeaderSource, "clusterd.another"} {
		r := &kgo.Record{Headers: []kgo.RecordHeader{{Key: article.ForeignHeader(name)}, {Key: "from"}}}
		if foreign, own := wire.SplitHeaders(r); own != 1 || len(foreign) != 2 {
			t.Errorf("a foreign header %s counts as %d of clusterd's, %q", name, own, foreign)
		}
	}
}

func TestRepresentativeIsTheDaemons(t *testing.T) {
	for _, title := range []string{
		"", "标题",
		strings.Repeat("x", article.MaxTitleBytes), strings.Repeat("x", article.MaxTitleBytes+1),
		strings.Repeat("标", article.MaxTitleBytes), "x" + strings.Repeat("😀", article.MaxTitleBytes),
		strings.Repeat("\x80", article.MaxTitleBytes+1),
	} {
		stated := wire.NewRepresentative("id", title)
		written := article.NewRepresentative(article.Article{ID: "id", Title: title})
		if stated.ID != written.ID || stated.Title != written.Title {
			t.Errorf("of %q: %q is stated, the daemon writes %q", title, stated, written)
		}
	}
	if wire.MaxKeyBytes != article.MaxIDBytes {
		t.Errorf("keys of %d bytes are stated, the daemon has %d", wire.MaxKeyBytes, article.MaxIDBytes)
	}
}

var (
	published  = time.Date(2024, 5, 1, 8, 30, 0, 123456789, time.UTC)
	founder    = article.Address{Topic: "articles", Partition: 2, Offset: 7}
	member     = article.Address{Topic: "articles", Partition: 1, Offset: 1 << 40}
	written    = article.NewRepresentative(article.Article{ID: "a0", Title: `标题 <b>"one"</b> &`})
	represents = wire.NewRepresentative("a0", `标题 <b>"one"</b> &`)
)

func TestResultIsTheDaemons(t *testing.T) {
	id, distance, fingerprint := founder.String(), 0.25, article.Fingerprint(0xbeef)
	value := article.Result{
		ArticleID: "a1", ClusterID: &id, Status: article.Joined, Distance: &distance, Size: 3,
		Representative: &written, Fingerprint: &fingerprint, PublishedAt: &published,
		Source: member, Pipeline: "method=x",
	}.JSON()
	got, err := wire.ParseResult(value)
	if err != nil {
		t.Fatal(err)
	}
	hash := "000000000000beef"
	want := wire.Result{
		ArticleID: "a1", ClusterID: &id, Status: wire.StatusJoined, Distance: &distance, Size: 3,
		Representative: &represents, Fingerprint: &hash, PublishedAt: &published, Pipeline: "method=x",
	}
	want.Source.Topic, want.Source.Partition, want.Source.Offset = "articles", 1, 1<<40
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got.ID() != id || got.Key() != id || got.SourceID() != member.String() {
		t.Errorf("id %s, key %s, source %s", got.ID(), got.Key(), got.SourceID())
	}
	record := &kgo.Record{Headers: []kgo.RecordHeader{
		{Key: article.HeaderPosition, Value: []byte("12")},
		{Key: article.HeaderEventTime, Value: []byte("1700000000000")},
	}}
	assignment, err := got.Assignment(record, "articles")
	wantAssignment := wire.Assignment{
		Cluster: wire.Address{Partition: 2, Offset: 7}, Distance: 0.25,
		Fingerprint: 0xbeef, EventTime: 1_700_000_000_000, Position: 12,
	}
	if err != nil || assignment != wantAssignment {
		t.Errorf("%+v, %v; want %+v", assignment, err, wantAssignment)
	}

	value = article.Result{
		ArticleID: "a1", ClusterID: &id, Status: article.Joined, Matched: article.ByContact,
		Contact: "name:alexis17", Size: 3, Representative: &written, Fingerprint: &fingerprint,
		Source: member, Pipeline: "method=x",
	}.JSON()
	if got, err = wire.ParseResult(value); err != nil || got.Matched != wire.MatchedContact ||
		got.Contact != "name:alexis17" {
		t.Errorf("by a contact: %+v, %v", got, err)
	}
	wantAssignment.Distance = 0
	if assignment, err = got.Assignment(record, "articles"); err != nil ||
		assignment != wantAssignment {
		t.Errorf("by a contact: %+v, %v; want %+v", assignment, err, wantAssignment)
	}
	for m, stated := range map[article.Match]string{
		article.ByText: wire.MatchedText, article.Contained: wire.MatchedContained,
		article.ByContact: wire.MatchedContact,
	} {
		if string(m) != stated {
			t.Errorf("%q is stated, the daemon writes %q", stated, m)
		}
	}

	value = article.Result{ArticleID: "a1", Status: article.Unclustered, Source: member}.JSON()
	got, err = wire.ParseResult(value)
	if err != nil || got.ID() != "null" || got.Key() != member.String() || got.PublishedAt != nil {
		t.Errorf("unclustered: %+v, %v", got, err)
	}
	record.Headers = []kgo.RecordHeader{{Key: article.HeaderSource, Value: []byte(member.String())}}
	if _, ok, err := got.Unclustered(record); ok || err != nil {
		t.Errorf("unclustered, of an earlier version: a position: %v, %v", ok, err)
	}
	own := record.Headers
	for _, name := range []string{article.HeaderPosition, article.HeaderEventTime} {
		h := kgo.RecordHeader{Key: name, Value: []byte("12")}
		if _, _, err := got.Unclustered(&kgo.Record{Headers: append(own[:1:1], h)}); err == nil {
			t.Errorf("unclustered, with %s alone", name)
		}
		record.Headers = append(record.Headers, h)
	}
	if position, ok, err := got.Unclustered(record); position != 12 || !ok || err != nil {
		t.Errorf("unclustered: position %d, %v, %v", position, ok, err)
	}
	if at, err := wire.Source(record, "articles"); err != nil || at.In("articles") != member.String() {
		t.Errorf("source %v, %v; want %s", at, err, member)
	}
}

func TestClusterIsTheDaemons(t *testing.T) {
	record := &kgo.Record{
		Value: article.Cluster{
			ClusterID: founder.String(), Seq: 4, Fingerprint: 0xbeef, Sketch: []byte("\x00sketch"), Size: 3,
			Contacts: []string{"name:alexis17"}, ByContact: 1,
			FirstSeen: published, LastSeen: published.Add(time.Hour),
			Representative: written, Pipeline: "method=x",
		}.JSON(),
		Headers: []kgo.RecordHeader{{Key: article.HeaderPosition, Value: []byte("12")}},
	}
	at, err := wire.ParseAddress(founder.String(), "articles")
	if err != nil {
		t.Fatal(err)
	}
	got, err := wire.ParseCluster(record, at, "articles")
	if err != nil {
		t.Fatal(err)
	}
	want := wire.Cluster{
		Seq: 4, Fingerprint: 0xbeef, Sketch: []byte("\x00sketch"), Size: 3,
		Contacts: []string{"name:alexis17"}, ByContact: 1,
		FirstSeen: published.UnixMilli(), LastSeen: published.Add(time.Hour).UnixMilli(),
		Representative: represents, Pipeline: "method=x", Position: 12,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestCheckpointIsTheDaemons(t *testing.T) {
	c := checkpoint.Record{
		Input: "articles", Group: "clusterd", Scope: "partition", Space: "1",
		Offsets: map[int]int64{1: 9},
	}
	record := &kgo.Record{Key: []byte(c.Key()), Value: c.JSON()}
	got, err := wire.ParseCheckpoint(record)
	want := wire.Checkpoint{
		Version: 1, Input: "articles", Group: "clusterd", Scope: "partition", Space: "1",
		Offsets: map[int32]int64{1: 9},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if !wire.IsCheckpoint(record) || wire.IsCheckpoint(&kgo.Record{Key: []byte(founder.String())}) {
		t.Error("a checkpoint is not known from a cluster by its key")
	}
}

// The audit knows each field of a checkpoint: it reports others.
func TestFieldsOfACheckpointAreTheSchemas(t *testing.T) {
	raw, err := schemas.Files.ReadFile("checkpoint.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties map[string]struct{ Properties map[string]any }
	}
	if err := json.Unmarshal(raw, &schema); err != nil {
		t.Fatal(err)
	}
	all := slices.Sorted(maps.Keys(schema.Properties))
	if diff := cmp.Diff(all, wire.CheckpointFields()); diff != "" {
		t.Error(diff)
	}
	labels := schema.Properties["labels"].Properties
	if diff := cmp.Diff(slices.Sorted(maps.Keys(labels)), wire.LabelFields()); diff != "" {
		t.Error(diff)
	}
}

// Of a cluster in either form, the same is read.
func TestFormsOfAClusterAreTheDaemons(t *testing.T) {
	for _, c := range append(clustertest.Extremes(), clustertest.Full()) {
		at, err := wire.ParseAddress(c.ID(), c.Founder.Topic)
		if err != nil {
			t.Fatal(err)
		}
		var read [2]wire.Cluster
		for i, value := range [][]byte{
			c.AppendJSON(nil, "method=x"), c.AppendBinary(nil, "method=x"),
		} {
			record := &kgo.Record{Value: value, Headers: []kgo.RecordHeader{
				{Key: article.HeaderPosition, Value: strconv.AppendUint(nil, c.Position, 10)},
			}}
			if read[i], err = wire.ParseCluster(record, at, c.Founder.Topic); err != nil {
				t.Fatalf("form %d: %v", i, err)
			}
		}
		if diff := cmp.Diff(read[0], read[1], cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("json, and binary:\n%s", diff)
		}
	}
	full := clustertest.Full()
	value := full.AppendBinary(nil, "method=x")
	for n := 1; n < len(value); n++ {
		if c, err := wire.ParseCluster(&kgo.Record{Value: value[:n]}, wire.Address{}, ""); err == nil {
			t.Errorf("of %d bytes of %d it reads %+v", n, len(value), c)
		}
	}
}

// Both forms of the state of a story say the same, and agree with the topic of stories.
func TestFormsOfAStoryAreTheDaemons(t *testing.T) {
	for _, s := range clustertest.ExtremeStories() {
		told := s.Wire()
		record := func(prefix string, value []byte) *kgo.Record {
			return &kgo.Record{
				Key: []byte(prefix + s.Address), Value: value, Headers: []kgo.RecordHeader{
					{Key: article.HeaderPosition, Value: strconv.AppendUint(nil, s.Position, 10)},
				},
			}
		}
		want, err := wire.ParseTold(record("", told.AppendJSON(nil)))
		if err != nil {
			t.Fatal(err)
		}
		for form, value := range map[string][]byte{
			"json": s.AppendJSON(nil), "binary": s.AppendBinary(nil),
		} {
			got, err := wire.ParseState(record("story:", value))
			if diff := cmp.Diff(want, got.Told()); err != nil || diff != "" {
				t.Errorf("%s: %v (-told +state)\n%s", form, err, diff)
			}
			if got.Vector != string(s.Vector) || got.Headline.Rank != int64(s.Headline.Rank) ||
				got.Headline.At != s.Headline.At || got.SplitAt != int64(s.SplitAt) ||
				got.Headline.Similarity != int64(s.Headline.Similarity) ||
				got.MergedAt != int64(s.MergedAt) || got.Apart != s.Apart ||
				got.Own.Vector != string(s.Own) || got.Own.Terms != s.OwnTerms ||
				got.Own.Headline.Title != s.OwnHeadline.Title || got.LeftFrom != s.LeftFrom ||
				got.LeftMerged != int64(s.LeftMerged) || got.LeftAt != int64(s.LeftAt) {
				t.Errorf("%s: %+v, of %+v", form, got, s)
			}
			for n := range value {
				if _, err := wire.ParseState(record("story:", value[:n])); err == nil {
					t.Errorf("%s: %d of %d bytes are taken", form, n, len(value))
				}
			}
		}
		if _, err := wire.ParseState(record("story:x", s.AppendJSON(nil))); err == nil {
			t.Error("a state under the key of another story is taken")
		}
	}
}

// What a record that is not a cluster says of itself is right, or nothing.
func TestOwnHeader(t *testing.T) {
	for said, want := range map[string]bool{
		"": true, "story": true, "checkpoint": false,
		"story story": false,
	} {
		r := new(kgo.Record)
		for value := range strings.FieldsSeq(said) {
			r.Headers = append(r.Headers,
				kgo.RecordHeader{Key: wire.HeaderOwn, Value: []byte(value)})
		}
		if err := wire.CheckOwn(r, wire.OwnStory); (err == nil) != want {
			t.Errorf("%q: %v", said, err)
		}
	}
}
