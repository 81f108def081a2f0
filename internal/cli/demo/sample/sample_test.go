package sample_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/cli/demo/sample"
	"github.com/clusterd/clusterd/internal/testutil/golden"
)

var start = time.Date(2026, time.January, 2, 3, 4, 5, 6, time.UTC)

func articles(seed uint64, n int) []sample.Article {
	g := sample.New(seed, start)
	out := make([]sample.Article, n)
	for i := range out {
		out[i] = g.Next()
	}
	return out
}

// The same seed gives the same feed, on every machine and in every version: a
// change of the golden file is a change of everyone's test data.
func TestFeedIsStable(t *testing.T) {
	sum := sha256.New()
	for _, a := range articles(1, 1000) {
		sum.Write(a.JSON())
		sum.Write([]byte("\n" + a.Kind + "\n"))
		sum.Write([]byte(a.Origin))
	}
	got := hex.EncodeToString(sum.Sum(nil)) + "\n"
	golden.Check(t, "testdata/feed.sha256.golden", []byte(got))
}

func TestFeedDependsOnSeedAndStart(t *testing.T) {
	a, b := articles(1, 200), articles(1, 200)
	if !slices.Equal(a, b) {
		t.Error("two generators of one seed differ")
	}
	if c := articles(2, 1)[0]; c.Content == a[0].Content || c.ID == a[0].ID {
		t.Errorf("seeds 1 and 2 begin with the same article: %+v", c)
	}
	later := sample.New(1, start.Add(time.Hour))
	for i := range a {
		want := a[i]
		want.PublishedAt = want.PublishedAt.Add(time.Hour)
		if got := later.Next(); got != want {
			t.Fatalf("article %d from an hour later: got %+v, want %+v", i, got, want)
		}
	}
}

func TestOrigins(t *testing.T) {
	seen := map[string]sample.Article{}
	for _, a := range articles(3, 5000) {
		if _, again := seen[a.ID]; again {
			t.Fatalf("ID %s comes twice", a.ID)
		}
		seen[a.ID] = a
		origin, known := seen[a.Origin]
		switch a.Kind {
		case sample.Original, sample.Comment:
			if a.Origin != "" {
				t.Errorf("%s %s has the origin %s", a.Kind, a.ID, a.Origin)
			}
		case sample.Spam:
			if a.Origin != "" && (!known || origin.Kind != sample.Spam || origin.Origin != "") {
				t.Errorf("spam %s: its origin %q is not an earlier first advert", a.ID, a.Origin)
			}
		default:
			if !known || origin.Kind != sample.Original || a.Origin == a.ID {
				t.Errorf("%s %s: its origin %q is not an earlier original", a.Kind, a.ID, a.Origin)
			}
			if a.Source == origin.Source {
				t.Errorf("%s %s comes from its origin's source %s", a.Kind, a.ID, a.Source)
			}
		}
	}
}

func TestShares(t *testing.T) {
	const n = 10_000
	kinds, languages := map[sample.Kind]int{}, map[string]int{}
	for _, a := range articles(4, n) {
		kinds[a.Kind]++
		if a.Kind == sample.Original {
			languages[language(a.Content)]++
		}
	}
	for kind, want := range map[sample.Kind]int{
		sample.Original: 35, sample.Copy: 18, sample.Edit: 18, sample.Reorder: 7,
		sample.HTML: 9, sample.Variant: 3, sample.Spam: 7, sample.Comment: 3,
	} {
		within(t, string(kind), kinds[kind], n, want)
	}
	for language, want := range map[string]int{"zh": 60, "en": 30, "mixed": 10} {
		within(t, language, languages[language], kinds[sample.Original], want)
	}
}

func within(t *testing.T, what string, got, of, percent int) {
	t.Helper()
	const margin = 2
	if p := 100 * float64(got) / float64(of); p < float64(percent-margin) ||
		p > float64(percent+margin) {
		t.Errorf("%s: %.1f %% of %d, want %d ± %d %%", what, p, of, percent, margin)
	}
}

