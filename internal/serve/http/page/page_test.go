package page

import (
	"cmp"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/net/html"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/serve/http/access"
	"github.com/clusterd/clusterd/internal/serve/http/api"
)

// pages are one of each, and a form that is answered by one.
var pages = []struct{ method, target, body string }{
	{"GET", "/", ""},
	{"GET", "/?sort=growth&minutes=5&label=spam&title=x", ""},
	{"GET", "/clusters/articles/0/3", ""},
	{"GET", "/clusters/articles%2F0%2F3?with=2", ""},
	{"GET", "/suspects", ""},
	{"GET", "/contacts", ""},
	{"GET", "/contacts?show=marked", ""},
	{"GET", "/stories", ""},
	{"GET", "/stories?sort=size", ""},
	{"GET", "/stories/articles/0/3", ""},
	{"GET", "/stories/articles%2F0%2F3", ""},
	{"GET", "/stories/articles/0/99", ""},
	{"GET", "/check", ""},
	{"POST", "/check", url.Values{"text": {hostile()[5]}}.Encode()},
	{"POST", "/check", "text=new"},
	{"GET", "/tail", ""},
	{"GET", "/head", ""},
	{"GET", "/clusters/articles/0/99", ""},
	{"POST", "/labels", url.Values{"back": {"//elsewhere"}, "do": {
		doing("spam", id(1)), doing("spam", id(99)),
	}}.Encode()},
}

// doing is the value of a button that puts a label on a cluster. Without a cluster it is for the
// rows that are chosen.
func doing(label, cluster string) string {
	return deed{Label: label, ClusterID: api.ID(cluster), Action: api.Add}.String()
}

// site returns one on which everybody writes what does harm, also as labels and contacts.
func full(t *testing.T) *site {
	t.Helper()
	s := newSite(t, access.All)
	s.marks = marksOf(hostile()[3])
	s.own = []api.Label{{Label: "ham", By: hostile()[1], Note: hostile()[4]}}
	s.labels[id(3)] = []api.Label{{
		Label: "spam", By: hostile()[1], ContactRef: api.ContactRef{Contact: "name:" + hostile()[3]},
	}, {Label: hostile()[3], By: hostile()[3]}}
	return s
}

// Whatever others write, a page has only the elements that its templates have, and nothing in it
// runs, turns text around or cannot be seen.
func TestPagesAreHarmless(t *testing.T) {
	for _, tt := range pages {
		for _, language := range languages() {
			t.Run(tt.method+" "+tt.target+" "+language, func(t *testing.T) {
				w := full(t).ask(tt.method, tt.target, language, tt.body)
				if w.Code >= 500 {
					t.Errorf("there is no page: %d", w.Code)
				}
				h := w.Result().Header
				for name, want := range map[string]string{
					"Content-Security-Policy": policy, "Content-Type": "text/html; charset=utf-8",
					"Referrer-Policy": "same-origin", "Content-Language": language,
				} {
					if got := h.Get(name); got != want {
						t.Errorf("%s: %q, want %q", name, got, want)
					}
				}
				for n := range tree(t, w.Body.String()).Descendants() {
					checkNode(t, n)
				}
			})
		}
	}
}

func checkNode(t *testing.T, n *html.Node) {
	t.Helper()
	odd := func(r rune) bool {
		return unicode.In(r, unicode.Cf) && r != '\u200c' && r != '\u200d' ||
			unicode.IsControl(r) && r != '\n' && r != '\t'
	}
	for _, text := range shown(n) {
		if strings.ContainsFunc(text, odd) {
			t.Errorf("%s: a character that is not to be shown: %.60q", n.Data, text)
		}
	}
	if n.Type != html.ElementNode {
		return
	}
	if n.Data == "img" || n.Data == "style" || n.Data == "iframe" {
		t.Errorf("there is an element %s", n.Data)
	}
	if src, _ := attribute(n, "src"); n.Data == "script" &&
		(!strings.HasPrefix(src, "/page/script.js?v=") || n.FirstChild != nil) {
		t.Errorf("a script that is not of a file: %q", src)
	}
	for _, a := range n.Attr {
		if strings.HasPrefix(a.Key, "on") || a.Key == "style" {
			t.Errorf("%s has an attribute %s", n.Data, a.Key)
		}
		if (a.Key == "href" || a.Key == "action") && !strings.HasPrefix(a.Val, "/") && a.Val[0] != '#' ||
			strings.HasPrefix(a.Val, "//") {
			t.Errorf("%s leads to %q", n.Data, a.Val)
		}
	}
}

