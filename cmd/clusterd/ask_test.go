package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/cli/ask"
	"github.com/clusterd/clusterd/internal/serve/http/api"
)

// A fakeServer answers as one that knows the text "known", which carries spam.
func fakeServer(t *testing.T) (url string, requests *[]string) {
	t.Helper()
	requests = new([]string)
	const cluster = `{"cluster_id":"articles/0/12","size":3,"labels":[{"label":"spam","by":"bob",` +
		`"at":"2026-05-01T12:00:00Z","note":"n"}],"representative":{"id":"a","title":"An \u001b[31moffer"}}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*requests = append(*requests, r.Header.Get("Authorization")+" "+r.Method+" "+r.URL.Path+" "+
			strings.TrimSpace(string(body)))
		var q struct {
			Articles []struct{ Text string }
			Labels   []map[string]any
		}
		_ = json.Unmarshal(body, &q)
		var all []string
		for _, text := range q.Articles {
			answer := `{"status":"new","cluster":null,"distance":null,"suspect":{"cluster":` + cluster +
				`,"distance":17}}`
			if text.Text == "known" {
				answer = `{"status":"joined","cluster":` + cluster + `,"distance":3,"labels":["spam"],` +
					`"trial_labels":["x"],"runners_up":[{"cluster":` + cluster + `,"distance":5}]}`
			}
			all = append(all, answer)
		}
		for _, l := range q.Labels {
			answer := `{"cluster_id":"articles/0/12","label":"spam","action":"add","applied":true,"members":3}`
			switch {
			case l["label"] == "late":
				answer = `{"cluster_id":"articles/0/12","label":"late","action":"add","record":"labels/0/7"}`
			case l["label"] == "bad":
				answer = `{"label":"bad","action":"add","applied":false,"error":"there is no such cluster"}`
			case l["action"] == "resume":
				answer = `{"label":"spam","action":"resume","applied":true}`
			}
			all = append(all, answer)
		}
		switch {
		case r.Method == http.MethodGet:
			_, _ = io.WriteString(w, `{"clusters":[`+cluster+`],"as_of":[]}`)
		case len(all) > 0:
			_, _ = io.WriteString(w, `{"results":[`+strings.Join(all, ",")+`]}`)
		default:
			api.WriteProblem(w, http.StatusUnauthorized, "", "who asks must show a token")
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, requests
}

func TestAskingVerbs(t *testing.T) {
	text := write(t, "text.txt", []byte("from a file\n"))
	token := write(t, "token", []byte("canary-of-a-file\n"))
	labels := write(t, "labels.csv",
		[]byte("cluster_id,label\narticles/0/12,spam\narticles/0/13,bad\n"))
	for _, tt := range []struct {
		args      []string
		in        string
		code      int
		out, asks string
	}{
		{
			[]string{"check", "known", "unknown"},
			"", 0,
			"joined articles/0/12 size 3 distance 3 labels spam on trial x; " +
				"then articles/0/12 distance 5\n" +
				"new; nearest with labels articles/0/12 distance 17 labels spam\n",
			`POST /v1/check {"articles":[{"text":"known"},{"text":"unknown"}]}`,
		},
		{
			[]string{"check", "--file", text, "--runners-up", "2", "--partition", "0"},
			"", 0, "new;",
			`{"articles":[{"text":"from a file\n"}],"runners_up":2,"partition":0}`,
		},
		{[]string{"check"}, "known", 0, "joined", `{"articles":[{"text":"known"}]}`},
		{[]string{"check", "--json", "known"}, "", 0, `{"status":"joined","cluster":{"cluster_id"`, ""},
		{
			strings.Fields("label add spam articles/0/12 --article a --text t --note n --trial"), "", 0,
			"add spam articles/0/12: 3 articles\n",
			`{"labels":[{"cluster_id":"articles/0/12","label":"spam","action":"add","note":"n","trial":true},` +
				`{"article_id":"a","label":"spam","action":"add","note":"n","trial":true},` +
				`{"text":"t","label":"spam","action":"add","note":"n","trial":true}]}`,
		},
		{
			[]string{"label", "add", "late", "articles/0/12"},
			"", 0,
			"add late articles/0/12: written as labels/0/7, and not applied yet\n", "",
		},
		{[]string{"label", "add", "bad", "x"}, "", 1, "add bad: failed: there is no such cluster\n", ""},
		{[]string{"label", "remove", "spam", "x"}, "", 0, "", `"label":"spam","action":"remove"}`},
		{[]string{"label", "resume", "spam"}, "", 0, "resume spam: done\n", `{"label":"spam","action":"resume"}`},
		{
			[]string{"label", "import", labels},
			"", 1,
			"add spam articles/0/12: 3 articles\nadd bad: failed: there is no such cluster\n",
			`{"labels":[{"cluster_id":"articles/0/12","label":"spam"},{"cluster_id":"articles/0/13","label":"bad"}]}`,
		},
		{
			[]string{"label", "import"},
			`{"text":"x","label":"spam"}`, 0, "add spam",
			`{"labels":[{"text":"x","label":"spam"}]}`,
		},
		{[]string{"label", "import"}, "{", 1, "", ""},
		{
			[]string{"label", "list"},
			"", 0, "articles/0/12 spam by bob at 2026-05-01T12:00:00Z: 3 articles: An ",
			"GET /v1/labels",
		},
		{
			[]string{"label", "export"}, "", 0, `{"cluster_id":"articles/0/12","label":"spam","action":"add",` +
				`"by":"bob","at":"2026-05-01T12:00:00Z","note":"n"}` + "\n", "",
		},
		{[]string{"label", "list", "--token-file", token}, "", 0, "", "Bearer canary-of-a-file GET"},
	} {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			t.Setenv(ask.TokenVariable, "canary")
			url, requests := fakeServer(t)
			got := clusterd(t, tt.in, append(tt.args, "--server", url)...)
			if got.code != tt.code || !strings.Contains(got.out, tt.out) ||
				strings.Contains(got.out, "\x1b") {
				t.Errorf("exit %d, %q, %s", got.code, got.out, got.errs)
			}
			if asked := strings.Join(*requests, "\n"); !strings.Contains(asked, tt.asks) ||
				asked != "" && !strings.HasPrefix(asked, "Bearer canary") {
				t.Errorf("asked %s\nwant %s", asked, tt.asks)
			}
		})
	}
}

// What label export writes, label import takes.
func TestLabelsComeBack(t *testing.T) {
	url, requests := fakeServer(t)
	exported := clusterd(t, "", "label", "export", "--server", url)
	if got := clusterd(t, exported.out, "label", "import", "--server", url); got.code != 0 {
		t.Fatalf("exit %d: %s", got.code, got.errs)
	}
	want := ` POST /v1/labels {"labels":[{"cluster_id":"articles/0/12","label":"spam","action":"add","note":"n"}]}`
	if diff := cmp.Diff(want, (*requests)[1]); diff != "" {
		t.Error(diff)
	}
}

func TestAskingFails(t *testing.T) {
	t.Setenv(ask.TokenVariable, "")
	url, _ := fakeServer(t)
	for args, want := range map[string]string{
		"label list --server http://127.0.0.1:1": "connection refused: is clusterd running there",
		"check --file nowhere":                   "open nowhere: no such file",
		"label import nowhere.csv":               "nowhere.csv: no such file",
		"label list --token-file nowhere":        "--token-file: open nowhere: no such file",
	} {
		got := clusterd(t, "", strings.Fields(args)...)
		if got.code != exitFailed || !strings.Contains(got.errs, want) {
			t.Errorf("%s: exit %d, %s", args, got.code, got.errs)
		}
	}
	big := write(t, "big.txt", make([]byte, 1<<20+1))
	if got := clusterd(t, "", "check", "--file", big, "--server", url); got.code != exitFailed ||
		!strings.Contains(got.errs, "is larger than 1048576 bytes") {
		t.Errorf("exit %d, %s", got.code, got.errs)
	}
}
