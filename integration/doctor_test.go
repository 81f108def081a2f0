//go:build integration

package integration

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	cryptorand "crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// A diagnosis is a check as clusterd doctor writes it.
type diagnosis struct{ Name, Status, Found, Do string }

// doctor returns what clusterd doctor says that is not ok.
func (w *world) doctor() (ill []diagnosis) {
	w.Helper()
	cmd := exec.Command(binary, "doctor", "-c", w.config, "--json")
	cmd.Env = append(os.Environ(), "CLUSTERD_TEST_DIR="+w.dir, "CLUSTERD_TEST_LISTEN="+w.listen)
	cmd.Env = append(cmd.Env, w.env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	began := time.Now()
	err := cmd.Run()
	if took := time.Since(began); took > 15*time.Second {
		w.Errorf("it took %s", took)
	}
	var report struct{ Checks []diagnosis }
	if jsonErr := json.Unmarshal(out.Bytes(), &report); jsonErr != nil {
		w.Fatalf("%v, %v: %s%s", err, jsonErr, &out, &errs)
	}
	failed := false
	for _, c := range report.Checks {
		failed = failed || c.Status == "failure"
		if c.Status != "ok" {
			ill = append(ill, c)
			if c.Do == "" {
				w.Errorf("%+v does not say what to do", c)
			}
		}
	}
	if failed != (err != nil) {
		w.Errorf("it ended with %v: %+v", err, ill)
	}
	return ill
}

// finds holds the doctor to one finding, in which name, status, what was found and what to do are,
// and returns it.
func (w *world) finds(want diagnosis) (found diagnosis) {
	w.Helper()
	w.eventually(fmt.Sprintf("%+v", want), func() bool { // a broker takes a setting over in a moment
		for _, d := range w.doctor() {
			if strings.HasPrefix(d.Name, want.Name) && d.Status == want.Status &&
				strings.Contains(d.Found, want.Found) && strings.Contains(d.Do, want.Do) {
				w.Logf("%s %s: %s → %s", d.Status, d.Name, d.Found, d.Do)
				found = d
				return true
			}
		}
		return false
	})
	return found
}

// mends runs the commands that a finding proposes, after which it is gone. What is proposed for a
// topic that was created again is for other cases.
func (w *world) mends(found diagnosis) {
	w.Helper()
	commands := proposed.FindAllString(found.Do, -1)
	if commands == nil || strings.Contains(found.Found, "its id was") {
		return
	}
	w.carryOut(commands...)
	w.eventually("the finding to be gone", func() bool {
		return !slices.ContainsFunc(w.doctor(), func(d diagnosis) bool {
			return d.Name == found.Name && d.Found == found.Found
		})
	})
}

// healthy makes a set-up in which nothing is wrong.
func healthy(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, 1, paged)
	w.listen = fmt.Sprintf("127.0.0.1:%d", freePort(t))
	w.createTopic(w.output, 1)
	w.createTopic(w.clusters, 1, "cleanup.policy", "compact")
	w.createTopic(w.dead, 1, "max.message.bytes", "9000000")
	w.createTopic(w.corrections, 1)
	w.deleteTopic(w.labels)
	w.createTopic(w.labels, 1, "retention.ms", "-1")
	return w
}

