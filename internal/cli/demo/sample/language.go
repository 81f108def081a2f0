package sample

import (
	"embed"
	"errors"
	"fmt"
	"maps"
	"path"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
)

// The sentences and words are data. languages/english.yaml says what the keys mean.
//
//go:embed languages/*.yaml adverts.yaml traditional.txt
var data embed.FS

// A language is the content of a file of languages.
type language struct {
	Base          string
	Share         int
	CommentsShare int `yaml:"comments_share"`
	Unit          string
	Size          struct{ From, To int }
	Space, More   string

	Subjects             []subject
	Body, Ends, Comments texts
	Words                words

	Synonyms          [][2]string
	Openings, Credits []string
}

// A subject is what the originals of one field are made of.
type subject struct {
	Name                string
	Titles, Leads, Body texts
}

// languages returns all languages, in the order of their names.
var languages = sync.OnceValue(func() []*language {
	files, err := data.ReadDir("languages")
	all := make([]*language, len(files))
	for i, file := range files {
		l, wrong := readLanguage(strings.TrimSuffix(file.Name(), path.Ext(file.Name())))
		all[i], err = l, errors.Join(err, wrong)
	}
	if err != nil {
		panic(err) // The files are part of the program. A test reads them.
	}
	return all
})

func readLanguage(name string) (*language, error) {
	file := "languages/" + name + ".yaml"
	text, err := data.ReadFile(file)
	if err != nil {
		return nil, err
	}
	l, err := parseLanguage(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return l, nil
}

func parseLanguage(text []byte) (*language, error) {
	l := new(language)
	var of struct{ Base string }
	if err := yaml.Unmarshal(text, &of); err != nil {
		return nil, err
	}
	if of.Base != "" {
		base, err := readLanguage(of.Base)
		if err != nil {
			return nil, err
		}
		*l = *base
	}
	all := l.Words
	l.Words = nil
	if err := yaml.UnmarshalWithOptions(text, l, yaml.Strict()); err != nil {
		return nil, err
	}
	if all != nil {
		maps.Copy(all, l.Words)
		l.Words = all
	}
	return l, l.check()
}

func (l *language) check() error {
	if l.Unit != "characters" && l.Unit != "words" {
		return fmt.Errorf("unit is %q, want characters or words", l.Unit)
	}
	used := []texts{l.Body, l.Ends, l.Comments}
	for _, s := range l.Subjects {
		if len(s.Titles) == 0 || len(s.Leads) == 0 {
			return fmt.Errorf("subject %s: a subject needs titles and leads", s.Name)
		}
		used = append(used, s.Titles, s.Leads, s.Body)
	}
	switch {
	case len(l.Subjects) == 0 || len(l.Ends) == 0 || len(l.Openings) == 0 || len(l.Credits) == 0:
		return errors.New("a language needs subjects, ends, openings and credits")
	case l.CommentsShare > 0 && len(l.Comments) < 2:
		return errors.New("a reader's comment has two sentences: add comments, or set " +
			"comments_share to 0")
	}
	return l.Words.check(used...)
}

// length returns the length of s in the language's unit.
func (l *language) length(s string) int {
	if l.Unit == "words" {
		return strings.Count(s, " ") + 1
	}
	return utf8.RuneCountInString(s)
}

// pick draws one of the languages, as often as its share says.
func pick(d dice, all []*language, share func(*language) int) *language {
	sum := 0
	for _, l := range all {
		sum += share(l)
	}
	n := d.n(sum)
	i := 0
	for ; n >= share(all[i]); i++ {
		n -= share(all[i])
	}
	return all[i]
}
