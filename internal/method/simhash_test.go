package method_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/testutil/check"
)

// What changes fingerprints is named, but what came later only where it is not the default: topics
// that were there before stay valid. The default's is in testdata/fingerprints.golden.
func TestIdentityOfSimHash(t *testing.T) {
	check.OneGoroutine(t)
	table := filepath.Join(t.TempDir(), "idf.tsv")
	if err := os.WriteFile(table, []byte("台风\t2\nrain\t7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const text = "dict=[0-9a-f]{8},stop=[0-9a-f]{8},norm=1,html=auto"
	for _, test := range []struct {
		settings [][2]string
		want     string
	}{
		{
			[][2]string{{"hash", "xxh3"}, {"weight", "set"}, {"features", "pairs"}},
			"method=simhash,hash=xxh3,weight=set,features=pairs," + text,
		},
		{[][2]string{{"weight", "tfidf"}}, "method=simhash,hash=sdbm,weight=tfidf,idf=3c7cbe95," + text},
		{
			[][2]string{{"weight", "tfidf"}, {"idf", table}},
			"method=simhash,hash=sdbm,weight=tfidf,idf=4aba98a8," + text,
		},
	} {
		c := config.Default()
		for _, s := range test.settings {
			if err := c.Set("fingerprint."+s[0], s[1]); err != nil {
				t.Fatal(err)
			}
		}
		m, err := method.New(c.MethodSettings())
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Identity(); !regexp.MustCompile("^" + test.want + "$").MatchString(got) {
			t.Errorf("%v: identity %s, want %s", test.settings, got, test.want)
		}
		if f, ok := m.NewFingerprinter()("台风 rain", "港口 harbour"); !ok || f.Hash == 0 || f.Sketch != "" {
			t.Errorf("%v: fingerprint %v, %t", test.settings, f, ok)
		}
	}
}
