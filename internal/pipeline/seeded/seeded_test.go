//go:build failpoints

package seeded

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/failpoint"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/message/label"
	"github.com/clusterd/clusterd/internal/simhash/hamming"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/sink"
	"github.com/clusterd/clusterd/internal/space"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/space/state"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
	"github.com/clusterd/clusterd/internal/testutil/golden"
)

// environment has the faults of a process. A process reads it once, so each fault gets its own.
const environment = "CLUSTERD_FAILPOINT"

// TestMain prints a spoiled transaction in a process that has a fault, and runs no test there.
func TestMain(m *testing.M) {
	if os.Getenv(environment) == "" {
		os.Exit(m.Run())
	}
	lines, err := spoiled()
	if err != nil {
		panic(err)
	}
	fmt.Println(strings.Join(lines, "\n"))
}

// The topics of the transaction.
const (
	results, clusters, dead = "results", "clusters", "dead-letters"
	corrections, told, made = "corrections", "stories", "fingerprints"
)

// A result of each kind, as far as the faults look at it.
const (
	founded = `{"article_id":"a","fingerprint":"00000000000000ff","status":"new","distance":0,` +
		`"representative":{"id":"a","title":"A"}}`
	joined = `{"article_id":"b","fingerprint":"00000000000000fe","status":"joined","distance":1,` +
		`"representative":{"id":"a","title":"A"}}`
)

func output() *config.Output {
	return &config.Output{Topic: results, ClustersTopic: clusters, DeadLetterTopic: dead}
}

// records returns the records of a transaction.
func records() []kafka.Record {
	record := func(topic, key, value string, headers ...string) kafka.Record {
		r := kafka.Record{Topic: topic, Key: []byte(key), Value: []byte(value)}
		for _, h := range headers {
			name, value, _ := strings.Cut(h, "=")
			r.Headers = append(r.Headers, kafka.Header{Key: name, Value: []byte(value)})
		}
		return r
	}
	state := func(address, leftFrom string, articles int) kafka.Record {
		s := clustertest.FullStory()
		s.Address, s.LeftFrom, s.Articles = address, leftFrom, articles
		if leftFrom == "" {
			s.LeftMerged, s.LeftAt = 0, 0
		}
		return record(clusters, cluster.StoryPrefix+address, string(s.AppendJSON(nil)),
			article.HeaderPosition+"=41")
	}
	return []kafka.Record{
		record(results, "a", founded, article.HeaderEventTime+"=7"),
		record(results, "b", joined, article.HeaderEventTime+"=8"),
		record(clusters, "articles/0/0", `{"sketch":"BBBBBBBB"}`),
		record(clusters, "articles/0/1", `{"sketch":"CCCCCCCC"}`),
		record(dead, "c", "bad", article.HeaderError+"=bad_json"),
		record(dead, "d", "worse", article.HeaderError+"=bad_json"),
		record(corrections, "a", "first correction"),
		record(corrections, "b", "second correction"),
		record(made, "a", "first fingerprint"),
		record(made, "b", "second fingerprint"),
		record(told, "a", "first story"),
		record(told, "b", "second story"),
		{Topic: told, Key: []byte("c")}, // it is gone
		state("articles/0/0", "", 9),
		state("articles/0/1", "articles/0/0", 4),
		state("articles/0/2", "", 2),
	}
}

// emptyBatch returns a batch of no articles, of a space that has clusters 0 and 1.
func emptyBatch() (b space.Batch, err error) {
	store, err := state.OpenInMemory(state.Identity{Input: "articles"})
	if err != nil {
		return b, err
	}
	s := space.New(hamming.Centres(hamming.NewBTree(3)), store, space.Options{}, time.Now)
	defer func() { _ = s.Close() }()
	before := []fingerprint.Article{
		clustertest.Article(0, 0, time.Time{}), clustertest.Article(1, 0xff, time.Time{}),
	}
	if b, err = s.Assign(clustertest.Each(before), len(before)); err != nil {
		return b, err
	}
	if err := s.Commit(b, s.Meta()); err != nil {
		return b, err
	}
	return s.Assign(clustertest.Each(nil), 0)
}

