package helm

import (
	"bytes"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"
)

// configuration is what the checks read of clusterd.yaml.
type configuration struct {
	Fingerprint struct {
		Method string `json:"method"`
	} `json:"fingerprint"`
	HTTP struct {
		Listen     string `json:"listen"`
		TokensFile string `json:"tokens_file"`
		TLS        struct {
			CertFile string `json:"cert_file"`
		} `json:"tls"`
	} `json:"http"`
	State struct {
		Dir string `json:"dir"`
	} `json:"state"`
}

// What is rendered fits together, for all files of values.
func TestManifests(t *testing.T) {
	for name, file := range cases(t) {
		t.Run(name, func(t *testing.T) {
			o := objectsOf(t, render(t, "--values", file))
			if len(o.sets) != 1 || len(o.duplicate) > 0 {
				t.Errorf("there are %d StatefulSets, and twice are %q", len(o.sets), o.duplicate)
			}
			for _, w := range o.workloads() {
				t.Run(w.name, func(t *testing.T) {
					config := checkConfig(t, o, w)
					checkSecurity(t, o, w.template.Spec)
					checkMounts(t, w, config)
					checkProbes(t, w.template.Spec.Containers[0], config)
				})
			}
			checkSelectors(t, o)
			checkScalers(t, o)
			checkMonitors(t, o)
		})
	}
}

// The values that docs/kubernetes.md shows are those of a chart that works.
func TestDocumentedValues(t *testing.T) {
	blocks := regexp.MustCompile("(?s)\n```yaml\n(.*?)```").
		FindAllStringSubmatch(read(t, root+"/docs/kubernetes.md"), -1)
	if len(blocks) < 2 {
		t.Fatalf("only %d blocks are found", len(blocks))
	}
	for _, block := range blocks {
		file := filepath.Join(t.TempDir(), "values.yaml")
		write(t, file, block[1])
		o := objectsOf(t, render(t, "--values", file))
		for _, w := range o.workloads() {
			checkMounts(t, w, checkConfig(t, o, w))
		}
	}
}

// checkScalers holds what sets a number of instances to what it sets it of: a Deployment that names
// none itself.
func checkScalers(t *testing.T, o *objects) {
	t.Helper()
	for _, s := range o.scalers {
		of := o.deployed[s.Spec.ScaleTargetRef.Name]
		if of == nil || of.Kind != s.Spec.ScaleTargetRef.Kind || of.Spec.Replicas != nil {
			t.Errorf("%s scales %+v, which is %v", s.Name, s.Spec.ScaleTargetRef, of)
		}
		if len(s.Spec.Metrics) == 0 || *s.Spec.MinReplicas > s.Spec.MaxReplicas {
			t.Errorf("%s: %d metrics, from %d to %d", s.Name, len(s.Spec.Metrics), *s.Spec.MinReplicas,
				s.Spec.MaxReplicas)
		}
	}
}

// match reports whether a selector chooses pods with these labels.
func match(t *testing.T, s *meta.LabelSelector, of map[string]string) bool {
	t.Helper()
	selector, err := meta.LabelSelectorAsSelector(s)
	if err != nil {
		t.Fatal(err)
	}
	return !selector.Empty() && selector.Matches(labels.Set(of))
}

// checkSelectors holds what chooses pods to the pods that there are.
func checkSelectors(t *testing.T, o *objects) {
	t.Helper()
	all := o.workloads()
	for i, w := range all {
		for j, other := range all {
			if match(t, w.selector, other.template.Labels) != (i == j) {
				t.Errorf("the selector of %s and the pods of %s", w.name, other.name)
			}
		}
		for _, c := range w.template.Spec.TopologySpreadConstraints {
			if !match(t, c.LabelSelector, w.template.Labels) {
				t.Errorf("the spread of %s does not choose its own pods", w.name)
			}
		}
		budgets := 0
		for _, b := range o.budgets {
			if match(t, b.Spec.Selector, w.template.Labels) {
				budgets++
			}
		}
		if want := min(len(o.budgets), 1); budgets != want {
			t.Errorf("%d budgets are for %s", budgets, w.name)
		}
	}
	for _, s := range o.services {
		chosen := 0
		for _, w := range all {
			if !labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(w.template.Labels)) {
				continue
			}
			chosen++
			for _, p := range s.Spec.Ports {
				if !hasPort(w.template.Spec.Containers[0], p.TargetPort.String()) {
					t.Errorf("Service %s: %s has no port %s", s.Name, w.name, p.TargetPort.String())
				}
			}
		}
		if chosen == 0 {
			t.Errorf("Service %s chooses nothing", s.Name)
		}
	}
	for _, s := range o.sets {
		if service := o.services[s.Spec.ServiceName]; service == nil ||
			service.Spec.ClusterIP != core.ClusterIPNone {
			t.Errorf("%s is no headless Service", s.Spec.ServiceName)
		}
	}
}

