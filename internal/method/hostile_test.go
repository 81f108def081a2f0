package method_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/testutil/check"
)

var hostileTexts = flag.Int("texts", 20_000, "texts of each input of BenchmarkHostile")

// A vocabulary is made-up words of four to seven letters.
type vocabulary []string

func newVocabulary(r *rand.Rand, n int) vocabulary {
	words := make(vocabulary, n)
	for i := range words {
		letters := make([]byte, 4+r.IntN(4))
		for j := range letters {
			letters[j] = byte('a' + r.IntN(26))
		}
		words[i] = string(letters)
	}
	return words
}

func (v vocabulary) text(r *rand.Rand, n int) []string {
	words := make([]string, n)
	for i := range words {
		words[i] = v[r.IntN(len(v))]
	}
	return words
}

// template keeps this share of words and makes up the others.
func (v vocabulary) template(r *rand.Rand, words []string, share float64) []string {
	words = slices.Clone(words)
	for i := range words {
		if r.Float64() >= share {
			words[i] = v[r.IntN(len(v))]
		}
	}
	return words
}

func shuffled(r *rand.Rand, words []string) []string {
	words = slices.Clone(words)
	r.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	return words
}

// A hostileInput makes the words of one text after the other.
type hostileInput struct {
	name string
	next func(r *rand.Rand, v vocabulary) func(i int) []string
}

// hostile returns streams of texts each of which is like all others, but not like enough to be the
// same; the first is of texts that are like no other.
func hostile() []hostileInput {
	type stream = func(i int) []string
	inputs := []hostileInput{{"unlike", func(r *rand.Rand, v vocabulary) stream {
		return func(int) []string { return v.text(r, 60) }
	}}}
	add := func(name string, next func(r *rand.Rand, v vocabulary) func(i int) []string) {
		inputs = append(inputs, hostileInput{name, next})
	}
	for _, share := range []float64{.6, .7, .8, .9} {
		add(fmt.Sprintf("slots, %v the same", share), func(r *rand.Rand, v vocabulary) stream {
			form := v.text(r, 60)
			return func(int) []string { return v.template(r, form, share) }
		})
		add(fmt.Sprintf("head of %v, random tail", share), func(r *rand.Rand, v vocabulary) stream {
			head := v.text(r, int(60*share))
			return func(int) []string { return append(slices.Clone(head), v.text(r, 60-len(head))...) }
		})
	}
	add("random head, the same tail", func(r *rand.Rand, v vocabulary) stream {
		tail := v.text(r, 42)
		return func(int) []string { return append(v.text(r, 18), tail...) }
	})
	add("40 words in other orders", func(r *rand.Rand, v vocabulary) stream {
		form := v.text(r, 40)
		return func(int) []string { return shuffled(r, form) }
	})
	add("40 words in other orders, one changed", func(r *rand.Rand, v vocabulary) stream {
		form := v.text(r, 40)
		return func(int) []string {
			words := shuffled(r, form)
			words[0] = v[r.IntN(len(v))]
			return words
		}
	})
	add("300 words, sentences of 5 in other orders", func(r *rand.Rand, v vocabulary) stream {
		sentences := slices.Collect(slices.Chunk(v.text(r, 300), 5))
		return func(int) []string {
			r.Shuffle(len(sentences),
				func(i, j int) { sentences[i], sentences[j] = sentences[j], sentences[i] })
			return slices.Concat(sentences...)
		}
	})
	add("two words for each place", func(r *rand.Rand, v vocabulary) stream {
		a, b := v.text(r, 60), v.text(r, 60)
		return func(int) []string {
			words := slices.Clone(a)
			for i := range words {
				if r.IntN(2) == 0 {
					words[i] = b[i]
				}
			}
			return words
		}
	})
	add("three words for a third of the places", func(r *rand.Rand, v vocabulary) stream {
		form, others := v.text(r, 60), [2][]string{v.text(r, 60), v.text(r, 60)}
		return func(int) []string {
			words := slices.Clone(form)
			for i := 0; i < len(words); i += 3 {
				if n := r.IntN(3); n < 2 {
					words[i] = others[n][i]
				}
			}
			return words
		}
	})
	add("halves of ten templates", func(r *rand.Rand, v vocabulary) stream {
		var forms [10][]string
		for i := range forms {
			forms[i] = v.text(r, 40)
		}
		return func(int) []string {
			return slices.Concat(forms[r.IntN(10)], forms[r.IntN(10)], v.text(r, 12))
		}
	})
	add("each drifts from the one before", func(r *rand.Rand, v vocabulary) stream {
		words := v.text(r, 60)
		return func(int) []string {
			words = v.template(r, words, .9)
			return words
		}
	})
	add("ten chains that drift", func(r *rand.Rand, v vocabulary) stream {
		var chains [10][]string
		for i := range chains {
			chains[i] = v.text(r, 60)
		}
		return func(i int) []string {
			chains[i%10] = v.template(r, chains[i%10], .92)
			return chains[i%10]
		}
	})
	add("8 words, 3 random", func(r *rand.Rand, v vocabulary) stream {
		form := v.text(r, 5)
		return func(int) []string { return append(slices.Clone(form), v.text(r, 3)...) }
	})
	add("two words, one the same", func(r *rand.Rand, v vocabulary) stream {
		return func(int) []string { return []string{v[0], v[r.IntN(len(v))] + v[r.IntN(len(v))][:2]} }
	})
	add("a number in a short text", func(_ *rand.Rand, v vocabulary) stream {
		return func(i int) []string { return []string{v[0], v[1], fmt.Sprint(i * 7919), v[2]} }
	})
	add("a subset of 100 words", func(r *rand.Rand, v vocabulary) stream {
		form := v.text(r, 100)
		return func(int) []string {
			return slices.DeleteFunc(slices.Clone(form), func(string) bool { return r.IntN(4) == 0 })
		}
	})
	add("longer and longer", func(r *rand.Rand, v vocabulary) stream {
		form := v.text(r, 400)
		return func(int) []string { return append(slices.Clone(form[:20+r.IntN(380)]), v.text(r, 20)...) }
	})
	add("a template in every other text", func(r *rand.Rand, v vocabulary) stream {
		form := v.text(r, 60)
		return func(i int) []string {
			if i%2 == 0 {
				return v.text(r, 60)
			}
			return v.template(r, form, .8)
		}
	})
	add("120 words, 70 of them the same, all in other orders",
		func(r *rand.Rand, v vocabulary) stream {
			form := v.text(r, 70)
			return func(int) []string { return shuffled(r, append(slices.Clone(form), v.text(r, 50)...)) }
		})
	return inputs
}

