//go:build integration

package integration

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// The blog shows a comment once it was checked. It hides a campaign at one click, earlier comments
// too, and holds comments for review that have the label by a contact. A moderator undoes each
// mistake by one click. The blog also learns what happened while clusterd or the blog was down.
func TestBlog(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, "")
	labels, corrections := w.group+".labels", w.group+".corrections"
	w.configure(fmt.Sprintf(`fingerprint: {method: minhash, shingle: {of: characters, size: 3}}
text: {fold: true}
contacts: {join: true}
cluster: {similarity: 0.53, window: 30d}
labels: {topic: %s, corrections: %s}
serve: {bytes: 64MiB}
`, labels, corrections))
	w.Cleanup(func() {
		_, _ = w.admin.DeleteTopics(context.WithoutCancel(t.Context()), labels, corrections)
	})
	w.listen = fmt.Sprintf("127.0.0.1:%d", freePort(t))
	i := w.start()
	i.waitLive()
	b := &blog{world: w, address: fmt.Sprintf("127.0.0.1:%d", freePort(t))}
	p := b.open()

	b.post("/comments", "text=I had the same problem, the second answer helped", "comment 1 is shown")
	b.post("/comments", "text="+advert+" WeChat alexis17", "comment 2 is shown")
	b.post("/comments", "text="+advert+"! WeChat alexis17", "comment 3 is shown")
	b.post("/moderate", "comment=2&action=add", "labelled spam: 2 comment(s)")
	b.shows(1)
	b.post("/comments", "text="+warning, "comment 4 is held")
	b.post("/comments", "text=Bags for sale. WeChat A L E X I S 1 7", "comment 5 is held")
	b.moderates(i.browse())

	// clusterd dies.
	i.kill()
	b.post("/comments", "text="+advert+"? WeChat alexis17", "comment 7 is waiting")
	b.post("/moderate", "comment=1&action=add", "clusterd does not answer")
	i = w.start()
	b.eventually("the comment that waited to be hidden", func() bool {
		return b.states()[7] == "hidden"
	})
	b.shows(1, 4)

	// The blog is away while somebody allows the campaign, says twice that the contact is harmless,
	// and labels one comment alone.
	members := (&blog{world: w, address: w.listen}).page("/v1/clusters/" + w.input + "/0/0/members")
	_, first, _ := strings.Cut(members, `"article_id":"`)
	first, _, _ = strings.Cut(first, `"`)
	w.interrupt(p)
	w.label(`{"text":"` + advert + `","label":"ham"}`)
	for range 2 { // two clicks have marked it
		w.label(`{"target":"contact","contact":"name:alexis17","label":"ham"}`)
	}
	w.label(`{"target":"article","article_id":"` + first + `","label":"spam"}`)
	b.open()
	b.shows(2, 3, 4, 6, 7)

	// Somebody labels one of two copies alone while the blog is there. No correction names the other.
	for _, comment := range []string{"8", "9"} {
		b.post("/comments", "text=Where is the station of this town?", "comment "+comment+" is shown")
	}
	results := w.results()
	w.label(`{"target":"article","article_id":"` + results[len(results)-1].ArticleID +
		`","label":"spam"}`)
	b.shows(2, 3, 4, 6, 7)
	i.stop()
}

// warning is a comment of a customer that quotes the seller.
const warning = "Do not buy there: the seller WeChat alexis17 took my money and sent nothing"

