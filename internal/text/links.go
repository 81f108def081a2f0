package text

import (
	"bytes"
	"strings"

	"golang.org/x/net/html/atom"

	"github.com/clusterd/clusterd/internal/text/markup"
)

// links are the targets of links and forms of a text, in order.
type links struct{ targets []string }

// What is kept of them: enough for what people write, and an end to what programs do.
const (
	maxLinks  = 64      // of a title and a content
	maxTarget = 2 << 10 // bytes of a target
)

// add adds the target of the start tag that z is at, whose name has been read. A nil receiver adds
// none.
func (l *links) add(z *markup.Tokenizer, element atom.Atom) {
	if l == nil || len(l.targets) == maxLinks {
		return
	}
	var attribute string
	switch element {
	case atom.A, atom.Area:
		attribute = "href"
	case atom.Form:
		attribute = "action"
	default:
		return
	}
	for more := true; more; {
		var key, value []byte
		key, value, more = z.TagAttr()
		if string(key) == attribute {
			l.addTarget(value)
			return // of attributes with one name the first counts
		}
	}
}

// addTarget adds a target as the URL Standard reads it: without the white space around it, nor tabs
// and line breaks within. One within the page leads nowhere.
func (l *links) addTarget(value []byte) {
	value = cut(bytes.TrimSpace(value), maxTarget)
	target := strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(string(value))
	if target != "" && target[0] != '#' {
		l.targets = append(l.targets, target)
	}
}
