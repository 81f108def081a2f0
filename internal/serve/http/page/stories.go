package page

import (
	"fmt"
	"html/template"
	"math"
	"net/http"
	"strings"

	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/serve/http/strict"
	v1 "github.com/clusterd/clusterd/internal/serve/http/v1"
	"github.com/clusterd/clusterd/internal/text/printable"
)

// storyList is some stories in an order.
type storyList struct {
	Sort    string
	Stories []api.Story
}

// storySorts returns the orders of stories.
func storySorts() []string { return []string{api.ByRecent, api.BySize, api.Newest} }

// stories answers GET /stories.
func (s *server) stories(w http.ResponseWriter, r *http.Request) error {
	p := strict.NewQuery(r.URL)
	sort := p.OneOf("sort", api.ByRecent, api.BySize, api.Newest)
	p.Text("lang", 8)
	if err := p.Err(); err != nil {
		return err
	}
	found, err := s.Spaces.Stories(r.Context(), sort, pageSize)
	if err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, "stories", storyList{sort, found.Stories})
}

// storyPage is a story and a page of its clusters.
type storyPage struct {
	api.OneStory
	Rows  []row
	After string // the address of further clusters; empty: these are the last
	First bool   // these are the first clusters
}

// story answers GET /stories/{id}.
func (s *server) story(w http.ResponseWriter, r *http.Request) error {
	p := strict.NewQuery(r.URL)
	cursor := p.Text("cursor", maxCursor)
	p.Text("lang", 8)
	if err := p.Err(); err != nil {
		return err
	}
	id := v1.ClusterID(r)
	question := "page story " + id
	after, err := v1.PlaceOf(cursor, question)
	if err != nil {
		return err
	}
	one, err := s.Spaces.Story(r.Context(), id, after, pageSize)
	if err != nil {
		return err
	}
	page := storyPage{OneStory: one, Rows: s.rows(one.Clusters), First: cursor == ""}
	if one.Next != "" {
		page.After = storyAddress(id) + "?cursor=" + v1.CursorOf(one.Next, question)
	}
	return s.render(w, r, http.StatusOK, "story", page)
}

// storyAddress returns the address of a story's page.
func storyAddress(id string) string {
	return "/stories" + strings.TrimPrefix(clusterAddress(id), "/clusters")
}

// headline returns by what a story is called.
func headline(s api.Story) string {
	if title := strings.TrimSpace(s.Headline.Title); title != "" {
		return printable.Text(title)
	}
	return printable.Text(s.StoryID)
}

// storyline draws a mark for each cluster: from left to right by when it was first seen, the larger
// the more articles it has. The first one is a diamond.
func storyline(clusters []api.Cluster) template.HTML {
	const width, height, edge = 720, 64, 16
	if len(clusters) < 2 {
		return ""
	}
	first, last := clusters[0].FirstSeen, clusters[0].FirstSeen
	for _, c := range clusters {
		if c.FirstSeen.Before(first) {
			first = c.FirstSeen
		}
		if c.FirstSeen.After(last) {
			last = c.FirstSeen
		}
	}
	span := max(last.Sub(first).Seconds(), 1)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="timeline" viewBox="0 0 %d %d" aria-hidden="true" focusable="false">`+
		`<path class="axis" d="M0 %d H%d"/>`, width, height, height-2, width)
	for i, c := range clusters {
		x := edge + c.FirstSeen.Sub(first).Seconds()/span*(width-2*edge)
		r := min(3+1.5*math.Sqrt(float64(c.Size-1)), edge)
		if i == 0 {
			fmt.Fprintf(&b, `<path class="founder" d="M%.1f %.1fl%[3]g %[3]gl-%[3]g %[3]gl-%[3]g -%[3]gz"/>`,
				x, height/2-r, r)
			continue
		}
		fmt.Fprintf(&b, `<circle cx="%.1f" cy="%d" r="%.1f"/>`, x, height/2, r)
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String()) //nolint:gosec // numbers alone go in
}
