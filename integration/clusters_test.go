//go:build integration

package integration

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// setOffset sets the group's offset of partition 0, as kafka-consumer-groups does; the group must
// be empty.
func (w *world) setOffset(to int64) {
	w.Helper()
	w.eventually("the offset to be set", func() bool {
		var offsets kadm.Offsets
		offsets.AddOffset(w.input, 0, to, -1)
		return w.admin.CommitAllOffsets(w.Context(), w.group, offsets) == nil
	})
}

// pipeline returns how the fingerprints of the results were made.
func (w *world) pipeline() string {
	w.Helper()
	var r struct{ Pipeline string }
	if err := json.Unmarshal(w.read(w.output, kgo.ReadCommitted())[0].Value, &r); err != nil {
		w.Fatal(err)
	}
	return r.Pipeline
}

// writeCluster writes a record to the clusters topic, as anybody may who has the right to.
func (w *world) writeCluster(r *kgo.Record) {
	w.Helper()
	r.Topic = w.clusters
	if err := w.producer(kgo.RecordPartitioner(kgo.ManualPartitioner())).ProduceSync(w.Context(),
		r).FirstErr(); err != nil {
		w.Fatal(err)
	}
}

// Offsets of the group that were set back, or are gone, are refused: to read on from there would
// count articles twice. When they are put back, it goes on.
func TestOffsetsSetBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, "")
	w.send(20)
	running := w.start()
	w.done()
	running.stop()
	for _, test := range []struct {
		name string
		set  func()
		want string
	}{
		{"by five", func() { w.setOffset(15) }, "is at offset 15 of " + w.input +
			"/0, of which it has made clusters up to offset 20"},
		{"to the beginning", func() { w.setOffset(0) }, "is at offset 0 of " + w.input + "/0"},
		{"the group is gone", func() {
			if _, err := w.admin.DeleteGroups(t.Context(), w.group); err != nil {
				t.Fatal(err)
			}
		}, "has no offset of " + w.input + "/0"},
	} {
		test.set()
		// With its disk, and without it.
		for _, dir := range []string{w.otherDir(), t.TempDir()} {
			refused := w.startIn(dir)
			refused.fails(test.want)
			refused.fails("--topic " + w.input + ":0 --reset-offsets --to-offset 20 --execute")
		}
		if n := len(w.results()); n != 20 {
			t.Fatalf("%s: %d results of 20 articles", test.name, n)
		}
	}
	w.setOffset(20)
	w.send(5)
	running = w.start()
	w.done()
	running.stop()
	if n := w.audit().Counts.Records; n != 25 {
		t.Errorf("%d articles came out, want 25", n)
	}
}

// Offsets that were set forward skip articles, which may be meant: it logs them and goes on, and
// the audit reports them.
func TestOffsetsSetForward(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, "")
	w.runOnce()
	w.send(10)
	w.setOffset(8)
	out, err := exec.Command(binary, "audit", "-c", w.config).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "was skipped") {
		t.Errorf("the audit says %v\n%s", err, out)
	}
	running := w.start()
	running.waitFor("articles were skipped")
	if !running.complains("from=3 to=8") {
		t.Errorf("it does not say what was skipped:\n%s", running.said())
	}
	w.done()
	running.stop()
	if n := len(w.results()); n != 8 {
		t.Errorf("%d results, want 3 and the last 5", n)
	}
}

// The clusters of a group are made by one group and with one setting of all that decides, until it
// is started anew.
func TestOtherSettingsAreRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, before, after string
		want                string
	}{
		{"distance", "", "cluster: {distance: 4}\n", "cluster.distance was 3 and is 4"},
		{"window", "", "cluster: {window: 3d}\n", `cluster.window was "0s" and is 72h0m0s`},
		{"window, none", "cluster: {window: 3d}\n", "", `cluster.window was "72h0m0s" and is 0s`},
		{
			"similarity", "fingerprint: {method: minhash}\n",
			"fingerprint: {method: minhash}\ncluster: {similarity: 0.9}\n",
			"cluster.similarity was 0.77 and is 0.9",
		},
		{"scope", "", "cluster: {scope: partition}\n", `cluster.scope was "topic" and is partition`},
		{
			"scope, the other way", "cluster: {scope: partition}\n", "",
			`cluster.scope was "partition" and is topic`,
		},
		{"group", "", "input: {topic: INPUT, group: another}\n", "and this is group another"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1, test.before)
			w.runOnce()
			w.configure(strings.ReplaceAll(test.after, "INPUT", w.input))
			// With its disk, and without it.
			w.start().fails(test.want)
			w.startIn(t.TempDir()).fails(test.want)
			if n := len(w.results()); n != 3 {
				t.Errorf("%d results of 3 articles", n)
			}
			w.configure(test.before)
			w.runOnce()
			w.audit()
		})
	}
}

