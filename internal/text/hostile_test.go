package text

import (
	"fmt"
	"strings"
)

// hostilePages are pages of about size bytes, each of which is made to be dear in its own way: to
// HTML's rules for what is not closed in order, to the library, or to what is looked for in both.
func hostilePages(size int) map[string]string {
	page := func(head, open, each, end string) string {
		head = "<!doctype html><html><head>" + head + "</head><body>" + open
		return head + strings.Repeat(each, max(1, (size-len(head)-len(end))/len(each))) + end
	}
	// numbered repeats what differs each time.
	numbered := func(open, format, end string) string {
		var b strings.Builder
		b.WriteString("<!doctype html><html><body>" + open)
		for i := 0; b.Len() < size-len(end); i++ {
			b.WriteString(strings.ReplaceAll(format, "#", fmt.Sprintf("%x", i)))
		}
		return b.String() + end
	}
	nest := func(tag string, n int) string { return strings.Repeat("<"+tag+">", n) }
	words := strings.Repeat("word another, ", 8)
	title := func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, "w%x ", i)
		}
		return b.String()
	}
	half := size / 2
	return map[string]string{
		// Those of the reports.
		"a long title and many headings": page("<title>"+title(half)+"</title>", "",
			"<h1>a</h1>", ""),
		"a noscript of open elements": page("", "<noscript>", "<b a><p>", "</noscript>"),
		"closed formatting that was never opened": page("", nest("b", 1)+nest("b x", 1), "<b y></i><p>",
			""),
		"attributes of one element": numbered("<p", " a#", ">"+words),
		"attributes of a figure and what is in it": numbered("<figure", " a#=/x.jpg", ">"+
			strings.Repeat("<p>x", size/8)),

		// What is not closed in order.
		"open formatting before paragraphs": page("", nest("b", 3)+nest("i", 3)+nest("u", 3)+nest("s", 3),
			"<p>x", ""),
		"formatting of many kinds": numbered("", "<b c=#><p>", ""),
		"formatting around blocks": page("", "", "<b><div></b>", words),
		"formatting closed in it":  page("", "<a><b><i><u>", "<p></i>x</b><b><i>", ""),
		"links in links": page("", "", "<a href=x><div>word, another word, and more",
			""),
		"text in tables":     page("", "", "<table>x<tr>y<td>z", ""),
		"elements in tables": page("", "<table>", "<b>x<tr><div>", ""),
		"tables in tables": page("", strings.Repeat("<table><tr><td>", 30),
			"<table><tr><td>x</table>", ""),
		"rows without end": page("", strings.Repeat("<table><tr><td>", 30),
			"<tr><td>word another, ", ""),
		"templates in templates": page("", nest("template", 100), "<template>x</template>",
			""),
		"end tags of nothing":         page("", nest("div", 100), "</p>", ""),
		"end tags of what is far out": page("", "<b>"+nest("x", 100), "</b></y>", ""),
		"options":                     page("", "<select>", "<optgroup><option>x", ""),
		"forms":                       page("", "", "<form><div></form>x", ""),
		"drawings without end":        page("", "", "<svg><p>x<svg><title>", ""),
		"formulas": page("", "<math>",
			"<mi>x<annotation encoding=application/x-tex>y</annotation>", ""),

		// What is deep.
		"deep elements":                  page("", nest("div", 100), "<p>"+words, ""),
		"deeper elements":                page("", "", "<div>x", ""),
		"deep text":                      page("", nest("div", 100), "word, ", ""),
		"text in spans in blocks":        page("", strings.Repeat("<div><span>", 50), "<p>x", ""),
		"text in spans in blocks again":  page("", strings.Repeat("<div>x<ins>", 50), "<i>x</i>", ""),
		"inline text in spans in blocks": page("", strings.Repeat("<div><span>", 50), "<i>x</i>", ""),
		"sections in sections":           page("", nest("section", 100), "<p>"+words, ""),
		"lists in lists": page("", strings.Repeat("<ul><li>", 50), "<li>x<a href=y>z</a>",
			""),
		"bylines in bylines": page("", strings.Repeat(`<div class=byline>`, 100),
			"<i>word </i>", ""),
		"share in share": page("", strings.Repeat(`<div class=share>`, 100),
			"<i>word </i>", words),
		"objects in objects": page("", strings.Repeat("<div><object><p>", 40),
			"<param value=//youtube.com>"+words, ""),
		"figures in figures": page("", strings.Repeat("<figure data-src=/x.jpg>", 100),
			"<p>x", ""),
		"video in objects in blocks": page("", strings.Repeat("<div>", 60), "<object><p>"+words+
			"<param value=//youtube.com></object>", words),

		// What there is many of.
		"elements":         page("", "", "<p>", ""),
		"paragraphs":       page("", "", "<p>"+words, ""),
		"short paragraphs": page("", "", "<p>a word another word, a word", ""),
		"paragraphs in a form": page("", "<form><input><input>",
			"<p><input>a word another word, a word", "</form>"),
		"cells":                  page("", "<table><tr>", "<td>x", ""),
		"rows":                   page("", "<table>", "<tr><td>a word another word, a word", ""),
		"blocks":                 page("", "", "<div>word<br>another, word another</div>", ""),
		"line breaks":            page("", "", "<br>", words),
		"line breaks and words":  page("", "", "x<br><br>", ""),
		"images":                 page("", "", "<img src=x>", ""),
		"images without scripts": page("", "", "<img src=x><noscript><img src=y></noscript>", ""),
		"links":                  page("", "", "<a href=x>word, </a>", words),
		"blocks of links": page("", "", "<div><p>word another, word another <a href=x>y</a></div>",
			""),
		"headings": page("<title>"+title(500)+"</title>", "", "<h2>word</h2>", ""),
		"long headings": page("<title>"+title(500)+"</title>", "", "<h2>"+words+words+words+
			"</h2>", ""),
		"one long heading": page("", "<h1>"+title(half)+"</h1>", "<h2>word</h2>", ""),
		"headings in headings": page("<title>"+title(500)+"</title>", strings.Repeat("<h2><div>", 50),
			"word ", ""),
		"metadata": page(strings.Repeat(`<meta property="og:title" content=x>`, size/40),
			"", words, ""),
		"hidden elements": page("", words, `<p style="display:none">x</p>`, ""),
		"classes": page("", words, `<p class="`+strings.Repeat("commen ad-", 50)+`">`+
			words, ""),
		"styles": page("", words, `<p style="`+strings.Repeat("display : block;", 50)+
			`">`+words, ""),
		"one class":              page("", `<p class="`, "commen ad-", `">`+words),
		"scripts between words":  page("", "<p>", "x<script>y</script>", ""),
		"comments between words": page("", "<p>", "x<!-->", ""),
		"scripts with metadata": page("", "",
			`<script type="application/ld+json">{"@context":"https://schema.org","@type":"Article"}</script>`, words),
		"references":             page("", "<p>", "&ampx&notin;&#0;&", ""),
		"one reference":          page("", "<p>&", "amp", ""),
		"a text":                 page("", "<p>", words, ""),
		"a text of one word":     page("", "<p>", "x", ""),
		"a preformatted text":    page("", "<pre>", "x \n", ""),
		"white space":            page("", words+"<br>", " ", "<br>"+words),
		"bytes that are no text": page("", words, "\xff\x00", words),
		"one name":               page("", "<", "x", ">"+words),
	}
}
