package exact_test

import (
	"testing"

	"github.com/clusterd/clusterd/internal/method/exact"
	"github.com/clusterd/clusterd/internal/text"
)

func newMethod(t testing.TB) *exact.Method {
	t.Helper()
	cleaner, err := text.NewCleaner(text.CleanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return exact.New(cleaner, nil)
}

func TestFingerprinter(t *testing.T) {
	m := newMethod(t)
	fingerprint := m.NewFingerprinter()
	type article struct{ title, content string }
	for _, test := range []struct {
		name string
		a, b article
		same bool
	}{
		{
			"other white space",
			article{"Storm", "at the coast\n"},
			article{" storm ", "at  the\u3000coast"},
			true,
		},
		{"upper case, full width, traditional", article{"", "颱風 ABC 12"}, article{"", "台风 ａｂｃ １２"}, true},
		{"markup", article{"", "<p>the <b>storm</b></p>"}, article{"", "the storm"}, true},
		{
			"what the title says in front",
			article{"Storm", "at the coast"},
			article{"", "storm at the coast"},
			true,
		},
		{"a comma", article{"", "storm, coast"}, article{"", "storm coast"}, false},
		{"a character", article{"", "台风登陆"}, article{"", "台风登录"}, false},
		{"the order", article{"", "ab"}, article{"", "ba"}, false},
	} {
		a, okA := fingerprint(test.a.title, test.a.content)
		b, okB := fingerprint(test.b.title, test.b.content)
		if same := m.Distance(a, b) == 0; same != test.same || same != (a == b) || !okA || !okB {
			t.Errorf("%s: distance %v, %t, %t", test.name, m.Distance(a, b), okA, okB)
		}
	}
}

func TestIdentity(t *testing.T) {
	if got, want := newMethod(t).Identity(), "method=exact,norm=1,html=auto"; got != want {
		t.Errorf("identity %q, want %q", got, want)
	}
}

func TestNewIndex(t *testing.T) {
	m := newMethod(t)
	if _, err := m.NewIndex(.1); err == nil {
		t.Error("a bound of .1 is allowed")
	}
	index, err := m.NewIndex(m.Threshold())
	if err != nil || index.Len() != 0 {
		t.Errorf("index %v, error %v", index, err)
	}
}
