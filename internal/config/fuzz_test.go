package config

import (
	"os"
	"strings"
	"testing"
)

// FuzzParse holds that any bytes give either Errors or a configuration that its
// own YAML gives again. Its corpus holds what is right, the table of bad
// configurations what is wrong.
func FuzzParse(f *testing.F) {
	data, err := os.ReadFile(badConfigs)
	if err != nil {
		f.Fatal(err)
	}
	for _, one := range strings.Split(string(data), "=== ")[1:] {
		_, yaml, _ := strings.Cut(one, "\n")
		yaml, _, _ = strings.Cut(yaml, "---- errors\n")
		f.Add([]byte(yaml))
	}
	anyFile := func(string) ([]byte, error) { return []byte("text\n"), nil }
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse(testFile, data, testEnv, anyFile)
		if err != nil {
			checkErrors(t, "fuzz", err)
			return
		}
		checkRoundTrip(t, c)
	})
}

func BenchmarkParse(b *testing.B) {
	data := Reference()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := Parse(testFile, data, testEnv, testReadFile); err != nil {
			b.Fatal(err)
		}
	}
}