// hostileConfig returns a method with its defaults, the settings of configs/comments.yaml, or
// minhash with containment.
func hostileConfig(name string) config.Config {
	c := config.Default()
	c.Fingerprint.Method = name
	if name == "comments" {
		c.Fingerprint.Method, c.Fingerprint.Shingle.Size, c.Cluster.Similarity = "minhash", 3, .7
	}
	if name == "containment" {
		c.Fingerprint.Method, c.Cluster.Containment = "minhash", .9
	}
	return c
}

// What an article is compared with does not grow with the texts before it, though all are of one
// template.
func TestHostileCandidates(t *testing.T) {
	check.OneGoroutine(t)
	const texts = 2500
	for _, test := range []struct {
		method, input string
		most          uint64
	}{
		{"minhash", "head of 0.7, random tail", 200},
		{"minhash", "three words for a third of the places", 400},
		{"comments", "head of 0.7, random tail", 250},
		{"containment", "head of 0.7, random tail", 200},
		{"containment", "three words for a third of the places", 450},
		{"containment", "a subset of 100 words", 400},
		{"simhash+verify", "40 words in other orders", 1200},
		{"simhash+verify", "40 words in other orders, one changed", 1800},
	} {
		t.Run(test.method+"/"+test.input, func(t *testing.T) {
			methods, err := made()
			if err != nil {
				t.Fatal(err)
			}
			m, ok := methods[test.method]
			if !ok {
				if m, err = method.New(hostileConfig(test.method).MethodSettings()); err != nil {
					t.Fatal(err)
				}
			}
			r := rand.New(rand.NewPCG(1, 1))
			v := newVocabulary(r, 20_000)
			all := hostile()
			input := all[slices.IndexFunc(all, func(i hostileInput) bool { return i.name == test.input })]
			next, fingerprint, index := input.next(r, v), m.NewFingerprinter(), newIndex(t, m)
			space := singlepass.NewSpace(index, singlepass.Rule{}, nil)
			var half uint64
			for i := range texts {
				if i == texts/2 {
					half = index.Candidates()
				}
				f, _ := fingerprint("", strings.Join(next(i), " "))
				space.Assign(f, 0)
			}
			got := (index.Candidates() - half) / (texts / 2)
			if got > test.most {
				t.Errorf("an article is compared with %d centres, want %d at most", got, test.most)
			}
			t.Logf("%d candidates", got)
		})
	}
}

