package shingling_test

import (
	"testing"

	"github.com/clusterd/clusterd/internal/method/shingling"
)

func TestWithoutSpace(t *testing.T) {
	for _, test := range []struct {
		text, want string
		ok         bool
	}{
		{"", "", false},
		{" \t\r\n\v\f\u0085\u00a0\u2028\u3000", "", false},
		{" - … 。", "-…。", false},
		{" a ", "a", true},
		{"- 7", "-7", true},
		{"台 风\n", "台风", true},
		{"Ⅷ", "Ⅷ", true},
	} {
		got, ok := shingling.WithoutSpace([]byte(test.text))
		if string(got) != test.want || ok != test.ok {
			t.Errorf("%q: %q, %t; want %q, %t", test.text, got, ok, test.want, test.ok)
		}
	}
}

func TestReuse(t *testing.T) {
	small, giant := make([]byte, 10, 100), make([]byte, 2<<20)
	if got := shingling.Reuse(small); len(got) != 0 || cap(got) != 100 {
		t.Errorf("of 100 bytes %d are left", cap(got))
	}
	if got := shingling.Reuse(giant); cap(got) != 0 {
		t.Errorf("%d bytes are kept", cap(got))
	}
}
