package audit

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/method"
)

// firsts are where the first violation of each promise is.
func firsts(r *Report) (at []string) {
	for _, c := range r.Checks {
		if len(c.Shown) > 0 {
			at = append(at, c.ID+" "+c.Shown[0].At)
		}
	}
	return at
}

// prose is the text of a story, by the bits above the lowest 8; these say how many of its words are others.
func prose(it item) string {
	r := rand.New(rand.NewPCG(it.fingerprint>>8, 0))
	words := make([]string, 120)
	for i := range words {
		words[i] = string(rune('a'+r.IntN(26))) + fmt.Sprintf("%x", r.Uint32())
	}
	for i := range int(it.fingerprint & 0xff) {
		words[i*13%len(words)] = fmt.Sprintf("other%d", i)
	}
	return strings.Join(words, " ")
}

// retold are three stories: offsets as in story.
var retold = []item{
	{0, 0x100, 0, ""}, // new
	{1, 0x200, 1, ""}, // new
	{0, 0x102, 2, ""}, // joins the first
	{1, 0x100, 3, ""}, // is the first
	{0, 0x201, 4, ""}, // joins the second
	{1, 0x300, 5, ""}, // new
	{0, 0x102, 6, ""}, // joins the first
	{1, 0x302, 7, ""}, // joins the third
}

