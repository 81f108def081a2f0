//go:build integration

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

const (
	labelToken = "a-token-that-may-label-clusters"
	readToken  = "a-token-that-may-only-read-them"
)

// Who logs in by the form sees what the token is good for, and nothing after logging out.
func TestPageLogin(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, paged)
	tokens := filepath.Join(w.dir, "tokens")
	text := fmt.Sprintf("alice read,label %s\nbob read %s\n", labelToken, readToken)
	if err := os.WriteFile(tokens, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	i := w.start() // tokens would keep the harness out of /readyz, too
	i.waitLive()
	w.publish(waves())
	i.stop()
	w.replace("http: {", fmt.Sprintf("http: {tokens_file: %q, ", tokens))
	i = w.start()
	i.waitFor("msg=live")
	b := i.browse()
	b.axe, b.allowed = w.axe(), "401"
	b.look(360, "light")
	for _, login := range []struct {
		token         string
		rows, buttons bool
	}{
		{"no token of anybody", false, false},
		{readToken, true, false},
		{labelToken, true, true},
	} {
		b.open("/?sort=size")
		b.fits("the form to log in")
		b.accessible("the form to log in")
		b.do(chromedp.SendKeys(chromedp.CSS("#token"), login.token))
		b.goes(chromedp.Click(chromedp.CSS(".login button")))
		if !login.rows {
			b.until("it is refused", `document.querySelector("[role=alert]") !== null`)
			continue
		}
		b.until("it is let in", `document.querySelectorAll(".row").length > 0`)
		if got := value[bool](b, `document.querySelector(".row button") !== null`); got !=
			login.buttons {
			t.Errorf("%s: buttons are %v, want %v", login.token, got, login.buttons)
		}
		b.goes(chromedp.Click(chromedp.CSS(`form[action="/logout"] button`)))
		b.until("it is out", `document.getElementById("token") !== null`)
	}
}

// With serve.content: hidden nothing that articles say is on any page, in Chinese either.
func TestPageHidden(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, "contacts: {join: true}\n"+
		strings.Replace(paged, "serve: {", "serve: {content: hidden, ", 1))
	i := w.start()
	i.waitLive()
	w.publish(waves())
	for n, text := range shares() {
		i.carriedBy(fmt.Sprint("s", n), text)
	}
	b := i.browse()
	b.axe = w.axe()
	b.look(360, "dark")
	b.open("/?lang=zh")
	b.until("the lists are there", `document.querySelectorAll(".row").length >= 16`)
	if got := value[string](b, `document.documentElement.lang`); got != "zh" {
		t.Errorf("the page is in %q, want zh", got)
	}
	cluster := value[string](b, `document.querySelector(".row a.title").pathname`)
	for _, path := range []string{"/", "/?sort=size", cluster, "/contacts", "/check", "/tail"} {
		b.open(path)
		b.accessible(path)
		if path == "/tail" {
			b.until("it listens", `document.getElementById("skipped").textContent !== ""`)
			w.publish(waves())
			b.until("results come", `document.querySelectorAll("#tail > li").length > 0`)
		}
		if path == "/contacts" {
			b.kinds()
		}
		said := value[string](b, `document.documentElement.outerHTML`)
		if strings.Contains(said, "7700") {
			t.Errorf("%s shows a contact", path)
		}
		for _, c := range waves() {
			for _, text := range []string{c.title, c.content} {
				if start := string([]rune(text)[:8]); strings.Contains(said, start) {
					t.Errorf("%s shows %q", path, start)
				}
			}
		}
		b.fits(path)
	}
}

// kinds fails unless the list of contacts has the kind of one, and no button for what has no name.
func (b *browser) kinds() {
	b.Helper()
	b.until("the contact is there", `document.querySelector(".row")?.innerText.includes("number:hidden") ||
		(setTimeout(() => location.reload(), 500), false)`)
	if n := value[int](b, `document.querySelectorAll("main button").length`); n > 0 {
		b.Errorf("a hidden contact has %d buttons", n)
	}
}

// A broker that is away is on the page within ten seconds, with the reason; and so it is when it is
// back.
func TestPageWithoutBroker(t *testing.T) {
	t.Parallel()
	w := ownBroker(t).newWorld(t, 1, paged)
	i := w.start()
	i.waitLive()
	w.publish(waves()[:1])
	b := i.browse()
	b.look(360, "light")
	b.open("/")
	const bad = `document.querySelector("#status .reason")?.textContent || ""`
	if got := value[string](b, bad); got != "" {
		t.Errorf("it complains of %q", got)
	}
	w.do("kill")
	since := time.Now()
	b.until("the page to say so", "("+bad+`) !== ""`)
	t.Logf("the page said %q after %.1f s, /readyz %+v", value[string](b, bad),
		time.Since(since).Seconds(), i.readyz())
	w.do("start")
	since = time.Now()
	b.until("the page to be content", "("+bad+`) === ""`)
	t.Logf("all is well %.1f s after the broker was back", time.Since(since).Seconds())
	i.waitLive()
}

// While a broker hangs, the page shows one state, the same as /readyz: a red shape, a word and the
// reason. It does not say "live". A phone and the page in Chinese show the same.
func TestPageWhileTheBrokerHangs(t *testing.T) {
	t.Parallel()
	w := ownBroker(t).newWorld(t, 1, paged)
	i := w.start()
	i.waitLive()
	w.publish(waves()[:1])
	b := i.browse()
	b.axe = w.axe()
	b.look(360, "light")
	b.open("/?lang=en")
	const state = `document.querySelector("#status .state")`
	if got := value[string](b, state+".innerText"); strings.TrimSpace(got) != "live" {
		t.Errorf("before, it says %q", got)
	}
	w.do("pause")
	b.until("the page to say so", state+`.innerText.includes("not ready")`)
	for language, word := range map[string]string{"en": "not ready", "zh": "未就绪"} {
		for _, width := range []int64{1280, 360} {
			at := fmt.Sprintf("in %s at %d", language, width)
			b.look(width, "light")
			b.open("/?lang=" + language)
			head := value[string](b, `document.getElementById("status").innerText`)
			shown := value[string](b, state+".innerText")
			ready := i.readyz()
			if ready.Ready || !strings.HasPrefix(strings.TrimSpace(shown), word) ||
				!strings.Contains(shown, "no fetch has come back for") ||
				strings.Contains(head, "live") || strings.Contains(head, "运行中") {
				t.Errorf("%s: the page says %q, and /readyz %+v", at, head, ready)
			}
			if got := value[int](b, state+`.querySelectorAll("path").length`); got != 1 {
				t.Errorf("%s: it has %d triangles", at, got)
			}
			colours := value[[]string](b, fmt.Sprintf(`[%[1]s.querySelector("svg"), %[1]s].map((e, i) =>
				getComputedStyle(e)[i ? "color" : "fill"])`, state))
			if colours[0] != colours[1] {
				t.Errorf("%s: the shape is %s, the words are %s", at, colours[0], colours[1])
			}
			b.fits(at)
			b.accessible(at)
		}
	}
	w.do("continue")
	b.open("/?lang=en")
	b.until("the page to be content", state+`.innerText.trim() === "live"`)
	i.waitLive()
}

// A standby says who works.
func TestPageOfStandby(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, paged)
	w.start().waitLive()
	second := w.start()
	second.waitStandby()
	b := second.browse()
	b.look(360, "light")
	b.open("/")
	b.until("who works is there", `document.getElementById("status").textContent.includes("works: 127.0.0.1")`)
	b.fits("the page of a standby")
}
