package pipeline

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/clusterd/clusterd/internal/testutil/texts"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

// metric returns the lines of /metrics with this beginning.
func (i *instance) metric(prefix string) (lines []string) {
	w := httptest.NewRecorder()
	i.monitor.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(w.Body.String()) {
		if strings.HasPrefix(line, prefix) {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}

// The instance that works on a space counts its marks, also after a start from the topic alone.
func TestRunCountsMarks(t *testing.T) {
	t.Parallel()
	c := labelConfig()
	c.Fingerprint.Method, c.Contacts.Join = "minhash", true
	b := newLabelBench(t, c, 1).alone()
	i := b.start()
	text := uint64(0)
	adverts := func(n int) (cluster string) {
		for range n {
			text++
			b.produce(kafkago.Message{Value: texts.ArticleJSON(fmt.Sprint(text), "",
				texts.Sentence(100+text, 30)+" call +447700900123"), WriterData: 0})
		}
		b.committed()
		results := b.results()
		return *results[len(results)-1].ClusterID
	}
	counted := func(want ...string) {
		t.Helper()
		for _, w := range want {
			name, _, _ := strings.Cut(w, " ")
			wait.Until(t, w, func() bool { return slices.Contains(i.metric(name), w) })
		}
	}
	b.label(addLabel(adverts(1), "spam"))
	adverts(4)
	counted(
		`clusterd_marks{space="all",state="labelling"} 1`, `clusterd_marks{space="all",state="ended"} 0`,
		`clusterd_marks_reach_clusters{space="all"} 6`, `clusterd_marks_used_clusters{space="all"} 4`,
		`clusterd_labelled_by_contact_total 4`, `clusterd_labelled_articles_total 4`,
	)
	adverts(3)
	i.end()
	i = b.startIn(t.TempDir()) // from the topic alone
	i.ready()
	counted(`clusterd_marks{space="all",state="used_up"} 1`,
		`clusterd_marks_used_clusters{space="all"} 6`)
	b.label(`{"target":"contact","contact":"number:+447700900123","label":"ham"}`)
	counted(`clusterd_marks{space="all",state="ended"} 1`, `clusterd_marks_ended_total 1`,
		`clusterd_marks_used_clusters{space="all"} 0`)
	i.end()
}
