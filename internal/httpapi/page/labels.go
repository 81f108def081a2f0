package page

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/clusterd/clusterd/internal/httpapi/api"
	v1 "github.com/clusterd/clusterd/internal/httpapi/v1"
)

// A deed is a label on a cluster, or off it, as a button of a form says it.
type deed struct {
	Action    api.Action
	Label     string
	ClusterID string
	Note      string
}

// String returns the value of a button. An id and a label have no comma.
func (d deed) String() string {
	return fmt.Sprintf("%s,%s,%s,%s", d.Action, d.Label, d.ClusterID, d.Note)
}

func parseDeed(value string) (d deed, ok bool) {
	parts := strings.SplitN(value, ",", 4)
	if len(parts) != 4 {
		return d, false
	}
	d = deed{api.Action(parts[0]), parts[1], parts[2], parts[3]}
	return d, d.Action == api.Add || d.Action == api.Remove
}

// deeds returns what a form asks for. A button for many rows names no cluster: it is for those that
// are chosen. One without a label is for that which was typed.
func deeds(r *http.Request) (all []deed, err error) {
	for _, value := range r.PostForm["do"] {
		d, ok := parseDeed(value)
		if !ok {
			return nil, &v1.InvalidError{Field: "do", Reason: "is not of a button of this page"}
		}
		if d.Label == "" {
			d.Label = strings.TrimSpace(r.PostForm.Get("name"))
		}
		if note := strings.TrimSpace(r.PostForm.Get("note")); note != "" && d.Note == "" {
			d.Note = note
		}
		if d.ClusterID != "" {
			all = append(all, d)
			continue
		}
		for _, id := range r.PostForm["cluster"] {
			d.ClusterID = id
			all = append(all, d)
		}
	}
	if len(all) == 0 {
		return nil, &v1.InvalidError{Reason: "no cluster is chosen"}
	}
	if len(all) > api.MaxLabels {
		return nil, &v1.InvalidError{
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
	for _, d := range wanted {
		undo, changes := s.undo(r.Context(), d)
		if !changes {
			continue
		}
		page.Undo = append(page.Undo, undo)
		q := api.LabelRequest{ClusterID: api.ID(d.ClusterID), Label: d.Label, Action: d.Action}
		if d.Action == api.Add {
			q.Note = d.Note
		}
		items = append(items, q)
	}
	if len(items) > 0 {
		page.Results, page.Done, err = s.Apply(r.Context(), items)
		if err != nil {
			return err
		}
	}
	var undo []deed
	for i, result := range page.Results {
		if result.Error == "" {
			undo = append(undo, page.Undo[i])
		}
	}
	page.Undo = undo
	return s.render(w, r, http.StatusOK, "labelled", page)
}

// undo returns what takes a deed back, and whether it changes anything at all: a label that is
// there already is not added, so that undoing does not remove what another has set.
func (s *server) undo(ctx context.Context, d deed) (back deed, changes bool) {
	back = deed{Action: api.Remove, Label: d.Label, ClusterID: d.ClusterID}
	if d.Action == api.Remove {
		back.Action = api.Add
	}
	c, _, err := s.Spaces.Cluster(ctx, d.ClusterID)
	if err != nil {
		return back, true // it will be said what is wrong
	}
	for _, l := range c.Labels {
		if l.Label == d.Label && !l.Trial {
			back.Note = l.Note
			return back, d.Action == api.Remove
		}
	}
	return back, d.Action == api.Add
}

// back returns the address of a page of this server from where a form came.
func back(address string) string {
	if !strings.HasPrefix(address, "/") || strings.HasPrefix(address, "//") ||
		strings.Contains(address, "\\") {
		return "/"
	}
	return address
}