// Of methods that compare sketches, distances, fingerprints and sketches are held to the input.
func TestFaultsOfSketchesAreFound(t *testing.T) {
	t.Parallel()
	faults := []struct {
		name  string
		plant func(*stage)
		want  []string
	}{
		{"none", func(*stage) {}, nil},
		{"another distance", func(s *stage) { s.edit(s.result(2), `"distance":`, `"distance":1`) }, []string{"I3 article-clusters/0/1"}},
		{"distance 0 of another text", func(s *stage) {
			before, after, _ := strings.Cut(string(s.result(2).Value), `"distance":`)
			_, after, _ = strings.Cut(after, ",")
			s.result(2).Value = []byte(before + `"distance":0,` + after)
		}, []string{"I3 article-clusters/0/1"}},
		{"another fingerprint", func(s *stage) {
			before, after, _ := strings.Cut(string(s.result(2).Value), `"fingerprint":"`)
			s.result(2).Value = []byte(before + `"fingerprint":"0123456789abcdef` + after[16:])
		}, []string{"input article-clusters/0/1"}},
		{"a cluster's fingerprint", func(s *stage) {
			before, after, _ := strings.Cut(string(s.clusterRecord(0).Value), `"fingerprint":"`)
			s.clusterRecord(0).Value = []byte(before + `"fingerprint":"0123456789abcdef` + after[16:])
		}, []string{"I4 clusters/0/0"}},
		{"a bit of a cluster's sketch", func(s *stage) {
			before, after, _ := strings.Cut(string(s.clusterRecord(0).Value), `"sketch":"`)
			other := "A"
			if after[4] == 'A' {
				other = "B"
			}
			s.clusterRecord(0).Value = []byte(before + `"sketch":"` + after[:4] + other + after[5:])
		}, []string{"I4 clusters/0/0"}},
		{"no sketch", func(s *stage) { s.edit(s.clusterRecord(0), `"sketch"`, `"sketched"`) }, []string{"I4 clusters/0/0"}},
		{"a cluster that is not near", func(s *stage) { s.edit(s.result(2), `"cluster_id":"articles/0/0"`, `"cluster_id":"articles/1/0"`) }, []string{"I3 article-clusters/0/1", "I4 clusters/0/0"}},
		{"a cluster that is not near, with its representative and size", func(s *stage) {
			s.edit(s.result(2), `"cluster_id":"articles/0/0"`, `"cluster_id":"articles/1/0"`)
			s.edit(s.result(2), `"representative":{"id":"id-0"`, `"representative":{"id":"id-1"`)
		}, []string{"I3 article-clusters/0/1", "I4 clusters/0/0"}},
		{"a cluster of its own though the same is there", func(s *stage) {
			s.edit(s.result(3), `"cluster_id":"articles/0/0","status":"joined"`, `"cluster_id":"articles/1/1","status":"new"`)
		}, []string{"I3 article-clusters/1/1"}},
	}
	for _, name := range []string{"simhash+verify", "minhash", "shingle"} {
		c := config.Default()
		c.Fingerprint.Method = name
		m, err := method.New(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, test := range faults {
			t.Run(name+", "+test.name, func(t *testing.T) {
				t.Parallel()
				s := newStage(t, func(c *config.Config) { c.Fingerprint.Method = name })
				s.use(m, prose)
				s.title = "A story"
				s.cluster(retold, s.input(retold))
				test.plant(s)
				s.write()
				report := s.audit(Options{})
				if got := firsts(report); !slices.Equal(got, test.want) {
					t.Errorf("found:\n%s\nwant %q", strings.Join(said(report), "\n"), test.want)
				}
				if n := report.Counts; test.want == nil && (n.New != 3 || n.Joined != 5 || len(report.Limits) != 1) {
					t.Errorf("%d new, %d joined, limits %q; want 3, 5, and that the nearest is not looked for", n.New, n.Joined, report.Limits)
				}
			})
		}
	}
}

// Dead letters that hold, though they are not all of their records.
func TestDeadLetters(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 2000)
	forged := []kgo.RecordHeader{{Key: "clusterd.source", Value: []byte("articles/0/0")}, {Key: "clusterd.error", Value: []byte("old")}}
	tests := []struct {
		name   string
		record kgo.Record
		class  string
		cut    func(dead *kgo.Record)
		ok     bool
	}{
		{"whole", kgo.Record{Key: []byte("k"), Value: []byte(long)}, "too_large", nil, true},
		{"no value", kgo.Record{Key: []byte("k")}, "null_value", nil, true},
		{"an empty value", kgo.Record{Value: []byte{}}, "empty", nil, true},
		{"an empty key", kgo.Record{Key: []byte{}, Value: []byte("[]")}, "bad_json", nil, true},
		{"no key for an empty one", kgo.Record{Key: []byte{}, Value: []byte("[]")}, "bad_json", func(dead *kgo.Record) { dead.Key = nil }, false},
		{"no value for an empty one", kgo.Record{Value: []byte{}}, "empty", func(dead *kgo.Record) { dead.Value = nil }, false},
		{"a dead letter of a dead letter", kgo.Record{Value: []byte("{"), Headers: forged}, "bad_json", nil, true},
		{"the same, without its headers", kgo.Record{Value: []byte("{"), Headers: forged}, "bad_json", func(dead *kgo.Record) { dead.Headers = dead.Headers[2:] }, true},
		{"the same, without one of them", kgo.Record{Value: []byte("{"), Headers: forged}, "bad_json", func(dead *kgo.Record) { dead.Headers = dead.Headers[1:] }, false},
		{"cut", kgo.Record{Value: []byte(long)}, "too_large", func(dead *kgo.Record) {
			dead.Value = dead.Value[:100]
			setHeader(dead, "clusterd.truncated", "2000")
		}, true},
		{"cut, not said", kgo.Record{Value: []byte(long)}, "too_large", func(dead *kgo.Record) { dead.Value = dead.Value[:100] }, false},
		{"cut at the wrong end", kgo.Record{Value: []byte("y" + long)}, "too_large", func(dead *kgo.Record) {
			dead.Value = dead.Value[1:]
			setHeader(dead, "clusterd.truncated", "2001")
		}, false},
		{"longer than its record", kgo.Record{Value: []byte(long)}, "too_large", func(dead *kgo.Record) {
			dead.Value = append(dead.Value, 'x')
			setHeader(dead, "clusterd.truncated", "2000")
		}, false},
		{"only its headers", kgo.Record{Key: []byte(long), Value: []byte(long), Headers: []kgo.RecordHeader{{Key: "h", Value: []byte(long)}}}, "too_large", func(dead *kgo.Record) {
			dead.Key, dead.Value, dead.Headers = nil, nil, dead.Headers[1:]
			setHeader(dead, "clusterd.truncated", "2000")
		}, true},
		{"a key cut as it is read", kgo.Record{Key: []byte(long), Value: []byte("[]")}, "bad_json", func(dead *kgo.Record) { dead.Key = dead.Key[:1025] }, true},
		{"headers left out as they are read", kgo.Record{Value: []byte("[]"), Headers: []kgo.RecordHeader{{Key: "h", Value: []byte(long)}}}, "bad_json", func(dead *kgo.Record) {
			dead.Headers = dead.Headers[1:]
		}, true},
		{"another class", kgo.Record{Value: []byte(long)}, "bad_json", nil, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, func(c *config.Config) { c.Input.MaxBytes = 1024 })
			in := test.record
			in.Topic, in.Partition = "articles", 1
			if err := s.client.ProduceSync(t.Context(), &in).FirstErr(); err != nil {
				t.Fatal(err)
			}
			dead := &kgo.Record{Topic: "articles-dead", Partition: 1, Key: in.Key, Value: slices.Clone(in.Value), Headers: slices.Clone(in.Headers)}
			for _, h := range []string{"source=articles/1/0", "error=" + test.class, "reason=it is bad", "stage=decode"} {
				name, value, _ := strings.Cut(h, "=")
				dead.Headers = append(dead.Headers, kgo.RecordHeader{Key: "clusterd." + name, Value: []byte(value)})
			}
			if test.cut != nil {
				test.cut(dead)
			}
			s.transactions = []transaction{{records: []*kgo.Record{dead}, committed: map[int32]int64{1: 1}}}
			s.write()
			var want []string
			if !test.ok {
				want = []string{"input articles-dead/1/0"}
			}
			report := s.audit(Options{})
			if got := firsts(report); !slices.Equal(got, want) {
				t.Errorf("found:\n%s\nwant %q", strings.Join(said(report), "\n"), want)
			}
		})
	}
}

