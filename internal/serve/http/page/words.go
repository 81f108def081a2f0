package page

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

//go:embed words.json
var words []byte

// phrase is what is said in each language. Verbs such as %d are the same in both.
type phrase struct{ EN, ZH string }

// phrases returns all that pages say, by what it is about.
func phrases() (all map[string]phrase, err error) {
	err = json.Unmarshal(words, &all)
	return all, err
}

// A speaker says things in a language.
type speaker struct {
	language string
	phrases  map[string]phrase
}

func (s speaker) say(key string, args ...any) (string, error) {
	p, ok := s.phrases[key]
	if !ok {
		return "", fmt.Errorf("no phrase is about %q", key)
	}
	said := p.EN
	if s.language == chinese {
		said = p.ZH
	}
	if len(args) > 0 {
		said = fmt.Sprintf(said, args...)
	}
	return said, nil
}

// class says what a class of dead letters is; nothing of one that is new.
func (s speaker) class(name string) (string, error) {
	return s.sayIfKnown("class " + name)
}

// status says what a status of HTTP means here; nothing of one that is rare.
func (s speaker) status(code int) (string, error) {
	return s.sayIfKnown(fmt.Sprintf("status %d", code))
}

func (s speaker) sayIfKnown(key string) (string, error) {
	if _, ok := s.phrases[key]; !ok {
		return "", nil
	}
	return s.say(key)
}

// scripted are the phrases that the script says.
const scripted = "said,undone,failed,undo,skipped,away,waiting,pause,resume,founder"

// forScript returns these as JSON.
func (s speaker) forScript() (string, error) {
	said := make(map[string]string)
	for key := range strings.SplitSeq(scripted, ",") {
		phrase, err := s.say(key)
		if err != nil {
			return "", err
		}
		said[key] = phrase
	}
	value, err := json.Marshal(said)
	return string(value), err
}
