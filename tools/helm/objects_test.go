package helm

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// objects are what the chart rendered, by kind and name.
type objects struct {
	configs   map[string]*core.ConfigMap
	services  map[string]*core.Service
	accounts  map[string]*core.ServiceAccount
	sets      map[string]*apps.StatefulSet
	deployed  map[string]*apps.Deployment
	budgets   map[string]*policy.PodDisruptionBudget
	scalers   map[string]*autoscaling.HorizontalPodAutoscaler
	monitors  map[string]*monitoring.ServiceMonitor
	alerts    map[string]*monitoring.PrometheusRule
	rendered  int
	duplicate []string
}

// decoder returns one of Kubernetes' own: an unknown or duplicate field is an error.
func decoder(t *testing.T) runtime.Decoder {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		core.AddToScheme, apps.AddToScheme, policy.AddToScheme, autoscaling.AddToScheme,
		monitoring.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
}

// objectsOf decodes all documents of YAML, and is fatal where one is no object of its type.
func objectsOf(t *testing.T, text string) *objects {
	t.Helper()
	all := &objects{
		configs: make(map[string]*core.ConfigMap), services: make(map[string]*core.Service),
		accounts: make(map[string]*core.ServiceAccount), sets: make(map[string]*apps.StatefulSet),
		deployed: make(map[string]*apps.Deployment),
		budgets:  make(map[string]*policy.PodDisruptionBudget),
		scalers:  make(map[string]*autoscaling.HorizontalPodAutoscaler),
		monitors: make(map[string]*monitoring.ServiceMonitor),
		alerts:   make(map[string]*monitoring.PrometheusRule),
	}
	decode := decoder(t)
	documents := yaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if empty(document) {
			continue
		}
		object, _, err := decode.Decode(document, nil, nil)
		if err != nil {
			t.Fatalf("%v, in\n%s", err, document)
		}
		all.add(t, object)
	}
}

// empty reports whether a document has nothing but comments.
func empty(document []byte) bool {
	for line := range strings.Lines(string(document)) {
		if line = strings.TrimSpace(line); line != "" && line != "---" && line[0] != '#' {
			return false
		}
	}
	return true
}

func (o *objects) add(t *testing.T, object runtime.Object) {
	t.Helper()
	o.rendered++
	switch x := object.(type) {
	case *core.ConfigMap:
		put(o, o.configs, "ConfigMap", x)
	case *core.Service:
		put(o, o.services, "Service", x)
	case *core.ServiceAccount:
		put(o, o.accounts, "ServiceAccount", x)
	case *apps.StatefulSet:
		put(o, o.sets, "StatefulSet", x)
	case *apps.Deployment:
		put(o, o.deployed, "Deployment", x)
	case *policy.PodDisruptionBudget:
		put(o, o.budgets, "PodDisruptionBudget", x)
	case *autoscaling.HorizontalPodAutoscaler:
		put(o, o.scalers, "HorizontalPodAutoscaler", x)
	case *monitoring.ServiceMonitor:
		put(o, o.monitors, "ServiceMonitor", x)
	case *monitoring.PrometheusRule:
		put(o, o.alerts, "PrometheusRule", x)
	default:
		t.Errorf("no check knows a %T", object)
	}
}

func put[T meta.Object](o *objects, all map[string]T, kind string, object T) {
	if _, ok := all[object.GetName()]; ok {
		o.duplicate = append(o.duplicate, kind+" "+object.GetName())
	}
	all[object.GetName()] = object
}

// A workload is what makes pods.
type workload struct {
	name     string
	selector *meta.LabelSelector
	template core.PodTemplateSpec
	claims   []core.PersistentVolumeClaim
}

// workloads returns the one that clusters first.
func (o *objects) workloads() (all []workload) {
	for _, s := range o.sets {
		all = append(all, workload{
			s.Name, s.Spec.Selector, s.Spec.Template, s.Spec.VolumeClaimTemplates,
		})
	}
	for _, d := range o.deployed {
		all = append(all, workload{d.Name, d.Spec.Selector, d.Spec.Template, nil})
	}
	return all
}

// role returns that of a workload's instances: those of the StatefulSet assign where others
// fingerprint.
func (o *objects) role(w workload) string {
	fingerprints := false
	for _, other := range o.workloads() {
		fingerprints = fingerprints || strings.HasSuffix(other.name, "-fingerprint")
	}
	switch {
	case strings.HasSuffix(w.name, "-serve"):
		return "serve"
	case strings.HasSuffix(w.name, "-fingerprint"):
		return "fingerprint"
	case fingerprints:
		return "assign"
	default:
		return "all"
	}
}

// What the other tests rely on: the decoder refuses what Kubernetes would drop or refuse.
func TestDecodingIsStrict(t *testing.T) {
	const head = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n"
	for name, test := range map[string]struct{ text, says string }{
		"fine":            {head + "spec: {type: ClusterIP}", ""},
		"unknown field":   {head + "spec: {kind: ClusterIP}", `unknown field "spec.kind"`},
		"duplicate field": {head + "spec:\n  type: A\n  type: B", `"type" already set`},
		"wrong type":      {head + "spec: {ports: [{port: http}]}", "cannot unmarshal string"},
		"unknown kind":    {"apiVersion: v1\nkind: Servise\nmetadata: {name: a}", `no kind "Servise"`},
		"misspelt case":   {head + "spec: {clusterip: None}", `unknown field "spec.clusterip"`},
	} {
		_, _, err := decoder(t).Decode([]byte(test.text), nil, nil)
		switch {
		case test.says == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)):
			t.Errorf("%s: it says %v, and not %q", name, err, test.says)
		}
	}
}
