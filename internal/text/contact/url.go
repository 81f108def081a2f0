package contact

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/publicsuffix"
)

// url takes a URL, a host name or an e-mail address, and reports whether one begins here; the
// first word ends at wordEnd.
func (s *scanner) url(wordEnd int) bool {
	start := s.at
	if wordEnd == len(s.text) || start < s.noHost {
		return false
	}
	if s.text[wordEnd] == ':' {
		if n := schemeLen(s.text[start:]); n > 0 {
			return s.link(start, start+n)
		}
		return false
	}
	if !s.mayGoOn(wordEnd) {
		return false
	}
	if s.spelledSite(start, wordEnd) {
		return true
	}
	end := s.hostName(start)
	if n := s.atSign(end); n > 0 && s.mail(start, end, end+n) {
		return true
	}
	host, end := s.trimmedHost(end)
	if !s.isHost(host, s.isPath(end)) {
		s.noHost = end // what of it begins later ends the same
		return false
	}
	s.addURL(host, nil, start, end)
	return true
}

// mayGoOn reports whether what follows a word may belong to a host name or an address: nearly all
// words are known by it to be neither.
func (s *scanner) mayGoOn(at int) bool {
	switch s.text[at] {
	case '.', '-', '%', '+', '@', '#', '[', '(', '{', "点"[0], "。"[0]:
		return at+1 < len(s.text) && s.text[at+1] != '\n'
	case ' ':
		if at+1 < len(s.text) {
			switch s.text[at+1] {
			case '.', '[', '(', '{':
				return true
			case 'd':
				return bytes.HasPrefix(s.text[at+2:], []byte("ot "))
			case 'a':
				return wordAt(s.text[at:]) > 0
			}
		}
	}
	return false
}

var schemes = []string{"http://", "https://", "hxxp://", "hxxps://", "ftp://"}

func schemeLen(text []byte) int {
	for _, scheme := range schemes {
		if len(text) > len(scheme) && string(text[:len(scheme)]) == scheme {
			return len(scheme)
		}
	}
	return 0
}

// link takes a URL with a scheme, the host of which begins at from. Who signs in there may stand
// before the host.
func (s *scanner) link(start, from int) bool {
	end := s.hostName(from)
	if end < len(s.text) && s.text[end] == '@' {
		end = s.hostName(end + 1)
	}
	host, end := s.trimmedHost(end)
	if bytes.IndexByte(host, '.') <= 0 {
		return false
	}
	s.addURL(host, nil, start, end)
	return true
}

// longestHost is how many bytes a host name has at most.
const longestHost = 253

// hostName reads what may be a host name or the local part of an address into s.host, and returns
// where it ends. A dot may be written in other ways.
func (s *scanner) hostName(from int) (end int) {
	s.host = s.host[:0]
	end = from
	for end < len(s.text) && len(s.host) <= longestHost {
		c, size := s.text[end], 1
		if n := s.writtenDot(end); n > 0 && len(s.host) > 0 {
			c, size = '.', n
		} else if classes[c]&inHost == 0 || c == '.' && bytes.HasSuffix(s.host, []byte(".")) ||
			c == '.' && len(s.host) == 0 {
			break
		}
		s.host, end = append(s.host, c), end+size
	}
	return end
}

var (
	bracketDots = []string{"[.]", "(.)", "{.}", "[dot]", "(dot)", "{dot}"}
	wideDots    = []string{"点", "。"}
	writtenAts  = []string{"@", "#", "[at]", "(at)", "{at}", "[@]", "(@)"}
)

// writtenDot returns the length of a dot that is written in another way, between letters or
// digits.
func (s *scanner) writtenDot(at int) int {
	rest := s.text[at:]
	if !s.mayGoOn(at) {
		return 0
	}
	switch rest[0] {
	case ' ', '.':
		if n := s.spacedDot(rest); n > 0 {
			return n
		}
	case '[', '(', '{':
	case "点"[0], "。"[0]:
		return dotOf(wideDots, rest, rest)
	default:
		return 0
	}
	return dotOf(bracketDots, rest, bytes.TrimPrefix(rest, []byte(" ")))
}

