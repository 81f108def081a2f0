//go:build integration

package integration

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// secrets are words that nobody may see, by where they are.
type secrets struct {
	*world
	words map[string]string
	seen  int // texts that were looked through
}

// look holds a text to having none of the words in it.
func (s *secrets) look(where, text string) {
	s.Helper()
	s.seen++
	for of, word := range s.words {
		if strings.Contains(text, word) {
			s.Errorf("%s shows the %s:\n%.2000s", where, of, text)
		}
	}
}

// verb runs a command, and looks through all that it says.
func (s *secrets) verb(args ...string) (said string) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = s.dir
	cmd.Stdin = strings.NewReader("a text\n")
	cmd.Env = append(os.Environ(), "CLUSTERD_TEST_DIR="+filepath.Join(s.dir, "other"),
		"CLUSTERD_TEST_LISTEN="+s.listen)
	out, _ := cmd.CombinedOutput() // many end with an error, as they should
	if bytes.Contains(out, []byte("unknown command")) || bytes.Contains(out, []byte("unknown flag")) {
		s.Errorf("clusterd %q: %s", args, out)
	}
	s.look(fmt.Sprintf("clusterd %q", args), string(out))
	return string(out)
}

// verbs are the arguments of each verb.
func (s *secrets) verbs() map[string][]string {
	config := []string{"-c", s.config}
	files := append(config, "articles.jsonl")
	server := []string{"--server", "http://" + s.listen, "--token-file", "http-token"}
	labels := slices.Concat(server, []string{"spam", s.input + "/0/0"})
	return map[string][]string{
		"": nil, "run": {"--set", "log.level=debug", "-c", "nowhere.yaml"}, "demo": {"--for", "1s"},
		"cluster": files, "eval": files, "eval paper": files, "eval spam": files, "eval tune": files,
		"idf": files, "compare": append(config, "articles.jsonl", "articles.jsonl"),
		"audit": config, "doctor": config, "config": config, "lint": {s.config}, "version": nil,
		"check": append(server, "a text"), "health": append(server, "--ready"), "label": nil,
		"label add": labels, "label remove": labels, "label resume": append(server, "spam"),
		"erase":      append(server, s.input+"/0/1"),
		"label list": server, "label export": server, "label import": append(server, "labels.csv"),
		"tap": append(server, "--count", "1"), "state": nil,
		"state accept": append(config, "--topic", s.clusters), "state list": append(config, "backup"),
		"state export": append(config, "backup"), "state import": append(config, "backup"),
		"migrate": nil, "migrate plan": append(config, "-o", "new.yaml"),
		"migrate status": {s.config, "new.yaml"}, "migrate compare": {s.config, "new.yaml"},
		"migrate map": {s.config, "new.yaml"}, "migrate switch": {s.config, "new.yaml"},
		"migrate labels": {s.config, "new.yaml"},
		"migrate back":   {s.config}, "migrate broker": append(config, "--embedded", "data"),
	}
}

// newSecrets makes a configuration that is full of secrets.
func (s *secured) newSecrets(t *testing.T, name, yaml, collector string) *secrets {
	t.Helper()
	random := func(what string) string {
		return fmt.Sprintf("%s-%s-%x", name, what, time.Now().UnixNano())
	}
	w := s.world(t, "SASL", mutual+yaml)
	w.own(s.authority, "root", nil)
	w.writeToken(s.issuer.token("root", -time.Minute, time.Hour))
	h := &secrets{world: w, words: map[string]string{
		"HTTP token": random("http"), "fingerprint secret": random("fingerprint-0123456789-0123456789"),
		"password": "root-secret", "client secret": clientSecret,
	}}
	for of, file := range map[string]string{"key": "own.key", "token": "token"} {
		text, err := os.ReadFile(filepath.Join(w.dir, file))
		if err != nil {
			t.Fatal(err)
		}
		line := strings.Split(string(text), "\n")
		h.words[of] = line[min(1, len(line)-2)] // of PEM the first line of the key itself
	}
	w.listen = fmt.Sprintf("127.0.0.1:%d", freePort(t))
	w.replace(noLinger, noLinger+fmt.Sprintf(`fingerprint: {method: minhash, secret: %q}
labels: {topic: %s, corrections: %s}
serve: {bytes: 64MiB}
trace: {endpoint: %q, ratio: 1}
`, h.words["fingerprint secret"], w.labels, w.corrections, collector))
	w.replace("http: {", fmt.Sprintf("http: {token: %q, ", h.words["HTTP token"]))
	write(t, filepath.Join(w.dir, "http-token"), []byte(h.words["HTTP token"]))
	write(t, filepath.Join(w.dir, "articles.jsonl"), []byte(`{"id":"1","content":"some text"}`+"\n"))
	return h
}

