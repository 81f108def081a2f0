package members

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

func TestMain(m *testing.M) { wait.Main(m) }

const partitions = 3

// A world is a results topic, and the members that are in it.
type world struct {
	testing.TB
	client   *kafka.Client
	writer   *kgo.Client
	random   *rand.Rand
	bySource bool // output.key: source, so that a cluster's results are in any partition

	clusters []string            // ids, in the order of founding
	members  map[string][]Member // by cluster id, in the order of positions
	articles map[string]Member   // by id: the newest
	position uint64
	source   int64
	clock    int64
}

func newWorld(t testing.TB, seed uint64, bySource bool) *world {
	t.Helper()
	cluster := kafkatest.Start(t, 1, kfake.SeedTopics(partitions, "results"))
	w := &world{
		TB: t, client: kafkatest.Connect(t, kafka.Options{Brokers: cluster.ListenAddrs()}),
		random: rand.New(rand.NewPCG(seed, 1)), bySource: bySource,
		members: make(map[string][]Member), articles: make(map[string]Member),
		clock: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC).UnixMilli(),
	}
	var err error
	w.writer, err = kgo.NewClient(kgo.SeedBrokers(w.client.Brokers...),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.TransactionalID("w"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.writer.Close)
	return w
}

// next makes up a member, which it does not count yet.
func (w *world) next() Member {
	w.clock += w.random.Int64N(2000)
	m := Member{
		ArticleID: fmt.Sprintf("id-%d", w.random.IntN(1<<30)), Status: article.New, Size: 1,
		Position: w.position, EventTime: w.clock - w.random.Int64N(1_000_000), Written: w.clock,
		Source: article.Address{Topic: "articles", Partition: w.random.IntN(5), Offset: w.source},
	}
	w.source++
	if w.random.IntN(50) == 0 {
		m.ArticleID = "again"
	}
	switch distance := float64(w.random.IntN(4)); {
	case w.random.IntN(20) == 0:
		m.Status, m.Size = article.Unclustered, 0
		if w.random.IntN(2) == 0 { // as earlier versions wrote it
			m.Position, m.EventTime = 0, 0
		}
		return m
	case len(w.clusters) > 0 && w.random.IntN(10) > 0:
		// Few clusters are large.
		m.ClusterID = w.clusters[int(float64(len(w.clusters))*w.random.Float64()*w.random.Float64())]
		m.Status, m.Size, m.Distance = article.Joined, len(w.members[m.ClusterID])+1, &distance
		if distance == 3 {
			m.Matched, m.Distance = article.ByContact, nil
		}
		m.Labels = []string{"spam"}
	default:
		m.ClusterID, m.Publisher = m.Source.String(), "xinhua"
		distance = 0
		m.Distance = &distance
		m.TrialLabels = []string{"a", "b"}
	}
	if w.random.IntN(3) > 0 { // output.fields may leave it out
		m.Fingerprint = new(article.Fingerprint(w.random.Uint64()))
	}
	w.position++
	return m
}

// record returns the record of a result, as clusterd writes it.
func (w *world) record(m *Member) *kgo.Record {
	result := article.Result{
		ArticleID: m.ArticleID, Status: m.Status, Distance: m.Distance, Matched: m.Matched,
		Contact: "t.me/abc", Size: m.Size, Fingerprint: m.Fingerprint, Source: m.Source, Pipeline: "test",
		Representative: &article.Representative{ID: "r", Title: "标题"},
	}
	r := &kgo.Record{
		Topic: "results", Partition: int32(m.Source.Partition % partitions),
		Timestamp: time.UnixMilli(m.Written),
		Headers:   []kgo.RecordHeader{{Key: article.HeaderSource, Value: []byte(m.Source.String())}},
	}
	if m.ClusterID != "" {
		founder, err := article.ParseAddress(m.ClusterID)
		if err != nil {
			w.Fatal(err)
		}
		if !w.bySource {
			r.Partition = int32(founder.Offset % partitions)
		}
		result.ClusterID = &m.ClusterID
	}
	if m.ClusterID != "" || m.EventTime != 0 {
		r.Headers = append(r.Headers,
			kgo.RecordHeader{
				Key: article.HeaderPosition, Value: strconv.AppendUint(nil, m.Position, 10),
			},
			kgo.RecordHeader{
				Key: article.HeaderEventTime, Value: strconv.AppendInt(nil, m.EventTime, 10),
			})
	}
	r.Value = withAsked(result.JSON(), m)
	if m.Position%2 == 1 { // some results were written without
		r.Value = sourceField.ReplaceAll(r.Value, nil)
	}
	return r
}

