package text

import (
	"slices"
	"strings"
	"testing"
)

func TestIsHTML(t *testing.T) {
	for _, s := range []string{
		"<p>台风", "台风</p>", "</P >", "a<br>b", "a<br/>b", "a<BR />b", "<hr>",
		`<div class="x">台风`, "<div class=x>", "<img src=a.jpg>台风", `<img alt="" src="a.jpg"/>`,
		"<b>中</b>国", "<a href=x>台风</a>", "<span>台风</span>", "</section>",
		"<!doctype html>台风", "<!DOCTYPE html PUBLIC>", "<script>x", "<style>x", `<script src="x">`,
		`<section id="a">台风`, "<li>台风", "<td>1<td>2", "1 < 2 <p>", "如何评价 <title> 一书<br>台风",
		`<link rel="stylesheet" href="x">`, "<h1>台风",
	} {
		if !isHTML(s) {
			t.Errorf("not recognised as HTML: %s", s)
		}
	}
}

// What hasTag passes over is no HTML.
func FuzzHasTag(f *testing.F) {
	for _, s := range []string{
		"", "<", "a<b", "1 < 2", "</p>", "<<p>", "<!doctype html>",
		"I <3 Beijing<", "<?php", "<\x00p>",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !hasTag(s) && isHTML(s) {
			t.Errorf("%q has no tag, yet is HTML", s)
		}
	})
}

// Text that merely holds angle brackets loses nothing: its tokens are those of
// the text with the brackets taken for spaces.
func TestNotHTML(t *testing.T) {
	for _, s := range []string{
		"1 < 2 and b > a", "List<String> names", "a<b and c>d", "x <b or i> y", "I <3 Beijing",
		"<- arrows ->", "<-- arrows -->", `C:\<dir>\<file>`, "Map<K, List<V>>", "if (a<b && c>d)",
		"x<<2>>1",
		"#include <stdio.h>", "std::vector<int>", "cp <source> <dest>",
		"usage: <link> <title> <main> <address>",
		"a <p and q> b", "作者<张三>供稿", "《<台风>》", "<<<>>>", "<", ">", "<>", "</>", "</ p>", "a</",
		"<?php echo 台风 ?>", "<img> <input>", "<b>粗", "价格<i>100", "<o:p>台风", "<unknown>台风</unknown>",
		"<p 台风", "<", "<!", "<!-- 台风",
	} {
		if isHTML(s) {
			t.Errorf("taken for HTML: %s", s)
		}
		plain := strings.NewReplacer("<", " ", ">", " ").Replace(s)
		if got, want := tokens(shared(t).Tokens(s, "")),
			tokens(withHTML(t, htmlNever).Tokens(plain, "")); got != want {
			t.Errorf("%s\n got %s\nwant %s", s, got, want)
		}
	}
}

func TestPlain(t *testing.T) {
	for _, c := range []struct {
		name string
		mode htmlMode
		html string
		want string // words that white space separates
	}{
		{"blocks break words", htmlAuto, "<p>台</p><p>风</p><div>登<br>陆", "台 风 登 陆"},
		{"cells and items break words", htmlAuto, "<tr><td>1<td>2</tr><li>a<li>b", "1 2 a b"},
		{"inline elements join", htmlAuto, "<p><b>台</b><i>风</i><span>眼</span>墙<wbr>体</p>", "台风眼墙体"},
		{"unknown elements join", htmlAuto, "<p>台<x-y>风</x-y>", "台风"},
		{"attributes are no text", htmlAuto, `<p title="题"><img alt="图" src=x>台风</p>`, "台风"},
		{"references", htmlAuto, "<p>A&amp;B&nbsp;&#20013;&#x56fd;&lt;x&gt;</p>", "A&B 中国<x>"},
		{"comments", htmlAuto, "<p>台<!-- x -->风<!-- <p>y", "台风"},
		{"script", htmlAuto, "<p>台风<script>if (a<b) x('</p>')</script>登陆", "台风登陆"},
		{"style", htmlAuto, "<style>p {color: red}</style>台风", "台风"},
		{"noscript", htmlAuto, "<p>台风<noscript><img src=x>开启</noscript>", "台风"},
		{"frames", htmlAuto, "<p>台风<iframe src=x>不支持</iframe>", "台风"},
		{"templates nest", htmlAuto, "<p>台<template>a<template>b</template>c</template>风</p>", "台风"},
		{"script in a template", htmlAuto, "<template>a<script>b</script>c</template><p>台风", "台风"},
		{"unclosed script", htmlAuto, "<p>台风<script>var x = '", "台风"},
		{"script closed at once", htmlAuto, `<p>台风<script src="x"/>登陆`, "台风登陆"},
		{"stray end tags", htmlAuto, "</script></template>台风</p>", "台风"},
		{"unclosed tag", htmlAuto, "<p>台风<img src='x", "台风"},
		{
			"title and text area hold text", htmlAuto, "<title>台风 &amp; 雨</title><textarea>登陆</textarea>",
			"台风 & 雨 登陆",
		},
		{"less than in HTML", htmlAuto, "<p>1 < 2 <3</p>", "1 < 2 <3"},
		{"escaped markup is text", htmlAuto, "&lt;p&gt;台风&lt;/p&gt;", "<p>台风</p>"},

		{"references without tags", htmlAuto, "A&amp;B&nbsp;C &#20013;&#x56FD;", "A&B C 中国"},
		{"two characters", htmlAuto, "&NotEqualTilde;", "≂̸"},
		{"the longest name", htmlAuto, "&CounterClockwiseContourIntegral;", "∳"},
		{"no semicolon", htmlAuto, "?a=1&copy=2&lt=3&amp", "?a=1&copy=2&lt=3&amp"},
		{"only the last has one", htmlAuto, "&gt&lt;", "&gt<"},
		{
			"unknown", htmlAuto, "&notit; &nosuch; &; &#; &#x; && R&D;",
			"&notit; &nosuch; &; &#; &#x; && R&D;",
		},
		{"not in one text that is no HTML", htmlAuto, "List<String> &amp; <b>", "List<String> & <b>"},

		{"always", htmlAlways, "<b>台风<unknown>登陆&amp", "台风登陆&"},
		{"never", htmlNever, "<p>台风</p>&amp;", "<p>台风</p>&amp;"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.mode.plain(c.html, nil)
			if !slices.Equal(strings.Fields(got), strings.Fields(c.want)) {
				t.Errorf("plain(%q)\n got %q\nwant %q", c.html, got, c.want)
			}
		})
	}
}

func TestTitleAndContentAreHTMLEachOnItsOwn(t *testing.T) {
	got := tokens(shared(t).Tokens("List<String>", "<p>台风</p>"))
	if want := "list string 台风"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
