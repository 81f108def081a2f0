package text

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/text/fold"
)

func withLinks(t testing.TB, o CleanOptions) *Cleaner {
	t.Helper()
	o.Links = true
	c, err := NewCleaner(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLinks(t *testing.T) {
	for _, test := range []struct {
		name           string
		options        CleanOptions
		title, content string
		want           []string
	}{
		{
			name: "a link", content: `<p>see <a class=x href="https://example.com/A?b=1">here</a>`,
			want: []string{"https://example.com/a?b=1"},
		},
		{
			name: "references are resolved", content: `<a href="/x?a=1&amp;b=&#50;">x</a>`,
			want: []string{"/x?a=1&b=2"},
		},
		{
			name: "a map, a form, and nothing else", content: `<img src=i.png><map><area href=/a></map>
			<form action="/f"></form><link href=/l><a name=n>n</a><p href=/p>p</p>`,
			want: []string{"/a", "/f"},
		},
		{
			name: "the title's first", title: `<p><a href=/t>t</a></p>`, content: `<p><a href=/c>c</a></p>`,
			want: []string{"/t", "/c"},
		},
		{
			name: "white space around and in it", content: "<p><a href=' /a\n\tb\r '>x</a>",
			want: []string{"/ab"},
		},
		{name: "none", content: "<p><a href>x</a><a href=''>x</a><a href='#end'>x</a>"},
		{
			name: "the first of two attributes", content: "<p><a href=/a href=/b>x</a>",
			want: []string{"/a"},
		},
		{
			name: "what nobody sees", content: "<p>x<template><a href=/a>x</a></template><a href=/b>y</a>",
			want: []string{"/b"},
		},
		{name: "not recognised as HTML", content: "see <a href=/a>x"},
		{
			name: "always", options: CleanOptions{HTML: "always"}, content: "see <a href=/a>x",
			want: []string{"/a"},
		},
		{name: "never", options: CleanOptions{HTML: "never"}, content: "<p><a href=/a>x</a></p>"},
		{name: "HTML in a feed", content: `<?xml version="1.0"?><rss><a href="/x"/><description>` +
			`<![CDATA[<p><a href="/y">y</a></p>]]></description></rss>`, want: []string{"/x", "/y"}},
		{
			name: "of a page all", options: CleanOptions{Extract: "article"}, content: aPage,
			want: []string{"/", "/news"},
		},
		{
			name: "of a broken page all", options: CleanOptions{Extract: "article"},
			content: "<html><p><a href=/a>x</a>", want: []string{"/a"},
		},
		{
			name: "not folded", options: CleanOptions{Fold: fold.Latest},
			content: "<p><a href='//ёxample/a.b.c/★'>a.b.c</a>", want: []string{"//ёxample/a.b.c/★"},
		},
		{
			name: "normalised, but a character stays one", content: "<p><a href='/Ａ\xff'>x</a>",
			want: []string{"/a\ufffd"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			plain, err := NewCleaner(test.options)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Join(append([]string{string(plain.AppendClean(nil, test.title, test.content))},
				test.want...), "\n")
			c := withLinks(t, test.options)
			if got := string(c.AppendClean(nil, test.title, test.content)); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if want := plain.Identity() + ",links=1"; c.Identity() != want {
				t.Errorf("identity %s, want %s", c.Identity(), want)
			}
		})
	}
}

// However many links there are, and however long, the text grows by a bounded number of bytes.
func TestLinksAreBounded(t *testing.T) {
	c := withLinks(t, CleanOptions{})
	var content strings.Builder
	for i := range 2 * maxLinks {
		fmt.Fprintf(&content, "<p><a href='%03d%s'></a>", i, strings.Repeat("台", maxTarget))
	}
	clean := string(c.AppendClean(nil, "", content.String()))
	lines := strings.Split(strings.TrimLeft(clean, "\n"), "\n")
	if len(lines) != maxLinks {
		t.Fatalf("%d links, want the first %d", len(lines), maxLinks)
	}
	for i, line := range lines {
		if !strings.HasPrefix(line, fmt.Sprintf("%03d台", i)) || !strings.HasSuffix(line, "台") ||
			len(line) > maxTarget || len(line) <= maxTarget-utf8.UTFMax || !utf8.ValidString(line) {
			t.Errorf("link %d is %.20q of %d bytes, want %d at most, in whole characters", i, line,
				len(line), maxTarget)
		}
	}
}