// No verb, page, metric, trace, log or record shows a password, a token, a key or a secret.
func (s *secured) testSecrets(t *testing.T) {
	t.Parallel()
	var mutex sync.Mutex
	var traced bytes.Buffer
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mutex.Lock()
		defer mutex.Unlock()
		_, _ = io.Copy(&traced, r.Body)
	}))
	defer collector.Close()
	for name, yaml := range map[string]string{
		"plain": password("plain", "root", "root-secret"), "server": server, "file": file,
	} {
		h := s.newSecrets(t, name, yaml, collector.URL)
		h.shown(name == "plain")
		mutex.Lock()
		h.look("the trace", traced.String())
		if name == "plain" && traced.Len() == 0 {
			t.Error("nothing was traced")
		}
		mutex.Unlock()
		t.Logf("%s: %d texts", name, h.seen)
	}
}

// shown runs an instance and the verbs, all of them or those that connect.
func (s *secrets) shown(all bool) {
	i := s.start()
	i.waitFor("msg=live") // /readyz wants a token
	s.send(3)
	s.produce(&kgo.Record{Value: []byte("no article")})
	s.done()
	verbs := s.verbs()
	if all {
		helps, err := filepath.Glob("../cmd/clusterd/testdata/help/*.txt")
		if err != nil || len(helps) < 20 {
			s.Fatal(helps, err)
		}
		for _, help := range helps {
			name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(help), "clusterd"), ".txt")
			verb := strings.ReplaceAll(strings.TrimPrefix(name, "-"), "-", " ")
			args, known := verbs[verb]
			if !known {
				s.Errorf("clusterd %s is run by nobody here: add it", verb)
			}
			if verb == "tap" {
				s.send(1)
			}
			s.verb(append(strings.Fields(verb), args...)...)
		}
		s.misused()
	} else {
		for _, verb := range []string{"audit", "doctor", "config", "lint"} {
			s.verb(append([]string{verb}, verbs[verb]...)...)
		}
	}
	s.pages()
	i.signal(syscall.SIGHUP)
	i.stop()
	s.look("the log", i.said())
	for _, topic := range []string{s.output, s.clusters, s.dead, s.labels, s.corrections} {
		for _, r := range s.read(topic, kgo.ReadUncommitted()) {
			s.look("topic "+topic, string(r.Key)+string(r.Value)+fmt.Sprintf("%s", r.Headers))
		}
	}
}

// misused gives secrets where they do not belong.
func (s *secrets) misused() {
	s.Helper()
	for _, key := range []string{
		"kafka.sasl.password", "kafka.sasl.client_secret", "http.token", "fingerprint.secret",
		"s3.secret_key",
	} {
		s.verb("config", "-c", s.config, "--set", key+"="+s.words["HTTP token"])
	}
	for old, new := range map[string]string{
		"password: root-secret": "password: [root-secret]", "mechanism: plain": "mechanism: none",
		"username: root": "usernam: root",
	} {
		text, err := os.ReadFile(s.config)
		if err != nil {
			s.Fatal(err)
		}
		wrong := strings.Replace(string(text), old, new, 1)
		if wrong == string(text) {
			s.Fatalf("no %q in %s", old, text)
		}
		path := write(s.T, filepath.Join(s.dir, "wrong.yaml"), []byte(wrong))
		s.verb("lint", path)
		s.verb("doctor", "-c", path)
	}
}

// pages looks through what HTTP answers, with the token and with another one.
func (s *secrets) pages() {
	s.Helper()
	for _, token := range []string{s.words["HTTP token"], "another"} {
		for _, page := range []string{
			"/metrics", "/readyz", "/livez", "/", "/?sort=size", "/v1/clusters", "/v1/labels",
			"/v1/clusters/" + s.input + "%2F0%2F0", "/openapi.json", "/v1/openapi.json", "/nowhere",
		} {
			request, err := http.NewRequestWithContext(s.Context(), http.MethodGet,
				"http://"+s.listen+page, nil)
			if err != nil {
				s.Fatal(err)
			}
			request.Header.Set("Authorization", "Bearer "+token)
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				s.Fatal(err)
			}
			body, err := io.ReadAll(response.Body)
			response.Body.Close()
			if err != nil {
				s.Fatal(err)
			}
			s.look(page, fmt.Sprint(response.Header)+string(body))
		}
	}
}