// language finds an original's language by the share of its ASCII letters.
func language(s string) string {
	han, latin := 0, 0
	for _, r := range s {
		switch {
		case '一' <= r && r <= '鿿':
			han++
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z':
			latin++
		}
	}
	switch {
	case han == 0:
		return "en"
	case latin == 0:
		return "zh"
	default:
		return "mixed"
	}
}

func TestStorySizes(t *testing.T) {
	for _, a := range articles(5, 5000) {
		if a.Kind != sample.Original {
			continue
		}
		size, low, high := utf8.RuneCountInString(a.Content), 200, 600
		if language(a.Content) == "en" {
			size, low, high = len(strings.Fields(a.Content)), 120, 300
		}
		if size < low || size > high {
			t.Errorf("original %s has the size %d, want %d to %d: %s", a.ID, size, low, high, a.Content)
		}
	}
}

func TestTimes(t *testing.T) {
	latest, late := start.Truncate(time.Second), 0
	first := latest
	const n = 5000
	for _, a := range articles(6, n) {
		if a.PublishedAt.Before(latest.Add(-sample.MaxLate)) {
			t.Errorf("%s is at %v, more than %v before %v", a.ID, a.PublishedAt, sample.MaxLate, latest)
		}
		if a.PublishedAt.Before(latest) {
			late++
		} else {
			latest = a.PublishedAt
		}
	}
	if per := latest.Sub(first) / n; per < 3*time.Second || per > 5*time.Second {
		t.Errorf("an article every %v, want about 4 s", per)
	}
	if late == 0 || late > n/15 {
		t.Errorf("%d of %d articles are late, want some, one in twenty at most", late, n)
	}
}

func TestJSON(t *testing.T) {
	for _, a := range articles(7, 2000) {
		b := a.JSON()
		if !utf8.Valid(b) || slices.Contains(b, '\n') {
			t.Fatalf("%s: not one line of UTF-8: %q", a.ID, b)
		}
		var got map[string]string
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%s: %v: %s", a.ID, err, b)
		}
		want := map[string]string{
			"id": a.ID, "title": a.Title, "content": a.Content, "source": a.Source,
			"published_at": a.PublishedAt.Format(time.RFC3339),
		}
		for key, value := range want {
			if got[key] != value {
				t.Errorf("%s: %s is %q, want %q", a.ID, key, got[key], value)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: members %v, want those of %v", a.ID, got, want)
		}
		if at, err := time.Parse(time.RFC3339, got["published_at"]); err != nil ||
			!at.Equal(a.PublishedAt) {
			t.Errorf("%s: published_at is %v, %v, want %v", a.ID, at, err, a.PublishedAt)
		}
	}
}

// No reference of the grammar is left unresolved, nothing is empty, what has a
// title has one, and no two originals or adverts are the same.
func TestTexts(t *testing.T) {
	originals := map[string]string{}
	for _, a := range articles(8, 20_000) {
		if strings.ContainsAny(a.Title+a.Content, "{}") || strings.Contains(a.Content, "%s") {
			t.Fatalf("%s %s has an unresolved reference: %s\n%s", a.Kind, a.ID, a.Title, a.Content)
		}
		if a.Kind == sample.Original || a.Kind == sample.Comment || a.Kind == sample.Spam {
			if other := originals[a.Content]; other != "" {
				t.Errorf("%s %s has the words of %s: %s", a.Kind, a.ID, other, a.Content)
			}
			originals[a.Content] = a.ID
		}
		if strings.TrimSpace(a.Content) == "" {
			t.Errorf("%s %s has no content", a.Kind, a.ID)
		}
		if untitled := a.Kind == sample.Spam || a.Kind == sample.Comment; (a.Title == "") != untitled {
			t.Errorf("%s %s has the title %q", a.Kind, a.ID, a.Title)
		}
	}
}

