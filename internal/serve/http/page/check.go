package page

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/clusterd/clusterd/internal/serve/http/api"
)

// checked is a text and what would become of it.
type checked struct {
	Text   string
	Answer *api.Checked // nil: nothing was asked yet
	Joined *row
	Near   []near // other clusters, the nearest first
}

// near is a cluster that something is near to.
type near struct {
	Row      row
	Distance float64
	Suspect  bool // it has a label
}

// Away returns the distance.
func (n near) Away() *float64 { return &n.Distance }

// askCheck answers GET /check.
func (s *server) askCheck(w http.ResponseWriter, r *http.Request) error {
	return s.render(w, r, http.StatusOK, "check", checked{})
}

// form reads a form that is sent as such, and answers for one that cannot be read.
func form(w http.ResponseWriter, r *http.Request) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind != "application/x-www-form-urlencoded" {
		w.Header().Set("Connection", "close") // rather than read what may follow
		api.WriteProblem(w, http.StatusUnsupportedMediaType, "", "this is for the forms of the page: "+
			"programs use /v1")
		return false
	}
	if err := r.ParseForm(); err != nil {
		api.WriteBodyProblem(w, err)
		return false
	}
	return true
}

// runnersUp is how many clusters are named that a text does not join.
const runnersUp = 5

// check answers POST /check: as the stream would, and stores nothing.
func (s *server) check(w http.ResponseWriter, r *http.Request) error {
	if !form(w, r) {
		return nil
	}
	// A browser sends line breaks of forms as two characters.
	page := checked{Text: strings.ReplaceAll(r.PostForm.Get("text"), "\r\n", "\n")}
	o := api.CheckOptions{RunnersUp: runnersUp}
	if n, err := strconv.ParseInt(r.PostForm.Get("partition"), 10, 32); err == nil && n >= 0 {
		partition := int(n)
		o.Partition = &partition
	}
	if strings.TrimSpace(page.Text) == "" {
		return &api.InvalidError{Field: "text", Reason: "there is none"}
	}
	answers, err := s.Spaces.Check(r.Context(), []api.Text{{Content: page.Text}}, o)
	if err != nil {
		return err
	}
	page.Answer = &answers[0]
	if c := page.Answer.Cluster; c != nil {
		page.Joined = &s.rows([]api.Cluster{*c})[0]
	}
	page.Near = s.near(page.Answer)
	return s.render(w, r, http.StatusOK, "check", page)
}

// near returns the clusters that a text is near to and would not join, the suspect among them.
func (s *server) near(a *api.Checked) (all []near) {
	of := a.RunnersUp
	if n := a.Suspect; n != nil {
		known := false
		for i := range of {
			known = known || of[i].Cluster.ClusterID == n.Cluster.ClusterID
		}
		if !known {
			of = append(of, *n)
		}
	}
	for _, n := range of {
		all = append(all, near{
			Row: s.rows([]api.Cluster{n.Cluster})[0], Distance: n.Distance,
			Suspect: len(n.Cluster.Labels) > 0,
		})
	}
	return all
}
