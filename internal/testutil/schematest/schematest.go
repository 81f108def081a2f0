// Package schematest holds records to the JSON Schemas of docs/schemas. The topic's kind and a
// record go in, an error comes out for what the schema does not have.
package schematest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/clusterd/clusterd/docs/schemas"
)

// A Record is a record of a topic.
type Record struct {
	Key, Value []byte
	Headers    []Header
}

// A Header is a header of a record.
type Header struct{ Key, Value string }

// Result returns an error for what is no record of the topic of results.
func (r Record) Result() error {
	return errors.Join(r.headers("result-headers"), Check("result", r.Value))
}

// Cluster returns an error for what is no record of the topic of clusters: a cluster, a story, a
// checkpoint, or the tombstone of one.
func (r Record) Cluster() error {
	own, id, isOwn := strings.Cut(string(r.Key), ":")
	switch {
	case isOwn:
		return r.own(own, id)
	case r.Value == nil && len(r.Headers) == 0:
		return nil
	}
	return errors.Join(r.headers("cluster-headers"), Check("cluster", r.Value), r.keyIs("cluster_id"))
}

// own returns an error unless the record is one of clusterd's own: a checkpoint, the state of a
// story in either form, a contact, or a tombstone of one of these.
func (r Record) own(kind, id string) error {
	if err := r.headers("own-headers"); err != nil {
		return err
	}
	want := []string{"clusterd.own=" + kind}
	if kind != "checkpoint" && r.Value != nil {
		want = append(want, "clusterd.position")
	}
	if got := r.names(); !slices.Equal(got, want) {
		return fmt.Errorf("headers %q under the key %.80q: want %q", got, r.Key, want)
	}
	const binary = 1
	switch {
	case r.Value == nil || kind == "story" && bytes.HasPrefix(r.Value, []byte{binary}):
		return nil
	case kind == "story":
		r.Key = []byte(id)
		return errors.Join(Check("story-state", r.Value), r.keyIs("story_id"))
	case kind == "contact":
		_, contact, _ := strings.Cut(id, "/")
		r.Key = []byte(contact[strings.LastIndexByte(contact, '\n')+1:])
		return errors.Join(Check("contact", r.Value), r.keyIs("contact"))
	}
	var c struct{ Group, Space string }
	err := errors.Join(json.Unmarshal(r.Value, &c), Check("checkpoint", r.Value))
	if err == nil && id != c.Group+"/"+c.Space {
		err = fmt.Errorf("key %q: not that of its checkpoint", r.Key)
	}
	return err
}

// names returns the names of the headers in alphabetical order, and of clusterd.own the value, too.
func (r Record) names() (names []string) {
	for _, h := range r.Headers {
		name := h.Key
		if name == "clusterd.own" {
			name += "=" + h.Value
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// DeadLetter returns an error for what is no record of the topic of dead letters.
func (r Record) DeadLetter() error { return r.headers("dead-letter-headers") }

// Correction returns an error for what is no record of the topic of corrections.
func (r Record) Correction() error {
	return errors.Join(Check("correction", r.Value), r.keyIs("cluster_id"))
}

// Story returns an error for what is no record of the topic of stories.
func (r Record) Story() error {
	if r.Value == nil && len(r.Headers) == 0 {
		return nil
	}
	return errors.Join(r.headers("cluster-headers"), Check("story", r.Value), r.keyIs("story_id"))
}

// keyIs returns an error unless the key is what a field of the value has.
func (r Record) keyIs(field string) error {
	var value map[string]any
	if err := json.Unmarshal(r.Value, &value); err != nil {
		return err
	}
	if value[field] != string(r.Key) {
		return fmt.Errorf("key %q, and %s is %v", r.Key, field, value[field])
	}
	return nil
}

// headers holds the headers to a schema. Those of clusterd's own are there once.
func (r Record) headers(schema string) error {
	all := make(map[string]any)
	for _, h := range r.Headers {
		if _, twice := all[h.Key]; twice && strings.HasPrefix(h.Key, "clusterd.") {
			return fmt.Errorf("header %s is there twice", h.Key)
		}
		all[h.Key] = h.Value
	}
	return validate(schema, all)
}

// Check returns an error for a value that is not what the schema of this name has: not valid, or
// with a field that the schema of what clusterd writes does not name.
func Check(schema string, value []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return fmt.Errorf("%s: %w", schema, err)
	}
	return validate(schema, v)
}

func validate(schema string, v any) error {
	s, err := compiled()[schema].get()
	if err != nil {
		return err
	}
	if err := s.Validate(v); err != nil {
		return fmt.Errorf("%s: %w", schema, err)
	}
	return nil
}

// A compilation is a schema, or why it is none.
type compilation struct {
	schema *jsonschema.Schema
	err    error
}

func (c compilation) get() (*jsonschema.Schema, error) {
	if c.schema == nil && c.err == nil {
		return nil, errors.New("there is no such schema in docs/schemas")
	}
	return c.schema, c.err
}

// compiled returns the schemas by their names.
var compiled = sync.OnceValue(func() map[string]compilation {
	all := make(map[string]compilation)
	files, err := schemas.Files.ReadDir(".")
	if err != nil {
		panic(err) // of an embedded directory
	}
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name(), ".json"); ok {
			schema, err := compile(f.Name())
			all[name] = compilation{schema, err}
		}
	}
	return all
})

// open are the schemas of what others write, who may add fields, and of headers.
func open(file string) bool {
	return file == "article.json" || file == "label.json" || strings.HasSuffix(file, "-headers.json")
}

func compile(file string) (*jsonschema.Schema, error) {
	data, err := schemas.Files.ReadFile(file)
	if err != nil {
		return nil, err
	}
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if !open(file) {
		closeObjects(schema)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.AssertContent()
	if err := c.AddResource(file, schema); err != nil {
		return nil, err
	}
	return c.Compile(file)
}

// closeObjects lets objects have no fields but those that are described. To readers the schemas do
// not say so: a later version may add some.
func closeObjects(schema any) {
	switch s := schema.(type) {
	case map[string]any:
		_, described := s["properties"]
		_, said := s["additionalProperties"]
		if s["type"] == "object" && described && !said {
			s["additionalProperties"] = false
		}
		for _, part := range s {
			closeObjects(part)
		}
	case []any:
		for _, part := range s {
			closeObjects(part)
		}
	}
}
