//go:build integration

package integration

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/testutil/schematest"
)

// audit checks with clusterd audit that everything that clusterd promises has been kept so far.
func (w *world) audit(flags ...string) report {
	w.Helper()
	r := w.auditAlone(flags...)
	w.holdToSchemas()
	return r
}

// auditAlone does so where an earlier version wrote records, too: docs/schemas is of this one.
func (w *world) auditAlone(flags ...string) report {
	w.Helper()
	r, said := w.tryAudit(flags...)
	for _, c := range r.Checks {
		if c.Verdict != "holds" {
			w.Errorf("clusterd audit:\n%s", said)
			break
		}
	}
	w.Logf("audit: %d records checked", r.Counts.Records)
	return r
}

// holdToSchemas holds what is committed to docs/schemas. Of a topic with very many records some
// are enough.
func (w *world) holdToSchemas() {
	w.Helper()
	if w.brokers == nil {
		return // the brokers ask for a login, which only clusterd has
	}
	const most = 50_000
	for topic, check := range map[string]func(schematest.Record) error{
		w.output: schematest.Record.Result, w.clusters: schematest.Record.Cluster,
		w.dead: schematest.Record.DeadLetter,
	} {
		records := w.read(topic, kgo.ReadCommitted())
		for i := 0; i < len(records); i += 1 + len(records)/most {
			r := records[i]
			in := schematest.Record{Key: r.Key, Value: r.Value}
			if topic == w.clusters {
				in.Value = asJSON(w.T, r)
			}
			for _, h := range r.Headers {
				in.Headers = append(in.Headers, schematest.Header{Key: h.Key, Value: string(h.Value)})
			}
			if err := check(in); err != nil {
				w.Fatalf("%s/%d/%d: %v\n%s", topic, r.Partition, r.Offset, err, r.Value)
			}
		}
	}
}

// report is the part of what clusterd audit --json prints that tests look at.
type report struct {
	Counts struct {
		Records int64 `json:"records"`
		Aborted int64 `json:"aborted"`
	} `json:"counts"`
	Checks []struct {
		ID         string `json:"id"`
		Verdict    string `json:"verdict"`
		Checked    int64  `json:"checked"`
		Violations int64  `json:"violations"`
	} `json:"checks"`
}

// violations of one promise.
func (r report) violations(id string) int64 {
	for _, c := range r.Checks {
		if c.ID == id {
			return c.Violations
		}
	}
	return 0
}

// tryAudit also returns what the audit said.
func (w *world) tryAudit(flags ...string) (r report, said string) {
	w.Helper()
	cmd := exec.Command(binary, append([]string{"audit", "-c", w.config, "--json"}, flags...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	said = out.String() + errs.String()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		w.Fatalf("clusterd audit: %v\n%s", err, said)
	}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		w.Fatalf("clusterd audit: %v\n%s", err, said)
	}
	return r, said
}

// asJSON returns the value of a record, of a cluster in the binary form as JSON.
func asJSON(t *testing.T, r *kgo.Record) []byte {
	t.Helper()
	if len(r.Value) == 0 || r.Value[0] >= '\t' || cluster.IsStory(r.Key) {
		return r.Value
	}
	c, identity, err := cluster.Parse(r.Key, r.Value, 0)
	if err != nil {
		t.Error(err)
	}
	return c.AppendJSON(nil, identity)
}
