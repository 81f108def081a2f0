package helm

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	helmcmd "helm.sh/helm/v4/pkg/cmd"
)

const (
	root    = "../.."
	chart   = root + "/deploy/helm/clusterd"
	release = "trial"
	// oldest is the oldest Kubernetes that the chart takes.
	oldest = "--kube-version=1.27.0"
)

var (
	update = flag.Bool("update", false, "rewrite the golden file and the chart's copies")
	// clusterd is the program, as it is built from this tree.
	clusterd string
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "clusterd-chart-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for _, name := range []string{"HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"} {
		if err := os.Setenv(name, dir); err != nil {
			panic(err)
		}
	}
	clusterd = filepath.Join(dir, "clusterd")
	build := exec.Command("go", "build", "-o", clusterd, "./cmd/clusterd")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		panic(string(out))
	}
	return m.Run()
}

// helm runs Helm's own command line.
func helm(args ...string) (string, error) {
	var out bytes.Buffer
	if args[0] != "package" && args[0] != "install" && args[0] != "upgrade" {
		args = append(args, oldest)
	}
	cmd, err := helmcmd.NewRootCmd(&out, args, func(bool) {})
	if err != nil {
		return "", err
	}
	cmd.SetArgs(args)
	cmd.SetErr(&out)
	err = cmd.Execute()
	return out.String(), err
}

// render returns what the chart makes of values.
func render(t *testing.T, args ...string) string {
	t.Helper()
	out, err := helm(append([]string{"template", release, chart, "--namespace", "texts"}, args...)...)
	if err != nil {
		t.Fatalf("helm template %q: %v\n%s", args, err, out)
	}
	return out
}

// cases are the files of values of the chart, by their names.
func cases(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(chart + "/ci/*-values.yaml")
	if err != nil || len(files) < 4 {
		t.Fatalf("the files of values are %q: %v", files, err)
	}
	all := make(map[string]string)
	for _, file := range files {
		all[strings.TrimSuffix(filepath.Base(file), "-values.yaml")] = file
	}
	return all
}

func TestLint(t *testing.T) {
	for name, file := range cases(t) {
		t.Run(name, func(t *testing.T) {
			if out, err := helm("lint", "--strict", "--values", file, chart); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// A value that is misspelt, or that would be unsafe or contradict another one, is an error.
func TestRefusals(t *testing.T) {
	for _, test := range []struct{ set, says string }{
		{"replica=2", "replica"},
		{"http.token=x", "token"},
		{"replicas=two", "replicas"},
		{"http.port=80", "port"},
		{"image.digest=sha256:12", "digest"},
		{"config.state.dir=/data", "config.state: the chart sets it"},
		{"config.role=serve", "config.role: the chart sets it"},
		{"config.http.listen=:80", "config.http.listen: the chart sets it"},
		{"config.kafka.sasl.password=hunter2", "config.kafka.sasl.password: a ConfigMap is no place"},
		{"config.kafka.sasl.password=${P:hunter2}", "config.kafka.sasl.password: a ConfigMap is no"},
		{"config.fingerprint.secret=0123456789abcdef", "config.fingerprint.secret: a ConfigMap is no"},
		{"http.tls.existingSecret=tls", "need http.tokens.existingSecret"},
		{"config.http.user_header=X-User", "need http.tokens.existingSecret"},
		{"serviceMonitor.enabled=true", "needs http.tokens.existingSecret"},
		{"http.tokens.existingSecret=t,http.tls.existingSecret=tls", "http.tls.serverName"},
		{"http.tokens.existingSecret=t,service.pods=serve", "service.pods: serve needs serve.enabled"},
		{"secretFiles[0].name=http,secretFiles[0].secretName=x", "secretFiles"},
	} {
		t.Run(test.set, func(t *testing.T) {
			out, err := helm("template", release, chart, "--set", test.set)
			if err == nil {
				t.Fatalf("it is accepted:\n%s", out)
			}
			if !strings.Contains(err.Error(), test.says) {
				t.Errorf("it says %q, and not %q", err, test.says)
			}
		})
	}
}

// What an installation with the defaults gets is a decision, so a change of it is one, too.
func TestGolden(t *testing.T) {
	const golden = "testdata/default.yaml"
	got := render(t)
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := read(t, golden); got != want {
		t.Errorf("go test -update rewrites %s; it is now:\n%s", golden, got)
	}
}

// A chart may not read outside its folder, so it has copies.
func TestCopies(t *testing.T) {
	for copied, original := range map[string]string{
		"files/alerts.yaml":   "configs/prometheus/alerts.yaml",
		"files/clusterd.json": "configs/grafana/clusterd.json",
	} {
		want := read(t, filepath.Join(root, original))
		path := filepath.Join(chart, copied)
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if read(t, path) != want {
			t.Errorf("%s is not %s; go test -update copies it", copied, original)
		}
	}
}

// What is packaged renders as the folder does, and leaves the values of the checks out.
func TestPackage(t *testing.T) {
	dir := t.TempDir()
	if out, err := helm("package", "--destination", dir, chart); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	archives, err := filepath.Glob(dir + "/clusterd-*.tgz")
	if err != nil || len(archives) != 1 {
		t.Fatalf("it made %q: %v", archives, err)
	}
	args := []string{"--namespace", "texts", "--values", chart + "/ci/secure-values.yaml"}
	got, err := helm(append([]string{"template", release, archives[0]}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	if want := render(t, args...); got != want {
		t.Error("the package renders otherwise than the folder")
	}
	list, err := exec.Command("tar", "-tzf", archives[0]).Output()
	if err != nil {
		t.Fatal(err)
	}
	files := string(list)
	if strings.Contains(files, "/ci/") || !strings.Contains(files, "/files/alerts.yaml") {
		t.Errorf("it has\n%s", files)
	}
}

// A changed configuration starts the pods anew.
func TestChangedConfigurationRolls(t *testing.T) {
	annotation := func(args ...string) string {
		w := objectsOf(t, render(t, args...)).workloads()
		return w[0].template.Annotations["checksum/config"]
	}
	before := annotation()
	if after := annotation("--set", "config.log.level=debug"); before == "" || before == after {
		t.Errorf("the annotation is %q before and %q after", before, after)
	}
	if again := annotation("--set", "replicas=5"); again != before {
		t.Error("another number of replicas changes it, too")
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
