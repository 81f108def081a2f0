package method_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/golden"
)

const (
	aSecret     = "a secret that nobody else has"
	otherSecret = "a secret that somebody else has"
)

// secretMade are methods that were made with a secret, each once for all tests, by secret, name and
// settings.
var secretMade = make(map[string]method.Method)

// ofSecret returns a method with a secret, "" for none, and with its defaults but for these
// settings.
func ofSecret(t *testing.T, name, secret string, settings ...string) method.Method {
	t.Helper()
	if all, err := made(); err == nil && secret == "" && settings == nil {
		return all[name]
	}
	known := fmt.Sprint(secret, name, settings)
	if m, ok := secretMade[known]; ok {
		return m
	}
	c := configured(name)
	c.Fingerprint.Secret = config.Secret(secret)
	for _, s := range settings {
		key, value, _ := strings.Cut(s, "=")
		if err := c.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
	m, err := method.New(c.MethodSettings())
	if err != nil {
		t.Fatal(err)
	}
	secretMade[known] = m
	return m
}

// differs holds that no hash of what was made with a secret is one that was made without it.
func differs(t *testing.T, with, without []singlepass.Fingerprint) {
	t.Helper()
	for i := range with {
		if with[i].Hash == without[i].Hash || with[i].Sketch != "" &&
			with[i].Sketch == without[i].Sketch {
			t.Errorf("article %d: the secret makes no difference to %x", i, with[i])
		}
	}
}

// With another secret all fingerprints are others, and identities say so without the secret; what
// is alike stays so.
func TestSecret(t *testing.T) {
	check.OneGoroutine(t)
	all := pages(30)
	var lines strings.Builder
	each(t, func(t *testing.T, m method.Method) {
		name := strings.TrimPrefix(t.Name(), "TestSecret/")
		secret := ofSecret(t, name, aSecret)
		with, without := fingerprints(t, secret, all), fingerprints(t, m, all)
		if secret.Identity() == m.Identity() || strings.Contains(m.Identity(), "key=") ||
			strings.Contains(secret.Identity(), "secret") {
			t.Errorf("identities %s and %s", m.Identity(), secret.Identity())
		}
		differs(t, with, without)
		if name != "simhash+verify" { // of what the others have, but for the time that it takes to load
			other := ofSecret(t, name, otherSecret)
			differs(t, with, fingerprints(t, other, all))
			if other.Identity() == secret.Identity() {
				t.Errorf("two secrets have the identity %s", other.Identity())
			}
		}
		for i := range all {
			for j := range i {
				before, after := m.Distance(without[i], without[j]), secret.Distance(with[i], with[j])
				far := before != after // of those that compare exactly, which no hash may change
				switch name {
				case "simhash", "simhash+verify":
					far = before <= m.Threshold() && after > 20 // of 64
				case "minhash": // an estimate
					far = math.Abs(before-after) > .2
				case "pinyin": // of few windows, which begin elsewhere
					far = math.Abs(before-after) > .5
				}
				if far {
					t.Errorf("articles %d and %d: distance %v without a secret and %v with one", i, j, before,
						after)
				}
			}
		}
		fmt.Fprintln(&lines, secret.Identity())
		for _, f := range with[:2] {
			fmt.Fprintf(&lines, "\t%016x, sketch of %d bytes: %016x\n", f.Hash, len(f.Sketch),
				xxh3.HashString(f.Sketch))
		}
	})
	golden.Check(t, "testdata/fingerprints_secret.golden", []byte(lines.String()))
}

func TestSecretWithOtherSettings(t *testing.T) {
	check.OneGoroutine(t)
	all := pages(8)
	for _, test := range []struct{ name, setting string }{
		{"minhash", "fingerprint.shingle.of=words"},
		{"minhash", "fingerprint.shingle.size=64"},
		{"minhash", "fingerprint.signature=functions"},
		{"minhash", "fingerprint.signature=permutation"},
		{"pinyin", "fingerprint.pinyin.boundaries=fixed"},
	} {
		differs(t, fingerprints(t, ofSecret(t, test.name, aSecret, test.setting), all),
			fingerprints(t, ofSecret(t, test.name, "", test.setting), all))
	}
	// The hash of a token is SipHash then, whichever is configured.
	sdbm, xxh3 := ofSecret(t, "simhash", aSecret),
		ofSecret(t, "simhash", aSecret, "fingerprint.hash=xxh3")
	if sdbm.Identity() != xxh3.Identity() || !slices.Equal(fingerprints(t, sdbm, all),
		fingerprints(t, xxh3, all)) {
		t.Errorf("fingerprints of %s and %s differ", sdbm.Identity(), xxh3.Identity())
	}
}

// A text without words that has letters, and one that is shorter than a shingle, are keyed too.
func TestSecretOfOddTexts(t *testing.T) {
	check.OneGoroutine(t)
	for _, name := range []string{"minhash", "shingle", "ksentence", "pinyin", "exact", "simhash"} {
		none, keyed := ofSecret(t, name, ""), ofSecret(t, name, aSecret)
		fingerprint, secret := none.NewFingerprinter(), keyed.NewFingerprinter()
		for _, text := range []string{"好", "a", "𠀀", "αβγ", "7", strings.Repeat("a", 1<<18)} {
			a, ok := fingerprint("", text)
			b, alsoOK := secret("", text)
			if ok != alsoOK || ok && a.Hash == b.Hash {
				t.Errorf("%s of %.10q: %x and %t, with a secret %x and %t", name, text, a.Hash, ok, b.Hash,
					alsoOK)
			}
		}
		if _, ok := secret("", " \n!?"); ok {
			t.Errorf("%s: what has nothing to compare has a fingerprint", name)
		}
	}
}

func TestSecretRefused(t *testing.T) {
	check.OneGoroutine(t)
	for _, test := range []struct {
		secret config.Secret
		hash   string
		want   string
	}{
		{"hunter2", "sdbm", "fewer than 16 bytes"},
		{"hunter2-hunter2-hunter2", "sdbm-raw", "sdbm-raw is for matching old fingerprints"},
	} {
		c := config.Default()
		c.Fingerprint.Secret, c.Fingerprint.Hash = test.secret, test.hash
		if _, err := method.New(c.MethodSettings()); err == nil ||
			!strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: error = %v, want %q", test.hash, err, test.want)
		}
	}
}
