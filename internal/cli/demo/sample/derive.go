package sample

import (
	"html"
	"slices"
	"strconv"
	"strings"
)

// derive returns the title and content of an article of the given kind made
// from s for the given source.
func (s *original) derive(d dice, kind Kind, source string) (title, content string) {
	switch kind {
	case Edit:
		return s.edit(d, source)
	case Reorder:
		return s.title, s.join(s.reordered(d))
	case HTML:
		return s.title, s.html(d, source)
	case Variant:
		return variant(s.title), variant(s.content())
	default:
		return s.title, s.content()
	}
}

// edit changes a few words or numbers, and in half of the cases adds a line or
// cuts the last sentence. The result always differs from the original.
func (s *original) edit(d dice, source string) (title, content string) {
	sentences := slices.Clone(s.sentences)
	l := s.language
	switch d.n(6) {
	case 0:
		sentences = slices.Insert(sentences, 0, l.Openings[d.n(len(l.Openings))])
	case 1:
		sentences = append(sentences, strings.ReplaceAll(l.Credits[d.n(len(l.Credits))], "%s", source))
	case 2:
		sentences = sentences[:len(sentences)-1]
	}
	content = s.join(sentences)
	want := d.between(1, 3)
	done := 0
	for _, i := range d.order(len(l.Synonyms)) {
		if done == want {
			break
		}
		if from, to := l.Synonyms[i][0], l.Synonyms[i][1]; strings.Contains(content, from) {
			content = strings.Replace(content, from, to, 1)
			done++
		}
	}
	if done == 0 {
		content = bump(content)
	}
	return s.title, content
}

// bump raises the first digit of s below 9 by one, as a corrected figure.
func bump(s string) string {
	i := strings.IndexAny(s, "012345678")
	if i < 0 {
		return s
	}
	return s[:i] + strconv.Itoa(int(s[i]-'0')+1) + s[i+1:]
}

// reordered returns the sentences with all but the lead in another order.
func (s *original) reordered(d dice) []string {
	out := slices.Clone(s.sentences)
	rest := out[1:]
	for i, from := range d.order(len(rest)) {
		rest[i] = s.sentences[1+from]
	}
	if slices.Equal(out, s.sentences) {
		slices.Reverse(rest)
	}
	return out
}

// html returns the original as a page has it.
func (s *original) html(d dice, source string) string {
	var b strings.Builder
	b.WriteString(`<div class="article">`)
	for paragraph := range strings.SplitSeq(s.content(), "\n") {
		b.WriteString("<p>")
		b.WriteString(references(html.EscapeString(paragraph)))
		b.WriteString("</p>\n")
	}
	b.WriteString(`<a href="https://` + source + `/article?id=` +
		strconv.Itoa(d.between(100000, 999999)) +
		`&amp;from=list">` + s.language.More + "</a></div>")
	return b.String()
}

// references writes some characters as character references, as editors do.
func references(s string) string {
	return strings.NewReplacer("“", "&ldquo;", "”", "&rdquo;", "、", "&#12289;", "%",
		"&#x25;").Replace(s)
}