// shown returns what people see or hear of a node itself. What an input holds is not among it: it
// is what was typed into it, and stands alone.
func shown(n *html.Node) (texts []string) {
	if n.Type == html.TextNode {
		return []string{n.Data}
	}
	for _, a := range n.Attr {
		switch a.Key {
		case "title", "alt", "placeholder", "label", "aria-label":
			texts = append(texts, a.Val)
		case "value":
			if n.Data == "option" {
				texts = append(texts, a.Val)
			}
		}
	}
	return texts
}

// Whoever cannot see a page, or uses no mouse, is told as much.
func TestPagesAreAccessible(t *testing.T) {
	for _, tt := range pages {
		if tt.target == "/head" {
			continue
		}
		for _, language := range languages() {
			w := full(t).ask(tt.method, tt.target, language, tt.body)
			root := tree(t, w.Body.String())
			count, ids, labelled := map[string]int{}, map[string]bool{}, map[string]bool{}
			for n := range root.Descendants() {
				count[n.Data]++
				if id, ok := attribute(n, "id"); ok {
					if ids[id] {
						t.Errorf("%s: two elements have the id %s", tt.target, id)
					}
					ids[id] = true
				}
				if of, ok := attribute(n, "for"); ok {
					labelled[of] = true
				}
				if lang, _ := attribute(n, "lang"); n.Type == html.ElementNode && n.Data == "html" &&
					lang != language {
					t.Errorf("%s: its language is %q", tt.target, lang)
				}
			}
			if count["main"] != 1 || count["header"] != 1 || count["nav"] != 1 || count["title"] != 1 {
				t.Errorf("%s: its landmarks are %v", tt.target, count)
			}
			for n := range root.Descendants() {
				if !named(n, labelled) {
					t.Errorf("%s: %s %v has no name", tt.target, n.Data, n.Attr)
				}
			}
		}
	}
}

// named reports whether a field or a button says what it is for.
func named(n *html.Node, labelled map[string]bool) bool {
	kind, _ := attribute(n, "type")
	fields := []string{"input", "select", "textarea", "button"}
	if !slices.Contains(fields, n.Data) || kind == "hidden" {
		return true
	}
	if name, _ := attribute(n, "aria-label"); name != "" {
		return true
	}
	if id, _ := attribute(n, "id"); labelled[id] {
		return true
	}
	if n.Data == "button" {
		return n.FirstChild != nil
	}
	return n.Parent.Data == "label"
}

