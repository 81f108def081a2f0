package audit

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/clusterd/clusterd/internal/config"
)

// Results may lack what output.fields leaves out, and nothing else.
func TestFieldsLeftOut(t *testing.T) {
	t.Parallel()
	for _, part := range append(config.ResultFields(), "all") {
		t.Run(part, func(t *testing.T) {
			t.Parallel()
			left := func(name string) bool { return part == "all" || part == name }
			for _, allowed := range []bool{true, false} {
				s := newStage(t, func(c *config.Config) {
					if allowed {
						c.Output.Fields = slices.DeleteFunc(c.Output.Fields, left)
					}
				})
				items := long(20)
				s.cluster(items, s.input(items))
				for _, transaction := range s.transactions {
					for _, r := range transaction.records {
						if r.Topic == s.config.Output.Topic {
							r.Value = without(t, r.Value, left)
						}
					}
				}
				s.write()
				found := s.audit(Options{})
				if allowed {
					wantHeld(t, found)
				} else if len(violations(found)) == 0 {
					t.Error("nothing found, though results must have it")
				}
			}
		})
	}
}

// without returns a result without some of its parts.
func without(t *testing.T, value []byte, left func(part string) bool) []byte {
	t.Helper()
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(value, &parts); err != nil {
		t.Fatal(err)
	}
	for _, part := range config.ResultFields() {
		if left(part) {
			delete(parts, part)
		}
	}
	value, err := json.Marshal(parts)
	if err != nil {
		t.Fatal(err)
	}
	return value
}
