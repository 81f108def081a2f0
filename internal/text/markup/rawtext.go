package markup

import "strings"

// readRawText reads the text of the element z.rawTag up to its end tag, and reports whether there
// is any.
func (z *Tokenizer) readRawText() bool {
	tag := z.rawTag
	switch tag {
	case "plaintext":
		z.at = len(z.s) // it has no end tag, and stays
	case "script":
		z.skipScript()
		z.rawTag = ""
	default:
		for z.skipPast('<') {
			if z.at < len(z.s) && z.s[z.at] == '/' {
				z.at++
				if z.atRawEndTag() {
					break
				}
			}
		}
		z.rawTag = ""
	}
	z.text = z.s[z.start:z.at]
	z.isRaw = z.text != "" && tag != "textarea" && tag != "title"
	z.convertNUL = z.text != ""
	return z.text != ""
}

// atRawEndTag reports whether the end tag of z.rawTag follows, of which "</" has been read. Then it
// goes back to where that begins, else behind what is as in it.
func (z *Tokenizer) atRawEndTag() bool {
	from := z.at - len("</")
	if z.skipName(z.rawTag) {
		z.at = from
		return true
	}
	return false
}

// skipName goes on behind a name in any case, as far as it follows, and reports whether it does,
// and ends.
func (z *Tokenizer) skipName(name string) bool {
	for i := range len(name) {
		if z.at == len(z.s) || lower(z.s[z.at]) != name[i] {
			return false
		}
		z.at++
	}
	if z.at == len(z.s) {
		return false
	}
	c := z.s[z.at]
	return isSpace(c) || c == '/' || c == '>'
}

// How deep in what hides end tags the text of a script is.
const (
	inScript  = iota
	inComment // behind "<!--"
	inNested  // in a script there, whose end tag does not end the script
)

// skipScript goes on to the end tag of a script, or to the end. What it does in a comment is as
// golang.org/x/net/html does it.
func (z *Tokenizer) skipScript() {
	for level, dashes := inScript, 0; z.at < len(z.s); {
		if level == inScript {
			if !z.skipPast('<') || z.at == len(z.s) {
				return
			}
			switch rest := z.s[z.at:]; {
			case rest[0] == '/':
				z.at++
				if z.atRawEndTag() {
					return
				}
			case strings.HasPrefix(rest, "!--"):
				z.at += len("!--")
				level, dashes = inComment, 2
			case strings.HasPrefix(rest, "!-"):
				z.at += len("!-")
			case rest[0] == '!':
				z.at++
			}
			continue
		}
		c := z.s[z.at]
		z.at++
		switch {
		case c == '-':
			dashes++
			continue
		case c == '>' && dashes >= 2:
			level = inScript
		case c == '<' && level == inComment:
			var ends bool
			if level, ends = z.skipTagInComment(); ends {
				return
			}
		case c == '<' && z.at < len(z.s) && z.s[z.at] == '/':
			z.at++
			if z.atRawEndTag() {
				z.at += len("</script>")
				level = inComment
			}
		}
		dashes = 0
	}
}

// skipTagInComment goes on behind the name of a tag in a comment in a script, of which "<" has been
// read. It returns where that leads, and whether it is the end tag of the script.
func (z *Tokenizer) skipTagInComment() (level int, ends bool) {
	if z.at == len(z.s) {
		return inComment, true
	}
	switch c := z.s[z.at]; {
	case c == '/':
		z.at++
		return inComment, z.atRawEndTag()
	case !isLetter(c):
		return inScript, false
	case z.skipName("script"):
		z.at++
		return inNested, false
	}
	return inComment, false
}
