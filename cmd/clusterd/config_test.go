package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/testutil/golden"
)

// What is allowed and likely wrong does not fail a configuration, but is said.
func TestLintWarns(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plain.yaml")
	if err := os.WriteFile(file, []byte("kafka: {brokers: ['k:1'], sasl: {mechanism: plain, "+
		"username: u, password: hunter2}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := clusterd(t, "", "lint", file)
	if got.code != 0 || got.out != file+": ok\n" ||
		!strings.HasPrefix(got.errs, file+": warning: kafka.sasl.mechanism: plain shows the password") ||
		strings.Contains(got.errs, "hunter2") {
		t.Errorf("%+v", got)
	}
}

func TestLint(t *testing.T) {
	t.Run("every error at once", func(t *testing.T) {
		got := clusterd(t, "", "lint", "testdata/bad.yaml", "testdata/good.yaml", "testdata/missing.yaml")
		if got.code != exitConfig || got.out != "testdata/good.yaml: ok\n" {
			t.Errorf("exit %d, output %q", got.code, got.out)
		}
		golden.Check(t, filepath.Join("testdata", "lint.txt"), []byte(got.errs))
	})
	t.Run("all well", func(t *testing.T) {
		got := clusterd(t, "", "lint", "testdata/good.yaml", "../../configs/reference.yaml")
		if want := "testdata/good.yaml: ok\n../../configs/reference.yaml: ok\n"; got.code != 0 ||
			got.out != want || got.errs != "" {
			t.Errorf("exit %d, output %q, errors %q", got.code, got.out, got.errs)
		}
	})
}

// Whatever takes a configuration refuses a bad one the same way, before it does anything.
func TestBadConfiguration(t *testing.T) {
	for _, args := range []string{
		"run -c testdata/bad.yaml", "config -c testdata/bad.yaml",
		"cluster --config testdata/bad.yaml -",
	} {
		t.Run(args, func(t *testing.T) {
			got := clusterd(t, "{}\n", strings.Fields(args)...)
			want := clusterd(t, "", "lint", "testdata/bad.yaml")
			if got.code != exitConfig || got.errs != want.errs || got.out != "" {
				t.Errorf("exit %d, output %q, errors %q", got.code, got.out, got.errs)
			}
		})
	}
}

func TestConfig(t *testing.T) {
	t.Setenv("CLUSTERD_TEST_BROKER", "kafka-1.example:9092")
	got := clusterd(t, "", "config", "-c", "testdata/good.yaml")
	if got.code != 0 || got.errs != "" {
		t.Fatalf("exit %d, errors %q", got.code, got.errs)
	}
	if strings.Contains(got.out, "hunter2") {
		t.Errorf("the password is shown:\n%s", got.out)
	}
	back, err := config.Parse("x.yaml", []byte(got.out), os.LookupEnv, os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	want, err := config.Load("testdata/good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if back.Kafka.SASL.Password.Reveal() != "***" {
		t.Errorf("password = %q, want the mask", back.Kafka.SASL.Password.Reveal())
	}
	back.Kafka.SASL.Password = want.Kafka.SASL.Password
	if g, w := fmt.Sprintf("%#v", back), fmt.Sprintf("%#v", want); g != w {
		t.Errorf("what is printed gives\n%s\nwant\n%s", g, w)
	}
}

func TestConfigReference(t *testing.T) {
	want, err := os.ReadFile("../../configs/reference.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if got := clusterd(t, "", "config", "--reference"); got.code != 0 || got.out != string(want) {
		t.Errorf("exit %d; configs/reference.yaml is not what config --reference prints", got.code)
	}
}

func TestConfigSet(t *testing.T) {
	got := clusterd(t, "", "config", "--set", "kafka.brokers=[a:1, b:2]", "--set", "log.level=debug")
	if got.code != 0 || !strings.Contains(got.out, "level: debug") ||
		!strings.Contains(strings.ReplaceAll(got.out, `"`, ""), "brokers: [a:1, b:2]") {
		t.Errorf("exit %d, %s%s", got.code, got.out, got.errs)
	}
	got = clusterd(t, "", "run", "--set", "log.levle=debug")
	if want := "--set log.levle: unknown key: did you mean log.level?\n"; got.code != exitConfig ||
		got.errs != want {
		t.Errorf("exit %d, %q, want %q", got.code, got.errs, want)
	}
}
