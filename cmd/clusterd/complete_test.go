package main

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/method"
)

// What the shell gets for a command line whose last word is not complete: proposals, and how it
// shall take them.
func TestCompletions(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/stats" {
			t.Errorf("asked %s", r.URL)
		}
		_, _ = w.Write([]byte(`{"labels":[{"label":"spam"},{"label":"two words"}]}`))
	}))
	t.Cleanup(s.Close)
	const (
		files, failed, noFile, noSpace, endings, dirs = ":0", ":1", ":4", ":6", ":8", ":16"
	)
	methods := strings.Join(method.Names(), " ")
	const levels = "log.level=debug log.level=info log.level=warn log.level=error"
	articles := "jsonl json csv tsv gz zst bz2 txt"
	for args, want := range map[string][2]string{
		"cluster --method ":                      {methods, noFile},
		"cluster --method=":                      {methods, noFile},
		"cluster --format ":                      {"json text", noFile},
		"cluster --encoding ":                    {"auto utf-8 gb18030 big5", noFile},
		"cluster --distance ":                    {"", noFile},
		"cluster --dead-letters ":                {"", files},
		"cluster ":                               {articles, endings},
		"cluster a.jsonl ":                       {articles, endings},
		"compare ":                               {articles, endings},
		"compare --format ":                      {"text json", noFile},
		"eval ":                                  {"paper spam tune " + articles, endings},
		"eval --format ":                         {"table json", noFile},
		"eval --run ":                            {methods, noSpace},
		"eval --run minhash,log.level=":          {"minhash,log.level=debug minhash,log.l", noFile},
		"eval spam --format ":                    {"table json", noFile},
		"eval tune --methods ":                   {methods, noSpace},
		"eval paper --run ":                      {methods, noSpace},
		"idf ":                                   {articles, endings},
		"lint ":                                  {"yaml yml", endings},
		"run -c ":                                {"yaml yml", endings},
		"run ":                                   {"", noFile},
		"run --embedded ":                        {"", dirs},
		"run --set log.level=":                   {levels, noFile},
		"run --set=log.level=":                   {levels, noFile},
		"config --set contacts.join=":            {"contacts.join=true contacts.join=false", noFile},
		"run --set text.mask=":                   {"text.mask=[urls text.mask=[contacts", noSpace},
		"run --set text.mask=[urls,":             {"text.mask=[urls,urls text.mask=[urls,c", noSpace},
		"run --set kafka.brokers=":               {"", noSpace},
		"run --set log.nothing=":                 {"", noFile},
		"audit --seen ":                          {"", files},
		"check ":                                 {"", noFile},
		"check --file ":                          {"", files},
		"label import ":                          {"jsonl json csv tsv gz zst bz2", endings},
		"label add --server " + s.URL + " ":      {"spam two words", noFile},
		"label add --server " + s.URL + " spam ": {"", noFile},
		"label resume --server " + s.URL + " ":   {"spam two words", noFile},
		"label add --server http://127.0.0.1:1 ": {"", failed},
		"tap --status ":                          {"new joined unclustered", noFile},
		"tap --server " + s.URL + " --label ":    {"spam two words", noFile},
		"tap ":                                   {"", noFile},
		"completion ":                            {"bash fish powershell zsh", noFile},
	} {
		t.Run(args, func(t *testing.T) {
			got := proposals(t, args)
			if last := got[len(got)-1]; last != want[1] {
				t.Errorf("directive %s, want %s", last, want[1])
			}
			if words := strings.Join(got[:len(got)-1], " "); !strings.HasPrefix(words, want[0]) ||
				want[0] == "" && words != "" {
				t.Errorf("proposed %q, want %q", words, want[0])
			}
		})
	}
}

// proposals returns what is proposed for the last word, without descriptions, and the directive.
func proposals(t *testing.T, args string) []string {
	t.Helper()
	got := clusterd(t, "", append([]string{"__complete"}, strings.Split(args, " ")...)...)
	if got.code != 0 {
		t.Fatalf("exit %d: %s", got.code, got.errs)
	}
	lines := strings.Split(strings.TrimSuffix(got.out, "\n"), "\n")
	for i, line := range lines {
		lines[i], _, _ = strings.Cut(line, "\t")
	}
	return lines
}

// Each key that can be set is proposed with what it does, and no secret is.
func TestCompletionOfKeys(t *testing.T) {
	keys := proposals(t, "run --set ")
	for key, want := range map[string]bool{
		"log.level=": true, "kafka.brokers=": true, "cluster.window=": true, "http.token=": false,
		"kafka.sasl.password=": false,
	} {
		if slices.Contains(keys, key) != want {
			t.Errorf("%s is proposed: %v", key, !want)
		}
	}
	got := clusterd(t, "", "__complete", "run", "--set", "log.l")
	if !strings.Contains(got.out, "log.level=\tLeast severity") {
		t.Errorf("without what it does: %s", got.out)
	}
	if eval := proposals(t, "eval --run exact,"); !slices.Contains(eval, "exact,cluster.window=") {
		t.Errorf("behind a method: %q", eval)
	}
	if next := proposals(t, "eval tune --methods exact,"); slices.Contains(next, "exact,exact") ||
		!slices.Contains(next, "exact,minhash") {
		t.Errorf("the next method: %q", next)
	}
}
