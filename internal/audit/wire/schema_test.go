package wire_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/docs/schemas"
	"github.com/clusterd/clusterd/internal/audit/wire"
)

// The audit states the messages once more, and reports fields that it does not know. So its structs
// have the fields of the schemas, which readers go by.
func TestStructsHaveTheFieldsOfTheSchemas(t *testing.T) {
	for name, message := range map[string]any{
		"result":     wire.Result{},
		"contact":    wire.Contact{},
		"correction": wire.Correction{},
		"label":      wire.LabelRecord{},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := schemas.Files.ReadFile(name + ".json")
			if err != nil {
				t.Fatal(err)
			}
			var schema struct{ Properties map[string]any }
			if err := json.Unmarshal(text, &schema); err != nil {
				t.Fatal(err)
			}
			want := slices.Sorted(maps.Keys(schema.Properties))
			if name == "label" { // at is read beside, in milliseconds
				want = slices.DeleteFunc(want, func(field string) bool { return field == "at" })
			}
			if diff := cmp.Diff(want, fieldsOf(reflect.TypeOf(message))); diff != "" {
				t.Errorf("-schema +struct\n%s", diff)
			}
		})
	}
}

// fieldsOf returns the names that the fields of a struct have in JSON, sorted.
func fieldsOf(of reflect.Type) (names []string) {
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-" || !field.IsExported():
		case field.Anonymous && name == "":
			names = append(names, fieldsOf(field.Type)...)
		case name == "":
			names = append(names, field.Name)
		default:
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