// What is made from an original stays near it, and two originals stay far apart:
// measured by the Jaccard similarity of the sets of 5 characters in a row.
func TestDerivedStayNear(t *testing.T) {
	minimum := map[sample.Kind]float64{
		sample.Copy: 1, sample.Edit: .7, sample.Reorder: .7, sample.HTML: .9,
	}
	seen := map[string]sample.Article{}
	for _, a := range articles(9, 2000) {
		seen[a.ID] = a
		want, derived := minimum[a.Kind]
		if !derived {
			continue
		}
		origin := seen[a.Origin]
		if got := jaccard(shingles(plain(a)), shingles(plain(origin))); got < want {
			t.Errorf("%s %s is %.2f similar to its origin, want %.2f:\n%s\n%s", a.Kind, a.ID, got, want,
				a.Content, origin.Content)
		}
		if same := a.Content == origin.Content; same != (a.Kind == sample.Copy) {
			t.Errorf("%s %s: content equal to its origin's: %t", a.Kind, a.ID, same)
		}
	}
}

func TestStoriesStayApart(t *testing.T) {
	var sets [][]string
	var texts []string
	for _, a := range articles(9, 2000) {
		if a.Kind == sample.Original && len(sets) < 300 {
			sets, texts = append(sets, shingles(a.Content)), append(texts, a.Content)
		}
	}
	for i := range sets {
		for j := range i {
			if got := jaccard(sets[i], sets[j]); got >= .5 {
				t.Errorf("two originals are %.2f similar, want below .5:\n%s\n\n%s", got, texts[i], texts[j])
			}
		}
	}
}

// Adverts of one campaign resemble one another and are never the same.
func TestCampaigns(t *testing.T) {
	first := map[string]sample.Article{}
	contents := map[string]bool{}
	size := map[string]int{}
	for _, a := range articles(11, 3000) {
		if a.Kind != sample.Spam {
			continue
		}
		if contents[a.Content] {
			t.Errorf("%s: the advert comes twice: %s", a.ID, a.Content)
		}
		contents[a.Content] = true
		if a.Origin == "" {
			first[a.ID] = a
			continue
		}
		size[a.Origin]++
		if got := jaccard(shingles(a.Content), shingles(first[a.Origin].Content)); got < .2 {
			t.Errorf("%s is %.2f similar to its campaign's first, want .2:\n%s\n%s", a.ID, got, a.Content,
				first[a.Origin].Content)
		}
	}
	if n := len(first); n < 20 || n > 28 {
		t.Errorf("%d campaigns in 3,000 articles, want about 4 in 500", n)
	}
	for id, n := range size {
		if n > 40 {
			t.Errorf("campaign %s has %d more adverts, want a handful", id, n)
		}
	}
}

var tags = regexp.MustCompile(`<[^>]*>`)

// plain returns the content of a without tags and character references.
func plain(a sample.Article) string {
	s := a.Content
	if a.Kind == sample.HTML {
		s = html.UnescapeString(tags.ReplaceAllString(s, ""))
	}
	return s
}

// shingles returns the runs of 5 characters of s, in order and each once.
func shingles(s string) []string {
	const length = 5
	r := []rune(s)
	var all []string
	for i := 0; i+length <= len(r); i++ {
		all = append(all, string(r[i:i+length]))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// jaccard returns Jaccard's similarity of two sets in order: the share that is in both.
func jaccard(a, b []string) float64 {
	size, both := len(a)+len(b), 0
	for len(a) > 0 && len(b) > 0 {
		switch order := strings.Compare(a[0], b[0]); {
		case order < 0:
			a = a[1:]
		case order > 0:
			b = b[1:]
		default:
			a, b, both = a[1:], b[1:], both+1
		}
	}
	return float64(both) / float64(size-both)
}

func BenchmarkNext(b *testing.B) {
	g := sample.New(1, start)
	size := 0
	for b.Loop() {
		a := g.Next()
		size += len(a.Title) + len(a.Content)
	}
	b.SetBytes(int64(size / b.N))
}