// A message is where its key puts it, in a topic that may have been given more partitions meanwhile.
func TestPartitions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		key   string
		keys  bool
		plant func(*stage)
		want  []string
	}{
		{"the cluster id", "cluster", false, nil, nil},
		{"the cluster id, and the input has keys", "cluster", true, nil, nil},
		{"the input's key", "source", true, nil, nil},
		{"no key", "source", false, nil, nil},
		{"the cluster id, in another partition", "cluster", false, func(s *stage) { s.result(150).Partition ^= 1 }, []string{"input"}},
		{"the input's key, in another partition", "source", true, func(s *stage) { s.result(150).Partition ^= 1 }, []string{"input"}},
		{"the input's key for the cluster id", "cluster", true, func(s *stage) { s.result(150).Key = []byte("key-7") }, []string{"input"}},
		{"no key of an unclustered result", "cluster", false, func(s *stage) {
			for n := 50; ; n++ {
				if r := s.result(n); bytes.Contains(r.Value, []byte(`"unclustered"`)) {
					r.Key = nil
					return
				}
			}
		}, []string{"input"}},
		{"another input's key", "source", true, func(s *stage) { s.result(150).Key = []byte("key-7") }, []string{"input"}},
		{"no key for the input's", "source", true, func(s *stage) { s.result(150).Key = nil }, []string{"input"}},
		{"a dead letter elsewhere", "source", false, func(s *stage) {
			for n := 5; ; n++ {
				if r := s.record("articles-dead", n); r.Partition == 1 {
					r.Partition = 0
					return
				}
			}
		}, []string{"input"}},
		{"a topic of one partition once", "cluster", false, func(s *stage) {
			for i := range s.transactions[:40] {
				for _, r := range s.transactions[i].records {
					if r.Topic == s.config.Output.Topic {
						r.Partition = 0
					}
				}
			}
		}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, func(c *config.Config) { c.Output.Key = test.key })
			s.keys = test.keys
			items := long(200)
			s.cluster(items, s.input(items))
			if test.plant != nil {
				test.plant(s)
			}
			s.write()
			report := s.audit(Options{})
			var got []string
			for _, at := range firsts(report) {
				id, _, _ := strings.Cut(at, " ")
				got = append(got, id)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("found:\n%s\nwant %q", strings.Join(said(report), "\n"), test.want)
			}
		})
	}
}