// Each phrase is there in both languages, takes the same, and is used; and each that is used is
// there.
func TestPhrases(t *testing.T) {
	verb := regexp.MustCompile(`%(?:\[\d\])?[ds]`)
	used := map[string]bool{
		"growth": true, "size": true, "newest": true, "starting": true, "all spam": true,
		"only this": true, "harmless": true,
	}
	err := fs.WalkDir(content, "templates", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(content, path)
		for _, m := range regexp.MustCompile(`\bt "([^"]+)"`).FindAllStringSubmatch(string(text), -1) {
			used[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for key := range strings.SplitSeq(scripted, ",") {
		used[key] = true
	}
	for _, key := range []string{
		"now", "minutes ago", "hours ago", "days ago", "add", "remove", "live", "standby", "recovering",
		"joining", "blocked", "stopping", "serving", "unready", "joined", "joined since", "grew since",
	} {
		used[key] = true
	}
	all, err := phrases()
	if err != nil {
		t.Fatal(err)
	}
	for key, p := range all {
		if p.EN == "" || p.ZH == "" ||
			len(verb.FindAllString(p.EN, -1)) != len(verb.FindAllString(p.ZH, -1)) {
			t.Errorf("%s: %q and %q do not say the same", key, p.EN, p.ZH)
		}
		// What templates are given is said by its name.
		named := strings.HasPrefix(key, "class ") || strings.HasPrefix(key, "status ")
		if !used[key] && !named {
			t.Errorf("%s: nobody says it", key)
		}
		delete(used, key)
	}
	for key := range used {
		t.Errorf("no phrase is about %q", key)
	}
}

func TestLanguage(t *testing.T) {
	for _, tt := range []struct{ accept, cookie, target, want string }{
		{"", "", "/", "en"},
		{"zh-CN,zh;q=0.9,en;q=0.8", "", "/", "zh"},
		{"fr, de", "", "/", "en"},
		{"zh", "", "/?lang=en", "en"},
		{"en", "zh", "/", "zh"},
		{"en", "zh", "/?lang=en", "en"},
		{"en", "xx", "/?lang=xx", "en"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", tt.target, nil)
		r.Header.Set("Accept-Language", tt.accept)
		r.AddCookie(&http.Cookie{Name: languageCookie, Value: tt.cookie})
		if got := languageOf(r); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}

// Without the right to label there is nothing to label with.
func TestButtonsNeedTheRight(t *testing.T) {
	for _, target := range []string{"/", "/?sort=size", "/clusters/articles/0/0", "/contacts"} {
		if page := newSite(t, access.Read).ask("GET", target, "en", "").Body.String(); strings.Contains(
			page, `name="do"`) || strings.Contains(page, `name="on"`) {
			t.Errorf("%s has buttons for who may only read", target)
		}
		if page := newSite(t, access.All).ask("GET", target, "en", "").Body.String(); !strings.Contains(
			page, `name="do"`) {
			t.Errorf("%s has no buttons for who may label", target)
		}
	}
	routes, err := Routes(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range routes {
		want := access.Read
		if r.Path == "/labels" {
			want = access.Label
		}
		if r.Right != want {
			t.Errorf("%s %s needs the right %s", r.Method, r.Path, r.Right)
		}
	}
}

// Labels come and go by forms alone, and undo takes back what was done, and nothing else.
func TestLabelsByForm(t *testing.T) {
	s := newSite(t, access.All)
	s.labels[id(1)] = []api.Label{{Label: "spam", By: "bob", Note: "earlier"}}
	before := func() []api.Label { return s.labels[id(1)] }
	form := url.Values{
		"do": {doing("spam", "")}, "back": {"/?sort=size"},
		"on": {doing("", id(0)), doing("", id(1)), doing("", id(2))},
	}
	page := s.ask("POST", "/labels", "en", form.Encode())
	if page.Code != http.StatusOK || len(s.written) != 2 {
		t.Fatalf("%d: %d labels were written, want those of two clusters: %v", page.Code,
			len(s.written), s.written)
	}
	if got := before(); len(got) != 1 || got[0].By != "bob" {
		t.Errorf("the label that was there is now %+v", got)
	}
	undo := s.undoOf(page)
	if w := s.ask("POST", "/labels", "en", undo.Encode()); w.Code != http.StatusOK {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	if len(s.labels[id(0)])+len(s.labels[id(2)]) != 0 || len(before()) != 1 {
		t.Errorf("after undo there are %v", s.labels)
	}
	typed := url.Values{"do": {doing("", id(2))}, "name": {" wave "}, "note": {"a, b"}}
	s.ask("POST", "/labels", "en", typed.Encode())
	if got := s.labels[id(2)]; len(got) != 1 || got[0].Label != "wave" || got[0].Note != "a, b" {
		t.Errorf("what was typed became %+v", got)
	}
}

// undoOf returns the form on an answer that takes back what was done.
func (s *site) undoOf(answer *httptest.ResponseRecorder) url.Values {
	s.Helper()
	if answer.Code != http.StatusOK {
		s.Fatalf("%d: %s", answer.Code, answer.Body)
	}
	return url.Values{"do": s.values(answer.Body.String(), "do")}
}

// values returns those of all buttons and fields of a page with a name.
func (s *site) values(page, wanted string) (all []string) {
	s.Helper()
	for n := range tree(s.T, page).Descendants() {
		if name, _ := attribute(n, "name"); name == wanted {
			value, _ := attribute(n, "value")
			all = append(all, value)
		}
	}
	return all
}

// labelForm is a form with the value of a button, and with what is chosen.
func labelForm(do string, on ...string) string {
	return url.Values{"do": {do}, "on": on}.Encode()
}

// A button labels one article of a labelled cluster, and undo takes that back. A label on trial
// next to a real one is taken off by itself.
func TestLabelOneArticleByForm(t *testing.T) {
	s := newSite(t, access.All)
	const only = `{"target":"article","cluster_id":"articles/0/3",`
	button := func() (all []string) {
		page := s.ask("GET", "/clusters/articles/0/3", "en", "").Body.String()
		for _, value := range s.values(page, "do") {
			if strings.HasPrefix(value, only) {
				all = append(all, value)
			}
		}
		return all
	}
	if got := button(); len(got) > 0 {
		t.Errorf("a cluster without labels has %v", got)
	}
	s.labels[id(3)] = []api.Label{{Label: "spam"}, {Label: "spam", Trial: true}}
	got := button()
	if len(got) != len(hostile()) {
		t.Fatalf("%d members have the button", len(got))
	}
	undo := s.undoOf(s.ask("POST", "/labels", "en", labelForm(got[1])))
	if len(s.own) != 1 || s.own[0].Label != "ham" || len(s.labels[id(3)]) != 2 {
		t.Fatalf("the article has %+v, its cluster %+v", s.own, s.labels)
	}
	r := s.written[0]
	if r.Target != api.ForArticle || r.ArticleID != hostile()[1] || *r.Fingerprint != 1 {
		t.Errorf("written: %+v", r)
	}
	if again := s.undoOf(s.ask("POST", "/labels", "en", labelForm(got[1]))); len(again["do"]) > 0 {
		t.Errorf("what was there already can be undone: %v", again)
	}
	if on := button(); !strings.Contains(on[1], `"action":"remove"`) || len(on) != len(got) {
		t.Errorf("the buttons are now %v", on)
	}
	s.undoOf(s.ask("POST", "/labels", "en", undo.Encode()))
	if len(s.own) != 0 {
		t.Errorf("after undo the article has %+v", s.own)
	}
	page := s.ask("GET", "/clusters/articles/0/3", "en", "").Body.String()
	for _, value := range s.values(page, "do") {
		if strings.Contains(value, `"trial":true`) {
			s.undoOf(s.ask("POST", "/labels", "en", labelForm(value)))
		}
	}
	if got := s.labels[id(3)]; len(got) != 1 || got[0].Trial {
		t.Errorf("without the trial there are %+v", got)
	}
}

// A button labels a contact or says that it is harmless, in the lists and on the page of a
// cluster that has a label by the contact. A click that cannot be taken back alone has no undo.
func TestContactsByForm(t *testing.T) {
	s := full(t)
	contact := "name:" + hostile()[3]
	find := func(target, label string) (found string) {
		for _, value := range s.values(s.ask("GET", target, "en", "").Body.String(), "do") {
			d, err := parseDeed(value)
			if err != nil {
				t.Fatal(err)
			}
			if d.Contact == contact && d.Label == label {
				found = value
			}
		}
		return found
	}
	for _, target := range []string{"/contacts", "/contacts?show=marked", "/clusters/articles/0/3"} {
		undo := s.undoOf(s.ask("POST", "/labels", "en", labelForm(find(target, "ham"))))
		if r := s.written[len(s.written)-1]; r.Target != api.ForContact || r.Contact != contact ||
			r.Label != "ham" || r.Action != api.Add {
			t.Errorf("%s: written: %+v", target, r)
		}
		s.undoOf(s.ask("POST", "/labels", "en", undo.Encode()))
		if r := s.written[len(s.written)-1]; r.Label != "ham" || r.Action != api.Remove {
			t.Errorf("%s: to undo it was written: %+v", target, r)
		}
		said := inner(tree(t, s.ask("GET", target, "en", "").Body.String()))
		for _, want := range []string{
			"labelled 4 of 6 clusters", "does not count", "marked by bob, 2026-05-01T13:00:00Z",
			"harmless by evil", `\u202etxt.exe`,
		} {
			if !strings.Contains(said, want) {
				t.Errorf("%s does not say %q", target, want)
			}
		}
	}
	if undo := s.undoOf(s.ask("POST", "/labels", "en", labelForm(find("/contacts", "spam")))); len(
		undo["do"]) > 0 {
		t.Errorf("a click on a marked contact can be undone by %v", undo)
	}
	s.marks = marksOf("x")
	s.marks[0].Trial = true
	if undo := s.undoOf(s.ask("POST", "/labels", "en", labelForm(find("/contacts", "spam")))); len(
		undo["do"]) != 1 {
		t.Errorf("a click on a contact that is marked on trial can be undone by %v", undo)
	}
	s.marks = nil
	if find("/contacts", "ham") != "" {
		t.Error("a contact without marks can be called harmless")
	}
	undo := s.undoOf(s.ask("POST", "/labels", "en", labelForm(doing("wave", ""), find("/contacts",
		"spam"))))
	s.undoOf(s.ask("POST", "/labels", "en", undo.Encode()))
	if r := s.written[len(s.written)-1]; r.Contact != contact || r.Label != "wave" ||
		r.Action != api.Remove || r.Space == nil {
		t.Errorf("a chosen contact: %+v", r)
	}
}

func TestFormsThatCannotBe(t *testing.T) {
	s := newSite(t, access.All)
	for _, tt := range []struct {
		target, body string
		want         int
	}{
		{"/labels", labelForm(doing("spam", "")), http.StatusUnprocessableEntity},
		{"/labels", labelForm(doing("spam", ""), "{}}"), http.StatusUnprocessableEntity},
		{"/labels", labelForm(`{"cluster_id":"articles/0/1","label":"spam","action":"explode"}`), 422},
		{"/labels", labelForm(doing("a\nb", id(1))), http.StatusUnprocessableEntity},
		{"/labels", "do=%", http.StatusBadRequest},
		{"/check", "text=+", http.StatusUnprocessableEntity},
	} {
		if w := s.ask("POST", tt.target, "en", tt.body); w.Code != tt.want {
			t.Errorf("%s %s: %d, want %d", tt.target, tt.body, w.Code, tt.want)
		}
	}
	for target, want := range map[string]int{
		"/contacts?show=odd": 400, "/contacts?cursor=odd": 404,
		"/?sort=odd": 400, "/?minutes=99": 400, "/?odd=1": 400, "/?sort=size&cursor=odd": 404,
		"/clusters/articles/0/1?cursor=odd": 404, "/clusters/articles/0/1?with=odd": 404,
	} {
		if w := s.ask("GET", target, "en", ""); w.Code != want {
			t.Errorf("%s: %d, want %d", target, w.Code, want)
		}
	}
	s.err = api.ErrNotReady
	if w := s.ask("GET", "/", "en", ""); w.Code != http.StatusServiceUnavailable {
		t.Errorf("not ready: %d", w.Code)
	}
}

// The next page asks what this one did.
func TestFiltersAreInTheAddress(t *testing.T) {
	s := newSite(t, access.Read)
	page := s.ask("GET", "/?sort=growth&minutes=5&label=spam&title=x", "en", "").Body.String()
	for n := range tree(t, page).Descendants() {
		if rel, _ := attribute(n, "rel"); rel == "next" {
			next, _ := attribute(n, "href")
			if w := s.ask("GET", next, "en", ""); w.Code != http.StatusOK {
				t.Fatalf("%s: %d", next, w.Code)
			}
			want := api.ClusterQuery{
				Sort: api.ByGrowth, Minutes: 5, Label: "spam", Title: "x", Limit: pageSize, After: "after",
			}
			if s.query != want {
				t.Errorf("the next page asks %+v, want %+v", s.query, want)
			}
			return
		}
	}
	t.Error("there is no next page")
}

// All that a page consists of is small, and lies in files that may be kept.
func TestFiles(t *testing.T) {
	size := 0
	s := newSite(t, access.Read)
	for _, name := range []string{"style.css", "script.js", "icon.svg"} {
		where, err := address(name)
		if err != nil {
			t.Fatal(err)
		}
		w := s.ask("GET", where, "en", "")
		kept := w.Result().Header.Get("Cache-Control")
		if w.Code != http.StatusOK || !strings.Contains(kept, "immutable") {
			t.Errorf("%s: %d, %v", where, w.Code, w.Result().Header)
		}
		size += w.Body.Len()
	}
	s = newSite(t, access.All)
	if size += s.ask("GET", "/?sort=size", "en", "").Body.Len(); size > 150<<10 {
		t.Errorf("a page takes %d bytes", size)
	}
	if w := s.ask("GET", "/page/page.go", "en", ""); w.Code != http.StatusNotFound {
		t.Errorf("a file that is none: %d", w.Code)
	}
}

// A visitor is asked for a token, and the form leads back to where he was.
func TestVisitors(t *testing.T) {
	visitors, err := Visitors()
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/?title=%22%3E%3Cscript%3E&wrong=1", nil)
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	w := httptest.NewRecorder()
	visitors.ServeHTTP(w, r)
	if w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), `name="token"`) ||
		!strings.Contains(w.Body.String(), `http-equiv="refresh"`) ||
		!strings.Contains(w.Body.String(), "There is no such token") {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
	for n := range tree(t, w.Body.String()).Descendants() {
		checkNode(t, n)
	}
}

// Each class of dead letters that a stream can have is explained, in both languages.
func TestClassesAreExplained(t *testing.T) {
	all, err := phrases()
	if err != nil {
		t.Fatal(err)
	}
	for _, class := range slices.Concat(article.Classes, article.FingerprintClasses,
		article.LabelClasses) {
		for _, language := range languages() {
			said, err := (speaker{language, all}).class(string(class))
			if err != nil || said == "" {
				t.Errorf("%s: %q says %q, %v", class, language, said, err)
			}
		}
	}
}

// Where another instance works, the head says which, and asks for it only every few seconds.
func TestWorkersAreNamed(t *testing.T) {
	s := newSite(t, access.Read)
	s.state, s.stats.Ready = "standby", true
	for range 3 {
		if body := s.ask("GET", "/", "en", "").Body.String(); !strings.Contains(body, "192.0.2.7") {
			t.Fatalf("it does not say who works:\n%s", body)
		}
	}
	if s.asked != 1 {
		t.Errorf("the group was asked %d times", s.asked)
	}
}

// The head shows one state, by a shape, a word and a colour. It agrees with /readyz, and the
// reason stands next to it.
func TestOneState(t *testing.T) {
	const circle, ring, diamond, triangle = "circle", "ring", "M6 0L12 6L6 12L0 6z", "M6 0L12 11H0z"
	for _, tt := range []struct {
		state   string
		ready   bool
		shape   string
		english string
		chinese string
	}{
		{"live", true, circle, "live", "运行中"},
		{"live", false, triangle, "not ready", "未就绪"},
		{"standby", true, ring, "standby", "待命"},
		{"standby", false, triangle, "not ready", "未就绪"},
		{"recovering", false, diamond, "recovering", "恢复中"},
		{"joining", false, diamond, "joining", "加入中"},
		{"blocked", false, triangle, "blocked", "受阻"},
		{"stopping", false, triangle, "stopping", "停止中"},
	} {
		for language, word := range map[string]string{english: tt.english, chinese: tt.chinese} {
			s := newSite(t, access.Read)
			s.stats.State, s.stats.Ready, s.stats.Reason = tt.state, tt.ready, "the reason"
			var states, shapes, words []string
			root := tree(t, s.ask("GET", "/head", language, "").Body.String())
			for n := range root.Descendants() {
				class, _ := attribute(n, "class")
				switch {
				case n.Type != html.ElementNode:
				case strings.HasPrefix(class, "state "):
					states = append(states, inner(n))
				case n.Data == "strong":
					words = append(words, inner(n))
				case n.Data == "circle" || n.Data == "path":
					d, _ := attribute(n, "d")
					shapes = append(shapes, cmp.Or(d, class, n.Data))
				}
			}
			want := word
			if !tt.ready {
				want += " the reason"
			}
			if !slices.Equal(states, []string{want}) || !slices.Equal(words, []string{word}) ||
				!slices.Equal(shapes, []string{tt.shape}) {
				t.Errorf("%s, ready %v: it shows %q, %q, %q; want %q, %q", tt.state, tt.ready, states, words,
					shapes, want, tt.shape)
			}
			// Who works is not known of an instance that is not ready.
			works := strings.Contains(inner(root), say(t, language, "works"))
			if works != tt.ready {
				t.Errorf("%s, ready %v: it says that it works: %v", tt.state, tt.ready, works)
			}
		}
	}
}

// Before the clusters are loaded, the head does not claim a number of clusters.
func TestHeadBeforeClustersAreLoaded(t *testing.T) {
	for want, clusters := range map[string]map[string]int{
		"– clusters": {}, "0 clusters": {"all": 0}, "7 clusters": {"0": 3, "1": 4},
	} {
		s := newSite(t, access.Read)
		s.stats.Clusters = clusters
		if got := inner(tree(t, s.ask("GET", "/head", english, "").Body.String())); !strings.Contains(got,
			want) {
			t.Errorf("%v: %q, want %q", clusters, got, want)
		}
	}
}

// Growth that was counted for a shorter time than asked for says when counting began, instead of
// the minutes.
func TestGrowthIsCountedSince(t *testing.T) {
	for _, language := range languages() {
		s := newSite(t, access.Read)
		for _, since := range []time.Time{{}, noon} {
			s.since = since
			all := inner(tree(t, s.ask("GET", "/", language, "").Body.String()))
			at := clock(time.Now(), noon)
			counted := strings.Count(all, say(t, language, "counted since")+" "+at)
			grew := strings.Count(all, say(t, language, "grew since", 3, at))
			joined := strings.Count(all, say(t, language, "joined since", 4, at))
			minutes := strings.Contains(all, say(t, language, "grew", 3, 60)) &&
				strings.Contains(all, say(t, language, "joined", 4))
			if since.IsZero() && (counted+grew+joined > 0 || !minutes) ||
				// One list is by growth, and the first cluster is in all three.
				!since.IsZero() && (counted != 1 || grew != 1 || joined != 3) {
				t.Errorf("%s, since %v: %d, %d and %d say so; of minutes it speaks: %v\n%s", language, since,
					counted, grew, joined, minutes, all)
			}
		}
	}
}

func TestClock(t *testing.T) {
	for want, after := range map[string]time.Duration{
		"12:00 UTC": 11 * time.Hour, "2026-05-01 12:00 UTC": 12 * time.Hour,
	} {
		if got := clock(noon.Add(after), noon); got != want {
			t.Errorf("%v later: %s, want %s", after, got, want)
		}
	}
}

// say returns a phrase.
func say(t *testing.T, language, key string, args ...any) string {
	t.Helper()
	all, err := phrases()
	if err != nil {
		t.Fatal(err)
	}
	said, err := speaker{language, all}.say(key, args...)
	if err != nil {
		t.Fatal(err)
	}
	return said
}
