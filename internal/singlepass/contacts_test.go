package singlepass_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/testutil/check"
)

// What is put together is taken apart again.
func TestContacts(t *testing.T) {
	for want, all := range map[singlepass.Contacts][]string{
		"":                              nil,
		"name:a\n":                      {"name:a"},
		"mail:a@b.cn\nname:a\nsite:b\n": {"mail:a@b.cn", "name:a", "site:b"},
	} {
		c := singlepass.NewContacts(all)
		if c != want {
			t.Errorf("%q become %q, want %q", all, c, want)
		}
		if got := slices.Collect(c.All()); !slices.Equal(got, all) {
			t.Errorf("%q has %q, want %q", c, got, all)
		}
		if err := c.Check(); err != nil {
			t.Errorf("%q: %v", c, err)
		}
		for first := range c.All() {
			if first != all[0] {
				t.Errorf("the first of %q is %q", c, first)
			}
			break
		}
	}
}

func TestContactsCheck(t *testing.T) {
	numbered := func(n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprintf("name:%02d", i))
		}
		return all
	}
	longest := strings.Repeat("x", 96)
	for _, valid := range [][]string{numbered(16), {longest}, {"name:薇"}} {
		if err := singlepass.NewContacts(valid).Check(); err != nil {
			t.Errorf("%q: %v", valid, err)
		}
	}
	for c, want := range map[singlepass.Contacts]string{
		singlepass.NewContacts(numbered(17)): "there are 17 contacts; at most 16 are possible",
		singlepass.Contacts(longest + "x\n"): "a contact has 97 bytes; 1 to 96 are possible",
		"\n":                                 "a contact has 0 bytes",
		"a\n\nb\n":                           "a contact has 0 bytes",
		"a":                                  "no line break",
		"a\nb":                               "no line break",
		"b\na\n":                             "not in order",
		"a\na\n":                             "not in order",
		"a b\n":                              "white space or control characters",
		"a\tb\n":                             "white space or control characters",
		"a\x7f\n":                            "white space or control characters",
		"a\x00\n":                            "white space or control characters",
	} {
		check.ErrorHas(t, c.Check(), want)
	}
}
