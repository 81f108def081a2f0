package text

import (
	"slices"
	"strings"
	"testing"
)

const xmlDeclaration = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"

func TestIsXML(t *testing.T) {
	for s, want := range map[string]bool{
		xmlDeclaration + "<rss><channel>":                                           true,
		"\ufeff " + xmlDeclaration + "<!-- x --><nitf>":                             true,
		xmlDeclaration + `<!DOCTYPE nitf SYSTEM "n.dtd" [ <!ENTITY a "b"> ]><nitf>`: true,
		`<feed xmlns="http://www.w3.org/2005/Atom">`:                                true,
		`<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">`:         true,
		xmlDeclaration + `<html xmlns="http://www.w3.org/1999/xhtml">`:              false,
		xmlDeclaration + "<p>x</p>":                                                 false,
		`<div xmlns="http://www.w3.org/1999/xhtml">x`:                               false,
		"<unknown>x</unknown>":                                                      false,
		"<List xmlns>":                                                              false,
		xmlDeclaration:                                                              false,
		xmlDeclaration + "x <rss>":                                                  false,
		"How to write <?xml version=\"1.0\"?><rss> feeds":                           false,
		"</rss>": false,
		"<":      false,
		"":       false,
	} {
		if isXML(s) != want {
			t.Errorf("isXML(%q) is %v", s, !want)
		}
	}
}

func TestPlainXML(t *testing.T) {
	for _, c := range []struct {
		name, xml string
		want      string // words that white space separates
	}{
		{"elements separate words", "<doc><x>台风</x><y>登陆</y></doc>", "台风 登陆"},
		{"inline elements join", "<nitf><p>台<em>风</em>登<a href='x'>陆</a></p></nitf>", "台风登陆"},
		{"title is no raw text", "<rss><title><![CDATA[台风]]></title><item/></rss>", "台风"},
		{
			"attributes, comments and instructions are no text",
			"<doc id='x'><!-- y --><?z w?><a title='v'>台风</a></doc>", "台风",
		},
		{"references", "<doc>A&amp;B &#20013;&#x56fd;</doc>", "A&B 中国"},
		{"CDATA", "<doc><![CDATA[台风 <登陆> & &lt;]]></doc>", "台风 <登陆> & &lt;"},
		{"CDATA joins what is around it", "<doc>台<![CDATA[风]]>眼</doc>", "台风眼"},
		{
			"HTML in CDATA",
			"<rss><description><![CDATA[<p>台<b>风</b>&amp;</p><script>x</script>]]></description></rss>",
			"台风&",
		},
		{"escaped HTML", "<rss><description>&lt;p&gt;台风&lt;/p&gt;</description></rss>", "台风"},
		{"angle brackets that are no HTML", "<doc>List&lt;String&gt; a</doc>", "List<String> a"},
		{
			"elements named as in HTML",
			"<newsItem><head>一</head><body><template>二</template></body></newsItem>", "一 二",
		},
		{"not closed", "<doc><x>台风<y>登陆", "台风 登陆"},
		{"CDATA not closed", "<doc><![CDATA[台风", "台风"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, mode := range []htmlMode{htmlAuto, htmlAlways} {
				got := mode.plain(xmlDeclaration+c.xml, nil)
				if !slices.Equal(strings.Fields(got), strings.Fields(c.want)) {
					t.Errorf("%s: plain(%q)\n got %q\nwant %q", mode, c.xml, got, c.want)
				}
			}
			if s := xmlDeclaration + c.xml; htmlNever.plain(s, nil) != s {
				t.Error("never is not respected")
			}
		})
	}
}