// Event times are when an article was published or its record was written, or what either is cut to.
func TestEventTimes(t *testing.T) {
	t.Parallel()
	const never, hour, day = -1, 3600_000, 24 * 3600_000
	tests := []struct {
		name                string
		window              time.Duration
		published, recorded int64 // after start; never: it does not say
		at                  int64 // after start
		ok                  bool
	}{
		{"published", 0, 5, 9, 5, true},
		{"published, a millisecond later", 0, 5, 9, 6, false},
		{"published, a millisecond earlier", 0, 5, 9, 4, false},
		{"published, and the record's time", 0, 5, 9, 9, false},
		{"the record's time", 0, never, 9, 9, true},
		{"later than the record", 0, never, 9, 10, false},
		{"nothing is known", 0, never, never, 12345, true}, // the replay knows
		{"before 1970", 0, -start - hour, 9, -start, true},
		{"before 1970, not cut", 0, -start - hour, 9, -start - hour, false},
		{"ahead of the clock, cut", 0, 1000 * day, never, day - 5000, true},
		{"ahead of the clock, cut elsewhere", 0, 1000 * day, never, 3 * day, false},
		{"ahead of the clock, not cut", 0, 1000 * day, 9, 1000 * day, true}, // as if the clock were ahead
		{"ahead of the record, cut", 0, 1000 * day, 9 * day, 10 * day, true},
		{"ahead of the record by a quarter of the window, cut", 4 * time.Hour, 5 * hour, 1, hour + 1, true},
		{"ahead of the record, cut by more", 4 * time.Hour, 50 * hour, 40 * hour, 42 * hour, false},
		{"not as far ahead as it is cut to", 40 * time.Hour, 5 * hour, 1, 10*hour + 1, false},
		{"older than the window", 4 * time.Hour, 1, 5 * hour, 5 * hour, true},
		{"older than the window, of a record without a time", 4 * time.Hour, 1, never, 5 * hour, true},
		{"not older than the window, of a record without a time", 4 * time.Hour, 2 * hour, never, 5 * hour, false},
		{"older than the window, of a record that is ahead of the clock", 4 * time.Hour, -5 * hour, 9 * hour, hour, true},
		{"ahead of a record that is ahead of the clock", 40 * time.Hour, 1000 * day, 500 * day, 20 * hour, true},
		{"not older than the window", 4 * time.Hour, 2 * hour, 5 * hour, 5 * hour, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			in := inputRow{Dated: test.published != never, Published: start + test.published, Timestamp: -1}
			if test.recorded != never {
				in.Timestamp = start + test.recorded
			}
			if err := eventTime(start+test.at, &in, time.UnixMilli(start), test.window); (err == nil) != test.ok {
				t.Errorf("event time %d: %v; want it to be right: %v", test.at, err, test.ok)
			}
		})
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
		places := s.input(items[:10])
		in.Timestamp = time.UnixMilli(-1)
		if err := s.client.ProduceSync(t.Context(), in.Record).FirstErr(); err != nil {
			t.Fatal(err)
		}
		s.inputs[placeOf(in.Record)] = in
		items[10].minute = 9 // the stream time
		if !right {
			items[10].minute = 8
		}
		s.cluster(items[:11], append(places, placeOf(in.Record)))
		s.write()
		var want []string
		if !right {
			want = []string{"input article-clusters/0/7"}
		}
		if report := s.audit(Options{}); !slices.Equal(firsts(report), want) {
			t.Errorf("found:\n%s\nwant %q", strings.Join(said(report), "\n"), want)
		}
	}
}
