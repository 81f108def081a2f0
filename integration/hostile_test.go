//go:build integration

package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

// hide labels the cluster of the first article of the input.
func (w *world) hide(label string) {
	w.Helper()
	w.produce(&kgo.Record{
		Topic: w.labels, Value: fmt.Appendf(nil, `{"cluster_id":"%s/0/0","label":%q}`, w.input, label),
	})
}

// wave sends articles with one text, and waits for their results.
func (w *world) wave(text string, n int) {
	w.Helper()
	for i := range n {
		w.produce(&kgo.Record{Topic: w.input, Value: fmt.Appendf(nil,
			`{"id":"%s %d","content":%q,"published_at":"2026-05-01T12:00:00Z"}`, text, i, text)})
	}
	w.done()
}

const plainText = "The library lends garden tools from next month on, to everybody with a card."

// In a real browser no label turns text around: it is shown by its codes, and is not proposed.
func TestPageTurnsNoLabelAround(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, paged)
	i := w.start()
	i.waitLive()
	w.wave(plainText, 1)
	const hostile = "safe\u202etxt.exe"
	w.hide("garden")
	w.hide(hostile)
	w.wave(plainText, 2)
	b := i.browse()
	b.look(1280, "light")
	b.open("/?sort=size")
	b.until("the labels are there", `document.body.innerText.includes("garden")`)
	if got := value[[]string](b, `[...document.querySelectorAll("#known option")].map(o => o.value)`); !slices.Equal(
		got, []string{"garden"}) {
		t.Errorf("%q are proposed", got)
	}
	for _, path := range []string{"/?sort=size", "/clusters/" + w.input + "/0/0"} {
		b.open(path)
		shown := value[string](b, `document.body.innerText + [...document.querySelectorAll("*")].flatMap(
			e => ["title", "aria-label", "placeholder", "label"].map(n => e.getAttribute(n) || "")).join("\n")`)
		if strings.Contains(shown, "\u202e") || !strings.Contains(shown, `safe\u202etxt.exe`) {
			t.Errorf("%s shows %q", path, shown)
		}
	}
	i.stop()
	w.audit()
}

// After labels were off for a while, the audit says that they cannot be checked, and finds nothing.
func TestAuditAfterLabelsWereOff(t *testing.T) {
	t.Parallel()
	const on = `labels: {topic: LABELS, corrections: CORRECTIONS}` + "\n"
	const settings = noLinger + "fingerprint: {method: minhash}\nserve: {bytes: 64MiB}\n"
	w := newWorld(t, 1, settings+on)
	turn := func(labels string) {
		w.configure(settings + labels)
		i := w.start()
		i.waitLive()
		w.wave(plainText, 2)
		i.stop()
	}
	turn(on)
	w.hide("spam")
	turn(on)
	w.audit()
	turn("")
	w.configure(settings + on)
	found, said := w.tryAudit()
	if n := found.violations("I9"); n != 0 ||
		!strings.Contains(said, "labels.topic was empty for a while") {
		t.Errorf("%d violations of I9:\n%s", n, said)
	}
	turn(on)
	found, said = w.tryAudit()
	for _, c := range found.Checks {
		if c.Violations > 0 || (c.Verdict == "not checked") != (c.ID == "I9" || c.ID == "I11") {
			t.Errorf("%s: %s\n%s", c.ID, c.Verdict, said)
		}
	}
}
