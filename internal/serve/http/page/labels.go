package page

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/serve/http/strict"
)

// A deed is a label on a cluster, an article or a contact, or off it, as the value of a button
// says it in JSON. Without label and action it is the thing that a row shows.
type deed api.LabelRequest

// String returns the value of a button.
func (d deed) String() string {
	value, err := json.Marshal(api.LabelRequest(d))
	if err != nil {
		panic(err) // there are only words in it
	}
	return string(value)
}

// on reports whether a deed says what it is on.
func (d deed) on() bool { return d.ClusterID != "" || d.Contact != "" }

func parseDeed(value string) (d deed, err error) {
	if strict.JSON([]byte(value), (*api.LabelRequest)(&d)) != nil {
		err = &api.InvalidError{Field: "do", Reason: "is not of a button of this page"}
	}
	return d, err
}

// deeds returns what a form asks for. A button for many rows names nothing: it is for those that
// are chosen. One without a label is for that which was typed.
func deeds(r *http.Request) (all []deed, err error) {
	for _, value := range r.PostForm["do"] {
		d, err := parseDeed(value)
		if err != nil {
			return nil, err
		}
		if d.Label == "" {
			d.Label = strings.TrimSpace(r.PostForm.Get("name"))
		}
		if note := strings.TrimSpace(r.PostForm.Get("note")); note != "" && d.Note == "" {
			d.Note = note
		}
		if d.on() {
			all = append(all, d)
			continue
		}
		for _, value := range r.PostForm["on"] {
			on, err := parseDeed(value)
			if err != nil {
				return nil, err
			}
			on.Action, on.Label, on.Note = d.Action, d.Label, d.Note
			all = append(all, on)
		}
	}
	if len(all) == 0 {
		return nil, &api.InvalidError{Reason: "nothing is chosen"}
	}
	if len(all) > api.MaxLabels {
		return nil, &api.InvalidError{
			Reason: fmt.Sprintf("at most %d are possible at once", api.MaxLabels),
		}
	}
	return all, nil
}

// labelled is what became of a form with labels.
type labelled struct {
	Results []api.Labelled
	Done    bool   // all of them are applied
	Undo    []deed // what takes them back, exactly
	Back    string // from where the form came
}

// label answers POST /labels.
func (s *server) label(w http.ResponseWriter, r *http.Request) error {
	if !form(w, r) {
		return nil
	}
	wanted, err := deeds(r)
	if err != nil {
		return err
	}
	page := labelled{Done: true, Back: back(r.PostForm.Get("back"))}
	var items []api.LabelRequest
	var undos []deed
	for _, d := range wanted {
		undo, changes := s.undo(r.Context(), d)
		if !changes {
			continue
		}
		undos = append(undos, undo)
		if d.Action == api.Remove {
			d.Note = ""
		}
		items = append(items, api.LabelRequest(d))
	}
	if len(items) > 0 {
		page.Results, page.Done, err = s.Apply(r.Context(), items)
		if err != nil {
			return err
		}
	}
	for i, result := range page.Results {
		if result.Error == "" && undos[i].on() {
			page.Undo = append(page.Undo, undos[i])
		}
	}
	return s.render(w, r, http.StatusOK, "labelled", page)
}

// undo returns what takes a deed back, and whether the deed changes anything at all: a label that
// is there already is not added, so that undoing does not remove what another has set. If nothing
// takes exactly this deed back, it returns an empty deed.
func (s *server) undo(ctx context.Context, d deed) (back deed, changes bool) {
	back = d
	back.Action, back.Note = api.Remove, ""
	if d.Action == api.Remove {
		back.Action = api.Add
	}
	if d.Target == api.ForContact {
		// To take a label off a contact takes back all clicks on it, not this one alone.
		if c, err := s.Spaces.Contact(d.ContactRef, ""); err == nil && hasMark(c, d) {
			back = deed{}
		}
		return back, true
	}
	labels, err := s.labelsOf(ctx, d)
	if err != nil {
		return back, true // it will be said what is wrong
	}
	for _, l := range labels {
		if l.Label == d.Label && l.Trial == d.Trial {
			back.Note = l.Note
			return back, d.Action == api.Remove
		}
	}
	return back, d.Action == api.Add
}

func hasMark(c api.Contact, d deed) bool {
	return slices.ContainsFunc(c.Marks, func(m api.Mark) bool {
		return m.Label == d.Label && m.Trial == d.Trial
	})
}

// labelsOf returns those of a cluster, or of one article of it.
func (s *server) labelsOf(ctx context.Context, d deed) ([]api.Label, error) {
	c, _, err := s.Spaces.Cluster(ctx, string(d.ClusterID))
	if err != nil || d.Target != api.ForArticle {
		return c.Labels, err
	}
	if s.Options.Members == nil {
		return nil, api.ErrUnknown
	}
	m, _, _, err := s.Options.Members.Article(ctx, string(d.ArticleID))
	return c.LabelsOfArticle(m.Fingerprint), err
}

// back returns the address of a page of this server from where a form came.
func back(address string) string {
	if !strings.HasPrefix(address, "/") || strings.HasPrefix(address, "//") ||
		strings.Contains(address, "\\") {
		return "/"
	}
	return address
}