// Each of these set-ups is broken in one way, which the doctor finds, and says what to do.
func TestDoctor(t *testing.T) {
	t.Parallel()
	kafkaKey := fmt.Sprintf("kafka: {brokers: [%q]", strings.Join(shared.addresses, `", "`))
	nobody := func() string { return fmt.Sprintf("127.0.0.1:%d", freePort(t)) }
	for _, tt := range []struct {
		name   string
		breaks func(w *world)
		want   diagnosis
	}{
		{
			"no broker",
			func(w *world) { w.replace(kafkaKey, fmt.Sprintf("kafka: {brokers: [%q]", nobody())) },
			diagnosis{"brokers", "failure", "connection refused", "start the broker"},
		},
		{
			"one address is wrong", func(w *world) {
				w.replace(kafkaKey, fmt.Sprintf("kafka: {brokers: [%q, %q]", shared.addresses[0], nobody()))
			},
			diagnosis{"address 127.0.0.1", "failure", "connection refused", "kafka.brokers"},
		},
		{
			"TLS to a plain port",
			func(w *world) { w.replace(kafkaKey, kafkaKey+", tls: {enabled: true}") },
			diagnosis{"brokers", "failure", "", "kafka.tls"},
		},
		{
			"no input", func(w *world) {
				w.deleteTopic(w.input)
				w.replace("create_topics: true", "create_topics: false")
			},
			diagnosis{"topic", "failure", "does not exist", "kafka-topics --create"},
		},
		{
			"a compacted input", func(w *world) { w.setTopic(w.input, "cleanup.policy", "compact") },
			diagnosis{"topic", "failure", "vanish", "cleanup.policy=delete"},
		},
		{
			"input kept for less than the window", func(w *world) {
				w.replace("signals:", "cluster: {window: 72h}\nsignals:")
				w.setTopic(w.input, "retention.ms", "3600000")
			},
			diagnosis{"topic", "warning", "cluster.window", "retention.ms=259200000"},
		},
		{
			"compacted results", func(w *world) { w.setTopic(w.output, "cleanup.policy", "compact") },
			diagnosis{"topic", "failure", "only the last result", "cleanup.policy=delete"},
		},
		{
			"clusters that are deleted",
			func(w *world) { w.setTopic(w.clusters, "cleanup.policy", "delete") },
			diagnosis{"topic", "failure", "must be compact", "cleanup.policy=compact"},
		},
		{
			"another clusters topic", func(w *world) {
				w.send(3)
				w.setOffset(2)
			},
			diagnosis{"topic", "failure", "no checkpoint of the group", "clusterd state accept -c FILE"},
		},
		{
			"clusters that were deleted", func(w *world) {
				w.runOnce()
				w.setTopic(w.clusters, "cleanup.policy", "compact,delete")
				w.deleteRecords(w.clusters, 1)
				w.setTopic(w.clusters, "cleanup.policy", "compact")
			},
			diagnosis{"topic", "failure", "began at offset 0 and begins at 1", "clusterd state accept"},
		},
		{
			"an input that was created again", func(w *world) {
				w.runOnce()
				w.recreate(w.input, 1, newArticles(5)...)
			},
			diagnosis{"topic", "failure", "and clusterd does not start", "start anew with another"},
		},
		{
			"offsets that were set back", func(w *world) {
				w.runOnce()
				w.setOffset(1)
			},
			diagnosis{"group", "failure", "is at offset 1 of", "--reset-offsets --to-offset 3 --execute"},
		},
		{
			"offsets that are gone", func(w *world) {
				w.runOnce()
				w.eventually("the group to be deleted", func() bool {
					responses, err := w.admin.DeleteGroups(w.Context(), w.group)
					return err == nil && responses.Error() == nil
				})
			},
			diagnosis{"group", "failure", "has no offset of", "--reset-offsets --to-offset 3 --execute"},
		},
		{
			"articles that were deleted before they were read", func(w *world) {
				w.runOnce()
				w.send(10)
				w.deleteRecords(w.input, 5)
			},
			diagnosis{"group", "failure", "the group wants 3", "--reset-offsets"},
		},
		{
			"another window", func(w *world) {
				w.runOnce()
				w.replace("signals:", "cluster: {window: 72h}\nsignals:")
			},
			diagnosis{"topic", "failure", "cluster.window was", "set it back"},
		},
		{
			"the clusters of another group", func(w *world) {
				w.runOnce()
				w.replace("group: "+w.group, "group: "+w.group+"-2")
			},
			diagnosis{"topic", "failure", "its clusters are those of group", "input.group back"},
		},
		{
			"dead letters do not fit",
			func(w *world) { w.setTopic(w.dead, "max.message.bytes", "1000000") },
			diagnosis{"topic", "warning", "only the beginning fits", "max.message.bytes=8065536"},
		},
		{
			"more in sync than there are",
			func(w *world) { w.setTopic(w.output, "min.insync.replicas", "2") },
			diagnosis{"topic", "failure", "cannot be written", "min.insync.replicas=1"},
		},
		{
			"labels expire", func(w *world) { w.setTopic(w.labels, "retention.ms", "86400000") },
			diagnosis{"topic", "warning", "no longer sees older labels", "retention.ms=-1"},
		},
		{
			"labels without an order", func(w *world) {
				if _, err := w.admin.UpdatePartitions(w.Context(), 2, w.labels); err != nil {
					w.Fatal(err)
				}
				w.eventually("another partition", func() bool { return len(w.ends(w.labels)) == 2 })
			},
			diagnosis{"topic", "warning", "have no order", "one partition"},
		},
		{
			"articles of tomorrow", func(w *world) {
				w.produce(&kgo.Record{
					Topic: w.input, Value: []byte(`{}`), Timestamp: time.Now().Add(20 * time.Minute),
				})
			},
			diagnosis{"clock", "warning", "in the future", "timedatectl"},
		},
		{
			"no folder for the state", func(w *world) {
				w.replace("${CLUSTERD_TEST_DIR:unused}", filepath.Join(w.config, "state"))
			},
			diagnosis{"disk", "failure", "not a directory", "state.dir"},
		},
		{
			"a disk that is too small",
			func(w *world) { w.replace("serve: {bytes: 64MiB}", "serve: {bytes: 1024GiB}") },
			diagnosis{"disk", "failure", "free", "serve.bytes"},
		},
		{
			"too little memory",
			func(w *world) { w.replace("signals:", "memory: {limit: 64MiB}\nsignals:") },
			diagnosis{"memory", "failure", "64 MiB", "memory.limit"},
		},
		{
			"the address is taken", func(w *world) { w.listen = w.somebody() },
			diagnosis{"instance", "failure", "another program", "http.listen"},
		},
		{
			"a certificate that has ended",
			func(w *world) { w.replace("http: {", "http: {"+w.certificate()) },
			diagnosis{"http.tls", "failure", "ended on", "renew it"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := healthy(t)
			tt.breaks(w)
			w.mends(w.finds(tt.want))
		})
	}
	t.Run("two groups write to one topic", func(t *testing.T) {
		t.Parallel()
		w := healthy(t)
		w.runOnce()
		first := w.start()
		first.waitLive()
		other := w.beside("other.yaml", w.group+"-other", "")
		other.output, other.dead = w.output, w.dead
		other.listen = fmt.Sprintf("127.0.0.1:%d", freePort(t))
		other.configure("")
		t.Cleanup(func() {
			_, _ = w.admin.DeleteTopics(context.WithoutCancel(t.Context()), other.clusters)
		})
		other.start().waitFor("another group has written it")
		for range 2 {
			w.send(3)
			w.done()
			other.done()
		}
		if first.complains("another group has written it") {
			t.Error("it takes its own results for those of another group")
		}
		want := diagnosis{"topic " + w.output, "warning", "two groups write to it", "its own "}
		w.finds(want)
		other.finds(want)
	})
	t.Run("no clusters topic yet", func(t *testing.T) {
		t.Parallel()
		w := healthy(t)
		w.deleteTopic(w.clusters)
		if ill := w.doctor(); len(ill) > 0 { // clusterd makes it, and it is known that it has no clusters
			t.Errorf("%+v", ill)
		}
	})
	t.Run("nothing is broken", func(t *testing.T) {
		t.Parallel()
		w := healthy(t)
		if ill := w.doctor(); len(ill) > 0 {
			t.Errorf("before it runs: %+v", ill)
		}
		before := w.read(w.output, kgo.ReadUncommitted())
		w.start().waitLive()
		w.send(10)
		w.done()
		if ill := w.doctor(); len(ill) > 0 {
			t.Errorf("while it runs: %+v", ill)
		}
		if len(before) > 0 {
			t.Errorf("the doctor has written %d records", len(before))
		}
	})
}

