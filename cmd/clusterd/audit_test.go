package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/clusterd/clusterd/internal/audit/report"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/golden"
)

// The audit of a daemon that runs holds, of topics that somebody has written to it does not.
func TestAudit(t *testing.T) {
	t.Parallel()
	// All four messages are one transaction, however slowly they come.
	file := freeAddress(t, "batch: {records: 4, linger: 10s}")
	p, broker := startEmbedded(t, file, filepath.Join(t.TempDir(), "trial"))
	if got := clusterd(t, "", "audit", "-c", file); got.code != 0 ||
		!strings.Contains(got.out, "nothing committed yet") {
		t.Errorf("before the first article: %+v", got)
	}
	produce(t, broker, "no article", bridge, market, copied)
	results := waitForResults(t, broker, 3)

	got := clusterd(t, "", "audit", "-c", file, "--aborted")
	if got.code != 0 {
		t.Errorf("exit %d, want 0: %s", got.code, got.errs)
	}
	golden.Check(t, filepath.Join("testdata", "audit.txt"), []byte(got.out))

	if !check.Race { // further audits start the same goroutines
		auditFinds(t, file, broker, results["bridge"].Source, results["market"].Source)
	}
	if code := p.signal(syscall.SIGTERM); code != 0 {
		t.Errorf("the daemon ended with %d", code)
	}
}

// auditFinds holds the audit to what somebody else has written: another result of bridge than was
// read, and a second one.
func auditFinds(t *testing.T, file, broker string, bridge, market article.Address) {
	t.Helper()
	bridgeAt := bridge.String()
	line := `{"status":"joined","cluster_id":"` + market.String() +
		`","source":{"topic":"articles","partition":` +
		strings.Split(bridgeAt, "/")[1] + `,"offset":` + strings.Split(bridgeAt, "/")[2] + `}}`
	if got := clusterd(t, line, "audit", "-c", file, "--seen", "-"); got.code != exitFailed ||
		!strings.Contains(got.out, "as it was read earlier") {
		t.Errorf("after another result was seen: %+v", got)
	}

	again := &kafkago.Writer{
		Addr: kafkago.TCP(broker), Topic: "article-clusters", RequiredAcks: kafkago.RequireAll,
	}
	defer again.Close()
	err := again.WriteMessages(t.Context(), kafkago.Message{
		Value:   []byte(`{}`),
		Headers: []kafkago.Header{{Key: "clusterd.source", Value: []byte(bridgeAt)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := clusterd(t, "", "audit", "-c", file, "--json", "--show", "1")
	var found report.Report
	if err := json.Unmarshal([]byte(got.out), &found); err != nil {
		t.Fatalf("%v: %s", err, got.out)
	}
	if got.code != exitFailed || found.Checks[1].Violations != 1 ||
		!strings.Contains(got.errs, "violations of what clusterd promises") {
		t.Errorf("after a second result of %s: exit %d, %s%s", bridgeAt, got.code, got.out, got.errs)
	}
}

func TestAuditCommandLine(t *testing.T) {
	t.Parallel()
	bad := write(t, "bad.yaml", []byte("cluster: {distance: 9}"))
	tests := []struct {
		args []string
		code int
		errs string
	}{
		{[]string{"audit", "articles"}, exitUsage, `unknown command or argument "articles"`},
		{[]string{"audit", "--show", "-1"}, exitUsage, "--show: -1: must be 0 or more"},
		{[]string{"audit", "-c", bad}, exitConfig, "cluster.distance"},
		{
			[]string{"audit", "--seen", "nowhere.jsonl"},
			exitFailed,
			"--seen: open nowhere.jsonl: no such file",
		},
	}
	for _, test := range tests {
		got := clusterd(t, "", test.args...)
		if got.code != test.code || !strings.Contains(got.errs, test.errs) || got.out != "" {
			t.Errorf("%q: %+v; want exit %d and %q", test.args, got, test.code, test.errs)
		}
	}
}
