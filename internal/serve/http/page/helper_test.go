package page

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/serve/http/access"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/serve/http/events"
	v1 "github.com/clusterd/clusterd/internal/serve/http/v1"
	"github.com/clusterd/clusterd/internal/text"
	"github.com/clusterd/clusterd/internal/text/diff"
)

// hostile are texts as somebody writes them who means harm.
func hostile() []string {
	return []string{
		`<script>alert(1)</script>`,
		`"><img src=x onerror=alert(1)>`,
		"' onmouseover='alert(1)",
		"evil\u202etxt.exe\u2066\u200f",
		"bell\x07\x1b[31m\x00null",
		"</textarea></title><svg onload=alert(1)>",
		"{{.Head}} ${alert(1)} javascript:alert(1)",
		strings.Repeat("很长", 2000),
		strings.Repeat("word ", 500),
	}
}

// A fake has a cluster for each hostile text, which all carry it wherever something can be said.
type fake struct {
	labels  map[string][]api.Label
	own     []api.Label // those of the article at position 1 of each cluster, of its own
	marks   []api.Mark  // of each contact
	written []api.LabelRecord
	query   api.ClusterQuery
	err     error
	state   string // of the space
	stats   api.Stats
	since   time.Time // when counting of growth began
	asked   int       // how often the group was asked who works
}

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func (f *fake) asOf() api.AsOf {
	return api.AsOf{Space: "all", Position: 17, State: f.state, Role: "all"}
}

func id(i int) string { return fmt.Sprintf("articles/0/%d", i) }

func (f *fake) cluster(i int) api.Cluster {
	grown := i + 3
	c := api.Cluster{
		ClusterID: id(i), Size: 1000 * (i + 1), Growth: &grown, Labels: f.labels[id(i)],
		Signals: &api.Signals{Publishers: article.NewPublishers(65)}, FirstSeen: noon, LastSeen: noon,
		Representative: article.Representative{ID: hostile()[i], Title: hostile()[i]},
	}
	if f.own != nil {
		c.Exceptions = []api.Exception{{Fingerprint: 1, Labels: f.own}}
	}
	return c
}

// contact returns one that two clusters have and a label has marked.
func (f *fake) contact(i int) api.Contact {
	oldest := f.cluster(i)
	return api.Contact{
		ContactRef: api.ContactRef{Contact: "name:" + hostile()[i], Space: new(hostile()[i])},
		Clusters:   2, Oldest: &oldest, Marks: f.marks,
	}
}

// marks are those of a label that two people have set and one has taken a vote from.
func marksOf(text string) []api.Mark {
	return []api.Mark{{
		Label: "spam", Votes: 1, Hams: 1, Used: 4, Reach: 6,
		Clicked: []api.By{
			{By: text, At: noon, Note: text, ClusterID: id(1)}, {By: "bob", At: noon.Add(time.Hour)},
		},
		Harmless: []api.By{{By: text, At: noon, Note: text, Label: "ham"}},
	}}
}

func (f *fake) all() (all []api.Cluster) {
	for i := range hostile() {
		all = append(all, f.cluster(i))
	}
	return all
}

func (f *fake) Check(_ context.Context, texts []api.Text, _ api.CheckOptions) (
	[]api.Checked, error,
) {
	c, d := f.cluster(0), 2.0
	near := api.Near{Cluster: f.cluster(1), Distance: 0.5}
	near.Cluster.Labels = []api.Label{{Label: "spam"}}
	a := api.Checked{
		Status: article.Joined, Cluster: &c, Distance: &d, Labels: hostile(), AsOf: f.asOf(),
		LabelledBy: []article.LabelledBy{{Label: hostile()[3], Contact: hostile()[3]}},
		RunnersUp:  []api.Near{near, {Cluster: f.cluster(2), Distance: 0.7}}, Suspect: &near,
	}
	if texts[0].Content == "new" {
		a = api.Checked{Status: article.New, AsOf: f.asOf()}
	}
	return []api.Checked{a}, f.err
}

func (f *fake) Compare(context.Context, api.Text, api.Text) (api.Comparison, error) {
	return api.Comparison{}, f.err
}

func (f *fake) Cluster(_ context.Context, wanted string) (api.Cluster, api.AsOf, error) {
	for i := range hostile() {
		if id(i) == wanted {
			return f.cluster(i), f.asOf(), f.err
		}
	}
	return api.Cluster{}, api.AsOf{}, api.ErrUnknown
}

