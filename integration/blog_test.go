//go:build integration

package integration

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The blog shows a comment once it was checked, hides a campaign at one mark, earlier comments too,
// and shows it again when the mark is taken back; also what happened while clusterd or the blog was
// down.
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
	b.post("/moderate", "comment=2&action=add", "2 comment(s)")
	b.shows(1)
	b.post("/comments", "text=Bags for sale. WeChat A L E X I S 1 7", "comment 4 is hidden")
	b.post("/moderate", "comment=4&action=remove", "3 comment(s)")
	b.shows(1, 2, 3, 4)

	// clusterd dies.
	b.post("/moderate", "comment=3&action=add", "3 comment(s)")
	b.shows(1)
	i.kill()
	b.post("/comments", "text="+advert+"? WeChat alexis17", "comment 5 is waiting")
	b.post("/moderate", "comment=1&action=add", "clusterd does not answer")
	i = w.start()
	b.eventually("the comment that waited to be hidden", func() bool {
		return strings.Contains(b.page("/moderate"), "<em>hidden</em>") &&
			!strings.Contains(b.page("/moderate"), "<em>waiting</em>")
	})
	b.shows(1)

	// The blog is away while somebody allows the campaign.
	w.interrupt(p)
	w.label(`{"text":"` + advert + `","label":"ham"}`)
	b.open()
	b.shows(1, 2, 3, 4, 5)
	i.stop()
}

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
