package monitor

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	dto "github.com/prometheus/client_model/go"
)

const (
	rulesFile  = "../../configs/prometheus/alerts.yaml"
	testsFile  = "testdata/alerts.test.yaml"
	documented = "../../docs/metrics.md"
)

// rule is an alert of configs/prometheus/alerts.yaml.
type rule struct {
	Alert string `yaml:"alert"`
	Expr  string `yaml:"expr"`
}

func readRules(t *testing.T) (rules []rule) {
	t.Helper()
	var file struct {
		Groups []struct {
			Rules []rule `yaml:"rules"`
		} `yaml:"groups"`
	}
	if err := yaml.Unmarshal([]byte(read(t, rulesFile)), &file); err != nil {
		t.Fatal(err)
	}
	for _, g := range file.Groups {
		rules = append(rules, g.Rules...)
	}
	if len(rules) == 0 {
		t.Fatal("no rules")
	}
	return rules
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What alerts and their tests speak of is what /metrics has: a metric that is renamed fails here.
func TestAlertsAreOnMetricsThatThereAre(t *testing.T) {
	exprs := []string{read(t, testsFile)}
	for _, r := range readRules(t) {
		exprs = append(exprs, r.Expr)
		if !strings.Contains(r.Expr, namespace+"_") {
			t.Errorf("%s is on no metric of clusterd: %s", r.Alert, r.Expr)
		}
	}
	checkMetrics(t, exprs)
}

// checkMetrics fails for metrics, labels and values of labels in PromQL that there are not.
func checkMetrics(t *testing.T, exprs []string) {
	t.Helper()
	labels := map[string]bool{"job": true, "instance": true} // which Prometheus adds
	values := make(map[string]bool)                          // metric, label="value"
	families, err := busy().metrics.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		values[f.GetName()] = true
		if f.GetType() == dto.MetricType_HISTOGRAM {
			labels["le"] = true
			for _, part := range []string{"_bucket", "_sum", "_count"} {
				values[f.GetName()+part] = true
			}
		}
		for _, m := range f.Metric {
			for _, l := range m.Label {
				labels[l.GetName()] = true
				values[f.GetName()+" "+l.GetName()+`="`+l.GetValue()+`"`] = true
			}
		}
	}
	selector := regexp.MustCompile(`(clusterd_\w+)(?:\{([^}]*)\})?`)
	matcher := regexp.MustCompile(`\w+="[^"$]*"`)
	grouping := regexp.MustCompile(`\b(?:by|on|without|ignoring) \(([^)]*)\)`)
	for _, expr := range exprs {
		for _, s := range selector.FindAllStringSubmatch(expr, -1) {
			if !values[s[1]] {
				t.Errorf("there is no metric %s", s[1])
			}
			for _, m := range matcher.FindAllString(s[2], -1) {
				if !strings.HasPrefix(m, "job=") && !strings.HasPrefix(m, "instance=") && !values[s[1]+" "+m] {
					t.Errorf("%s has no %s", s[1], m)
				}
			}
		}
		for _, g := range grouping.FindAllStringSubmatch(expr, -1) {
			for name := range strings.SplitSeq(g[1], ", ") {
				if name != "alertname" && !labels[name] {
					t.Errorf("no metric has the label %q of %q", name, g[0])
				}
			}
		}
	}
}

// Each alert fires in one of the tests, and fires in none where it is not named, since they name
// all that fire.
func TestAlertsAreTestedAndExplained(t *testing.T) {
	var file struct {
		Tests []struct {
			Name        string `yaml:"name"`
			Expressions []struct {
				Expr    string `yaml:"expr"`
				Samples []struct {
					Labels string `yaml:"labels"`
				} `yaml:"exp_samples"`
			} `yaml:"promql_expr_test"`
		} `yaml:"tests"`
	}
	if err := yaml.Unmarshal([]byte(read(t, testsFile)), &file); err != nil {
		t.Fatal(err)
	}
	fires, silent := make(map[string]bool), 0
	for _, test := range file.Tests {
		if len(test.Expressions) != 1 ||
			test.Expressions[0].Expr != `count by (alertname) (ALERTS{alertstate="firing"})` {
			t.Errorf("%s does not ask which alerts fire", test.Name)
			continue
		}
		for _, s := range test.Expressions[0].Samples {
			fires[s.Labels] = true
		}
		if len(test.Expressions[0].Samples) == 0 {
			silent++
		}
	}
	if silent == 0 {
		t.Error("something fires in each test")
	}
	explained := read(t, documented)
	var names []string
	for _, r := range readRules(t) {
		if !fires[`{alertname="`+r.Alert+`"}`] {
			t.Errorf("%s fires in no test", r.Alert)
		}
		if !strings.Contains(explained, "`"+r.Alert+"`") {
			t.Errorf("%s is not in %s", r.Alert, documented)
		}
		names = append(names, r.Alert)
	}
	for _, name := range regexp.MustCompile("`(Clusterd\\w+)`").FindAllStringSubmatch(explained, -1) {
		if !slices.Contains(names, name[1]) {
			t.Errorf("%s speaks of %s, which is no alert", documented, name[1])
		}
	}
}

// Prometheus's own tool has nothing to say of the metrics.
func TestMetricsAreClean(t *testing.T) {
	if _, err := exec.LookPath("promtool"); err != nil {
		t.Skip("promtool is not there (Debian: apt-get install prometheus)")
	}
	check := exec.Command("promtool", "check", "metrics")
	check.Stdin = strings.NewReader(scrape(busy().Monitor))
	if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
}

// Prometheus's own tool finds that they fire, and do not. .ci/run installs it where it is missing.
func TestAlerts(t *testing.T) {
	if _, err := exec.LookPath("promtool"); err != nil {
		t.Skip("promtool is not there (Debian: apt-get install prometheus)")
	}
	for _, args := range [][]string{{"check", "rules", rulesFile}, {"test", "rules", testsFile}} {
		if out, err := exec.Command("promtool", args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}