// moderates takes each choice of a moderator and its undo by one click in a real browser.
func (b *blog) moderates(browser *browser) {
	b.Helper()
	browser.address = "http://" + b.address
	press := func(number int, button string, want map[int]string) {
		b.Helper()
		at := fmt.Sprintf(`li[value="%d"]`, number)
		if number == 0 {
			at = "h1 + form"
		}
		browser.goes(chromedp.Click(chromedp.CSS(at + ` button[value="` + button + `"]`)))
		b.eventually(fmt.Sprintf("%s of comment %d: %v", button, number, want), func() bool {
			return maps.Equal(b.states(), want)
		})
	}
	held := map[int]string{1: "shown", 2: "hidden", 3: "hidden", 4: "held", 5: "held"}
	with := func(states map[int]string) map[int]string {
		all := maps.Clone(held)
		maps.Copy(all, states)
		return all
	}
	for _, width := range []int64{1280, 360} {
		for _, scheme := range []string{"light", "dark"} {
			browser.look(width, scheme)
			browser.goes(chromedp.Navigate(browser.address + "/moderate"))
			browser.fits(fmt.Sprintf("the blog at %d, %s", width, scheme))
		}
	}
	press(4, "harmless", with(map[int]string{4: "shown", 5: "shown"}))
	// Then the mark counts again: new comments get the label by it, and earlier ones at the next
	// click.
	press(0, "undo", with(map[int]string{4: "shown", 5: "shown"}))
	b.post("/comments", "text=Perfumes of all brands, ask WeChat alexis17", "comment 6 is held")
	held[6] = "held"
	press(5, "add", with(map[int]string{5: "hidden"}))
	press(5, "remove", with(map[int]string{5: "shown"}))
	press(0, "undo", with(map[int]string{5: "hidden"}))
	press(4, "only this", with(map[int]string{4: "shown", 5: "hidden"}))
	press(0, "undo", with(map[int]string{5: "hidden"}))
	press(4, "only this", with(map[int]string{4: "shown", 5: "hidden"}))
	browser.fits("the blog")
}

// states returns the state of each comment.
func (b *blog) states() map[int]string {
	b.Helper()
	all := make(map[int]string)
	for _, match := range anyComment.FindAllStringSubmatch(b.page("/moderate"), -1) {
		number, err := strconv.Atoi(match[1])
		if err != nil {
			b.Fatal(err)
		}
		all[number] = match[2]
	}
	return all
}

var anyComment = regexp.MustCompile(`<li value="(\d+)">.* <em>(\w+)</em>`)

// blog is a running examples/blog.
type blog struct {
	*world
	address string
}

// open starts the blog on its comments of before.
func (b *blog) open() *process {
	b.Helper()
	p := b.begin("", "python3", "-B", "../examples/blog/blog.py", "--clusterd", "http://"+b.listen,
		"--listen", b.address, "--data", filepath.Join(b.dir, "blog.db"))
	b.eventually("the blog",
		func() bool { return strings.Contains(p.said.String(), "has the comments") })
	return p
}

// post sends a form, and wants an answer that holds words.
func (b *blog) post(path, form, want string) {
	b.Helper()
	values, err := url.ParseQuery(form)
	if err != nil {
		b.Fatal(err)
	}
	asker := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	response, err := asker.PostForm("http://"+b.address+path, values)
	if err != nil {
		b.Fatal(err)
	}
	if said := body(b.T, response); !strings.Contains(said, want) {
		b.Errorf("%s %s: %s, want %q", path, form, said, want)
	}
}

// shows waits until the blog shows these comments and no others.
func (b *blog) shows(numbers ...int) {
	b.Helper()
	var want []string
	for _, number := range numbers {
		want = append(want, strconv.Itoa(number))
	}
	b.eventually(fmt.Sprintf("the blog to show comments %v", numbers), func() bool {
		var shown []string
		for _, match := range shownComment.FindAllStringSubmatch(b.page("/"), -1) {
			shown = append(shown, match[1])
		}
		return slices.Equal(shown, want)
	})
}

var shownComment = regexp.MustCompile(`<li value="(\d+)">`)

func (b *blog) page(path string) string {
	b.Helper()
	response, err := http.Get("http://" + b.address + path)
	if err != nil {
		b.Fatal(err)
	}
	return body(b.T, response)
}

// label asks the first instance to label something.
func (w *world) label(what string) {
	w.Helper()
	response, err := http.Post("http://"+w.listen+"/v1/labels", "application/json",
		strings.NewReader(what))
	if err != nil {
		w.Fatal(err)
	}
	if said := body(w.T, response); response.StatusCode != http.StatusOK {
		w.Fatalf("%s: %s %s", what, response.Status, said)
	}
}

func body(t *testing.T, response *http.Response) string {
	t.Helper()
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
