package audit

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/method"
)

// A copy that was cut may join by cluster.containment, and by that alone.
func TestContained(t *testing.T) {
	t.Parallel()
	cut := func(it item) string {
		words := strings.Fields(prose(item{fingerprint: it.fingerprint &^ 0xff}))
		return strings.Join(words[it.fingerprint&0xff:], " ")
	}
	tale := []item{
		{0, 0x100, 0, ""}, // new
		{1, 0x200, 1, ""}, // new
		{0, 0x124, 2, ""}, // the first without 36 of its 120 words
		{1, 0x20c, 3, ""}, // the second without 12 of them
	}
	for _, name := range []string{"minhash", "shingle"} {
		for _, test := range []struct {
			audited float64 // cluster.containment of the audit
			want    []string
		}{
			{.9, nil},
			{1, []string{"I3 article-clusters/0/1"}}, // the title and what follows it are not the same
		} {
			// The fingerprints are those of this setting in either case.
			of := config.Default()
			of.Fingerprint.Method, of.Cluster.Containment = name, .9
			of.Cluster.Similarity = .8
			m, err := method.New(of.MethodSettings())
			if err != nil {
				t.Fatal(err)
			}
			if name == "minhash" && test.audited == 1 {
				continue // estimates more than there is
			}
			t.Run(fmt.Sprint(name, test.audited), func(t *testing.T) {
				t.Parallel()
				s := newStage(t, func(c *config.Config) { c.Fingerprint.Method, c.Cluster = name, of.Cluster })
				s.use(m, cut)
				s.title = "A story"
				s.cluster(tale, s.input(tale))
				s.config.Cluster.Containment = test.audited
				if s.method, err = method.New(s.config.MethodSettings()); err != nil {
					t.Fatal(err)
				}
				s.write()
				found := s.audit(Options{})
				if got := firsts(found); !slices.Equal(got, test.want) {
					t.Errorf("found:\n%s\nwant %q", strings.Join(violations(found), "\n"), test.want)
				}
				if n := found.Counts; n.New != 2 || n.Joined != 2 {
					t.Errorf("%d new, %d joined; want 2 of each", n.New, n.Joined)
				}
			})
		}
	}
}

// Two long texts may be within the threshold and yet no longer the same, by
// cluster.long_similarity.
func TestLongSimilarity(t *testing.T) {
	t.Parallel()
	tale := []item{
		{0, 0x100, 0, ""}, // new
		{1, 0x200, 1, ""}, // new
		{0, 0x114, 2, ""}, // the first with 20 of its 120 words changed, which leaves .6 of the shingles
		{1, 0x205, 3, ""}, // the second with 5 of them changed
	}
	for _, name := range []string{"minhash", "shingle"} {
		for _, test := range []struct {
			audited float64 // cluster.long_similarity of the audit
			want    []string
		}{
			{.5, nil},
			{.7, []string{"I3 article-clusters/0/1"}},
		} {
			t.Run(fmt.Sprint(name, test.audited), func(t *testing.T) {
				t.Parallel()
				s := newStage(t, func(c *config.Config) {
					c.Fingerprint.Method, c.Cluster.Similarity, c.Cluster.LongSimilarity = name, .5, .5
				})
				m, err := method.New(s.config.MethodSettings())
				if err != nil {
					t.Fatal(err)
				}
				s.use(m, prose)
				s.title = "A story"
				s.cluster(tale, s.input(tale))
				s.config.Cluster.LongSimilarity = test.audited
				if s.method, err = method.New(s.config.MethodSettings()); err != nil {
					t.Fatal(err)
				}
				s.write()
				found := s.audit(Options{})
				if got := firsts(found); !slices.Equal(got, test.want) {
					t.Errorf("found:\n%s\nwant %q", strings.Join(violations(found), "\n"), test.want)
				}
				if n := found.Counts; n.New != 2 || n.Joined != 2 {
					t.Errorf("%d new, %d joined; want 2 of each", n.New, n.Joined)
				}
			})
		}
	}
}

// prose returns the text of a story, by the bits above the lowest 8; these say how many of its
// words are others.
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

var sketchFaults = []struct {
	name string
	seed func(*stage)
	want []string
}{
	{"none", func(*stage) {}, nil},
	{
		"another distance",
		func(s *stage) { s.edit(s.result(2), `"distance":`, `"distance":1`) },
		[]string{"I3 article-clusters/0/1"},
	},
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
	{
		"no sketch",
		func(s *stage) { s.edit(s.clusterRecord(0), `"sketch"`, `"sketched"`) },
		[]string{"I4 clusters/0/0"},
	},
	{
		"a cluster that is not near",
		func(s *stage) {
			s.edit(s.result(2), `"cluster_id":"articles/0/0"`, `"cluster_id":"articles/1/0"`)
		},
		[]string{"I3 article-clusters/0/1", "I4 clusters/0/0"},
	},
	{"a cluster that is not near, with its representative and size", func(s *stage) {
		s.edit(s.result(2), `"cluster_id":"articles/0/0"`, `"cluster_id":"articles/1/0"`)
		s.edit(s.result(2), `"representative":{"id":"id-0"`, `"representative":{"id":"id-1"`)
	}, []string{"I3 article-clusters/0/1", "I4 clusters/0/0"}},
	{"a cluster of its own though the same is there", func(s *stage) {
		s.edit(
			s.result(3), `"cluster_id":"articles/0/0","status":"joined"`,
			`"cluster_id":"articles/1/1","status":"new"`,
		)
	}, []string{"I3 article-clusters/1/1"}},
}

// Of methods that compare sketches, distances, fingerprints and sketches are held to the input.
func TestFaultsOfSketchesAreFound(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"simhash+verify", "minhash", "shingle"} {
		c := config.Default()
		c.Fingerprint.Method = name
		m, err := method.New(c.MethodSettings())
		if err != nil {
			t.Fatal(err)
		}
		for _, test := range some(5, sketchFaults) {
			t.Run(name+", "+test.name, func(t *testing.T) {
				t.Parallel()
				s := newStage(t, func(c *config.Config) { c.Fingerprint.Method = name })
				s.use(m, prose)
				s.title = "A story"
				s.cluster(retold, s.input(retold))
				test.seed(s)
				s.write()
				found := s.audit(Options{})
				if got := firsts(found); !slices.Equal(got, test.want) {
					t.Errorf("found:\n%s\nwant %q", strings.Join(violations(found), "\n"), test.want)
				}
				if n := found.Counts; test.want == nil &&
					(n.New != 3 || n.Joined != 5 || len(found.Limits) != 1) {
					t.Errorf(
						"%d new, %d joined, limits %q; want 3, 5, and that the nearest is not looked for", n.New,
						n.Joined, found.Limits,
					)
				}
			})
		}
	}
}
