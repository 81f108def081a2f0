package method_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/testutil/check"
)

// withExtras returns the methods that know fingerprint.titles and cluster.numbers, with both and
// containment, in all ways to make shingles. They are as similar as articles must be at .75.
func withExtras(t *testing.T, test func(t *testing.T, m method.Method)) {
	t.Helper()
	for _, name := range method.Using("fingerprint.titles") {
		for _, of := range []method.ShingleUnit{method.OfCharacters, method.OfWords} {
			for _, secret := range []string{"", "sixteen bytes or more"} {
				t.Run(name+" of "+string(of)+" "+secret, func(t *testing.T) {
					c := configured(name)
					c.Fingerprint.Titles, c.Cluster.Numbers = method.Weighed, method.Differ
					c.Fingerprint.Shingle.Of, c.Fingerprint.Secret = of, config.Secret(secret)
					c.Cluster.Similarity, c.Cluster.Containment = .75, .9
					if of == method.OfWords {
						c.Fingerprint.Shingle.Size = 1
					}
					m, err := method.New(c.MethodSettings())
					if err != nil {
						t.Fatal(err)
					}
					test(t, m)
				})
			}
		}
	}
}

// Of articles that differ in the title over a short content, or in a number, none joins the other,
// by containment neither.
func TestExtras(t *testing.T) {
	check.OneGoroutine(t)
	r := rand.New(rand.NewPCG(8, 8))
	v := newVocabulary(r, 20_000)
	some := func(n int) string { return strings.Join(v.text(r, n), " ") }
	notice, report := some(35), some(150)
	first, second := some(4), some(4)
	withExtras(t, func(t *testing.T, m method.Method) {
		for _, test := range []struct {
			name string
			a, b page
			want bool
		}{
			{"the same", page{first, notice}, page{first, notice}, true},
			{"a notice under another title", page{first, notice}, page{second, notice}, false},
			{"a notice without titles", page{"", notice}, page{"", notice}, true},
			{"a long text under another title", page{first, report}, page{second, report}, true},
			{"another number", page{"", report + " 17.5"}, page{"", report + " 17.6"}, false},
			{"the same numbers", page{"", report + " 17.5"}, page{"", "5 17 " + report}, true},
			{"a number in a part of it", page{"", report + " 17"}, page{"", report[:600]}, false},
			{"a part of it", page{"", report}, page{"", report[:600]}, true},
		} {
			f := fingerprints(t, m, []page{test.a, test.b})
			d := m.Distance(f[0], f[1])
			same := method.Same(m, f[0], f[1])
			if same != test.want {
				t.Errorf("%s: the same: %t, want %t (distance %.3f)", test.name, same, test.want, d)
			}
			if m.Check(f[0]) != nil {
				t.Errorf("%s: %v", test.name, m.Check(f[0]))
			}
		}
	})
}

// Extras change fingerprints, so the identity names them; without them it does not.
func TestIdentityOfExtras(t *testing.T) {
	check.OneGoroutine(t)
	withExtras(t, func(t *testing.T, m method.Method) {
		if got := m.Identity(); !strings.Contains(got, ",titles=weighed,numbers=differ,") {
			t.Errorf("identity %s, want one that names titles and numbers", got)
		}
	})
	each(t, func(t *testing.T, m method.Method) {
		if got := m.Identity(); strings.Contains(got, "titles") || strings.Contains(got, "numbers") {
			t.Errorf("identity %s, which names what is off", got)
		}
	})
}