// batch returns a batch in which cluster 2 is new, and clusters 0 and 1 are not.
func batch() (b space.Batch, err error) {
	if b, err = emptyBatch(); err != nil {
		return b, err
	}
	const contact = "mail:a@example.org"
	carried := &label.Carried{Labels: []string{"spam"}}
	assignment := func(status article.Status, id, story string, publishers int) space.Assignment {
		a := space.Assignment{Status: status, ClusterID: id, Story: story, Carried: carried}
		a.Signals.Publishers = article.NewPublishers(publishers)
		if story != id {
			a.StorySimilarity = 500_000
		}
		return a
	}
	b.Assignments = []space.Assignment{
		{Status: article.Unclustered},
		assignment(article.Joined, "articles/0/0", "articles/0/0", article.MaxPublishers+1),
		assignment(article.New, "articles/0/2", "articles/0/1", 1),
		assignment(article.Joined, "articles/0/1", "articles/0/0", 2),
	}
	b.Labelled = []space.Labelled{{LabelRecord: article.LabelRecord{
		Action: article.Erase, Label: article.Label{Record: "labels/0/17"},
		Targeted: article.Targeted{Target: article.TargetContact, Contact: contact},
	}}}
	excepted := label.ExceptionsOf([]article.Exception{{Fingerprint: 1}})
	for seq, size := range []int{3, 2, 3} {
		b.Touched = append(b.Touched, cluster.Cluster{
			Centre: singlepass.Centre{Seq: uint64(seq), Fingerprint: singlepass.Fingerprint{
				Contacts: singlepass.NewContacts([]string{cluster.Erased("labels/0/17")}),
			}},
			Size: size, Exceptions: excepted,
		})
	}
	b.Stories = []state.StoryChange{{Story: clustertest.FullStory()}}
	b.Contacts = []state.ContactChange{{Contact: cluster.Contact{
		Name: contact, Marks: label.Marks{{Name: "ham", Used: 2}, {Name: "spam", Used: 3}},
	}}}
	return b, nil
}

// spoiled returns a transaction in lines, with the faults of the process.
func spoiled() ([]string, error) {
	b, err := batch()
	if err != nil {
		return nil, err
	}
	Assignments(&b)
	p := Progress(&checkpoint.Labels{Offsets: map[int]int64{0: 0, 1: 8}})
	all := sink.Batch{Records: records(), Offsets: []sink.Offset{{Topic: "articles", Offset: 5}}}
	Corrections(corrections, &all)
	Stories(told, &all)
	Fingerprinted(made, &all)
	Transaction(output(), 3, &all)

	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	addBatch(&b, add)
	disk := OnDisk(b)
	for i := range disk.Touched {
		add("disk: cluster %d, size %d", disk.Touched[i].Seq, disk.Touched[i].Size)
	}
	add("disk: %d stories", len(disk.Stories))
	add("labels read: %v", p.Offsets)
	for _, o := range all.Offsets {
		add("%s read up to %d", o.Topic, o.Offset)
	}
	for i := range all.Records {
		add("%s", line(&all.Records[i]))
	}
	return lines, nil
}

// addBatch adds the lines of the articles, clusters and contacts of a batch.
func addBatch(b *space.Batch, add func(format string, args ...any)) {
	for i := range b.Assignments {
		a := &b.Assignments[i]
		var labels []string
		if a.Carried != nil {
			labels = a.Carried.Labels
		}
		add("article %d: %s %q", i, a.Status, a.ClusterID)
		add("article %d: story %q, %d publishers, labels %q", i, a.Story, a.Signals.Number, labels)
	}
	for i := range b.Touched {
		c := &b.Touched[i]
		add("cluster %d: size %d, contacts %q", c.Seq, c.Size, slices.Collect(c.Contacts.All()))
		add("cluster %d: %d exceptions", c.Seq, len(c.Exceptions.All()))
	}
	for _, c := range b.Contacts {
		for _, m := range c.Marks {
			add("%s: %s used %d times", c.Name, m.Name, m.Used)
		}
	}
}

