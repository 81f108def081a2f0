//go:build !race

package document

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// limit is of the text of hostile archives. What they list and unpack to, and the memory that they
// may take, go with it, so that they show as much as with a limit of many megabytes.
const limit = 1 << 18

// hostileArchives returns small files that are made to take much memory: what they list, name or
// unpack to is large.
func hostileArchives(t testing.TB) map[string]string {
	t.Helper()
	const many = limit / 4
	number := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(format, "#", strconv.Itoa(i)))
		}
		return b.String()
	}
	with := func(all parts, name, from, to string) string {
		out := slices.Clone(all)
		for i := 0; i < len(out); i += 2 {
			if out[i] == name {
				if !strings.Contains(out[i+1], from) {
					t.Fatalf("%q is not in %s", from, name)
				}
				out[i+1] = strings.Replace(out[i+1], from, to+from, 1)
			}
		}
		return pack(t, out)
	}
	slides, book := pptx("<a:p><a:t>x</a:t></a:p>"), epub("<p>x</p>")
	const rels, main, opf = "ppt/_rels/presentation.xml.rels", "ppt/presentation.xml", "OEBPS/book.opf"
	var names parts
	for i := range 100_000 {
		names = append(names, strconv.Itoa(i), "")
	}
	distinct := number(" a#=x", limit/11)
	return map[string]string{
		"relationships.pptx": with(slides, rels, "</Relationships>",
			number(`<Relationship Id="r#" Target="x#"/>`, many)),
		"relationships to one.pptx": with(slides, rels, "</Relationships>",
			number(`<Relationship Id="r#" Target="slides/slide1.xml"/>`, many)),
		"long relationships.pptx": with(slides, rels, "</Relationships>",
			number(`<Relationship Id="#`+strings.Repeat("x", 10_000)+`" Target="x"/>`, many/100)),
		"slides.pptx": with(slides, main, "</p:sldIdLst>",
			number(`<p:sldId r:id="r#"/>`, many)),
		"one slide.pptx": with(slides, main, "</p:sldIdLst>",
			strings.Repeat(`<p:sldId r:id="rId1"/>`, many)),
		"long slides.pptx": with(slides, main, "</p:sldIdLst>",
			number(`<p:sldId r:id="#`+strings.Repeat("x", 10_000)+`"/>`, many/100)),
		"relationships.docx": with(docx("<w:p/>"), "_rels/.rels", "</Relationships>",
			number(`<Relationship Id="r#" Target="x#"/>`, many)),
		"manifest.epub": with(book, opf, "</manifest>",
			number(`<item id="r#" href="x#"/>`, many)),
		"manifest of one.epub": with(book, opf, "</manifest>",
			number(`<item id="r#" href="text/chapter%201.xhtml"/>`, many)),
		"spine.epub": with(book, opf, "</spine>", number(`<itemref idref="r#"/>`, many)),
		"one chapter.epub": with(book, opf, "</spine>",
			strings.Repeat(`<itemref idref="c1"/>`, many)),
		"rootfiles.epub": with(book, "META-INF/container.xml", "</rootfiles>",
			number(`<rootfile full-path="x#"/>`, many)),
		"chapter.epub":    pack(t, epub(strings.Repeat("<p></p>", 2*limit))),
		"spaces.epub":     pack(t, epub(strings.Repeat(" ", 24*limit))),
		"attributes.epub": pack(t, epub("<p"+distinct+">")),
		"attributes.docx": pack(t, docx("<w:p"+distinct+"/>")),
		"entities.docx": pack(t, docx(`<!DOCTYPE x [<!ENTITY a "`+strings.Repeat("x", 1000)+
			`"><!ENTITY b "`+strings.Repeat("&a;", 1000)+`">]><w:p><w:t>`+strings.Repeat("&b;", 1000)+
			`</w:t></w:p>`)),
		"elements.docx":     pack(t, docx(strings.Repeat("<w:p><w:r></w:r>", limit/2))),
		"open elements.odt": pack(t, odt(strings.Repeat("<text:p>", limit))),
		"comment.odt":       pack(t, odt("<!--"+strings.Repeat("x", 24*limit)+"-->")),
		"text.odt":          pack(t, odt("<text:p>"+strings.Repeat("x", 24*limit)+"</text:p>")),
		"names.docx":        pack(t, append(docx("<w:p><w:t>x</w:t></w:p>"), names...)),
		"long names.docx": pack(t,
			append(docx("<w:p><w:t>x</w:t></w:p>"), strings.Repeat("x", 60_000), "",
				strings.Repeat("y", 60_000), "")),
	}
}

// peakHeap returns how much the heap grows while f runs, as far as looking at it from time to time
// shows. The collector is made to run often, so that it is what is held that counts.
func peakHeap(f func()) (bytes uint64) {
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	runtime.GC()
	// What the collector found to be in use. Unlike [runtime.ReadMemStats] it does not stop f each
	// time, and does not count what a collector that gets little of the machine has not yet freed.
	heap := func() uint64 {
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	before := heap()
	grown := func() uint64 {
		now := heap()
		return now - min(before, now)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return max(bytes, grown())
		case <-tick.C:
			bytes = max(bytes, grown())
		}
	}
}

// However much a small file lists or unpacks to, reading it takes a bounded part of memory.
func TestHostileArchives(t *testing.T) {
	memory := map[string]uint64{ // where it is more than some times the limit
		"attributes.epub": 32 * limit, "attributes.docx": 32 * limit, // the tokenizer has a set of them
		"names.docx": 32 << 20, // the list of what is in the archive may be 4 MB, or is refused
	}
	for name, file := range hostileArchives(t) {
		t.Run(name, func(t *testing.T) {
			var err error
			peak, allowed := uint64(math.MaxUint64), max(16*limit, memory[name])
			// A collector that gets little of the machine takes what is allocated while it marks for live.
			for tries := 0; tries < 30 && peak > allowed; tries++ {
				peak = min(peak, peakHeap(func() { _, err = read(name, file, limit) }))
			}
			t.Logf("%d bytes: %d MB, error %v", len(file), peak>>20, err)
			if peak > allowed {
				t.Errorf("reading %d bytes takes %d MB, %d are allowed", len(file), peak>>20, allowed>>20)
			}
		})
	}
}
