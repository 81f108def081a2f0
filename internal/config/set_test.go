package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestLoadSet(t *testing.T) {
	t.Setenv("LEVEL", "debug")
	file := filepath.Join(t.TempDir(), "c.yaml")
	const text = "cluster: {distance: 6}\nlog: {format: json}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"", file} {
		c, given, err := LoadSet(path, []string{
			"cluster.distance=2", "kafka.brokers=[a:1, \"b:2\"]", "log.level=${LEVEL}",
			"batch.records=5", "batch.records=7", "labels.topic=",
		})
		if err != nil || c.Cluster.Distance != 2 ||
			!slices.Equal(c.Kafka.Brokers, []string{"a:1", "b:2"}) ||
			c.Log.Level != "debug" || c.Batch.Records != 7 || path != "" && c.Log.Format != "json" {
			t.Errorf("%q: %v, %s", path, err, c.YAML())
		}
		unused := given.Unused("minhash").Error()
		if !strings.HasPrefix(unused, "--set cluster.distance: warning: is for simhash") {
			t.Error(unused)
		}
	}
}

func TestLoadSetErrors(t *testing.T) {
	for set, want := range map[string]string{
		"cluster.distance=9":            "--set cluster.distance: 9: must be between 0 and 6",
		"cluster.distnace=3":            "--set cluster.distnace: unknown key: did you mean cluster.",
		"kafka.brokers=a:1":             "--set kafka.brokers: must be a list such as [a, b], not a s",
		"kafka.brokers=[]":              "--set kafka.brokers: must have at least 1 item",
		"kafka.brokers=":                "--set kafka.brokers: must be a list such as [a, b], not n",
		"kafka.brokers=[a:1":            "--set kafka.brokers: column 1: is not YAML",
		"kafka=x":                       "--set kafka: is a section: name a key in it, such as kafka.KEY",
		"canary":                        "--set: must be KEY=VALUE, such as log.level=debug",
		"http.token=canary":             "--set http.token: a secret is taken from the file alone",
		"log.level=${NOT_SET_ANYWHERE}": "--set log.level: ${NOT_SET_ANYWHERE}: environment variable",
		"output.topic=articles":         "--set output.topic: ",
		"kafka.tls.ca_file=nowhere":     "--set kafka.tls.ca_file: nowhere: cannot read the file",
	} {
		_, _, err := LoadSet("", []string{set})
		if err == nil || !strings.HasPrefix(err.Error(), want) ||
			strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v, want %s", set, err, want)
		}
	}
}
