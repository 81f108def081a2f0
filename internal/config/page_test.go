package config

import (
	"os"
	"regexp"
	"testing"
)

// Each configuration in docs/security.md is one, which nothing is to be said against.
func TestPageOfSecurity(t *testing.T) {
	page, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	env := func(name string) (string, bool) { return "hunter2", name == "KAFKA_PASSWORD" }
	mechanisms := make(map[string]bool)
	all := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(page, -1)
	for _, yaml := range all {
		c, err := Parse("clusterd.yaml", yaml[1], env,
			func(string) ([]byte, error) { return []byte("hunter2"), nil })
		if err != nil {
			t.Errorf("%v:\n%s", err, yaml[1])
			continue
		}
		mechanisms[c.Kafka.SASL.Mechanism] = true
		if w := c.Warnings(); len(w) > 0 {
			t.Errorf("%v:\n%s", w, yaml[1])
		}
	}
	for _, wanted := range []string{"none", "plain", "scram-sha-512", "oauthbearer", "aws-msk-iam"} {
		if !mechanisms[wanted] {
			t.Errorf("no configuration has the mechanism %s", wanted)
		}
	}
}