// dotOf returns how far behind rest a letter or digit is before which one of the dots stands,
// which begins at dot; 0 if there is none. Behind one in brackets may be a space.
func dotOf(dots []string, rest, dot []byte) int {
	for _, d := range dots {
		after, ok := bytes.CutPrefix(dot, []byte(d))
		if ok && d[0] < utf8.RuneSelf {
			after = bytes.TrimPrefix(after, []byte(" "))
		}
		if ok && len(after) > 0 && isAlnum(after[0]) {
			return len(rest) - len(after)
		}
	}
	return 0
}

// spacedDot returns the length of a dot with a space at one side or both: behind www or before
// com. A dot in words is one behind five letters, which leaves out "the dot com boom".
func (s *scanner) spacedDot(rest []byte) int {
	if len(s.host) >= 5 && bytes.HasPrefix(rest, []byte(" dot ")) && len(rest) > 5 &&
		isAlnum(rest[5]) {
		return 5
	}
	dot := bytes.TrimPrefix(rest, []byte(" "))
	if len(dot) == 0 || dot[0] != '.' {
		return 0
	}
	after := bytes.TrimPrefix(dot[1:], []byte(" "))
	n := len(rest) - len(after)
	if n == 1 || len(after) == 0 || !isAlnum(after[0]) {
		return 0
	}
	com := len(s.host) >= 3 && bytes.HasPrefix(after, []byte("com")) &&
		(len(after) == 3 || classes[after[3]]&inWord == 0)
	if string(s.host) == "www" || com && dot[1] == ' ' {
		return n
	}
	return 0
}

// atSign returns the length of an at sign before a letter or digit, which may be written in
// another way, or have a space behind it.
func (s *scanner) atSign(at int) int {
	if at == len(s.text) || !s.mayGoOn(at) {
		return 0
	}
	if n := wordAt(s.text[at:]); n > 0 {
		return n
	}
	rest := s.text[at:]
	inBrackets := bytes.TrimPrefix(rest, []byte(" "))
	for _, sign := range writtenAts {
		after, ok := bytes.CutPrefix(rest, []byte(sign))
		if !ok && len(sign) > 1 {
			after, ok = bytes.CutPrefix(inBrackets, []byte(sign))
		}
		if ok && sign != "#" {
			after = bytes.TrimPrefix(after, []byte(" "))
		}
		if ok && len(after) > 0 && isAlnum(after[0]) {
			return len(rest) - len(after)
		}
	}
	return 0
}

// trimmedHost returns the host name that was read, and its end, without what stands around it in
// a sentence.
func (s *scanner) trimmedHost(end int) ([]byte, int) {
	trimmed := bytes.TrimRight(s.host, ".-_%+")
	return trimmed, end - (len(s.host) - len(trimmed))
}

// isPath reports whether a path begins at a place.
func (s *scanner) isPath(at int) bool {
	return at+1 < len(s.text) && s.text[at] == '/' && (isAlnum(s.text[at+1]) ||
		bytes.IndexByte([]byte("@+~?_"), s.text[at+1]) >= 0)
}

// plainTops are top level domains that are no words: "great.it was" has no host name.
var plainTops = setOf("com net org cn info biz xyz vip club cc tv ru uk de fr jp kr tw hk io " +
	"co mobi shop site online store tech app dev link live pro icu asia wiki cloud top edu gov " +
	"br au ca eu nl pl ua sg ph th vn cz su ly gl tk ml gq cf pn ws fm gg ai mx nz ir ro hu " +
	"gr fi dk bz sx lol bet")

// groupTops are what countries have before their own top level domain.
var groupTops = setOf("co com net org gov edu ac or go web my sch nom")

// numberTops are top level domains below which names of digits alone are common. Elsewhere these
// are shares, times or versions.
var numberTops = setOf("com net org cn cc vip top tv xyz club info biz")

