//go:build integration

package integration

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/cli/demo/sample"
	"github.com/clusterd/clusterd/internal/method"
)

// Whatever the method, a daemon that is killed, and once loses its disk, gives each article the
// result that it has when nothing goes wrong: that of clusterd cluster. Meanwhile the form of what
// it writes to the clusters topic becomes another, and what it was.
func TestMethods(t *testing.T) {
	t.Parallel()
	const windowed = "cluster: {window: 30m}\n"
	settings := map[string]string{
		"simhash, and contacts": windowed + "contacts: {join: true, limit: 3}\n",
		"minhash, and contacts, folding and containment": "fingerprint: {method: minhash}\n" +
			"cluster: {window: 30m, containment: 0.9}\ncontacts: {join: true}\n" +
			"text: {fold: true, mask: [numbers, urls]}\n",
	}
	for _, name := range method.Names() {
		settings[name] = windowed + "fingerprint: {method: " + name + "}\n"
	}
	for name, set := range settings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1, "batch: {linger: 0s, records: 100}\n"+set)
			generator, articles := sample.New(*seed, time.Now().Add(-24*time.Hour)), new(bytes.Buffer)
			send := func(n int) {
				records := make([]*kgo.Record, n)
				for i := range records {
					a := generator.Next()
					// As if they were written when they were published: files have no other times.
					records[i] = &kgo.Record{Value: a.JSON(), Timestamp: a.PublishedAt}
					articles.Write(append(bytes.Clone(records[i].Value), '\n'))
				}
				w.produce(records...)
			}
			running := w.start()
			for round := range 4 {
				before := w.consumed()
				send(600)
				w.progress(before)
				running.kill()
				switch round {
				case 0:
					w.replace("dead_letter_topic:", "clusters_format: binary, dead_letter_topic:")
				case 2:
					w.replace("clusters_format: binary, ", "")
				}
				if round == 2 {
					if err := os.RemoveAll(running.dir); err != nil {
						t.Fatal(err)
					}
				}
				running = w.startIn(running.dir)
			}
			w.done()
			running.stop()
			w.audit()
			var got []string
			joined := 0
			for _, r := range w.read(w.output, kgo.ReadCommitted()) {
				got = append(got, string(r.Value))
				if parseResult(t, r.Value).Status == "joined" {
					joined++
				}
			}
			w.compare(got, w.cluster(articles.Bytes()))
			if t.Logf("%d results, %d joined", len(got), joined); joined < len(got)/10 {
				t.Errorf("%d of %d joined: the test shows little", joined, len(got))
			}
		})
	}
}