// certificate makes one that has ended, and returns the keys of the configuration for it.
func (w *world) certificate() string {
	w.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), cryptorand.Reader)
	if err != nil {
		w.Fatal(err)
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().AddDate(-1, 0, 0),
		NotAfter: time.Now().AddDate(0, 0, -1),
	}
	made, err := x509.CreateCertificate(cryptorand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		w.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		w.Fatal(err)
	}
	paths := [2]string{filepath.Join(w.dir, "cert.pem"), filepath.Join(w.dir, "key.pem")}
	for i, block := range []*pem.Block{
		{Type: "CERTIFICATE", Bytes: made}, {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(paths[i], pem.EncodeToMemory(block), 0o600); err != nil {
			w.Fatal(err)
		}
	}
	return fmt.Sprintf("tls: {cert_file: %q, key_file: %q}, ", paths[0], paths[1])
}

// somebody listens, and answers as no clusterd does.
func (w *world) somebody() (address string) {
	w.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			fmt.Fprint(c, "220 mail.example ESMTP\r\n")
			c.Close()
		}
	}()
	return listener.Addr().String()
}

// A broker that dies, or hangs, is found within ten seconds, and is well once it is back.
func TestDoctorWithoutBroker(t *testing.T) {
	t.Parallel()
	w := ownBroker(t).newWorld(t, 1, noLinger)
	i := w.start()
	w.listen = i.listen
	i.waitLive()
	w.do("kill")
	since := time.Now()
	w.finds(diagnosis{"brokers", "failure", "connection refused", "start the broker"})
	w.finds(diagnosis{"memory", "warning", "is not known: ", "run clusterd doctor again"})
	w.eventually("the instance says so", func() bool {
		for _, d := range w.doctor() {
			if d.Name == "instance" && strings.Contains(d.Found, "no fetch has come back") {
				return true
			}
		}
		return false
	})
	t.Logf("all is said after %.1f s", time.Since(since).Seconds())
	w.do("start")
	since = time.Now()
	w.eventually("all is well", func() bool { return len(w.doctor()) == 0 })
	t.Logf("all is well after %.1f s", time.Since(since).Seconds())
	w.do("pause")
	w.finds(diagnosis{"brokers", "failure", "", "does not hang"})
	w.finds(diagnosis{"memory", "warning", "is not known: ", "run clusterd doctor again"})
	w.do("continue")
}

// A session that is shorter than the brokers allow, as they come, is found before clusterd runs;
// and it ends clusterd, with the same advice.
func TestSessionRefused(t *testing.T) {
	t.Parallel()
	s := startSecuredOf(t, "group.min.session.timeout.ms=6000\n")
	w := s.world(t, "PLAIN", "")
	for _, d := range w.doctor() {
		if d.Name == "session" {
			t.Errorf("of the default session it says: %+v", d)
		}
	}
	w.replace(w.group+"}", w.group+", session_timeout: 2s}")
	w.finds(diagnosis{
		"session", "failure", "do not allow input.session_timeout: 2s", "group.min.session.timeout.ms",
	})
	w.start().fails("input.session_timeout")
	groups, err := w.admin.ListGroups(t.Context())
	if err != nil || len(groups) > 0 {
		t.Errorf("the doctor leaves groups behind: %v, %v", groups.Groups(), err)
	}
}
