package replica

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/message/label"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
)

// randomTopic returns records as a clusters topic may have them: clusters that are founded, joined,
// removed and founded again, checkpoints, and now and then one that contradicts those before it.
func randomTopic(r *Replica, random *rand.Rand, n int) (all []kafka.Record) {
	live := make(map[uint64]cluster.Cluster)
	position := uint64(0)
	add := func(record kafka.Record) {
		record.Topic, record.Offset, record.Time = r.Topic, int64(len(all)), wallClock
		record.Partition = 0
		all = append(all, record)
	}
	for range n {
		seqs := slices.Sorted(func(yield func(uint64) bool) {
			for seq := range live {
				if !yield(seq) {
					return
				}
			}
		})
		switch k := random.IntN(20); {
		case k < 8 || len(seqs) == 0:
			position++
			c := testCluster(3*random.IntN(2), int64(position))
			c.Seq, c.Position, c.Size, c.LastSeen = position, position, 1, c.FirstSeen
			c.Hash = random.Uint64()
			if random.IntN(4) == 0 {
				c.Contacts = singlepass.NewContacts([]string{"name:alexis17"})
			}
			if random.IntN(4) == 0 {
				c.Labels = label.Of([]article.Label{clustertest.Label("spam", 0)})
			}
			live[c.Seq] = c
			add(liveRecord(c, r.Options.Space.Pipeline))
		case k < 15:
			c := live[seqs[random.IntN(len(seqs))]]
			position++
			c.Join(position, c.LastSeen+int64(random.IntN(2000))-500)
			live[c.Seq] = c
			add(liveRecord(c, r.Options.Space.Pipeline))
		case k < 17:
			c := live[seqs[random.IntN(len(seqs))]]
			delete(live, c.Seq)
			add(kafka.Record{Key: []byte(c.ID())})
		case k < 19:
			c := checkpointOf(r, map[int]int64{0: int64(len(all))})
			c.NextPosition = position + 1
			add(checkpointRecord(c, 0))
		case random.IntN(40) == 0:
			c := live[seqs[random.IntN(len(seqs))]]
			c.Hash++ // a centre never changes
			add(liveRecord(c, r.Options.Space.Pipeline))
		case random.IntN(40) == 0:
			c := live[seqs[random.IntN(len(seqs))]]
			c.Seq++ // nor does a founder's order
			add(liveRecord(c, r.Options.Space.Pipeline))
		}
	}
	return all
}

// everything is all that a disk knows.
func everything(t *testing.T, r *Replica) (all []any) {
	t.Helper()
	reopen(t, r)
	for seq := range uint64(2000) {
		c, ok, err := r.space.Get(seq)
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			found, there, err := r.space.Find(c.Founder)
			if err != nil || !there || found.Seq != seq {
				t.Errorf("cluster %d is not found by its founder: %v", seq, err)
			}
			all = append(all, c)
		}
	}
	m := r.space.Meta()
	m.Written = wallClock
	return append(all, r.space.Len(), m)
}

// A disk that is rebuilt is the one that is brought there chunk by chunk, whatever the topic has,
// however much is written at once, and though the reading is cut short; and what ends the one way
// ends the other.
func TestRebuildIsTheSame(t *testing.T) {
	failed := 0
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 3))
		plain := testReplica(t, 0)
		records := randomTopic(plain, random, 400)
		size := 1 + random.IntN(60)
		read := func(r *Replica) (err error) {
			for rest := records; len(rest) > 0 && err == nil; {
				n := min(size, len(rest))
				_, err = r.applyChunk(t.Context(), consumer.Chunk{
					Records: rest[:n], Next: rest[n-1].Offset + 1,
				})
				rest = rest[n:]
			}
			return err
		}
		want := read(plain)

		fast := testReplica(t, 0)
		fast.Close()
		fast.State.FS = vfs.NewMem()
		if err := fast.openOf("kafka"); err != nil {
			t.Fatal(err)
		}
		fast.rebuild = newRebuild(fast)
		fast.rebuild.size = 1 + random.IntN(50)
		if random.IntN(3) == 0 { // a first attempt is cut short
			all := records
			records = all[:len(all)/2]
			_ = read(fast)
			records = all
			if err := fast.rebuild.again(); err != nil {
				t.Fatal(err)
			}
			from := fast.space.Meta().Offsets[0]
			records = slices.DeleteFunc(slices.Clone(all), func(r kafka.Record) bool {
				return r.Offset < max(0, from-1)
			})
		}
		got := read(fast)
		if got == nil {
			got = fast.rebuild.finish(t.Context())
		}
		// Which of two contradictions of one record is named depends on the chunks.
		where := func(err error) string {
			at, _, _ := strings.Cut(fmt.Sprint(err), `": `)
			return at
		}
		if where(got) != where(want) {
			t.Fatalf("seed %d: rebuilding ends with %v, want %v", seed, got, want)
		}
		if want != nil {
			failed++
			continue
		}
		fast.rebuild = nil
		if diff := cmp.Diff(everything(t, plain), everything(t, fast)); diff != "" {
			t.Fatalf("seed %d (-plain +rebuilt):\n%.2000s", seed, diff)
		}
	}
	if failed < 10 || failed > 50 {
		t.Errorf("%d of 60 topics contradict themselves", failed)
	}
}

func BenchmarkDecode(b *testing.B) {
	r := testReplica(b, 0)
	record := chunks(r, 1, false)[0].Records[0]
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.decode(record); err != nil {
			b.Fatal(err)
		}
	}
}
