package v1

import (
	"net/http"

	"github.com/clusterd/clusterd/internal/serve/http/access"
	"github.com/clusterd/clusterd/internal/serve/http/api"
)

// A Route is one of the interface, as a pattern of [http.ServeMux], and what it needs.
type Route struct {
	Method, Path string
	access.Route
	Handler http.Handler
}

// Routes returns all of them.
func Routes(o Options) []Route {
	s := &server{o}
	read := access.Route{Right: access.Read}
	ask := access.Route{Right: access.Read, Body: api.MaxBody}
	change := access.Route{Right: access.Label, Body: api.MaxBody, Long: true}
	// Nothing brings back what is erased.
	erase := access.Route{Right: access.Label | access.Write, Body: api.MaxBody, Long: true}
	routes := []Route{
		{"POST", "/v1/check", ask, try(s.check)},
		{"POST", "/v1/compare", ask, try(s.compare)},
		{"GET", "/v1/clusters", read, try(s.clusters)},
		{"GET", "/v1/stories", read, try(s.stories)},
		{"GET", "/v1/articles/{id...}", read, try(s.article)},
		{"GET", "/v1/stats", read, try(s.stats)},
		{"GET", "/v1/labels", read, try(s.labelled)},
		{"GET", "/v1/contacts", read, try(s.contacts)},
		{"GET", "/v1/stream", access.Route{Right: access.Read, Stream: true}, try(s.stream)},
		{
			"POST", "/v1/articles",
			access.Route{Right: access.Write, Body: api.MaxBody, Long: true},
			try(s.publish),
		},
		{
			"POST", "/v1/labels", change, try(s.label),
		},
		{"POST", "/v1/erase", erase, try(s.erase)},
		{"GET", "/v1/openapi.json", read, api.DescriptionHandler()},
	}
	// An id has slashes, which may be escaped or not.
	for _, id := range []string{"{id}", "{topic}/{partition}/{offset}"} {
		routes = append(routes,
			Route{"GET", "/v1/stories/" + id, read, try(s.story)},
			Route{"POST", "/v1/stories/" + id + "/merge", change, try(s.merge)},
			Route{"POST", "/v1/stories/" + id + "/unmerge", change, try(s.unmerge)},
			Route{"POST", "/v1/stories/" + id + "/split", change, try(s.split)},
			Route{"GET", "/v1/clusters/" + id, read, try(s.cluster)},
			Route{"GET", "/v1/clusters/" + id + "/members", read, try(s.members)})
	}
	return routes
}

// server answers by the handlers of this package.
type server struct{ Options }
