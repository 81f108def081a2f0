package config

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A daemon takes over what it can change while it runs, and names the rest.
func TestUpdate(t *testing.T) {
	read := func(text string) Config {
		t.Helper()
		c, err := Parse("/etc/clusterd/news.yaml", []byte(text), func(string) (string, bool) {
			return "", false
		}, os.ReadFile)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for name, tt := range map[string]struct {
		before, next, after string
		taken, left         []string
	}{
		"nothing": {
			before: "log: {level: debug}", next: "log: {level: debug}", after: "log: {level: debug}",
		},
		"all that can": {
			next:  "{log: {level: warn}, http: {rate: 7}, memory: {limit: 1GiB}}",
			after: "{log: {level: warn}, http: {rate: 7}, memory: {limit: 1GiB}}",
			taken: []string{"http.rate", "memory.limit", "log.level"},
		},
		"back to what is default": {
			before: "{http: {rate: 0}, memory: {limit: 1GiB}}", taken: []string{"http.rate", "memory.limit"},
		},
		"what cannot, too": {
			before: "input: {topic: a}",
			next:   "{input: {topic: b}, output: {copy: [x]}, log: {level: warn}}",
			after:  "{input: {topic: a}, log: {level: warn}}",
			taken:  []string{"log.level"}, left: []string{"input.topic", "output.copy"},
		},
		"a secret": {
			before: "http: {token: aaaaaaaaaaaaaaaa}", next: "http: {token: bbbbbbbbbbbbbbbb}",
			after: "http: {token: aaaaaaaaaaaaaaaa}", left: []string{"http.token"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := read(tt.before)
			taken, left := c.Update(read(tt.next))
			if diff := cmp.Diff([][]string{tt.taken, tt.left}, [][]string{taken, left}); diff != "" {
				t.Errorf("taken and left (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(read(tt.after), c); diff != "" {
				t.Errorf("after (-want +got):\n%s", diff)
			}
		})
	}
}
