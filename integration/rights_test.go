//go:build integration

package integration

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// A right is a row of the table in docs/security.md.
type right struct {
	operation, kind, name string // several names have "`, `" between them
	prefixed              bool
	verb, says            string // what that verb says without it
}

// rightsOfThePage reads the table, and holds the commands below it to it.
func rightsOfThePage(t *testing.T) (all []right) {
	t.Helper()
	page, err := os.ReadFile("../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| (\\w+) \\| ([a-z-]+) `([^|]+)`( \\(prefixed\\))? \\| [^|]+ " +
		"\\| (run|doctor|audit): `([^`]+)` \\|$")
	granted := make(map[string]bool)
	for _, m := range row.FindAllStringSubmatch(string(page), -1) {
		all = append(all, right{m[1], m[2], m[3], m[4] != "", m[5], m[6]})
		for name := range strings.SplitSeq(m[3], "`, `") {
			granted[m[1]+" "+m[2]+" "+name] = true
		}
	}
	if strings.Count(string(page), "\n| Read ")+strings.Count(string(page), "\n| Write ") < 10 ||
		len(all) < 13 {
		t.Fatalf("the table has %d rows that can be read", len(all))
	}
	for _, m := range regexp.MustCompile(`(?m)^grant (--op.*) --(topic|group|transactional-id) (\S+)`).
		FindAllStringSubmatch(string(page), -1) {
		for operation := range strings.SplitSeq(strings.TrimPrefix(m[1], "--operation "),
			" --operation ") {
			key := operation + " " + m[2] + " " + m[3]
			if !granted[key] {
				t.Errorf("the commands grant %s, and the table does not", key)
			}
			delete(granted, key)
		}
	}
	if len(granted) > 0 {
		t.Errorf("no command grants %v", granted)
	}
	return all
}

// acl returns the right as Kafka keeps it, in a test's own names.
func (r *right) acl(t *testing.T, w *world) *kadm.ACLBuilder {
	t.Helper()
	var operation kadm.ACLOperation
	if err := operation.UnmarshalText([]byte(strings.ToUpper(
		regexp.MustCompile(`([a-z])([A-Z])`).ReplaceAllString(r.operation, "${1}_$2")))); err != nil {
		t.Fatal(err)
	}
	b := kadm.NewACLs().Allow("User:clusterd").AllowHosts("*").Operations(operation)
	pattern := kadm.ACLPatternLiteral
	if r.prefixed {
		pattern = kadm.ACLPatternPrefixed
	}
	b = b.ResourcePatternType(pattern)
	names := strings.Split(w.here(r.name), "`, `")
	switch r.kind {
	case "topic":
		return b.Topics(names...)
	case "group":
		return b.Groups(names...)
	case "transactional-id":
		return b.TransactionalIDs(names...)
	case "cluster":
		return b.Clusters()
	}
	t.Fatalf("%+v is of no kind", r)
	return nil
}

// here returns a text of the page with the test's own names.
func (w *world) here(text string) string {
	return strings.NewReplacer("article-clusters", w.output, "articles-dead", w.dead,
		"articles", w.input, "clusters", w.clusters, "labels", w.labels,
		"corrections", w.corrections, "clusterd-", w.group+"-", "clusterd", w.group).Replace(text)
}

// With the rights of docs/security.md, and no others, all works. Without any one of them, clusterd
// or its doctor says what the page says that it does.
func (s *secured) testRights(t *testing.T) {
	t.Parallel()
	w := s.world(t, "SASL", trusted+password("plain", "clusterd", "clusterd-secret"))
	text, err := os.ReadFile(w.config)
	if err != nil {
		t.Fatal(err)
	}
	page := strings.NewReplacer("LABELS", w.labels, "CORRECTIONS", w.corrections).Replace(paged)
	if err := os.WriteFile(w.config, []byte(strings.Replace(string(text), noLinger, page, 1)),
		0o600); err != nil {
		t.Fatal(err)
	}
	w.listen = fmt.Sprintf("127.0.0.1:%d", freePort(t))
	w.createTopic(w.output, 1)
	w.createTopic(w.labels, 1, "retention.ms", "-1")
	w.createTopic(w.clusters, 1, "cleanup.policy", "compact")
	w.createTopic(w.dead, 1, "max.message.bytes", "9000000")
	rights := rightsOfThePage(t)
	for _, r := range rights {
		w.grant(&r)
	}
	w.worksWholly()
	for _, r := range rights {
		t.Run(r.operation+" on "+r.kind+" "+r.name, func(t *testing.T) {
			w := *w
			w.T, w.instances = t, nil
			if _, err := s.admin.DeleteACLs(t.Context(), r.acl(t, &w)); err != nil {
				t.Fatal(err)
			}
			w.lacks(&r)
			w.grant(&r)
		})
	}
}

// grant grants a right, and waits until the broker's authorizer knows of it.
func (w *world) grant(r *right) {
	w.Helper()
	if _, err := w.admin.CreateACLs(w.Context(), r.acl(w.T, w)); err != nil {
		w.Fatal(err)
	}
	w.eventually("the right", func() bool {
		known, err := w.admin.DescribeACLs(w.Context(), r.acl(w.T, w))
		return err == nil && !slices.ContainsFunc(known, func(k kadm.DescribeACLsResult) bool {
			return len(k.Described) == 0
		})
	})
}

// worksWholly clusters articles, labels a cluster, corrects what came before, and audits all.
func (w *world) worksWholly() {
	w.Helper()
	i := w.start()
	i.waitLive()
	article := []byte(`{"content":"The keeper of the lighthouse writes the log of the night, as ever."}`)
	w.produce(&kgo.Record{Value: article}, &kgo.Record{Value: article},
		&kgo.Record{Value: []byte("no article")})
	w.done()
	cluster := w.input + "/0/0"
	w.eventually("the label", func() bool {
		out, err := exec.Command(binary, "label", "add", "spam", "--server", "http://"+i.listen,
			cluster).CombinedOutput()
		if err != nil {
			w.Logf("%s", out)
		}
		return err == nil
	})
	w.eventually("corrections", func() bool {
		return len(w.read(w.corrections, kgo.ReadCommitted())) == 2
	})
	for _, d := range w.doctor() {
		w.Errorf("the doctor: %+v", d)
	}
	i.stop()
	w.audit()
}

// lacks holds one verb to what it says without a right.
func (w *world) lacks(r *right) {
	w.Helper()
	want := w.here(r.says)
	switch r.verb {
	case "run":
		if r.operation == "Create" {
			w.deleteTopic(w.here(r.name))
		}
		w.start().fails(want)
	case "doctor":
		w.eventually("the doctor to say "+want, func() bool {
			for _, d := range w.doctor() {
				if strings.Contains(d.Name+": "+d.Found, want) {
					w.Logf("%s: %s → %s", d.Name, d.Found, d.Do)
					return true
				}
			}
			return false
		})
	case "audit":
		out, err := exec.Command(binary, "audit", "-c", w.config).CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || !strings.Contains(string(out), want) {
			w.Errorf("%v: %s", err, out)
		}
	}
}
