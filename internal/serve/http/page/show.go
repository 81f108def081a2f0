package page

import (
	"cmp"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/text/printable"
)

// parse returns the templates in a language.
func parse(language string) (*template.Template, error) {
	all, err := phrases()
	if err != nil {
		return nil, err
	}
	s := speaker{language, all}
	return template.New("").Funcs(template.FuncMap{
		"t": s.say, "words": s.forScript,
		"file": address, "safe": printable.Text, "lines": lines, "title": title, "number": number,
		"clusterAddress": clusterAddress, "distance": distance, "publishers": publishers, "stamp": stamp,
		"age": s.age, "clock": clock, "clip": clipped, "class": s.class, "status": s.status,
		"spark": spark, "timeline": timeline, "rate": rate, "joined": s.joined, "grew": s.grew,
		"deed": func(action, label, id string, trial bool) deed {
			return deed{Action: api.Action(action), Label: label, ClusterID: api.ID(id), Trial: trial}
		},
		"on":      func(v view, r row, minutes int) rowView { return rowView{v, r, minutes} },
		"near":    func(v view, n near) nearView { return nearView{v, n} },
		"contact": func(v view, c api.Contact, tick bool) contactView { return contactView{v, c, tick} },
		"buttons": buttons, "ofContact": ofContact, "ofMember": ofMember, "sorts": sorts,
		"storyAddress": storyAddress, "headline": headline, "storyline": storyline,
		"storySorts": storySorts,
		"int":        func(n *int) int { return *n },
		"state":      func(state string) (string, error) { return s.say(cmp.Or(state, "starting")) },
	}).ParseFS(content, "templates/*.html")
}

// rowView is a row and the page that it is on.
type rowView struct {
	View    view
	Row     row
	Minutes int // in which growth counts
}

// nearView is a cluster that something is near to, and the page that it is on.
type nearView struct {
	View view
	Near near
}

// contactView is a contact and the page that it is on.
type contactView struct {
	View    view
	Contact api.Contact
	Tick    bool // it can be chosen
}

// button puts a label on something, or takes off the one that is there.
type button struct {
	Says string // the phrase
	Deed deed
	On   bool
}

func newButton(says, label string, of deed, on bool) button {
	of.Label, of.Action = label, api.Add
	if on {
		of.Action = api.Remove
	}
	return button{says, of, on}
}

// Thing returns what the cluster of a row is to requests for labels.
func (r row) Thing() deed { return deed{ClusterID: api.ID(r.ClusterID)} }

// buttons returns those of a row: for what a moderator says most.
func buttons(r row) (all []button) {
	for _, label := range []string{"spam", "ham"} {
		all = append(all, newButton(label, label, r.Thing(), r.Has(label)))
	}
	return all
}

// Thing returns what the contact is to requests for labels.
func (v contactView) Thing() deed {
	return deed{Target: api.ForContact, ContactRef: v.Contact.ContactRef}
}

// ofContact returns the buttons of a contact: there are none for one that is hidden.
func ofContact(v contactView) (all []button) {
	if v.View.Hidden || !v.View.CanLabel {
		return nil
	}
	if v.Contact.Clusters > 0 {
		all = append(all, newButton("all spam", "spam", v.Thing(), false))
	}
	if len(v.Contact.Marks) > 0 {
		all = append(all, newButton("harmless", "ham", v.Thing(), false))
	}
	return all
}

// Thing returns what the member is to requests for labels.
func (m memberRow) Thing() deed {
	return deed{Target: api.ForArticle, ClusterID: api.ID(m.ClusterID), ArticleID: api.ID(m.ArticleID)}
}

// ofMember returns the button of a member of a labelled cluster, which takes the label off this
// article alone. Exceptions are stored by fingerprint, so the article must have one.
func ofMember(v view, r row, m memberRow) (all []button) {
	own := row{Cluster: api.Cluster{Labels: m.Own}}.Has("ham")
	if v.CanLabel && m.Fingerprint != nil && (own || len(r.Labels) > 0 && !r.Has("ham")) {
		all = append(all, newButton("only this", "ham", m.Thing(), own))
	}
	return all
}

// title returns by what a cluster is called: its title, or how its text begins, or its id.
func title(c api.Cluster) string {
	switch r := c.Representative; {
	case strings.TrimSpace(r.Title) != "":
		return printable.Text(r.Title)
	case strings.TrimSpace(r.Excerpt) != "":
		return printable.Text(r.Excerpt)
	}
	return printable.Text(c.ClusterID)
}

// clipped shortens a title that is beside another.
func clipped(title string) string {
	const most = 60 // characters
	if runes := []rune(title); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return title
}

