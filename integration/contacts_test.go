//go:build integration

package integration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// shares are made-up texts that have nothing in common but whom to call.
func shares() []string {
	return []string{
		"Luxury bags at half the price, ask Alexis under +44 7700 900123",
		"Do you want to be rich this year? Call my assistant: +44 7700 900123",
		"The doctors hate this trick against pain in the knees, +44 7700 900123",
		"A job from home, four hours a day, good money. +44 7700 900123 for more",
	}
}

// In a real browser a moderator labels all texts that share a contact with one click. Another
// click says that the contact is harmless, and another that a single article is fine. One more
// click undoes each of them. The keys do the same.
func TestPageContacts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, labelled+"fingerprint: {method: minhash}\ncluster: {scope: partition}\n")
	i := w.start()
	i.waitLive()
	for n, text := range shares() {
		i.carriedBy(fmt.Sprint("c", n), text)
	}
	b := i.browse()
	b.axe = w.axe()
	b.look(1280, "light")
	b.labelsAll(i)
	b.callsHarmless(i)
	b.exceptsOne(i)
	i.stop()
	w.audit()
}

// untilCarries waits until a check of a text says that it would carry these labels.
func (i *instance) untilCarries(what, text, want string) {
	i.Helper()
	i.eventually(what, func() bool {
		var answer struct{ Labels []string }
		i.ask("/v1/check", map[string]any{"text": text, "partition": 0}, &answer)
		return strings.Join(answer.Labels, ",") == want
	})
}

const (
	laterText    = "Cheap pills without a prescription, sent to your door: +44 7700 900123"
	contactRow   = `document.querySelector('.row[data-thing*="number:"]')`
	contactClick = `.row[data-thing*="number:"] button.`
)

// labelsAll labels all texts that share a contact.
func (b *browser) labelsAll(i *instance) {
	b.Helper()
	i.eventually("the contact in the list", func() bool { // which is as of ten seconds ago
		b.open("/contacts")
		return value[bool](b, contactRow+" !== null")
	})
	row := value[string](b, contactRow+".innerText")
	if !strings.Contains(row, "number:+447700900123") || !strings.Contains(row, ": 4") {
		b.Errorf("the contact is said to be %q", row)
	}
	b.looks("/contacts", "contacts")
	b.look(1280, "light")
	b.open("/contacts")
	all := func(want string) {
		b.Helper()
		for _, text := range append(shares(), laterText) {
			i.untilCarries("all texts to have it", text, want)
		}
	}
	const labelled = `document.querySelectorAll(".row .chips .chip.spam").length === %d`
	b.do(chromedp.Click(chromedp.CSS(contactClick + "spam")))
	all("spam")
	b.until("the page says so", fmt.Sprintf(labelled, 1))
	b.do(chromedp.Click(chromedp.CSS("#undo")))
	all("")
	b.until("it is undone", fmt.Sprintf(labelled, 0))
	b.do(chromedp.KeyEvent("j"), chromedp.KeyEvent("s"))
	all("spam")
	b.fits("/contacts")
	b.open("/contacts?show=marked")
	b.says(contactRow, "marked by local, 20")
	b.looks("/contacts?show=marked", "")
}

// says fails where an element of the page does not say something.
func (b *browser) says(element, want string) {
	b.Helper()
	if got := value[string](b, element+".innerText"); !strings.Contains(got, want) {
		b.Errorf("it does not say %q: %s", want, got)
	}
}

// callsHarmless takes the label off the contact where a cluster has a label by it.
func (b *browser) callsHarmless(i *instance) {
	b.Helper()
	if got := i.carriedBy("later", laterText); got != "spam" {
		b.Fatalf("the later text carries %q", got)
	}
	cluster := "/clusters/" + i.byText()["later"].ClusterID
	b.looks(cluster, "")
	b.look(1280, "light")
	b.open(cluster)
	b.says(`document.getElementById("labels")`, "contact number:+447700900123 by local, 20")
	b.goes(chromedp.Click(chromedp.CSS(contactClick + "ham")))
	for _, text := range append(shares(), laterText) {
		i.untilCarries("all to be free", text, "")
	}
	b.fits("what was done")
	b.accessible("what was done")
	const other = "Lose weight while you sleep, a nurse tells how. Ring +44 7700 900123 tonight"
	b.goes(chromedp.Click(chromedp.CSS("form .act")))
	i.untilCarries("the mark to count again", other, "spam")
	b.open("/contacts?show=marked")
	b.do(chromedp.KeyEvent("j"), chromedp.KeyEvent("h"))
	i.untilCarries("a key to say that it is harmless", other, "")
	b.until("the page knows what to undo", `!document.getElementById("undo").hidden`)
	b.do(chromedp.KeyEvent("u"))
	i.untilCarries("a key to undo that", other, "spam")
	b.fits("the marked contacts")
}

// exceptsOne takes the label of a cluster off a single article.
func (b *browser) exceptsOne(i *instance) {
	b.Helper()
	const advert = "cheap watches, the best watches of the whole world, write to the seller today "
	const honest = advert + "is what they wrote"
	i.carriedBy("a1", advert)
	i.carriedBy("h1", honest)
	founder := i.byText()["a1"].ClusterID
	i.labels(`{"cluster_id":"` + founder + `","label":"spam"}`)
	cluster := "/clusters/" + founder
	i.eventually("both members", func() bool {
		b.open(cluster)
		return value[int](b, `document.querySelectorAll("tbody tr").length`) == 2
	})
	b.looks(cluster, "")
	b.look(1280, "light")
	b.open(cluster)
	only := func(when, want string) {
		b.Helper()
		i.untilCarries(when, honest, want)
		i.untilCarries(when, advert, "spam")
	}
	const ham = `tr[data-thing*='"h1"'] button.ham`
	b.goes(chromedp.Click(chromedp.CSS(ham)))
	only("this one alone to be fine", "ham")
	b.goes(chromedp.Click(chromedp.CSS("form .act")))
	only("that to be undone", "spam")
	b.open(cluster)
	for _, key := range []string{"j", "j", "j", "h"} {
		b.do(chromedp.KeyEvent(key))
	}
	only("a key to do it", "ham")
	b.open(cluster)
	b.says(`document.querySelector("tbody")`, "by local, 20")
	b.goes(chromedp.Click(chromedp.CSS(ham)))
	only("the button to take it off", "spam")
	b.fits(cluster)
}