// isHost reports whether what has no scheme is a host name and no end of a sentence: by its top
// level domain, which must be on the public suffix list, and no word unless a path or www goes
// with it.
func (s *scanner) isHost(host []byte, path bool) bool {
	dot := bytes.LastIndexByte(host, '.')
	if dot <= 0 || len(host) > longestHost || bytes.ContainsAny(host, "_%+") {
		return false
	}
	top, before := host[dot+1:], host[:dot]
	label := before[bytes.LastIndexByte(before, '.')+1:]
	www := bytes.HasPrefix(host, []byte("www."))
	if !plainTops[string(top)] && !path && !www &&
		(len(label) == len(before) || !groupTops[string(label)]) || onlyDigits(top) {
		return false
	}
	if www {
		return len(before) > len("www")
	}
	suffix, listed := s.suffixLen(host)
	if !listed || suffix == len(host) {
		return false
	}
	before = host[:len(host)-suffix-1]
	label = before[bytes.LastIndexByte(before, '.')+1:]
	return len(label) > 0 && (!onlyDigits(label) || len(label) > 1 && numberTops[string(top)])
}

// suffixLen returns the length of the public suffix of a host name, and whether it is on the
// list.
func (s *scanner) suffixLen(host []byte) (n int, listed bool) {
	if bytes.IndexByte(host, '.') < 0 {
		return 0, false
	}
	if string(host) != s.suffixOf.host {
		name := string(host)
		suffix, icann := publicsuffix.PublicSuffix(name)
		s.suffixOf.host, s.suffixOf.length = name, len(suffix)
		s.suffixOf.listed = icann || strings.Contains(suffix, ".")
	}
	return s.suffixOf.length, s.suffixOf.listed
}

// pathEnd returns where the port, path and query of a URL end, the host of which ends at from. A
// backslash may stand for the first slash.
func (s *scanner) pathEnd(from int) int {
	end := from
	if end < len(s.text) && s.text[end] == ':' {
		if port := s.digitsEnd(end + 1); port > end+1 {
			end = port
		}
	}
	if end+1 >= len(s.text) || bytes.IndexByte([]byte("/?#\\"), s.text[end]) < 0 {
		return end
	}
	from, end = end, end+1
	for end < len(s.text) && classes[s.text[end]]&inPath != 0 {
		end++
	}
	return from + len(bytes.TrimRight(s.text[from:end], ".,;:!?)*\\"))
}

// addURL adds the URL of a host that ends at a place. Its path is what follows, or is given.
func (s *scanner) addURL(host, path []byte, start, end int) {
	if path == nil {
		from := end
		end = s.pathEnd(end)
		path = s.text[from:min(end, from+longestPage)]
	}
	r := &s.reduced
	if s.wantsValue() && (string(host) != r.host || string(path) != r.page) {
		r.host, r.page = string(host), string(path)
		r.kind, r.value = reducePage(r.host, r.page, s.finder.ignored.Has)
	}
	s.add(r.kind, []byte(r.value), start, end)
	s.found.URL = true
}

// relativeVideo takes a link to a video that has lost its host.
func (s *scanner) relativeVideo(start, from int) {
	end := s.pathEnd(from)
	query := s.text[from:min(end, from+longestPage)]
	s.addURL([]byte("youtube.com"), append([]byte("/watch"), query...), start, end)
}

// mail takes an e-mail address, the local part of which was read and ends at localEnd; its host
// begins at from.
func (s *scanner) mail(start, localEnd, from int) bool {
	s.local = append(s.local[:0], s.host...)
	local, _, _ := bytes.Cut(s.local, []byte("+"))
	host, end := s.trimmedHost(s.hostName(from))
	suffix, listed := s.suffixLen(host)
	if len(local) == 0 || !listed || suffix >= len(host) || bytes.ContainsAny(host, "_%+") {
		s.noHost = localEnd
		return false
	}
	if string(host) == "qq.com" && onlyDigits(local) {
		s.add(kindNumber, local, start, end)
	} else {
		s.add(kindMail, append(append(local, '@'), host...), start, end)
	}
	return true
}
