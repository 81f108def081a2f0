package sample

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// original draws an original.
func (l *language) original(d dice) *original {
	w := l.Words.draw(d)
	subject := &l.Subjects[d.n(len(l.Subjects))]
	s := &original{
		language:  l,
		title:     capital(w.one(subject.Titles)),
		sentences: []string{w.one(subject.Leads)},
	}

	size, target := l.length(s.sentences[0]), d.between(l.Size.From, l.Size.To)
	body := slices.Concat(subject.Body, l.Body)
	for _, i := range d.order(len(body)) {
		if size >= target {
			break
		}
		sentence := w.text(body[i])
		s.sentences = append(s.sentences, sentence)
		size += l.length(sentence)
	}
	s.sentences = append(s.sentences, w.one(l.Ends))
	return s
}

// comment draws a reader's comment: two remarks.
func (l *language) comment(d dice) string {
	w, i := l.Words.draw(d), d.order(len(l.Comments))
	return w.text(l.Comments[i[0]]) + l.Space + w.text(l.Comments[i[1]])
}

// capital returns s with its first letter in upper case.
func capital(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}

// An original is an article in words of its own, with what is needed to make others from it.
type original struct {
	id, source string
	title      string
	sentences  []string // the first is the lead
	language   *language
}

const sentencesPerParagraph = 3

func (s *original) content() string { return s.join(s.sentences) }

// join puts sentences into paragraphs, one a line.
func (s *original) join(sentences []string) string {
	var b strings.Builder
	for i, sentence := range sentences {
		switch {
		case i == 0:
		case i%sentencesPerParagraph == 0:
			b.WriteByte('\n')
		default:
			b.WriteString(s.language.Space)
		}
		b.WriteString(sentence)
	}
	return b.String()
}
