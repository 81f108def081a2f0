//go:build integration

package integration

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/failpoint"
)

// failpoints are the points, and among how many hits the one to die at is drawn.
var failpoints = []struct {
	name   string
	within int
}{
	{failpoint.Assigned, 40},
	{failpoint.Prepared, 40},
	{failpoint.BeforeProduce, 40},
	{failpoint.AfterProduce, 40},
	{failpoint.AfterOffsets, 40},
	{failpoint.BeforeEnd, 40},
	{failpoint.AfterEnd, 40},
	{failpoint.BeforeDisk, 40},
	{failpoint.AfterDisk, 40},
	{failpoint.BeforeFlush, 1},
	{failpoint.AfterFlush, 1},
	{failpoint.Fenced, 1},
	{failpoint.Recovering, 1},
}

// An instance that dies at any of the points, also in the middle of coming back, leaves nothing
// behind that a new start does not mend.
func TestFailpoints(t *testing.T) {
	t.Parallel()
	w, random := newWorld(t, 4, noLinger), seeded(t)
	stream := w.stream(perSecond)
	running := w.start()
	w.progress(0)
	running.kill()
	witness := w.witness()
	for range *each {
		for _, point := range failpoints {
			hit := 1 + random.IntN(point.within)
			if point.name == failpoint.Recovering { // there must be something to read
				if err := os.RemoveAll(running.dir); err != nil {
					t.Fatal(err)
				}
			}
			before, began := w.consumed(), time.Now()
			dying := w.start(fmt.Sprintf("%s=%d:kill", point.name, hit))
			if point.name == failpoint.BeforeFlush || point.name == failpoint.AfterFlush {
				w.progress(before)
				dying.signal(syscall.SIGTERM) // a stop flushes
			}
			if err := dying.wait(); !dying.killed() {
				t.Fatalf("%s: it ended with %v", point.name, err)
			}
			t.Logf("killed at %s, hit %d, after %.1f s: %d offsets committed before, %d after", point.name,
				hit, time.Since(began).Seconds(), before, w.consumed())
		}
	}
	stream.stop()
	running = w.start()
	w.done()
	running.stop()
	if r := w.audit("--aborted", "--seen", witness.end()); r.Counts.Aborted == 0 {
		t.Error("no kill hit a transaction: the test proves nothing")
	}
}

// A batch that fails at any of the points is done again.
func TestErrorsOnTheWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, noLinger)
	points := []string{
		"before-produce=3:error", "after-produce=6:error", "after-offsets=9:error", "before-end=12:error",
		"after-end=15:error",
		"before-disk=18:error", "fenced=2:error",
	}
	stream := w.stream(perSecond)
	running := w.start(points...)
	w.eventually("an error at each point", func() bool {
		said := running.said()
		return !slices.ContainsFunc(points, func(point string) bool {
			name, _, _ := strings.Cut(point, "=")
			return !strings.Contains(said, "failpoint "+name)
		})
	})
	w.progress(w.consumed())
	stream.stop()
	w.done()
	running.stop()
	if r := w.audit("--aborted"); r.Counts.Aborted == 0 {
		t.Error("no error hit a transaction: the test proves nothing")
	}
}

// The audit finds every bug that is seeded.
func TestSeeded(t *testing.T) {
	t.Parallel()
	minhash := noLinger + "fingerprint: {method: minhash}\n"
	labels, stories := labelled, noLinger+"stories: {topic: STORIES}\n"
	for _, test := range []struct{ bug, violates, settings string }{
		{failpoint.Drop, "I1", noLinger},
		{failpoint.Duplicate, "I1", noLinger},
		{failpoint.EarlyOffset, "I1", noLinger},
		{failpoint.SkipDisk, "I3", noLinger},
		{failpoint.StaleDisk, "I3", noLinger},
		{failpoint.Swap, "I3", noLinger},
		{failpoint.ArticleID, "input", noLinger},
		{failpoint.Title, "I3", noLinger},
		{failpoint.EventTime, "input", noLinger},
		{failpoint.Key, "input", noLinger},
		{failpoint.Partition, "input", noLinger},
		{failpoint.LetterClass, "input", noLinger},
		{failpoint.LetterBytes, "input", noLinger},
		{failpoint.Fingerprint, "input", minhash},
		{failpoint.Distance, "I3", minhash},
		{failpoint.Sketch, "I4", minhash},
		{failpoint.LabelLost, "I9", labels},
		{failpoint.LabelLate, "I9", labels},
		{failpoint.LabelAgain, "I9", labels},
		{failpoint.MarkLost, "I9", labels},
		{failpoint.MarkUnused, "I9", labels},
		{failpoint.ContactKept, "I9", labels},
		{failpoint.ExceptionLost, "I9", labels},
		{failpoint.Publisher, "I10", labels},
		{failpoint.CorrectionLost, "I11", labels},
		{failpoint.CorrectionTwice, "I11", labels},
		{failpoint.StoryOwn, "I13", stories},
		{failpoint.StoryUntold, "I13", stories},
		{failpoint.StoryState, "I13", stories},
		{failpoint.StoryDisk, "I13", stories},
		{failpoint.StoryLeft, "I13", labels},
	} {
		t.Run(test.bug, func(t *testing.T) {
			t.Parallel()
			t.Logf("to repeat its choices: -seed %d", *seed)
			var r report
			var said string
			// A label that is a batch late shows only where its cluster has an article in that batch, and a
			// story that left another only where somebody has taken one out.
			for try := uint64(0); try < 20 && r.violations(test.violates) == 0; try++ {
				w := newWorld(t, 2, test.settings)
				w.seed(test.bug, test.settings == labels, try)
				r, said = w.tryAudit()
			}
			if r.violations(test.violates) == 0 {
				t.Errorf("the audit finds no violation of %s:\n%s", test.violates, said)
			}
		})
	}
}

// seed lets instances with a seeded fault work on a stream, and one without it end the work.
// Each try makes other choices.
func (w *world) seed(fault string, labels bool, try uint64) {
	w.Helper()
	stream := w.stream(perSecond)
	w.produce(&kgo.Record{Key: []byte("bad"), Value: []byte("no article")})
	if labels {
		// Otherwise what a fault did to a story adds up until clusterd refuses the story.
		w.mergesOnce = true
		// Otherwise one record in seventy does.
		w.erasesContacts = fault == failpoint.ContactKept
		defer w.moderate(rand.New(rand.NewPCG(*seed, try)), 4*labelsPerSecond).stop()
	}
	for range 2 { // some faults show only after a restart
		running := w.start("seeded=" + fault)
		running.waitLive()
		w.progress(w.consumed() + 300)
		if labels {
			w.eventually("a correction", func() bool {
				return len(w.read(w.corrections, kgo.ReadCommitted())) > 0
			})
		}
		running.stop()
		if fault == failpoint.StoryLeft { // the next one reads the fault back, and keeps it
			if err := os.RemoveAll(running.dir); err != nil {
				w.Fatal(err)
			}
		}
		w.ahead()
	}
	running := w.start()
	running.waitLive()
	stream.stop()
	w.done()
	running.stop()
}
