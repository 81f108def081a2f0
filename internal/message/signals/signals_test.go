package signals_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/message/signals"
)

// latest is the last time that a State may be of.
const latest = int64(253402300799999)

// plain is the rule once more: it keeps all articles.
type plain struct {
	window     int64 // milliseconds
	streamTime int64
	times      []int64
	publishers map[string]bool
}

func (p *plain) add(streamTime, at int64, publisher string) {
	p.streamTime = streamTime
	p.times = append(p.times, at)
	if publisher != "" {
		p.publishers[publisher] = true
	}
}

// recentAt counts what is in the bucket of a time, or in one of the eleven before.
func (p *plain) recentAt(streamTime int64) (n int) {
	width := p.window / 12
	for _, at := range p.times {
		if at/width > streamTime/width-12 {
			n++
		}
	}
	return n
}

// Signals are those of all articles, whatever comes in whatever order.
func TestAddIsAsPlain(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 15))
		window := []int64{60_000, 61_001, 3_600_000, 90 * 24 * 3_600_000}[random.IntN(4)]
		rule := signals.NewRule(time.Duration(window) * time.Millisecond)
		model := plain{window: window, publishers: make(map[string]bool)}
		var s signals.State
		streamTime := random.Int64N(1e12)
		names := 1 + random.IntN(100)
		for n := range 300 {
			at := max(0, streamTime-random.Int64N(3*window))
			switch random.IntN(4) {
			case 0:
				streamTime += random.Int64N(window / 3)
				at = streamTime
			case 1:
				streamTime += random.Int64N(2 * window) // by an article of another cluster
			}
			publisher := ""
			if p := random.IntN(names + 1); p > 0 {
				publisher = fmt.Sprint("publisher ", p)
			}
			s = rule.Add(s, streamTime, at, publisher)
			model.add(streamTime, at, publisher)
			later := streamTime + random.Int64N(2*window)
			if got, want := s.Publishers(), min(65, len(model.publishers)); got != want {
				t.Fatalf("seed %d, article %d: %d publishers, want %d", seed, n, got, want)
			}
			if got, want := s.Recent(), model.recentAt(streamTime); got != want {
				t.Fatalf("seed %d, article %d: %d recent, want %d", seed, n, got, want)
			}
			if got, want := s.RecentAt(later), model.recentAt(later); got != want {
				t.Fatalf("seed %d, article %d: %d recent at %d, want %d", seed, n, got, later, want)
			}
			if err := s.Check(n+1, latest); err != nil || len(s) > signals.MaxBytes {
				t.Fatalf("seed %d, article %d: %d bytes: %v", seed, n, len(s), err)
			}
		}
	}
}

// What is known of two or three clusters together is what is known where all of their articles are
// in one, in whatever order they are put together.
func TestMergeIsAsOneCluster(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 20))
		window := []int64{60_000, 3_600_000, 90 * 24 * 3_600_000}[random.IntN(3)]
		rule := signals.NewRule(time.Duration(window) * time.Millisecond)
		model := plain{window: window, publishers: make(map[string]bool)}
		var parts [3]signals.State
		var whole signals.State
		streamTime, names, of := random.Int64N(1e12), 1+random.IntN(90), 1+random.IntN(3)
		latest := int64(0) // stream time of the last article
		for range random.IntN(150) {
			streamTime += random.Int64N(window/3) * random.Int64N(2)
			at, publisher := max(0, streamTime-random.Int64N(2*window)), ""
			if p := random.IntN(names + 1); p > 0 {
				publisher = fmt.Sprint("publisher ", p)
			}
			part := &parts[random.IntN(of)]
			*part = rule.Add(*part, streamTime, at, publisher)
			whole = rule.Add(whole, streamTime, at, publisher)
			model.add(streamTime, at, publisher)
			latest = streamTime
		}
		a, b, c := parts[0], parts[1], parts[2]
		got := rule.Merge(rule.Merge(a, b), c)
		for name, other := range map[string]signals.State{
			"(b a) c": rule.Merge(rule.Merge(b, a), c), "a (b c)": rule.Merge(a, rule.Merge(b, c)),
			"c (b a)": rule.Merge(c, rule.Merge(b, a)), "one cluster": whole,
		} {
			if got != other && (whole != "" || other != "") {
				t.Errorf("seed %d: (a b) c is %x, %s is %x", seed, got, name, other)
			}
		}
		if recent, want := got.Recent(), model.recentAt(latest); recent != want {
			t.Errorf("seed %d: %d recent, want %d", seed, recent, want)
		}
		if n, want := got.Publishers(), min(65, len(model.publishers)); n != want {
			t.Errorf("seed %d: %d publishers, want %d", seed, n, want)
		}
		if err := got.Check(len(model.times), streamTime); err != nil || len(got) > signals.MaxBytes {
			t.Errorf("seed %d: %d bytes: %v", seed, len(got), err)
		}
	}
}

