package monitor

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

const dashboard = "../../configs/grafana/clusterd.json"

// queries returns the PromQL of the panels of the dashboard, by title.
func queries(t *testing.T) map[string][]string {
	t.Helper()
	var board struct {
		Panels []struct {
			Type, Title string
			Targets     []struct{ Expr string }
		}
	}
	if err := json.Unmarshal([]byte(read(t, dashboard)), &board); err != nil {
		t.Fatal(err)
	}
	exprs := make(map[string][]string)
	for _, p := range board.Panels {
		if p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("%s asks for nothing", p.Title)
		}
		for _, target := range p.Targets {
			exprs[p.Title] = append(exprs[p.Title], target.Expr)
		}
	}
	if len(exprs) == 0 {
		t.Fatal("no panels")
	}
	return exprs
}

// What the dashboard asks for is what /metrics has.
func TestDashboardIsOnMetricsThatThereAre(t *testing.T) {
	for title, exprs := range queries(t) {
		t.Run(title, func(t *testing.T) { checkMetrics(t, exprs) })
	}
}

// Prometheus's own tool understands what the dashboard asks for, as rules that record it.
func TestDashboard(t *testing.T) {
	if _, err := exec.LookPath("promtool"); err != nil {
		t.Skip("promtool is not there (Debian: apt-get install prometheus)")
	}
	type rule struct {
		Record string `yaml:"record"`
		Expr   string `yaml:"expr"`
	}
	var rules []rule
	plain := strings.NewReplacer("$__rate_interval", "5m", "$job", "clusterd", "$instance", ".*")
	for _, exprs := range queries(t) {
		for _, expr := range exprs {
			rules = append(rules, rule{fmt.Sprintf("q%d", len(rules)), plain.Replace(expr)})
		}
	}
	text, err := yaml.Marshal(map[string]any{
		"groups": []map[string]any{{"name": "dashboard", "rules": rules}},
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("promtool", "check", "rules", path).CombinedOutput(); err != nil {
		t.Errorf("promtool check rules: %v\n%s", err, out)
	}
}