// sourceField is the field source, which output.fields may leave out.
var sourceField = regexp.MustCompile(`"source":\{[^}]*\},`)

// withAsked adds the fields that a result has where they were asked for, as clusterd writes them:
// before the source.
func withAsked(value []byte, m *Member) []byte {
	var asked []byte
	for _, f := range []struct {
		name   string
		labels []string
	}{{"labels", m.Labels}, {"trial_labels", m.TrialLabels}} {
		if f.labels != nil {
			list, _ := json.Marshal(f.labels) // strings always can be
			asked = fmt.Appendf(asked, `%q:%s,`, f.name, list)
		}
	}
	if m.Publisher != "" {
		asked = fmt.Appendf(asked, `"publisher":%q,`, m.Publisher)
	}
	return bytes.Replace(value, []byte(`"source":`), append(asked, `"source":`...), 1)
}

// write writes n results in a transaction, which is aborted if it is not to be committed: then
// nothing of it counts.
func (w *world) write(n int, commit bool) {
	w.Helper()
	if err := w.writer.BeginTransaction(); err != nil {
		w.Fatal(err)
	}
	var members []Member
	var records []*kgo.Record
	before := *w
	for range n {
		m := w.next()
		members, records = append(members, m), append(records, w.record(&m))
		if m.Status == article.New {
			w.clusters = append(w.clusters, m.ClusterID)
		}
		if m.ClusterID != "" {
			w.members[m.ClusterID] = append(w.members[m.ClusterID], m)
		}
	}
	if err := w.writer.ProduceSync(w.Context(), records...).FirstErr(); err != nil {
		w.Fatal(err)
	}
	end := kgo.TryCommit
	if !commit {
		end = kgo.TryAbort
	}
	if err := w.writer.EndTransaction(w.Context(), end); err != nil {
		w.Fatal(err)
	}
	if !commit {
		for _, m := range slices.Backward(members) {
			if known := w.members[m.ClusterID]; m.ClusterID != "" {
				w.members[m.ClusterID] = known[:len(known)-1]
			}
		}
		w.clusters, w.position = before.clusters, before.position
		return
	}
	for i, m := range members {
		m.Result = article.Address{
			Topic: "results", Partition: int(records[i].Partition), Offset: records[i].Offset,
		}
		if m.ClusterID != "" {
			all := w.members[m.ClusterID]
			for j := range all {
				if all[j].Position == m.Position {
					all[j] = m
				}
			}
		}
		if newest, ok := w.articles[m.ArticleID]; !ok || newer(&m, &newest) {
			w.articles[m.ArticleID] = m
		}
	}
}

func newer(a, b *Member) bool { return a.Written > b.Written }

// A session is a view that runs.
type session struct {
	*View
	polled *atomic.Pointer[Stats] // what OnPoll was told last
	stop   func()
}

// view starts a view in a directory. It ends with the test at the latest.
func (w *world) view(dir string, bytes int64) session {
	w.Helper()
	polled := new(atomic.Pointer[Stats])
	v := New(Options{
		Client: w.client, Log: slog.New(slog.DiscardHandler), Dir: dir, Topic: "results",
		Input: "articles", Bytes: bytes, FetchBytes: 64 << 10,
		OnPoll: func(s Stats) { polled.Store(&s) },
	})
	ctx, cancel := context.WithCancel(w.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		v.Run(ctx)
	}()
	s := session{v, polled, func() { cancel(); <-done }}
	w.Cleanup(s.stop)
	return s
}

// caughtUp waits until the view has read all that was committed.
func (w *world) caughtUp(v *View) {
	w.Helper()
	ends, err := w.client.Offsets(w.Context(), "results", []int{0, 1, 2}, kafka.Last)
	if err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(w.Context(), wait.Timeout)
	defer cancel()
	if err := v.await(ctx, ends); err != nil {
		w.Fatalf("the view stands at %+v of %v: %v", v.Stats(), ends, err)
	}
}