// BenchmarkHostile assigns such texts, in one round for all, and reports what one took of time and
// how many centres it was compared with. At the end come copies of earlier ones with one word in
// twenty changed; recall is the share that joined a cluster. With a window, half of all texts have
// expired by then.
func BenchmarkHostile(b *testing.B) {
	for _, name := range []string{
		"minhash", "comments", "containment", "simhash+verify", "simhash", "shingle",
	} {
		m, err := method.New(hostileConfig(name).MethodSettings())
		if err != nil {
			b.Fatal(err)
		}
		for _, window := range []time.Duration{0, time.Duration(*hostileTexts/2) * time.Millisecond} {
			for _, input := range hostile() {
				b.Run(fmt.Sprintf("%s/window=%t/%s", name, window > 0, input.name), func(b *testing.B) {
					r := rand.New(rand.NewPCG(1, 1))
					v := newVocabulary(r, 20_000)
					assignHostile(b, m, window, r, v, input.next(r, v))
				})
			}
		}
	}
}

func assignHostile(
	b *testing.B, m method.Method, window time.Duration, r *rand.Rand, v vocabulary,
	next func(i int) []string,
) {
	b.Helper()
	const copies = 500
	n, fingerprint := *hostileTexts, m.NewFingerprinter()
	texts := make([][]string, n)
	fingerprints := make([]singlepass.Fingerprint, n)
	start := time.Now()
	for i := range fingerprints {
		texts[i] = slices.Clone(next(i))
		fingerprints[i], _ = fingerprint("", strings.Join(texts[i], " "))
	}
	printing := time.Since(start)
	lastSeen := make(map[uint64]int64)
	index, err := m.NewIndex(m.Threshold())
	if err != nil {
		b.Fatal(err)
	}
	space := singlepass.NewSpace(index, singlepass.Rule{Window: window},
		func(seq uint64) int64 { return lastSeen[seq] })
	founded := 0
	assign := func(f singlepass.Fingerprint, at int64) bool {
		a := space.Assign(f, at)
		lastSeen[a.Centre.Seq] = max(lastSeen[a.Centre.Seq], at)
		return a.Joined
	}
	start = time.Now()
	for i, f := range fingerprints {
		if !assign(f, int64(i)) {
			founded++
		}
	}
	took, compared, joined := time.Since(start), index.Candidates(), 0
	for range copies {
		i := r.IntN(n)
		if window > 0 {
			i = n/2 + r.IntN(n/2)
		}
		f, _ := fingerprint("", strings.Join(v.template(r, texts[i], .95), " "))
		if _, _, ok := index.Nearest(f, nil); ok {
			joined++
		}
	}
	b.ReportMetric(float64(printing.Microseconds())/float64(n), "fingerprint-µs")
	b.ReportMetric(float64(took.Microseconds())/float64(n), "assign-µs")
	b.ReportMetric(float64(compared)/float64(n), "candidates")
	b.ReportMetric(float64(founded)/float64(n), "founded")
	b.ReportMetric(float64(joined)/copies, "recall")
	b.ReportMetric(0, "ns/op")
}