func hasPort(c core.Container, name string) bool {
	return slices.ContainsFunc(c.Ports, func(p core.ContainerPort) bool { return p.Name == name })
}

// checkMonitors holds what scrapes to one Service, so that no pod is scraped twice.
func checkMonitors(t *testing.T, o *objects) {
	t.Helper()
	for _, m := range o.monitors {
		for _, e := range m.Spec.Endpoints {
			services := 0
			for _, s := range o.services {
				if !match(t, &m.Spec.Selector, s.Labels) {
					continue
				}
				services++
				if !slices.ContainsFunc(s.Spec.Ports, func(p core.ServicePort) bool {
					return p.Name == e.Port
				}) {
					t.Errorf("Service %s has no port %s", s.Name, e.Port)
				}
				if s.Labels[m.Spec.JobLabel] == "" {
					t.Errorf("Service %s has no label %s", s.Name, m.Spec.JobLabel)
				}
			}
			if services != 1 {
				t.Errorf("%d Services are scraped", services)
			}
		}
	}
	for _, r := range o.alerts {
		for _, g := range r.Spec.Groups {
			if len(g.Rules) < 10 {
				t.Errorf("the group %s has %d rules", g.Name, len(g.Rules))
			}
		}
	}
}

// checkSecurity holds a pod to the level "restricted" of Kubernetes' pod security standards, and to
// a root file system that cannot be written.
func checkSecurity(t *testing.T, o *objects, p core.PodSpec) {
	t.Helper()
	pod, c := p.SecurityContext, p.Containers[0].SecurityContext
	all := []core.Capability{"ALL"}
	for name, ok := range map[string]bool{
		"one container":     len(p.Containers) == 1 && len(p.InitContainers) == 0,
		"not root":          *pod.RunAsNonRoot && *pod.RunAsUser == 65532,
		"seccomp":           pod.SeccompProfile.Type == core.SeccompProfileTypeRuntimeDefault,
		"no escalation":     !*c.AllowPrivilegeEscalation,
		"read-only root":    *c.ReadOnlyRootFilesystem,
		"no capabilities":   slices.Equal(c.Capabilities.Drop, all) && c.Capabilities.Add == nil,
		"no token":          !*p.AutomountServiceAccountToken,
		"no host":           !p.HostNetwork && !p.HostPID && !p.HostIPC,
		"a memory limit":    !p.Containers[0].Resources.Limits.Memory().IsZero(),
		"an account of its": p.ServiceAccountName == "default" || o.accounts[p.ServiceAccountName] != nil,
	} {
		if !ok {
			t.Errorf("it does not hold: %s", name)
		}
	}
	for _, v := range p.Volumes {
		if v.HostPath != nil {
			t.Errorf("volume %s is of the host", v.Name)
		}
		if v.Secret != nil && *v.Secret.DefaultMode != 0o440 {
			t.Errorf("secret %s has the mode %o", v.Name, *v.Secret.DefaultMode)
		}
	}
}

// checkMounts holds mounts to volumes, and paths of the configuration to mounts.
func checkMounts(t *testing.T, w workload, config configuration) {
	t.Helper()
	volumes := make(map[string]int)
	for _, v := range w.template.Spec.Volumes {
		volumes[v.Name]++
	}
	for _, c := range w.claims {
		volumes[c.Name]++
	}
	at := make(map[string]core.VolumeMount)
	for _, m := range w.template.Spec.Containers[0].VolumeMounts {
		if volumes[m.Name] != 1 {
			t.Errorf("%d volumes are called %s", volumes[m.Name], m.Name)
		}
		delete(volumes, m.Name)
		if _, twice := at[m.MountPath]; twice {
			t.Errorf("%s is mounted twice", m.MountPath)
		}
		at[m.MountPath] = m
	}
	if len(volumes) > 0 {
		t.Errorf("nothing mounts %v", volumes)
	}
	// A mount point cannot be restricted to its owner, so the state is in a directory below it.
	if m, ok := at[path.Dir(config.State.Dir)]; !ok || m.ReadOnly {
		t.Errorf("%s is in no volume", config.State.Dir)
	}
	for _, file := range []string{config.HTTP.TokensFile, config.HTTP.TLS.CertFile} {
		if _, ok := at[path.Dir(file)]; file != "" && !ok {
			t.Errorf("%s is in no volume", file)
		}
	}
}

