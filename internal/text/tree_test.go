package text

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/clusterd/clusterd/internal/testutil/check"
)

// outline writes a tree down: names, texts, and what is in them.
func outline(n *html.Node) string {
	var b strings.Builder
	appendOutline(&b, n)
	return b.String()
}

func appendOutline(b *strings.Builder, n *html.Node) {
	if n.Type == html.TextNode {
		b.WriteString(n.Data)
		return
	}
	named := n.Type == html.ElementNode && n.DataAtom != atom.Html && n.DataAtom != atom.Head &&
		n.DataAtom != atom.Body
	if named {
		b.WriteString("(" + n.Data + attributesOf(n) + " ")
	}
	for c := range n.ChildNodes() {
		appendOutline(b, c)
	}
	if named {
		b.WriteString(")")
	}
}

func attributesOf(n *html.Node) string {
	all := ""
	for _, a := range n.Attr {
		all += " " + a.Key + "=" + a.Val
	}
	return all
}

func TestParseTree(t *testing.T) {
	for _, c := range []struct{ page, want string }{
		// Elements that end without a tag.
		{"<p>a<p>b<div>c</div>d", "(p a)(p b)(div c)d"},
		{"<ul><li>a<ul><li>b</ul><li>c</ul>", "(ul (li a(ul (li b)))(li c))"},
		{"<dl><dt>a<dd>b<dt>c</dl>d", "(dl (dt a)(dd b)(dt c))d"},
		{"<h1>a<h2>b</h1>c", "(h1 a)(h2 b)c"},
		{
			"<select><option>a<option>b<optgroup><option>c</select>d",
			"(select (option a)(option b)(optgroup (option c)))d",
		},
		{"<ruby>a<rp>(<rt>b<rp>)</ruby>", "(ruby a(rp ()(rt b)(rp )))"},
		{"<p>a</div>b</p>c</p>", "(p ab)c(p )"},
		{"<button>a<button>b</button>c", "(button a)(button b)c"},

		// What is not closed in order.
		{"<b>a<i>b</b>c</i>d", "(b a(i b))cd"},
		{"<b>a<div>b</b>c</div>d", "(b a(div bc))d"},
		{"<a>a<div>b</a>c</div>d", "(a a(div bc))d"},
		{"<a>a<a>b</a>c", "(a a)(a b)c"},
		{"<b><b>a<p>b</b></b>c</p>d", "(b (b a(p bc)))d"},
		{"a</i>b</x></body>c", "abc"},
		{"<div><x>a</div>b</x>c", "(div (x a))bc"},
		{"<form>a<form>b</form>c</form>d", "(form ab)cd"},
		{"<div><form>a</div>b</form>c", "(div (form a))bc"},
		{"<form><div>a</form>b</div>c", "(form (div ab))c"},

		// Tables.
		{"<table><td>a<td>b<tr><th>c</table>d", "(table (tbody (tr (td a)(td b))(tr (th c))))d"},
		{"<table>a<tr>b<td>c<div>d<td>e</table>", "ab(table (tbody (tr (td c(div d))(td e))))"},
		{"<table><div>a</div><tr><td>b</table>", "(div a)(table (tbody (tr (td b))))"},
		{
			"<table><tr><td><table><tr><td>a</table>b<td>c</table>",
			"(table (tbody (tr (td (table (tbody (tr (td a))))b)(td c))))",
		},
		{"<table><table>a</table>b", "(table )a(table )b"},
		{
			"<table><caption>a<col><thead><tr><td>b<tbody><tr><td>c</table>",
			"(table (caption a)(colgroup (col ))(thead (tr (td b)))(tbody (tr (td c))))",
		},
		{"a<td>b<tr>c", "abc"},
		{"<p>a<table><td>b</table>c", "(p a(table (tbody (tr (td b))))c)"},
		{"<!doctype html><p>a<table><td>b</table>c", "(p a)(table (tbody (tr (td b))))c"},

		// What is left out, and what stays of it.
		{"a<script>b</script><style>c</style><!-- d --><noembed>e</noembed>f", "af"},
		{
			"a<svg><title>b</title><svg>c</svg>d</svg>e<svg/>f<svg>g<div>h</div>",
			"a(svg )e(svg )f(svg )(div h)",
		},
		{"a<iframe src=//youtube.com/x>b</iframe>c", "a(iframe data=//youtube.com )c"},
		{"<title>a</title><link href=x>b<title>c</title>d", "(title a)(title c)bd"},
		{"<head><template><div>a</template></head>b<template>c</template>", "b(template c)"},
		{"<noscript>a</noscript>b<noscript><p>c</noscript>", "b"},
		{"<math><mi>a<mspace/>b</mi><title>c</title></math>", "(title c)(math (mi a(mspace )b))"},

		// Attributes.
		{`<p id=a class=" b  c" onclick=d title=e hidden=f>`, "(p id=a class= b  c hidden= )"},
		{
			`<p style="color:red"><p style="x; DISPLAY : NONE"><p style=visibility:hidden>`,
			"(p )(p style=display:none )(p style=display:none )",
		},
		{
			"<meta charset=x><meta name=description content=x><meta property=og:title content=a><p>",
			"(meta property=og:title content=a )(p )",
		},
		{
			"<img><img src=x width=1><img alt=x.jpg><image srcset=x>",
			"(img src=x )(img src=x )(img src=x )",
		},
		{
			"<figure a=1 b=/x.jpg c=/y.jpg></figure><a href=y rel=author>",
			"(figure data-src=/x.jpg )(a href=y rel=author )",
		},
		{"<html lang=zh class=a><body id=b><body id=c class=d>", ""},

		// Images for browsers without scripts.
		{"<p><noscript><img src=x></noscript>", "(p (img src=x ))"},
		{"<p><img src=x> <noscript><img src=y></noscript>", "(p (img src=x ) )"},
		{"<p><span><img src=x></span><noscript><img src=y></noscript>", "(p (span (img src=x )))"},
		{"<p><noscript><img src=x width=1 height=1></noscript><noscript><img src=x>a</noscript>", "(p )"},
	} {
		root, err := parseTree("<html>" + c.page)
		if err == nil && strings.HasPrefix(c.page, "<!") {
			root, err = parseTree(c.page)
		}
		if err != nil {
			t.Errorf("%s: %v", c.page, err)
		} else if got := outline(root); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.page, got, c.want)
		}
	}
}

