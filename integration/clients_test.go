//go:build integration

package integration

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// moderated are settings for comments that are labelled.
const moderated = `fingerprint: {method: minhash, shingle: {of: characters, size: 3}}
text: {fold: true}
contacts: {join: true}
cluster: {similarity: 0.53, window: 30d}
labels: {topic: LABELS}
batch: {linger: 1ms}
`

const writeToken = "a-token-that-may-send-comments"

// The clients of examples/check hide a comment if its cluster is labelled as spam. If clusterd
// refuses, does not answer in time, or is not there, they show it, and say why.
func TestClients(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, moderated)
	tokens := filepath.Join(w.dir, "tokens")
	text := fmt.Sprintf("blog write %s\nalice label,read %s\n", writeToken, labelToken)
	if err := os.WriteFile(tokens, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	w.replace("http: {", fmt.Sprintf("http: {tokens_file: %q, ", tokens))
	w.listen = fmt.Sprintf("127.0.0.1:%d", freePort(t))
	i := w.start()
	i.waitFor("msg=live")
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()

	here := "CLUSTERD_URL=http://" + w.listen
	clients := map[string]string{"php": "check.php", "node": "check.js"}
	say := func(text, want, says string, env ...string) {
		t.Helper()
		for command, file := range clients {
			w.sends++
			id := fmt.Sprintf("%s-%d", command, w.sends)
			cmd := exec.CommandContext(w.Context(), command, "../examples/check/"+file, id, text)
			cmd.Env = append(os.Environ(), append([]string{here, "CLUSTERD_TOKEN=" + writeToken},
				env...)...)
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Run(); err != nil || out.String() != want+"\n" {
				t.Errorf("%s: %q: %v, %q, want %q\n%s", command, text, err, &out, want, &errs)
			}
			if says == "" && errs.Len() > 0 || !strings.Contains(strings.ToLower(errs.String()), says) {
				t.Errorf("%s: %q: says %q, want %q", command, text, &errs, says)
			}
		}
	}
	const honest = `I had the "same" problem: 第二个回答帮到了我` + "\n<b>thanks</b> \\ & 100 %"
	say(advert+" WeChat alexis17", "show", "")
	say(honest, "show", "")
	w.labelAs(labelToken, `{"text":"`+advert+` WeChat alexis17","label":"spam"}`)
	say("Bags for sale. WeChat A L E X I S 1 7", "hide", "")
	say(honest, "show", "")
	say(advert, "show", "token", "CLUSTERD_TOKEN=no token of anybody")
	say(advert, "show", "clusterd: ", "CLUSTERD_URL=http://"+silent.Addr().String())
	i.kill()
	say(advert, "show", "refused")
}

// labelAs asks the first instance to label something, by a token.
func (w *world) labelAs(token, what string) {
	w.Helper()
	request, err := http.NewRequestWithContext(w.Context(), http.MethodPost,
		"http://"+w.listen+"/v1/labels", strings.NewReader(what))
	if err != nil {
		w.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		w.Fatal(err)
	}
	if said := body(w.T, response); response.StatusCode != http.StatusOK {
		w.Fatalf("%s: %s %s", what, response.Status, said)
	}
}