// line returns a record in one line, and of a story its articles.
func line(r *kafka.Record) string {
	text := fmt.Sprintf("%s/%d %s", r.Topic, r.Partition, r.Key)
	for _, h := range r.Headers {
		text += fmt.Sprintf(" %s=%s", strings.TrimPrefix(h.Key, "clusterd."), h.Value)
	}
	if cluster.IsStory(r.Key) {
		s, err := cluster.ParseStory(r.Key, r.Value, 41)
		if err != nil {
			return text + ": " + err.Error()
		}
		return text + fmt.Sprintf(": %d articles", s.Articles)
	}
	return text + ": " + string(r.Value)
}

// differences returns the lines that only one list has, with a sign before them.
func differences(before, after []string) (all []string) {
	for _, one := range before {
		if i := slices.Index(after, one); i >= 0 {
			after = slices.Delete(slices.Clone(after), i, i+1)
		} else {
			all = append(all, "-"+one)
		}
	}
	for _, one := range after {
		all = append(all, "+"+one)
	}
	return all
}

// faults are all of them, in the order of package failpoint.
var faults = []string{
	failpoint.Drop, failpoint.Duplicate, failpoint.EarlyOffset, failpoint.SkipDisk,
	failpoint.StaleDisk, failpoint.Swap,
	failpoint.FingerprintLost, failpoint.FingerprintTwice,
	failpoint.LabelLost, failpoint.LabelLate, failpoint.LabelAgain, failpoint.MarkLost,
	failpoint.MarkUnused, failpoint.ContactKept, failpoint.ExceptionLost,
	failpoint.CorrectionLost, failpoint.CorrectionTwice, failpoint.StoryOwn,
	failpoint.StoryUntold, failpoint.StoryState, failpoint.StoryDisk, failpoint.StoryLeft,
	failpoint.Publisher, failpoint.ArticleID, failpoint.Title, failpoint.Fingerprint,
	failpoint.Distance, failpoint.EventTime, failpoint.Key, failpoint.Partition,
	failpoint.Sketch, failpoint.LetterClass, failpoint.LetterBytes,
}

// Each fault changes the part of a transaction that its name says, and no other. The golden file
// has the lines that it removes and adds.
func TestFaults(t *testing.T) {
	t.Parallel()
	right, err := spoiled()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, name := range faults {
		command := exec.CommandContext(t.Context(), os.Args[0])
		command.Env = append(os.Environ(), environment+"=seeded="+name)
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", name, err, out)
		}
		changed := differences(right, strings.Split(strings.TrimSpace(string(out)), "\n"))
		if len(changed) == 0 {
			t.Errorf("%s changes nothing", name)
		}
		fmt.Fprintf(&b, "%s\n", name)
		for _, one := range changed {
			fmt.Fprintf(&b, "  %s\n", one)
		}
	}
	golden.Check(t, "testdata/faults.txt", b.Bytes())
}

// Without a fault nothing changes.
func TestNoFault(t *testing.T) {
	t.Parallel()
	want, err := batch()
	if err != nil {
		t.Fatal(err)
	}
	got := want
	Assignments(&got)
	got = OnDisk(got)
	if diff := cmp.Diff(want.Assignments, got.Assignments); diff != "" {
		t.Errorf("assignments: want (-), got (+):\n%s", diff)
	}
	all := sink.Batch{Records: records()}
	Corrections(corrections, &all)
	Stories(told, &all)
	Fingerprinted(made, &all)
	Transaction(output(), 3, &all)
	if diff := cmp.Diff(records(), all.Records); diff != "" {
		t.Errorf("records: want (-), got (+):\n%s", diff)
	}
	if Progress(nil) != nil {
		t.Error("there is progress of no labels")
	}
}
