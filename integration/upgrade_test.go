//go:build integration

package integration

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

// before is the version that people upgrade from where no release is tagged.
const before = "98ca1e1"

// An instance of the version before and one of this one work in one group, and are restarted in
// turns under load, each time as the other version: nothing is lost, doubled or different.
func TestRollingUpgrade(t *testing.T) {
	t.Parallel()
	former := versionBefore(t)
	w, random := newWorld(t, 4, noLinger+"signals: {enabled: true}\n"), seeded(t)
	stream := w.stream(perSecond)
	programs := []string{former, binary}
	var live []*instance
	for range 3 {
		w.program = former
		live = append(live, w.start())
	}
	w.progress(0)
	for round := range 8 {
		slot := round % len(live)
		i := live[slot]
		if random.IntN(2) == 0 {
			i.kill()
		} else {
			i.stop()
		}
		before := w.consumed()
		// Up, then one way and the other.
		w.program = programs[1-round/len(live)%2]
		live[slot] = w.startIn(i.dir)
		w.sendForms()
		w.progress(before)
	}
	w.program = ""
	for slot, i := range live {
		i.stop()
		live[slot] = w.startIn(i.dir)
	}
	w.sendForms()
	stream.stop()
	w.done()
	for _, i := range live {
		i.stop()
	}
	w.auditAlone()
	w.bothForms()
}

// Instances of both versions divide the work. The assigner is upgraded first, as docs/scale.md
// says, and it goes back last: nothing is lost, doubled or different.
func TestRollingUpgradeOfRoles(t *testing.T) {
	t.Parallel()
	former := versionBefore(t)
	w := newWorld(t, 4, noLinger)
	stream, assigner, fingerprinter := w.dividedBy(former)
	for _, step := range []struct{ role, program string }{
		{"assign", binary},
		{"fingerprint", binary},
		{"fingerprint", former},
		{"assign", former},
		{"assign", binary},
		{"fingerprint", binary},
	} {
		w.progress(w.consumed() + 100)
		w.program = step.program
		if step.role == "assign" {
			assigner.stop()
			assigner = w.startAs("assign", assigner.dir)
		} else {
			fingerprinter.stop()
			fingerprinter = w.startAs("fingerprint", fingerprinter.dir)
		}
	}
	w.progress(w.consumed() + 100)
	stream.stop()
	w.done()
	fingerprinter.stop()
	w.auditAlone()

	newer := w.read(w.fingerprints, kgo.ReadCommitted())[0].Value
	newer[0] = 2 // the version of its form
	r := &kgo.Record{Topic: w.fingerprints, Value: newer}
	if err := w.client.ProduceSync(t.Context(), r).FirstErr(); err != nil {
		t.Fatal(err)
	}
	assigner.fails("Nothing was skipped. Upgrade the instances with role: assign first")
}

// dividedBy has two instances of a program divide the work, while articles stream.
func (w *world) dividedBy(program string) (*stream, *instance, *instance) {
	w.Helper()
	w.divide()
	w.program = program
	return w.stream(perSecond), w.startAs("assign", w.otherDir()),
		w.startAs("fingerprint", w.otherDir())
}

// With contacts, fingerprints of the version before have other settings: it assigns them before the
// upgrade. An instance that was upgraded too early says so, and changes nothing.
func TestUpgradeOfRolesWithContacts(t *testing.T) {
	t.Parallel()
	former := versionBefore(t)
	w := newWorld(t, 2, joining)
	stream, assigner, fingerprinter := w.dividedBy(former)
	w.progress(w.consumed() + 100)
	assigner.stop()
	w.program = binary
	w.replace("fold: true", "fold: 1")
	early := w.startAs("assign", w.otherDir())
	early.fails("run that version with role: assign until all of them are assigned")

	w.program = former
	w.replace("fold: 1", "fold: true")
	assigner = w.startAs("assign", assigner.dir)
	fingerprinter.stop()
	w.allAssigned()
	assigner.stop()
	w.replace("fold: true", "fold: 1")
	w.program = binary
	assigner = w.startAs("assign", assigner.dir)
	fingerprinter = w.startAs("fingerprint", fingerprinter.dir)
	w.progress(w.consumed() + 100)
	stream.stop()
	w.done()
	fingerprinter.stop()
	w.auditAlone()
	assigner.stop()
}

// versionBefore returns the program of the newest tag, or else of [before].
func versionBefore(t *testing.T) string {
	t.Helper()
	tag, err := exec.Command("git", "describe", "--tags", "--abbrev=0", "HEAD^").Output()
	if err != nil {
		return versionOf(t, before)
	}
	return versionOf(t, strings.TrimSpace(string(tag)))
}

// versionOf returns the program of a revision.
func versionOf(t *testing.T, revision string) string {
	t.Helper()
	build, _ := builds.LoadOrStore(revision, sync.OnceValues(func() (string, error) {
		return buildOf(revision)
	}))
	program, err := build.(func() (string, error))()
	if errors.Is(err, errNoHistory) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return program
}

var (
	errNoHistory = errors.New("there is no version before this one: no history of git")

	builds sync.Map // by revision: buildOf, called once
)

// buildOf builds a revision next to this one.
func buildOf(revision string) (string, error) {
	if err := exec.Command("git", "cat-file", "-e", revision+"^{commit}").Run(); err != nil {
		return "", errNoHistory
	}
	dir := filepath.Join(filepath.Dir(binary), "at-"+revision)
	program := filepath.Join(dir, "clusterd-before")
	const script = `mkdir "$1" && git -C .. archive "$2" | tar -x -C "$1" &&
		cd "$1" && go build -o "$3" ./cmd/clusterd`
	out, err := exec.Command("sh", "-c", script, "sh", dir, revision, program).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", revision, err, out)
	}
	return program, nil
}
