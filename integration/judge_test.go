//go:build integration

package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// gtube is the text by which filters of mail are tested: they take it for spam.
const gtube = "XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X"

// clusterd and a judge decide on comments, as examples/judge says. The judge is asked about a
// comment that clusterd does not know. If the judge takes it for spam, clusterd knows the copies,
// also while the judge is away.
func TestJudge(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(*world) (url string, stop func()){
		"rspamd": startRspamd, "akismet": startAkismet,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1, moderated)
			w.listen = fmt.Sprintf("127.0.0.1:%d", freePort(t))
			i := w.start()
			i.waitLive()
			url, stop := start(w)
			judged := func(content, want string) {
				t.Helper()
				if got := w.judge(name, url, content); got != want {
					t.Errorf("%q: %s, want %s", content, got, want)
				}
			}
			const fine = "I had the same problem, and the second answer helped me. 谢谢"
			judged(fine, "show "+name)
			judged(advert+" WeChat alexis17 "+gtube, "hide "+name)
			judged("Bags for sale. WeChat A L E X I S 1 7", "hide clusterd")
			i.kill()
			judged(fine, "show "+name)
			judged(gtube, "hide "+name)
			i = w.start()
			i.waitLive()
			// The advert has the label, and by its contact the bags have it.
			if said := w.labelled(); strings.Count(said, `"carried":["spam"]`) != 2 ||
				!strings.Contains(said, `"note":"said by `+name+`"`) {
				t.Errorf("labels: %s", said)
			}
			w.label(`{"text":"` + fine + `","label":"ham"}`)
			stop()
			judged(advert+"! WeChat alexis17", "hide clusterd")
			judged(fine, "show clusterd")
			judged("A third comment, which is like neither of the two", "show nobody")
		})
	}
}

// judge sends a comment through examples/judge, and returns what is said of it.
func (w *world) judge(name, url, content string) string {
	w.Helper()
	w.sends++
	comment, err := json.Marshal(map[string]string{
		"id": fmt.Sprint(w.sends), "content": content, "source": "https://blog.example",
		"ip": "192.0.2.7", "agent": "Mozilla/5.0", "name": "Zoë", "email": "zoe@mail.example",
	})
	if err != nil {
		w.Fatal(err)
	}
	cmd := exec.CommandContext(w.Context(), "python3", "-B", "../examples/judge/judge.py",
		"--clusterd", "http://"+w.listen, "--"+name, url)
	cmd.Env = append(os.Environ(), "AKISMET_KEY="+akismetKey)
	cmd.Stdin = bytes.NewReader(comment)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	said, ok := strings.CutPrefix(strings.TrimSpace(string(out)), fmt.Sprint(w.sends)+" ")
	if err != nil || !ok {
		w.Fatalf("%s: %v, %q\n%s", content, err, out, &errs)
	}
	return said
}

// labelled returns what GET /v1/labels answers.
func (w *world) labelled() string {
	w.Helper()
	response, err := http.Get("http://" + w.listen + "/v1/labels")
	if err != nil {
		w.Fatal(err)
	}
	return body(w.T, response)
}

// startRspamd starts a real rspamd, which knows nothing but [gtube] to be spam.
func startRspamd(w *world) (url string, stop func()) {
	w.Helper()
	me, err := user.Current()
	if err != nil {
		w.Fatal(err)
	}
	group, err := user.LookupGroupId(me.Gid)
	if err != nil {
		w.Fatal(err)
	}
	dir, port := w.TempDir(), freePort(w.T)
	config, domains := filepath.Join(dir, "rspamd.conf"), filepath.Join(dir, "domains")
	for path, text := range map[string]string{
		// Without its own domains it compiles those of the world, which takes longer than the test.
		domains: "example\n",
		config: fmt.Sprintf(`options {
  pidfile = "%[1]s/pid"; control_socket = "%[1]s/socket mode=0600"; tempdir = "%[1]s";
  filters = ""; url_tld = "%[2]s"; dns { nameserver = ["127.0.0.1"]; timeout = 10ms; }
}
actions { reject = 15; add_header = 6; greylist = 4; }
logging { type = "console"; level = "notice"; }
worker "normal" { bind_socket = "127.0.0.1:%[3]d"; count = 1; }
`, dir, domains, port),
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			w.Fatal(err)
		}
	}
	p := w.begin("", "rspamd", "--no-fork", "--insecure", "--user", me.Username, "--group",
		group.Name, "--config", config, "--var", "DBDIR="+dir, "--var", "RUNDIR="+dir)
	url = fmt.Sprintf("http://127.0.0.1:%d", port)
	w.eventually("rspamd", func() bool {
		response, err := http.Get(url + "/ping")
		if err != nil {
			return false
		}
		defer response.Body.Close()
		said, err := io.ReadAll(response.Body)
		return err == nil && strings.TrimSpace(string(said)) == "pong"
	})
	return url, func() {
		if err := syscall.Kill(p.cmd.Process.Pid, syscall.SIGTERM); err != nil {
			w.Fatal(err)
		}
		if err := <-p.exited; err != nil {
			w.Errorf("rspamd: %v", err)
		}
	}
}

const akismetKey = "0123456789ab"

// startAkismet starts a stand-in that speaks as Akismet does, and takes [gtube] for spam.
func startAkismet(w *world) (url string, stop func()) {
	w.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		wanted := map[string]string{
			"api_key": akismetKey, "blog": "https://blog.example", "user_ip": "192.0.2.7",
			"user_agent": "Mozilla/5.0", "comment_type": "comment", "comment_author": "Zoë",
			"comment_author_email": "zoe@mail.example",
		}
		for field, value := range wanted {
			if got := r.PostFormValue(field); got != value {
				w.Errorf("%s is %q, want %q", field, got, value)
				wanted = nil
			}
		}
		if wanted == nil || r.Method != http.MethodPost || r.URL.Path != "/1.1/comment-check" {
			out.Header().Set("X-akismet-debug-help", "what is wrong")
			fmt.Fprint(out, "invalid")
			return
		}
		fmt.Fprint(out, strings.Contains(r.PostFormValue("comment_content"), gtube))
	}))
	w.Cleanup(server.Close)
	return server.URL, server.Close
}
