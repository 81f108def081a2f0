package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/method"
)

// What somebody reads and runs first who is new here.

// ofRepository reads a file of the repository.
func ofRepository(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// edited returns for each word of a text two lines: the text, and a copy with only this word
// changed.
func edited(text string) (pairs []string) {
	for i := range strings.Fields(text) {
		words := strings.Fields(text)
		words[i] = "great"
		pairs = append(pairs, fmt.Sprintf("{\"content\":%q}\n{\"content\":%q}\n", text,
			strings.Join(words, " ")))
	}
	return pairs
}

// joinedCopies clusters each pair by itself, and counts the copies that join.
func joinedCopies(t *testing.T, pairs []string, args ...string) (joined int) {
	t.Helper()
	for _, pair := range pairs {
		got := clusterd(t, pair, args...)
		if got.code != 0 {
			t.Fatalf("%q: exit %d, errors %s", args, got.code, got.errs)
		}
		joined += strings.Count(got.out, `"status":"joined"`)
	}
	return joined
}

// ownTexts are the commands that cluster a text and its edited copy, as a document shows them.
var ownTexts = regexp.MustCompile(`(?m)^echo '(.*)' > my\.jsonl\necho '(.*)' >> my\.jsonl\n` +
	`\./clusterd (cluster.*) my\.jsonl$`)

// The first experiment succeeds: the copy in the document joins, and so does each copy with any
// one word changed.
func TestFirstExperiment(t *testing.T) {
	othersGoroutines(t, "TestClusterFiles", "TestClusterInterrupted")
	t.Parallel()
	for _, name := range []string{"README.md", "docs/quickstart.md"} {
		t.Run(name, func(t *testing.T) {
			found := ownTexts.FindStringSubmatch(ofRepository(t, name))
			if found == nil {
				t.Fatalf("there are no commands like %s", ownTexts)
			}
			args := strings.Fields(found[3])
			got := clusterd(t, found[1]+"\n"+found[2]+"\n", args...)
			want := "a1 new articles/0/0\na2 joined articles/0/0\n"
			if s := summary(t, got.out); s != want {
				t.Errorf("results:\n%swant:\n%s%s", s, want, got.errs)
			}
			var original struct{ Content string }
			if err := json.Unmarshal([]byte(found[1]), &original); err != nil {
				t.Fatal(err)
			}
			pairs := edited(original.Content)
			if n := joinedCopies(t, pairs, args...); n != len(pairs) {
				t.Errorf("%d of %d copies with one word changed join", n, len(pairs))
			}
		})
	}
}

// shop is a comment of 26 words.
const shop = "I bought my watch here for half the price of the shop in town, it came in three " +
	"days, and all my friends want the same."

var (
	noMethod = `"msg":"no method was chosen, so simhash compared`
	counts   = regexp.MustCompile(`it finds (\d+) copies, and minhash would find (\d+) \(--method minhash\)`)
)

// If no method was chosen, cluster says how many copies two methods find, and its results stay
// those of the default.
func TestClusterWithoutAMethod(t *testing.T) {
	othersGoroutines(t, "TestClusterFiles", "TestClusterInterrupted")
	t.Parallel()
	texts := strings.Join(edited(shop), "") // 26 times the comment itself, and 26 copies
	bySimhash := clusterd(t, texts, "cluster", "--method", "simhash")
	byMinhash := clusterd(t, texts, "cluster", "--method", "minhash")
	joined := func(o outcome) string { return fmt.Sprint(strings.Count(o.out, `"status":"joined"`)) }
	if joined(bySimhash) == joined(byMinhash) {
		t.Fatalf("both methods join %s of 52: the test shows little", joined(bySimhash))
	}
	silent := write(t, "silent.yaml", []byte("input: {format: json}\n"))
	chosen := write(t, "chosen.yaml", []byte("fingerprint: {method: simhash}\n"))
	for name, test := range map[string]struct {
		args []string
		says bool
	}{
		"nothing":                  {nil, true},
		"a file that has none":     {[]string{"-c", silent}, true},
		"a file that has one":      {[]string{"-c", chosen}, false},
		"a flag":                   {[]string{"--method", "simhash"}, false},
		"a key":                    {[]string{"--set", "fingerprint.method=simhash"}, false},
		"another key of a file":    {[]string{"-c", silent, "--set", "cluster.window=3d"}, true},
		"a flag that needs no one": {[]string{"--distance", "3"}, true},
	} {
		got := clusterd(t, texts, append([]string{"cluster"}, test.args...)...)
		if got.out != bySimhash.out {
			t.Errorf("%s: the results are not those of simhash", name)
		}
		found := counts.FindStringSubmatch(got.errs)
		switch {
		case strings.Contains(got.errs, noMethod) != test.says:
			t.Errorf("%s: it says %s", name, got.errs)
		case !test.says:
		case found == nil || found[1] != joined(bySimhash) || found[2] != joined(byMinhash):
			t.Errorf("%s: it says %s, and not %s and %s", name, got.errs, joined(bySimhash),
				joined(byMinhash))
		}
	}
}

// Counting makes each fingerprint twice, so it stops at 10,000 texts.
func TestClusterCountsForFewTexts(t *testing.T) {
	othersGoroutines(t, "TestClusterFiles", "TestClusterInterrupted")
	t.Parallel()
	for texts, says := range map[int]bool{10_000: true, 10_001: false} {
		got := clusterd(t, strings.Repeat(shop+"\n", texts), "cluster", "--format", "text")
		found := counts.FindStringSubmatch(got.errs)
		if !strings.Contains(got.errs, noMethod) || (found != nil) != says ||
			says && (found[1] != "9999" || found[2] != "9999") {
			t.Errorf("of %d texts it says %s", texts, got.errs)
		}
	}
}

// If no method was chosen, the daemon says which it takes, in one line with a link.
func TestRunWithoutAMethod(t *testing.T) {
	t.Parallel()
	for method, lines := range map[string]int{"": 1, "fingerprint: {method: simhash}": 0} {
		p := start(t, "run", "-c", freeAddress(t, method))
		p.errs.WaitFor(t, `"msg":"starting"`, 1)
		said := regexp.MustCompile(`(?m)^.*fingerprint\.method is not set.*simhash.*https://\S+\.md.*$`).
			FindAllString(p.errs.String(), -1)
		if len(said) != lines {
			t.Errorf("with %q it says %q in\n%s", method, said, &p.errs)
		}
	}
}

// drawn is a row of the README's picture: a text and its result.
var drawn = regexp.MustCompile(`(?m)^│ (.+?) +│.│ (\w+) +cluster (\d+)(?:, distance ([\d.]+))? +story (\d+) │$`)

// What the README draws is what clusterd does.
func TestREADMEPicture(t *testing.T) {
	othersGoroutines(t, "TestClusterFiles", "TestClusterInterrupted")
	t.Parallel()
	readme := ofRepository(t, "README.md")
	rows := drawn.FindAllStringSubmatch(readme, -1)
	var texts, want strings.Builder
	for _, row := range rows {
		fmt.Fprintf(&texts, "{\"content\":%q}\n", row[1])
		distance := row[4]
		if distance == "" {
			distance = "0"
		}
		fmt.Fprintf(&want, "%s articles/0/%s at %s, articles/0/%s\n", row[2], row[3], distance, row[5])
	}
	ran := clusterd(t, texts.String(), "cluster", "--method", "minhash",
		"--set", "stories.topic=stories")
	var got strings.Builder
	for line := range strings.Lines(ran.out) {
		r, err := article.ParseResult([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "%s %s at %s, %s\n", r.Status, *r.ClusterID, hundredths(*r.Distance), r.StoryID)
	}
	if len(rows) < 4 || !strings.Contains(got.String(), "joined") || got.String() != want.String() {
		t.Errorf("the picture shows\n%sand clusterd gives\n%s%s", &want, &got, ran.errs)
	}
	c := config.Default()
	c.Fingerprint.Method = "minhash"
	m, err := method.New(c.MethodSettings())
	if err != nil {
		t.Fatal(err)
	}
	if limit := "a distance of " + hundredths(m.Threshold()) + " is near enough"; !strings.Contains(
		strings.ReplaceAll(readme, "\n", " "), limit) {
		t.Errorf("it does not say that %s", limit)
	}
}

// hundredths writes a share as documents do: .17.
func hundredths(share float64) string {
	return strings.Replace(fmt.Sprintf("%.2g", share), "0.", ".", 1)
}