// What another window has counted is not recent, its publishers stay, and off is off.
func TestMergeOfOtherWindows(t *testing.T) {
	hour, day := signals.NewRule(time.Hour), signals.NewRule(24*time.Hour)
	a, b := hour.Add("", 9e9, 9e9, "a"), day.Add("", 9e9, 9e9, "b")
	for rule, want := range map[signals.Rule]signals.State{hour: a, day: b} {
		for _, got := range []signals.State{rule.Merge(a, b), rule.Merge(b, a)} {
			if got.Publishers() != 2 || got.Recent() != 1 || got.Check(2, latest) != nil {
				t.Errorf("%d publishers, %d recent", got.Publishers(), got.Recent())
			}
		}
		if got := rule.Merge(want, ""); got != want {
			t.Errorf("with nothing it is %x, want %x", got, want)
		}
	}
	if got := (signals.Rule{}).Merge(a, b); got != "" {
		t.Errorf("%q where signals are off", got)
	}
	if got := hour.Merge(a, "\x81"); got != a {
		t.Errorf("with what is no state it is %x, want %x", got, a)
	}
}

// Publishers are exact to 64. More are not told apart, and take no room.
func TestManyPublishers(t *testing.T) {
	rule := signals.NewRule(time.Hour)
	var s signals.State
	for n := 1; n <= 100; n++ {
		for range 2 {
			s = rule.Add(s, 1, 1, fmt.Sprint("publisher ", n))
		}
		if got, want := s.Publishers(), min(n, signals.MaxPublishers+1); got != want {
			t.Fatalf("%d publishers, want %d", got, want)
		}
	}
	if len(s) > 10 {
		t.Errorf("%d bytes for more publishers than are told apart", len(s))
	}
}

// With another window recent articles are counted anew, and publishers stay.
func TestWindowChanges(t *testing.T) {
	s := signals.NewRule(time.Hour).Add("", 9e6, 9e6, "a")
	s = signals.NewRule(time.Hour).Add(s, 9e6, 9e6, "b")
	s = signals.NewRule(2*time.Hour).Add(s, 9e6, 9e6, "a")
	if s.Recent() != 1 || s.Publishers() != 2 {
		t.Errorf("%d recent, %d publishers; want 1, 2", s.Recent(), s.Publishers())
	}
	if s = (signals.Rule{}).Add(s, 9e6, 9e6, "a"); s != "" {
		t.Errorf("%q is left where signals are off", s)
	}
	if s.Publishers() != 0 || s.Recent() != 0 || s.RecentAt(5) != 0 || s.Check(1, latest) != nil {
		t.Error("the empty state says something")
	}
}

// What no clusterd writes is refused, and nothing panics.
func TestCheckRefuses(t *testing.T) {
	rule := signals.NewRule(time.Hour)
	s := rule.Add(rule.Add("", 9e6, 9e6, "a"), 9e6, 9e6, "b")
	if err := s.Check(2, 9e6); err != nil {
		t.Fatal(err)
	}
	for n := 1; n < len(s); n++ {
		if s[:n].Check(2, latest) == nil {
			t.Errorf("cut to %d bytes of %d: taken", n, len(s))
		}
	}
	hashes := s[len(s)-16:]
	for name, bad := range map[string]signals.State{
		"longer":           s + "x",
		"twice the same":   s[:len(s)-8] + hashes[:8],
		"out of order":     s[:len(s)-16] + hashes[8:] + hashes[:8],
		"no width":         "\x00\x00\x00\x00",
		"too many buckets": "\x01\x00\x0d" + "\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x00",
		"too many hashes":  "\x01\x00\x00\x42",
		"a long number":    "\x81\x00\x00\x00\x00",
		"an old zero":      "\x01\x00\x01\x00\x00",
	} {
		if bad.Check(99, latest) == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if s.Check(1, latest) == nil || s.Check(2, 1e6) == nil {
		t.Error("more articles than there are, or of the future, are taken")
	}
	if full := rule.Add("", 5, 5, ""); full.Check(0, latest) == nil {
		t.Error("an article of a cluster without any is taken")
	}
}

func FuzzCheck(f *testing.F) {
	rule := signals.NewRule(time.Hour)
	s := rule.Add("", 9e6, 9e6, "a")
	f.Add(string(s), 1)
	f.Add(string(rule.Add(s, 9e9, 8e9, "b")), 5)
	f.Fuzz(func(t *testing.T, text string, size int) {
		s := signals.State(text)
		if s.Check(size, latest) != nil {
			return
		}
		if s.Recent() > max(0, size) || s.Publishers() > max(0, size) || s.Recent() < 0 {
			t.Errorf("%q: %d recent, %d publishers of %d articles", text, s.Recent(), s.Publishers(), size)
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	rule := signals.NewRule(time.Hour)
	for _, n := range []int{1, 8, 64, 65} {
		b.Run(fmt.Sprint("publishers=", n), func(b *testing.B) {
			var s signals.State
			for i := range n {
				s = rule.Add(s, 9e9, 9e9, fmt.Sprint("publisher ", i))
			}
			b.ReportAllocs()
			for b.Loop() {
				rule.Add(s, 9e9, 9e9, "publisher 0")
			}
		})
	}
}