func (f *fake) Clusters(_ context.Context, q api.ClusterQuery) (api.Clusters, error) {
	f.query = q
	page := api.Clusters{Clusters: f.all(), Next: "after", AsOf: f.AsOf()}
	if q.Sort == api.ByGrowth {
		page.Since = f.since
	}
	return page, f.err
}

func (f *fake) story(i int) api.Story {
	return api.Story{
		StoryID: id(i), Clusters: i + 1, Articles: 1000 * (i + 1), Recent: i,
		Publishers: article.NewPublishers(65),
		FirstSeen:  noon, LastSeen: noon, Terms: []string{hostile()[i]}, SplitFrom: id(i + 1),
		Headline: article.Headline{Title: hostile()[i], ClusterID: id(i), Publisher: hostile()[i]},
	}
}

func (f *fake) Stories(context.Context, string, int) (found api.Stories, err error) {
	for i := range hostile() {
		found.Stories = append(found.Stories, f.story(i))
	}
	return found, f.err
}

func (f *fake) Story(_ context.Context, wanted, _ string, _ int) (api.OneStory, error) {
	for i := range hostile() {
		if id(i) == wanted {
			return api.OneStory{
				Story: f.story(i), Clusters: f.all(), Merged: hostile()[i], Next: "5", AsOf: f.asOf(),
			}, f.err
		}
	}
	return api.OneStory{}, api.ErrUnknown
}

func (f *fake) StoryWords(api.FullText) ([]byte, bool, string, error) { return nil, false, "", nil }

func (f *fake) Part(context.Context, string, string) (string, error) { return "", api.ErrUnknown }

func (f *fake) Labelled(context.Context, string, int) (api.Clusters, error) {
	return api.Clusters{}, f.err
}

func (f *fake) Contacts(context.Context, api.ContactQuery) (api.Contacts, error) {
	page := api.Contacts{Next: "after", AsOf: f.AsOf()}
	for i := range hostile() {
		page.Contacts = append(page.Contacts, f.contact(i))
	}
	return page, f.err
}

func (f *fake) Contact(of api.ContactRef, _ string) (api.Contact, error) {
	for i := range hostile() {
		if c := f.contact(i); c.Contact == of.Contact {
			return c, f.err
		}
	}
	return api.Contact{}, api.ErrUnknown
}

func (f *fake) AppliedTo(api.ContactRef, article.Address) bool { return true }

func (f *fake) Applied(string, article.Address) bool { return true }

func (f *fake) AsOf() []api.AsOf { return []api.AsOf{f.asOf()} }

func (f *fake) Members(_ context.Context, _ string, from uint64, limit int) (
	page []api.Member, more bool, view api.View, err error,
) {
	for i, text := range hostile() {
		d := float64(i) / 8
		m := api.Member{
			ArticleID: text, Status: article.Joined, Distance: &d, Matched: article.ByText,
			Publisher: text, EventTime: noon.Add(time.Duration(i) * time.Hour), Position: uint64(i),
			Source:      article.Address{Topic: "articles", Offset: int64(i)},
			Fingerprint: new(article.Fingerprint(i)),
		}
		switch i {
		case 0:
			m.Status = article.New
		case 1:
			m.Matched = article.ByContact
		}
		if m.Position >= from && len(page) < limit {
			page = append(page, m)
		}
	}
	return page, limit > 1, api.View{Lag: 2}, f.err
}

func (f *fake) Article(_ context.Context, wanted string) (api.Member, string, api.View, error) {
	for i, text := range hostile() {
		if text == wanted {
			m := api.Member{ArticleID: text, Fingerprint: new(article.Fingerprint(i))}
			return m, id(3), api.View{}, f.err
		}
	}
	return api.Member{}, "", api.View{}, api.ErrUnknown
}

// topics write labels, and read texts again.
type topics struct{ *fake }

func (topics) ChangeStory(context.Context, api.StoryRecord) (article.Address, error) {
	return article.Address{}, nil
}

func (topics) Erase(context.Context, api.EraseRecord) (article.Address, error) {
	return article.Address{}, nil
}

func (t topics) Article(context.Context, api.NewArticle) (article.Address, v1.Waiter, error) {
	return article.Address{}, nil, t.err
}

