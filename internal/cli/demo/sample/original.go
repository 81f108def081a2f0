package sample

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A subject is what the originals of one field are made of: a title, a lead, and
// a choice of sentences for the body.
type subject struct {
	titles, leads, body []string
}

// A language holds the originals that can be told in one language.
type language struct {
	grammar  *grammar
	subjects []parsedSubject
	body     []template // sentences that fit every subject
	ends     []template // last sentences, likewise
	comments []template
	phrases  *phrases

	size     func(string) int // of a text: characters or words
	min, max int              // of an original without its last sentence, in size's unit
}

type parsedSubject struct{ titles, leads, body []template }

// original draws an original.
func (l *language) original(d dice) *original {
	w := l.grammar.draw(d)
	subject := &l.subjects[d.n(len(l.subjects))]
	s := &original{
		phrases: l.phrases, title: capital(w.one(subject.titles)),
		sentences: []string{w.one(subject.leads)},
	}

	size, target := l.size(s.sentences[0]), d.between(l.min, l.max)
	for _, i := range d.order(len(subject.body) + len(l.body)) {
		if size >= target {
			break
		}
		var t template
		if i < len(subject.body) {
			t = subject.body[i]
		} else {
			t = l.body[i-len(subject.body)]
		}
		sentence := w.text(t)
		s.sentences = append(s.sentences, sentence)
		size += l.size(sentence)
	}
	s.sentences = append(s.sentences, w.one(l.ends))
	return s
}

// comment draws a reader's comment: two remarks.
func (l *language) comment(d dice) string {
	w, i := l.grammar.draw(d), d.order(len(l.comments))
	return w.text(l.comments[i[0]]) + l.phrases.space + w.text(l.comments[i[1]])
}

// capital returns s with its first letter in upper case.
func capital(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}

// parse makes the subjects ready for drawing.
func (l *language) parse(subjects []subject) {
	for _, s := range subjects {
		l.subjects = append(l.subjects, parsedSubject{
			titles: l.grammar.parseAll(s.titles),
			leads:  l.grammar.parseAll(s.leads),
			body:   l.grammar.parseAll(s.body),
		})
	}
}

func characters(s string) int { return utf8.RuneCountInString(s) }

func wordCount(s string) int { return strings.Count(s, " ") + 1 }

// An original is an article in words of its own, with what is needed to make others from it.
type original struct {
	id, source string
	title      string
	sentences  []string // the first is the lead
	phrases    *phrases
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
			b.WriteString(s.phrases.space)
		}
		b.WriteString(sentence)
	}
	return b.String()
}
