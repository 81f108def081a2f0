package helm

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// A cluster answers Helm as Kubernetes' API server does, and keeps the objects that Helm sends, by
// their paths. It starts no pods and checks nothing.
type cluster struct {
	decoder runtime.Decoder
	mutex   sync.Mutex
	objects map[string]map[string]any
}

// kinds are the resources of the API that a release of the chart has, by group and version.
var kinds = map[string]map[string]string{
	"v1": {
		"configmaps": "ConfigMap", "secrets": "Secret", "services": "Service",
		"serviceaccounts": "ServiceAccount",
	},
	"apps/v1":        {"statefulsets": "StatefulSet", "deployments": "Deployment"},
	"policy/v1":      {"poddisruptionbudgets": "PodDisruptionBudget"},
	"autoscaling/v2": {"horizontalpodautoscalers": "HorizontalPodAutoscaler"},
}

// newCluster starts one, and has Helm ask it.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{decoder: decoder(t), objects: make(map[string]map[string]any)}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	write(t, file, "apiVersion: v1\nkind: Config\ncurrent-context: a\n"+
		"clusters: [{name: a, cluster: {server: \""+server.URL+"\"}}]\n"+
		"contexts: [{name: a, context: {cluster: a, user: a}}]\nusers: [{name: a, user: {}}]\n")
	t.Setenv("KUBECONFIG", file)
	return c
}

// config returns clusterd.yaml, as the release's ConfigMap has it.
func (c *cluster) config(t *testing.T) map[string]any {
	t.Helper()
	c.mutex.Lock()
	defer c.mutex.Unlock()
	object := c.objects["/api/v1/namespaces/texts/configmaps/"+release+"-clusterd"]
	data, _ := object["data"].(map[string]any)
	text, _ := data["clusterd.yaml"].(string)
	var config map[string]any
	if err := yaml.Unmarshal([]byte(text), &config); err != nil || text == "" {
		t.Fatalf("clusterd.yaml is %q: %v", text, err)
	}
	return config
}

func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	answer, ok := discover(r.URL.Path)
	if !ok {
		answer, ok = c.handle(r)
	}
	w.Header().Set("Content-Type", "application/json")
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		answer = meta.Status{
			Status: meta.StatusFailure, Reason: meta.StatusReasonNotFound, Code: http.StatusNotFound,
		}
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// discover answers what the API has.
func discover(path string) (answer any, ok bool) {
	group := strings.TrimPrefix(strings.TrimPrefix(path, "/apis/"), "/api/")
	switch {
	case path == "/version":
		return map[string]string{"major": "1", "minor": "30", "gitVersion": "v1.30.0"}, true
	case path == "/api":
		return meta.APIVersions{Versions: []string{"v1"}}, true
	case path == "/apis":
		var groups meta.APIGroupList
		for _, name := range slices.Sorted(maps.Keys(kinds)) {
			if name, version, ok := strings.Cut(name, "/"); ok {
				v := meta.GroupVersionForDiscovery{GroupVersion: name + "/" + version, Version: version}
				groups.Groups = append(groups.Groups, meta.APIGroup{
					Name: name, Versions: []meta.GroupVersionForDiscovery{v}, PreferredVersion: v,
				})
			}
		}
		return groups, true
	case kinds[group] != nil:
		list := meta.APIResourceList{GroupVersion: group}
		for name, kind := range kinds[group] {
			list.APIResources = append(list.APIResources, meta.APIResource{
				Name: name, Kind: kind, Namespaced: true,
				Verbs: meta.Verbs{"create", "get", "list", "patch", "update", "delete"},
			})
		}
		return list, true
	default:
		return nil, false
	}
}

// handle answers about objects. What is applied, patched or updated is sent whole.
func (c *cluster) handle(r *http.Request) (answer any, ok bool) {
	at, sent := r.URL.Path, c.sent(r)
	switch r.Method {
	case http.MethodPost:
		about, _ := sent["metadata"].(map[string]any)
		name, _ := about["name"].(string)
		at = path.Join(at, name)
		fallthrough
	case http.MethodPatch, http.MethodPut:
		c.objects[at] = sent
		return sent, true
	case http.MethodDelete:
		delete(c.objects, at)
		return meta.Status{Status: meta.StatusSuccess}, true
	}
	if _, is := kinds["v1"][path.Base(at)]; is {
		return c.list(at, r.URL.Query().Get("labelSelector")), true
	}
	object, ok := c.objects[at]
	return object, ok
}

// sent returns the object of a request, which is YAML, JSON or protobuf; nil without an object.
func (c *cluster) sent(r *http.Request) (object map[string]any) {
	body, err := io.ReadAll(r.Body)
	if err != nil || len(body) == 0 {
		return nil
	}
	if decoded, kind, err := c.decoder.Decode(body, nil, nil); err == nil {
		decoded.GetObjectKind().SetGroupVersionKind(*kind)
		if body, err = json.Marshal(decoded); err != nil {
			return nil
		}
	}
	_ = yaml.Unmarshal(body, &object)
	return object
}

// list returns the objects of a collection that a selector chooses.
func (c *cluster) list(at, selector string) any {
	chosen, _ := labels.Parse(selector)
	items := []any{}
	for name, object := range c.objects {
		about, _ := object["metadata"].(map[string]any)
		of := make(labels.Set)
		pairs, _ := about["labels"].(map[string]any)
		for key, value := range pairs {
			of[key], _ = value.(string)
		}
		if path.Dir(name) == at && chosen.Matches(of) {
			items = append(items, object)
		}
	}
	kind := kinds["v1"][path.Base(at)] + "List"
	return map[string]any{"apiVersion": "v1", "kind": kind, "items": items}
}