// Of a page whose elements are closed in order, the tree is the one that HTML's own rules give.
func TestTreeOfWellFormedPages(t *testing.T) {
	check.OneGoroutine(t)
	random := rand.New(rand.NewPCG(1, 2))
	blocks := []string{
		"div", "section", "article", "blockquote", "header", "form", "fieldset", "ul", "table", "p", "h2",
		"dl", "select",
	}
	inlines := []string{"b", "i", "span", "a", "em", "code", "font", "label", "x-y", "ins"}
	var content func(inline, form, link bool, depth int) string
	content = func(inline, form, link bool, depth int) string {
		var b strings.Builder
		for range random.IntN(4) {
			name := inlines[random.IntN(len(inlines))]
			if !inline && random.IntN(3) > 0 {
				name = blocks[random.IntN(len(blocks))]
			}
			switch {
			case depth == 0, name == "form" && form, name == "a" && link:
				b.WriteString("word <br>&amp; ")
				continue
			}
			in := func(inline bool) string {
				return content(inline, form || name == "form", link || name == "a", depth-1)
			}
			b.WriteString("<" + name + ` class="x y">`)
			switch name {
			case "ul":
				b.WriteString("<li>" + in(false) + "</li> <li>" + in(false) + "</li>")
			case "dl":
				b.WriteString("<dt>" + in(true) + "</dt><dd>" + in(false) + "</dd>")
			case "table":
				b.WriteString("<caption>x</caption><thead><tr><th>x</th></tr></thead><tbody><tr><td>" +
					in(false) + "</td> <td>" + in(false) + "</td></tr> </tbody>")
			case "select":
				b.WriteString("<option>x</option><option>y</option>")
			case "p", "h2":
				b.WriteString(in(true))
			default:
				b.WriteString(in(inline || slices.Contains(inlines, name)))
			}
			b.WriteString("</" + name + "> text ")
		}
		return b.String()
	}
	for range 2000 {
		page := "<!doctype html><html><head><title>x</title></head><body>" +
			content(false, false, false, 6) + "</body></html>"
		want, err := html.Parse(strings.NewReader(page))
		if err != nil {
			t.Fatal(err)
		}
		got, err := parseTree(page)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := outline(got), outline(want); got != want {
			t.Fatalf("%s\n got %s\nwant %s", page, got, want)
		}
	}
}

// letters returns the letters and numbers that are in a tree and not in elements that are left
// out, in the order of their code points: text in a table comes before it, and where depends on
// what was open.
func letters(n *html.Node) string {
	var all []rune
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.TextNode {
			for _, r := range n.Data {
				if isLetterOrNumber(r) {
					all = append(all, r)
				}
			}
		}
		if n.Type == html.ElementNode && isLeftOut(n.DataAtom) {
			return
		}
		for c := range n.ChildNodes() {
			walk(c)
		}
	}
	walk(n)
	slices.Sort(all)
	return string(all)
}

// Whatever a page holds, its tree is bounded, is valid UTF-8 where the page is, and has the same
// text as HTML's own rules give. Of elements with rules for what is in them, which are simpler
// here, no more is compared than that.
func FuzzParseTree(f *testing.F) {
	check.OneGoroutine(f)
	f.Add(aPage)
	f.Add("<p><b><i>x</p></b><table>y<tr><td><a>z<a></table><form><div></form>")
	f.Add("<ul><li>a<dl><dt>b<dd></ul><h1><h2></h1><button><p></button><nobr><nobr></x>")
	f.Add("<svg><p><math><mi/><title>x</svg><select><optgroup><option><template><noscript><img src=x>")
	for _, page := range hostilePages(300) {
		f.Add(page)
	}
	special := []string{
		"<svg", "<math", "<template", "<frame", "<plaintext", "<title", "<select", "<head", "<caption",
		"<col",
	}
	f.Fuzz(func(t *testing.T, page string) {
		root, err := parseTree(page)
		if err != nil {
			return
		}
		checkBounds(t, root)
		for n := range root.Descendants() {
			if utf8.ValidString(page) && !utf8.ValidString(n.Data+attributesOf(n)) {
				t.Fatalf("%q in the tree of %q is no UTF-8", n.Data, page)
			}
		}
		lower := strings.Map(unicode.ToLower, page)
		if slices.ContainsFunc(special, func(s string) bool { return strings.Contains(lower, s) }) {
			return
		}
		want, err := html.Parse(strings.NewReader(page))
		if err != nil {
			return
		}
		if got, want := letters(root), letters(want); got != want {
			t.Errorf("%q: got the letters %q, want %q", page, got, want)
		}
	})
}