func (t topics) Labels(_ context.Context, records []api.LabelRecord) (
	at []article.Address, err error,
) {
	for _, r := range records {
		where := article.Address{Topic: "labels", Offset: int64(len(t.written))}
		at = append(at, where)
		t.written = append(t.written, r)
		switch r.Target {
		case api.ForContact:
			t.clicked(&r, where.String())
		case api.ForArticle:
			t.own = changed(t.own, &r)
		default:
			t.labels[r.ClusterID] = changed(t.labels[r.ClusterID], &r)
		}
	}
	return at, t.err
}

// clicked changes marks by a label on a contact.
func (t topics) clicked(r *api.LabelRecord, record string) {
	by := api.By{By: r.By, At: r.At, Record: record}
	switch {
	case r.Action == api.Remove:
		t.marks = slices.DeleteFunc(t.marks, func(m api.Mark) bool { return m.Label == r.Label })
	case r.Label == "ham":
		t.marks[0].Harmless = append(t.marks[0].Harmless, by)
	default:
		t.marks = append(t.marks, api.Mark{Label: r.Label, Clicked: []api.By{by}})
	}
}

// changed returns labels after a record.
func changed(labels []api.Label, r *api.LabelRecord) []api.Label {
	kept := []api.Label{}
	for _, l := range labels {
		if l.Label != r.Label || l.Trial != r.Trial {
			kept = append(kept, l)
		}
	}
	if r.Action == api.Add {
		l := api.Label{Label: r.Label, By: r.By, At: r.At, Note: r.Note, Trial: r.Trial}
		kept = append(kept, l)
	}
	return kept
}

func (t topics) Texts(_ context.Context, of []article.Address) (all []v1.Text, err error) {
	for _, a := range of {
		all = append(all, v1.Text{FullText: api.FullText{
			Title: hostile()[a.Offset], Content: "Both say this. " + hostile()[a.Offset],
		}})
	}
	return all, t.err
}

// A site is the pages of a fake, for one who asks.
type site struct {
	*testing.T
	*fake
	handler http.Handler
	rights  access.Rights
}

// labelsOf returns labels that are too frequent.
func labelsOf(names []string) (all []api.LabelCount) {
	for _, name := range names {
		all = append(all, api.LabelCount{Label: name, AboveFlood: true})
	}
	return all
}

func newSite(t *testing.T, rights access.Rights) *site {
	t.Helper()
	f := &fake{
		labels: make(map[string][]api.Label), state: "live",
		stats: api.Stats{
			State: "live", Reason: hostile()[0], Rate: 1234.5, Clusters: map[string]int{"all": 123456},
			Lag: map[int]int64{0: 3}, DeadLetters: map[string]int64{"bad_json": 7, "too_large": 0},
			Labels: labelsOf(hostile()),
		},
	}
	passages, err := diff.New(text.CleanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	routes, err := Routes(Options{
		Stories:  true,
		Instance: "desk-1 " + hostile()[0], Passages: passages,
		Workers: func(context.Context) ([]string, error) {
			f.asked++
			return []string{"192.0.2.7"}, f.err
		},
		Suspects: func(context.Context) (all []api.Suspect, err error) {
			for i, c := range f.all() {
				all = append(all, api.Suspect{Cluster: c, Near: api.Near{Cluster: f.cluster(i), Distance: .4}})
			}
			return all, f.err
		},
		Activity: func(ids []string) ([][]int, time.Time) {
			all := make([][]int, len(ids))
			all[0] = []int{0, 3, 1}
			return all, f.since
		},
		Options: v1.Options{
			Spaces: f, Members: f, Topics: topics{f}, Events: events.NewHub(), Labels: true,
			Stats: func(context.Context) api.Stats { return f.stats },
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for _, r := range routes {
		mux.Handle(r.Method+" "+r.Path, r.Handler)
	}
	return &site{T: t, fake: f, handler: mux, rights: rights}
}

// ask sends a request; a body is a form.
func (s *site) ask(method, target, language, body string) *httptest.ResponseRecorder {
	s.Helper()
	r := httptest.NewRequestWithContext(s.Context(), method, target, strings.NewReader(body))
	r.Header.Set("Accept-Language", language)
	if body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	caller := access.Caller{Name: "alice", Rights: s.rights}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r.WithContext(access.With(r.Context(), caller)))
	return w
}

// tree is a page as a browser reads it.
func tree(t *testing.T, page string) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func attribute(n *html.Node, name string) (value string, ok bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

// inner returns the text of an element, with one blank for white space.
func inner(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
