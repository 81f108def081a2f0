package schematest

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/clusterd/clusterd/docs/schemas"
	"github.com/clusterd/clusterd/internal/config"
)

// Each schema compiles, says what it is of, and has examples that it takes, but for headers.
func TestExamples(t *testing.T) {
	all := compiled()
	if len(all) < 9 {
		t.Fatalf("%d schemas", len(all))
	}
	for name, c := range all {
		if _, err := c.get(); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		data, err := schemas.Files.ReadFile(name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var s struct {
			Title, Description string
			Examples           []json.RawMessage
		}
		if err := json.Unmarshal(data, &s); err != nil {
			t.Fatal(err)
		}
		if s.Title == "" || s.Description == "" ||
			len(s.Examples) == 0 && !strings.HasSuffix(name, "-headers") {
			t.Errorf("%s: no title, description or example", name)
		}
		for _, example := range s.Examples {
			if err := Check(name, example); err != nil {
				t.Error(err)
			}
		}
	}
	if Check("none", []byte("{}")) == nil {
		t.Error("a schema that is not there takes anything")
	}
}

func TestCheckRefuses(t *testing.T) {
	const (
		result = `{"article_id":"a","cluster_id":"t/0/1","status":"joined","distance":1,"size":2,` +
			`"representative":{"id":"b","title":""},"fingerprint":"0123456789abcdef",` +
			`"source":{"topic":"t","partition":0,"offset":2},"pipeline":"p"}`
		headers = `{"clusterd.source":"t/0/2","clusterd.position":"1","clusterd.event_time":"2"}`
		label   = `{"cluster_id":"t/0/1","label":"spam"}`
	)
	for _, test := range []struct{ schema, whole, part, instead string }{
		{"result", result, `"size":2`, `"size":"2"`},
		{"result", result, `"size":2`, `"size":0`},
		{"result", result, `"size":2`, `"size":2,"another":1`},
		{"result", result, `"title":""`, `"title":"","another":1`},
		{"result", result, `"distance":1`, `"distance":null`},
		{"result", result, `"distance":1`, `"distance":1,"contact":"name:a","matched":"contact"`},
		{"result", result, `joined`, `unclustered`},
		{"result", result, `t/0/1`, `t/0`},
		{"result", result, `"pipeline":"p"`, `"pipeline":"p","published_at":"yesterday"`},
		{
			"result", result, `"pipeline":"p"`,
			`"pipeline":"p","signals":{"publishers":65,"recent":1,"first_seen":"2026-05-01T10:00:00Z",` +
				`"last_seen":"2026-05-01T10:00:00Z"}`,
		},
		{
			"result", result, `"pipeline":"p"`,
			`"pipeline":"p","signals":{"publishers":"64+","recent":1,"first_seen":"2026-05-01T10:00:00Z",` +
				`"last_seen":"2026-05-01T10:00:00Z"}`,
		},
		{"result-headers", headers, `t/0/2"`, `t/0/2","clusterd.another":"1"`},
		{"result-headers", headers, `"clusterd.position":"1",`, ``},
		{"result-headers", headers, `,"clusterd.event_time":"2"`, ``},
		{"result-headers", headers, `t/0/2`, `2`},
		{"label", label, `spam`, `spam,ham`},
		{"label", label, `spam`, ` spam`},
		{"label", label, `spam`, ``},
		{"label", label, `"label":"spam"`, `"label":"spam","action":"resume"`},
		{"label", label, `"cluster_id":"t/0/1",`, ``},
		{"label", label, `t/0/1`, `t/0/01`},
	} {
		if err := Check(test.schema, []byte(test.whole)); err != nil {
			t.Fatal(err)
		}
		bad := strings.Replace(test.whole, test.part, test.instead, 1)
		if bad == test.whole || Check(test.schema, []byte(bad)) == nil {
			t.Errorf("%s: taken: %s", test.schema, bad)
		}
	}
}

func TestRecordsRefuse(t *testing.T) {
	checkpoint := Record{
		Key: []byte("checkpoint:g/all"), Value: []byte(`{"version":1,"input":"i",` +
			`"group":"g","scope":"topic","space":"all","pipeline":"p","threshold":"","window":"0s",` +
			`"offsets":{"0":1},"next_position":1,"stream_time":0}`),
		Headers: []Header{{"clusterd.own", "checkpoint"}},
	}
	position := Header{"clusterd.position", "7"}
	story := Record{
		Key: []byte("story:t/0/1"), Value: []byte(`{"story_id":"t/0/1","state":"AQ=="}`),
		Headers: []Header{{"clusterd.own", "story"}, position},
	}
	binary, gone := story, story
	binary.Value, gone.Value, gone.Headers = []byte{1}, nil, story.Headers[:1]
	for _, r := range []Record{checkpoint, story, binary, gone, {Key: []byte("t/0/1")}} {
		if err := r.Cluster(); err != nil {
			t.Errorf("%s: %v", r.Key, err)
		}
	}
	other, nameless, unplaced, of, stateless := checkpoint, checkpoint, story, story, story
	other.Key, nameless.Headers = []byte("checkpoint:h/all"), nil
	unplaced.Headers, of.Key = story.Headers[:1], []byte("story:t/0/2")
	stateless.Value = []byte(`{"story_id":"t/0/1"}`)
	asStory, asCluster := checkpoint, gone
	asStory.Headers, asCluster.Key = gone.Headers, []byte("t/0/1")
	twice := Record{Headers: []Header{{"clusterd.source", "t/0/1"}, {"clusterd.source", "t/0/1"}}}
	whyless := Record{Headers: []Header{{"clusterd.source", "t/0/1"}}}
	for name, err := range map[string]error{
		"a checkpoint of another key":   other.Cluster(),
		"a checkpoint without a header": nameless.Cluster(),
		"a checkpoint that says story":  asStory.Cluster(),
		"a story without position":      unplaced.Cluster(),
		"a story of another key":        of.Cluster(),
		"a story without state":         stateless.Cluster(),
		"a tombstone with a header":     Record{Headers: []Header{{"a", "b"}}}.Cluster(),
		"a cluster's, that says story":  asCluster.Cluster(),
		"a header twice":                twice.Result(),
		"a dead letter without why":     whyless.DeadLetter(),
	} {
		if err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

// asyncapi.yaml is right by the schema of AsyncAPI, has the topics by their default names, and each
// schema.
func TestAsyncAPI(t *testing.T) {
	data, err := schemas.Files.ReadFile("asyncapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	inJSON, err := yaml.YAMLToJSON(data)
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(inJSON)))
	if err != nil {
		t.Fatal(err)
	}
	if err := specification(t).Validate(v); err != nil {
		t.Error(err)
	}
	var addresses []string
	for _, channel := range v.(map[string]any)["channels"].(map[string]any) {
		addresses = append(addresses, channel.(map[string]any)["address"].(string))
	}
	c := config.Default()
	want := []string{
		c.Input.Topic, c.Output.Topic, c.Output.ClustersTopic, c.Output.DeadLetterTopic, "labels",
		"corrections", "stories", "clusterd-2-map", // as the first migration names it
	}
	slices.Sort(addresses)
	slices.Sort(want)
	if diff := cmp.Diff(want, addresses); diff != "" {
		t.Errorf("topics (-want +described):\n%s", diff)
	}
	refs := references(v)
	for name := range compiled() {
		if !refs["./"+name+".json"] {
			t.Errorf("asyncapi.yaml does not name %s.json", name)
		}
		delete(refs, "./"+name+".json")
	}
	for ref := range refs {
		if at, ok := strings.CutPrefix(ref, "#/"); !ok || !has(v, strings.Split(at, "/")) {
			t.Errorf("asyncapi.yaml names %s, which is not there", ref)
		}
	}
}

// specification returns the schema of AsyncAPI itself.
func specification(t *testing.T) *jsonschema.Schema {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", "asyncapi-3.0.0.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.UnmarshalJSON(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("asyncapi.json", schema); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("asyncapi.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// references returns what all $ref in v refer to.
func references(v any) map[string]bool {
	found := make(map[string]bool)
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				found[ref] = true
			}
			for _, part := range v {
				walk(part)
			}
		case []any:
			for _, part := range v {
				walk(part)
			}
		}
	}
	walk(v)
	return found
}

// has reports whether there is something at a path in v.
func has(v any, path []string) bool {
	for _, name := range path {
		object, _ := v.(map[string]any)
		if v = object[name]; v == nil {
			return false
		}
	}
	return true
}
