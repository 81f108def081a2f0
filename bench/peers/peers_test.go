package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/texts"
)

// testArticles returns articles and the positions of their founders.
func testArticles() (articles []article, founders []int) {
	one, two := texts.Sentence(1, 80), texts.Sentence(2, 80)
	for i, c := range []string{one, two, one + ".", two, "ab", "xy", "ab", one} {
		articles = append(articles, article{ID: i, Content: c})
	}
	return articles, []int{0, 1, 0, 1, 4, 5, 4, 0}
}

// write writes the articles into a file of the test.
func write(t *testing.T, articles []article) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "articles")
	if err := writeLines(path, len(articles), func(i int) any { return articles[i] }); err != nil {
		t.Fatal(err)
	}
	return path
}

// founders reads the clusters of results.
func founders(t *testing.T, results string) (clusters []int) {
	t.Helper()
	f, err := os.Open(results)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }() // nothing was written
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var line struct{ Cluster int }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		clusters = append(clusters, line.Cluster)
	}
	return clusters
}

func TestClusterdFindsFounders(t *testing.T) {
	articles, want := testArticles()
	results := filepath.Join(t.TempDir(), "results")
	s := settings{signature: "fast", shingle: 5}
	if err := s.cluster([]string{write(t, articles), results}); err != nil {
		t.Fatal(err)
	}
	if got := founders(t, results); !slices.Equal(got, want) {
		t.Errorf("clusters %v, want %v", got, want)
	}
}

// The peers that python3 has follow the same rule as clusterd.
func TestPeersFindFounders(t *testing.T) {
	articles, want := testArticles()
	file := write(t, articles)
	for _, p := range peers {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			if err := exec.Command("python3", "-c", "import "+p.name).Run(); err != nil {
				t.Skipf("python3 does not import %s: %v", p.name, err)
			}
			results := filepath.Join(t.TempDir(), "results")
			o, err := measure([]string{"python3", "peers.py", p.name, "0.75", "5", file, results})
			if err != nil {
				t.Fatal(err)
			}
			if o.rate <= 0 || o.memory < 1<<20 {
				t.Errorf("%f articles a second and %f bytes", o.rate, o.memory)
			}
			if got := founders(t, results); !slices.Equal(got, want) {
				t.Errorf("clusters %v, want %v", got, want)
			}
		})
	}
}

// A Python without any of the libraries leaves clusterd alone.
func TestMissingPeersAreLeftOut(t *testing.T) {
	got, err := settings{python: "no-such-python"}.contenders()
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].name != "clusterd" {
		t.Errorf("contenders %+v, want clusterd alone", got)
	}
}

func TestNormalizeWritesCleanText(t *testing.T) {
	from := write(t, []article{{ID: "a", Title: "Storm", Content: "ＡＢ"}, {ID: "b"}})
	to := filepath.Join(t.TempDir(), "clean")
	if err := normalize([]string{from, to}); err != nil {
		t.Fatal(err)
	}
	got, err := readArticles(to)
	if err != nil {
		t.Fatal(err)
	}
	want := []article{{ID: "a", Content: "storm\nab"}, {ID: "b", Content: "\n"}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestParseScore(t *testing.T) {
	got, err := parseScore("docs 9 | pairs P 0.5 (3/4/6) | wrong/1000 1.25\n")
	if want := "0.750\t0.500\t0.600\t1.25"; got != want || err != nil {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	_, err = parseScore("(1/2)")
	check.ErrorHas(t, err, "no pairs", `"(1/2)"`)
}