var (
	secret = regexp.MustCompile(`/secrets/[\w./-]+`)
	words  = regexp.MustCompile(`/words/[\w./-]+`)
)

// checkConfig has clusterd itself look at the configuration, with the files and variables that the
// pod would have, and returns it.
func checkConfig(t *testing.T, o *objects, w workload) (config configuration) {
	t.Helper()
	spec := w.template.Spec
	text := ""
	for _, v := range spec.Volumes {
		if v.Name == "config" && o.configs[v.ConfigMap.Name] != nil {
			text = o.configs[v.ConfigMap.Name].Data[v.ConfigMap.Items[0].Key]
		}
	}
	if err := yaml.UnmarshalStrict([]byte(text), new(map[string]any)); err != nil || text == "" {
		t.Fatalf("clusterd.yaml is %q: %v", text, err)
	}
	if err := yaml.Unmarshal([]byte(text), &config); err != nil {
		t.Fatal(err)
	}
	if config.Fingerprint.Method == "" {
		t.Error("it names no method")
	}
	environment := os.Environ()
	for _, e := range spec.Containers[0].Env {
		environment = append(environment, e.Name+"=of-the-environment")
	}
	dir := t.TempDir()
	for _, file := range append(secret.FindAllString(text, -1), words.FindAllString(text, -1)...) {
		mounted := slices.ContainsFunc(spec.Containers[0].VolumeMounts, func(m core.VolumeMount) bool {
			return m.MountPath == path.Dir(file)
		})
		if !mounted {
			t.Errorf("%s is in no volume", file)
		}
		write(t, filepath.Join(dir, file), "prometheus-read-0123456789abcdef")
	}
	text = strings.NewReplacer("/secrets/", dir+"/secrets/", "/words/", dir+"/words/").Replace(text)
	file := filepath.Join(dir, "clusterd.yaml")
	write(t, file, text)
	must(t, environment, clusterd, "lint", file)
	resolve := append([]string{clusterd, "config"}, spec.Containers[0].Command[2:]...)
	resolve[slices.Index(resolve, "/etc/clusterd/clusterd.yaml")] = file
	role := "role: " + o.role(w) + "\n"
	if out := must(t, environment, resolve...); !strings.Contains(out, role) {
		t.Errorf("it is not %q:\n%s", role, out)
	}
	return config
}

// checkProbes holds probes to where clusterd listens.
func checkProbes(t *testing.T, c core.Container, config configuration) {
	t.Helper()
	host, port, err := net.SplitHostPort(config.HTTP.Listen)
	if err != nil {
		t.Fatal(err)
	}
	if open := host == ""; open != hasPort(c, "http") || open != (config.HTTP.TokensFile != "") {
		t.Errorf("it listens at %s with the ports %v and the tokens %q", config.HTTP.Listen, c.Ports,
			config.HTTP.TokensFile)
	}
	for _, p := range c.Ports {
		if fmt.Sprint(p.ContainerPort) != port {
			t.Errorf("it listens at %s, and the port is %d", config.HTTP.Listen, p.ContainerPort)
		}
	}
	scheme := "http"
	if config.HTTP.TLS.CertFile != "" {
		scheme = "https"
	}
	for _, p := range []*core.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
		if get := p.HTTPGet; get != nil {
			if get.Path != "/livez" || !hasPort(c, get.Port.String()) ||
				!strings.EqualFold(string(get.Scheme), scheme) {
				t.Errorf("the probe asks %+v", get)
			}
			continue
		}
		command := p.Exec.Command
		server := &command[slices.Index(command, "--server")+1]
		asked, err := url.Parse(*server)
		if err != nil || asked.Port() != port || asked.Scheme != scheme {
			t.Errorf("the probe asks %s: %v", asked, err)
		}
		// Nobody answers there. 2 would say that there are no such flags.
		*server = scheme + "://127.0.0.1:1"
		if i := slices.Index(command, "--token-file"); i >= 0 {
			command[i+1] = os.DevNull
		}
		run := exec.Command(clusterd, command[1:]...)
		if _ = run.Run(); run.ProcessState.ExitCode() != 1 {
			t.Errorf("%q ends with %v", command, run.ProcessState)
		}
	}
	if c.ReadinessProbe.Exec == nil || !slices.Contains(c.ReadinessProbe.Exec.Command, "--ready") {
		t.Error("the readiness probe does not ask whether it is ready")
	}
}

func must(t *testing.T, environment []string, command ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	run := exec.Command(command[0], command[1:]...)
	run.Env, run.Stdout, run.Stderr = environment, &out, &errs
	if err := run.Run(); err != nil {
		t.Errorf("%q: %v\n%s", command, err, errs.String())
	}
	return out.String()
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
