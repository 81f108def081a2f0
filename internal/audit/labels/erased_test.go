package labels

import (
	"slices"
	"testing"
)

// The contacts of a record are as they were before any was erased. Where the label record that says
// so is deleted they are not known; a name that no record can have given is a contact like others.
func TestRestore(t *testing.T) {
	t.Parallel()
	p := newPlayer(t, Rule{}, 0)
	p.labels.from[0] = 5
	p.records = 6
	p.label(`{"action":"erase","target":"contact","contact":"number:1"}`, "")
	p.label(`{"action":"erase","target":"contact","contact":"number:2"}`, "bad_label")
	for _, test := range []struct {
		of, want []string
		known    bool
	}{
		{[]string{"code:a", "site:b"}, []string{"code:a", "site:b"}, true},
		{[]string{"erased:0/6", "name:a", "site:b"}, []string{"name:a", "number:1", "site:b"}, true},
		{[]string{"erased:0/7"}, []string{"erased:0/7"}, true},
		{[]string{"erased:0/4"}, []string{"erased:0/4"}, false},
		{[]string{"erased:0/04"}, []string{"erased:0/04"}, true},
	} {
		got, known := p.labels.Restore(test.of)
		if !slices.Equal(got, test.want) || known != test.known {
			t.Errorf("%q: %q, %t, want %q, %t", test.of, got, known, test.want, test.known)
		}
	}
}
