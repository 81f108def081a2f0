package helm

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"sigs.k8s.io/yaml"
)

// compose reads a compose file as Compose does: against its schema, with what it extends.
func compose(t *testing.T, file string, environment ...string) (*types.Project, error) {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{file}, cli.WithEnv(environment))
	if err != nil {
		t.Fatal(err)
	}
	return options.LoadProject(t.Context())
}

func TestCompose(t *testing.T) {
	const token = "0123456789abcdef0123456789abcdef"
	p, err := compose(t, root+"/deploy/compose.yaml", "CLUSTERD_IMAGE=clusterd:test",
		"CLUSTERD_TOKEN="+token)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := compose(t, root+"/integration/compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range p.Services {
		for _, port := range s.Ports {
			if port.HostIP != "127.0.0.1" {
				t.Errorf("%s: port %s is open to other machines", name, port.Published)
			}
		}
	}
	text := p.Configs["clusterd"].Content
	if !strings.Contains(text, "fingerprint: {method: ") {
		t.Errorf("it names no method:\n%s", text)
	}
	c := p.Services["clusterd"]
	checkKafka(t, p.Services["kafka"], alone.Services["kafka"], text)
	checkClusterd(t, c, text, token)
	if after := c.DependsOn["kafka"]; after.Condition != types.ServiceConditionHealthy ||
		p.Services["kafka"].HealthCheck == nil {
		t.Errorf("clusterd waits for %+v", after)
	}
}

// checkKafka holds a broker to the one that it extends, but for one listener more, which is the one
// that the configuration names.
func checkKafka(t *testing.T, kafka, alone types.ServiceConfig, config string) {
	t.Helper()
	for name, value := range alone.Environment {
		if got := kafka.Environment[name]; *got != *value && !strings.Contains(name, "LISTENER") {
			t.Errorf("%s is %q, and %q in what it extends", name, *got, *value)
		}
	}
	if kafka.Image != alone.Image || len(kafka.Environment) != len(alone.Environment) {
		t.Errorf("the broker is another one than that of integration/compose.yaml")
	}
	protocols := *kafka.Environment["KAFKA_LISTENER_SECURITY_PROTOCOL_MAP"]
	listeners := *kafka.Environment["KAFKA_LISTENERS"]
	told := false
	for address := range strings.SplitSeq(*kafka.Environment["KAFKA_ADVERTISED_LISTENERS"], ",") {
		name, at, _ := strings.Cut(address, "://")
		_, port, _ := strings.Cut(at, ":")
		if !strings.Contains(listeners, name+"://:"+port) || !strings.Contains(protocols, name+":") {
			t.Errorf("%s is advertised and not listened on", address)
		}
		told = told || strings.Contains(config, `"`+at+`"`)
	}
	if !told {
		t.Errorf("no listener is what clusterd asks:\n%s", config)
	}
}

// checkClusterd has clusterd read the configuration, and its command line.
func checkClusterd(t *testing.T, c types.ServiceConfig, text, token string) {
	t.Helper()
	if *c.Environment["CLUSTERD_TOKEN"] != token || strings.Contains(text, token) {
		t.Errorf("the token is to be in the environment alone:\n%s", text)
	}
	file := filepath.Join(t.TempDir(), "clusterd.yaml")
	write(t, file, text)
	environment := append(os.Environ(), "CLUSTERD_TOKEN="+token)
	must(t, environment, clusterd, "lint", file)
	at := slices.Index(c.Command, c.Configs[0].Target)
	command := append([]string{clusterd, "config"}, c.Command[1:]...)
	if at < 0 || c.Command[0] != "run" || !slices.Equal(c.Entrypoint, []string{"/usr/bin/clusterd"}) {
		t.Fatalf("it runs %q %q", c.Entrypoint, c.Command)
	}
	command[at+1] = file
	resolved := must(t, environment, command...)
	var config configuration
	if err := yaml.Unmarshal([]byte(resolved), &config); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(c.Volumes, func(v types.ServiceVolumeConfig) bool {
		return v.Target == path.Dir(config.State.Dir) && v.Type == types.VolumeTypeVolume
	}) {
		t.Errorf("%s is in no volume", config.State.Dir)
	}
	if config.HTTP.Listen != ":8080" || c.Ports[0].Target != 8080 {
		t.Errorf("it listens at %s, and the port is %d", config.HTTP.Listen, c.Ports[0].Target)
	}
	probe := append(slices.Clone(c.HealthCheck.Test[2:]), "--server", "http://127.0.0.1:1")
	run := exec.Command(clusterd, probe...)
	if _ = run.Run(); run.ProcessState.ExitCode() != 1 { // 2: there are no such flags
		t.Errorf("%q ends with %v", c.HealthCheck.Test, run.ProcessState)
	}
	if !c.ReadOnly || !slices.Equal(c.CapDrop, []string{"ALL"}) {
		t.Error("it can write to its root, or has capabilities")
	}
}

// Without an image or a token Compose says what is missing; what is misspelt is an error.
func TestComposeRefuses(t *testing.T) {
	for _, test := range []struct{ environment, says string }{
		{"CLUSTERD_TOKEN=x", "name the image of clusterd"},
		{"CLUSTERD_IMAGE=x", "make a token with openssl"},
	} {
		_, err := compose(t, root+"/deploy/compose.yaml", test.environment)
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("with %s: %v", test.environment, err)
		}
	}
	file := filepath.Join(t.TempDir(), "compose.yaml")
	write(t, file, "services: {a: {image: a, readonly: true}}\n")
	if _, err := compose(t, file); err == nil {
		t.Error("a misspelt key is accepted")
	}
}