// lines makes a text harmless, and leaves its line breaks.
func lines(text string) string {
	all := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i := range all {
		all[i] = printable.Text(strings.ReplaceAll(all[i], "\t", " "))
	}
	return strings.Join(all, "\n")
}

// clusterAddress returns the address of a cluster's page.
func clusterAddress(id string) string {
	parts := strings.Split(id, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return "/clusters/" + strings.Join(parts, "/")
}

// number writes a whole number with its digits in groups of three.
func number(n any) string {
	digits := fmt.Sprint(n)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 && digits[i-1] != '-' {
			b.WriteString("\u202f") // a narrow space that does not break
		}
		b.WriteRune(d)
	}
	return b.String()
}

func rate(perSecond float64) string {
	if perSecond >= 10 {
		return number(int64(perSecond + 0.5))
	}
	return strconv.FormatFloat(perSecond, 'f', 1, 64)
}

func distance(d *float64) string {
	if d == nil {
		return "–"
	}
	return strconv.FormatFloat(*d, 'g', 3, 64)
}

func publishers(p article.Publishers) string {
	if p.More {
		return fmt.Sprintf("%d+", p.Number)
	}
	return strconv.Itoa(int(p.Number))
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// clock says when something was, to the minute.
func clock(now, then time.Time) string {
	layout := "15:04 UTC"
	if now.Sub(then) >= 12*time.Hour {
		layout = "2006-01-02 " + layout
	}
	return then.UTC().Format(layout)
}

// age says how long ago something was, in its largest unit.
func (s speaker) age(now, then time.Time) (string, error) {
	d := now.Sub(then)
	switch {
	case d < time.Minute:
		return s.say("now")
	case d < time.Hour:
		return s.say("minutes ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return s.say("hours ago", int(d.Hours()))
	}
	return s.say("days ago", int(d.Hours()/24))
}

// joined says how many articles the spark line has.
func (s speaker) joined(now time.Time, r row) (string, error) {
	n := 0
	for _, one := range r.Joined {
		n += one
	}
	if r.Since.IsZero() {
		return s.say("joined", n)
	}
	return s.say("joined since", n, clock(now, r.Since))
}

// grew says by how much a cluster grew.
func (s speaker) grew(now time.Time, r row, minutes int) (string, error) {
	if r.Grown.IsZero() {
		return s.say("grew", *r.Growth, minutes)
	}
	return s.say("grew since", *r.Growth, clock(now, r.Grown))
}

// spark draws a bar for each minute. What it says, whoever uses it says in words.
func spark(joined []int) template.HTML {
	const height = 18
	if len(joined) == 0 {
		return ""
	}
	most := max(slices.Max(joined), 1)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="spark" viewBox="0 0 %d %d" preserveAspectRatio="none" `+
		`aria-hidden="true" focusable="false"><path d="`, len(joined)*2, height)
	for i, n := range joined {
		if n > 0 {
			h := max(2, n*height/most)
			fmt.Fprintf(&b, "M%d %dh1.6v-%dh-1.6z", i*2, height, h)
		}
	}
	b.WriteString(`"/></svg>`)
	return template.HTML(b.String()) //nolint:gosec // numbers alone go in
}

// timeline draws a mark for each member: from left to right by its time, from bottom to top by its
// distance from the founder. The founder is a diamond, who joined by a contact a square.
func timeline(members []memberRow) template.HTML {
	const width, height, edge = 720, 64, 8
	if len(members) < 2 {
		return ""
	}
	first, last, most := members[0].EventTime, members[0].EventTime, 0.0
	for _, m := range members {
		if m.EventTime.Before(first) {
			first = m.EventTime
		}
		if m.EventTime.After(last) {
			last = m.EventTime
		}
		if m.Distance != nil {
			most = max(most, *m.Distance)
		}
	}
	span := max(last.Sub(first).Seconds(), 1)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="timeline" viewBox="0 0 %d %d" aria-hidden="true" focusable="false">`+
		`<path class="axis" d="M0 %d H%d"/>`, width, height, height-2, width)
	for _, m := range members {
		x := edge + m.EventTime.Sub(first).Seconds()/span*(width-2*edge)
		y := float64(height - edge - 2)
		if m.Distance != nil && most > 0 {
			y -= *m.Distance / most * (height - 2*edge - 2)
		}
		switch {
		case m.Status == article.New:
			fmt.Fprintf(&b, `<path class="founder" d="M%.1f %.1fl6 6l-6 6l-6 -6z"/>`, x, y-6)
		case m.Matched == article.ByContact:
			fmt.Fprintf(&b, `<path d="M%.1f %.1fh7v7h-7z"/>`, x-3.5, y-3.5)
		default:
			fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="3.5"/>`, x, y)
		}
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String()) //nolint:gosec // numbers alone go in
}
