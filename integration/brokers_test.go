//go:build integration

package integration

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// answerTimeout is how long a test waits for an answer before it asks again: a broker may be
// frozen.
const answerTimeout = 2 * time.Second

// brokers are the brokers that a test works with.
type brokers struct {
	folder    []string // the script's option for it; none for the folder that it takes by itself
	addresses []string // where they listen
	client    *kgo.Client
	admin     *kadm.Client
}

// shared are the brokers that most tests share.
var shared *brokers

// startBrokers starts brokers, or finds them started.
func startBrokers(folder ...string) (*brokers, error) {
	b := &brokers{folder: folder}
	return b, b.start()
}

func (b *brokers) start() error {
	addresses, err := b.script("start")
	if err != nil {
		return err
	}
	b.addresses = strings.Split(addresses, ",")
	b.client, err = kgo.NewClient(kgo.SeedBrokers(b.addresses...),
		kgo.RequestTimeoutOverhead(answerTimeout))
	if err != nil {
		return err
	}
	b.admin = kadm.NewClient(b.client)
	return nil
}

// ownBroker starts a broker, or as many as the options of the script say, that nobody else uses,
// for a test that hurts it, or that asks what a broker does that has never been used.
func ownBroker(t *testing.T, options ...string) *brokers {
	t.Helper()
	b := &brokers{folder: append([]string{
		"--dir", t.TempDir(), "--port", strconv.Itoa(freePorts(t, mostBrokers)),
	}, options...)}
	t.Cleanup(func() {
		if b.client != nil {
			b.client.Close()
		}
		if _, err := b.script("kill"); err != nil { // it need not end in good order
			t.Error(err)
		}
	})
	if err := b.start(); err != nil {
		t.Fatal(err)
	}
	return b
}

const mostBrokers = 3 // that a test has

// shortLived are the options of Java for a broker that lives for seconds, in which optimising costs
// more than it gains.
var shortLived = []string{"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"}

// script runs integration/kafka for these brokers.
func (b *brokers) script(args ...string) (string, error) {
	cmd := exec.Command("./kafka", append(append(args[:1:1], b.folder...), args[1:]...)...)
	if len(b.folder) > 0 {
		cmd.Env = append(os.Environ(), "JAVA_TOOL_OPTIONS="+strings.Join(shortLived, " "))
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("integration/kafka %s: %w\n%s%s", strings.Join(args, " "), err,
			errs.String(), out.String())
	}
	return strings.TrimSpace(out.String()), nil
}

// do runs integration/kafka for the brokers of a test.
func (w *world) do(args ...string) {
	w.Helper()
	if _, err := w.script(args...); err != nil {
		w.Fatal(err)
	}
}