// What clusterd cannot have written stops it, with exit code 1, where it is and how to take it out;
// a standby too. With the tombstone that the message names, it goes on.
func TestJunkInTheClustersTopic(t *testing.T) {
	t.Parallel()
	const fields = `"fingerprint":"00000000000000ff","first_seen":"2026-05-01T12:00:00Z","last_seen":%q,"representative":{"id":"a","title":""},"pipeline":%q}`
	for _, test := range []struct {
		name string
		junk func(w *world, pipeline string) *kgo.Record
		want string
	}{
		{"size -1", func(w *world, pipeline string) *kgo.Record {
			return &kgo.Record{Value: fmt.Appendf(nil, `{"cluster_id":"%s/0/0","seq":0,"size":-1,`+fields,
				w.input, "2026-05-01T12:00:00Z", pipeline)}
		}, "size -1"},
		{"the year 9999", func(w *world, pipeline string) *kgo.Record {
			return &kgo.Record{Value: fmt.Appendf(nil, `{"cluster_id":"%s/0/0","seq":0,"size":1,`+fields,
				w.input, "9999-12-31T23:59:59Z", pipeline)}
		}, "9999-12-31T23:59:59Z is in the future"},
		{"text", func(*world, string) *kgo.Record {
			return &kgo.Record{
				Key: []byte("it's mine"), Value: []byte("hello"),
			}
		}, "not a cluster"},
		{
			"an empty value",
			func(*world, string) *kgo.Record { return &kgo.Record{Key: []byte("x"), Value: []byte{}} },
			"not a cluster",
		},
		{"a large value", func(*world, string) *kgo.Record {
			return &kgo.Record{Key: []byte("zeros"), Value: make([]byte, 4<<20)}
		}, "more than 1048576 bytes"},
		{"another group's checkpoint", func(w *world, pipeline string) *kgo.Record {
			return &kgo.Record{Key: []byte("checkpoint:other/all"), Value: fmt.Appendf(nil,
				`{"version":1,"input":%q,"group":"other","scope":"topic","space":"all","pipeline":%q,"threshold":"distance=3","window":"0s","offsets":{"0":5},"next_position":5,"stream_time":0}`, w.input, pipeline)}
		}, `those of group "other"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1, "")
			w.createTopic(w.clusters, 1, "cleanup.policy", "compact", "max.message.bytes", "8000000")
			w.send(3)
			running := w.start()
			running.waitLive()
			w.done()
			standby := w.start()
			standby.waitStandby()
			record := test.junk(w, w.pipeline())
			if record.Key == nil {
				record.Key, record.Headers = []byte(w.input+"/0/0"),
					[]kgo.RecordHeader{{Key: "clusterd.position", Value: []byte("0")}}
			}
			w.writeCluster(record)
			at := fmt.Sprintf("%s/0/%d", w.clusters, record.Offset)
			standby.fails(at)
			running.stop() // which was live, and read nothing
			// With its disk, and without it.
			refused := w.startIn(running.dir)
			refused.fails(at)
			refused.fails(test.want)
			w.startIn(t.TempDir()).fails(at)

			command := refused.said()
			command = command[strings.LastIndex(command, `printf '%s`):]
			command = command[:strings.Index(command, " -Z")+len(" -Z")]
			if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", command, err, out)
			}
			for _, dir := range []string{running.dir, t.TempDir()} {
				w.send(3)
				running = w.startIn(dir)
				w.done()
				running.stop()
			}
			if n := len(w.results()); n != 9 {
				t.Errorf("%d results of 9 articles", n)
			}
		})
	}
}
