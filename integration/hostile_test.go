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

// After labels and stories were off for a while, the audit checks labels all the same, of contacts
// too, says that stories cannot be checked since then, and finds nothing.
func TestAuditAfterLabelsWereOff(t *testing.T) {
	t.Parallel()
	const on = "labels: {topic: LABELS, corrections: CORRECTIONS}\nstories: {topic: STORIES}\n"
	const settings = noLinger + "fingerprint: {method: minhash}\nserve: {bytes: 64MiB}\n" +
		"contacts: {join: true}\n"
	const shop = " See https://garden-tools-eastholm.com for more."
	const meanwhile = "Nine swans were counted on the lake this morning by children of a class." + shop
	const after = "A choir of four hundred voices sang in the old market hall until midnight." + shop
	w := newWorld(t, 1, settings+on)
	turn := func(labels string, texts ...string) {
		w.configure(settings + labels)
		i := w.start()
		i.waitLive()
		for _, text := range texts {
			w.wave(text, 2)
		}
		i.stop()
	}
	turn(on, plainText+shop)
	w.hide("spam")
	turn(on, plainText+shop)
	w.audit()
	turn("", plainText+shop, meanwhile)
	carry := func() (n int) {
		for _, r := range w.read(w.output, kgo.ReadCommitted()) {
			if strings.Contains(string(r.Value), `"labels":["spam"]`) {
				n++
			}
		}
		return n
	}
	before := carry()
	w.configure(settings + on)
	w.wantStoriesUnchecked()
	turn(on, plainText+shop, meanwhile, after)
	if n := carry() - before; before != 2 || n != 4 {
		t.Errorf("%d results carry the label before, and %d after; want 2 and 4", before, n)
	}
	w.wantStoriesUnchecked()
}

// wantStoriesUnchecked wants the audit to find nothing, and stories alone not to be checked,
// because they were off.
func (w *world) wantStoriesUnchecked() {
	w.Helper()
	found, said := w.tryAudit()
	for _, c := range found.Checks {
		if c.Violations > 0 || (c.Verdict == "not checked") != (c.ID == "I13") {
			w.Errorf("%s: %s\n%s", c.ID, c.Verdict, said)
		}
	}
	if !strings.Contains(said, "cannot be checked since stories.topic was empty for a while") {
		w.Errorf("the audit says:\n%s", said)
	}
}
