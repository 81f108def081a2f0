package contact

import (
	"bytes"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// url takes a URL, a host name or an e-mail address, and reports whether one begins here.
func (s *scanner) url() bool {
	start, rest := s.at, s.text[s.at:]
	if scheme := schemeLen(rest); scheme > 0 {
		return s.host(start, start+scheme, true)
	}
	return s.host(start, start, false)
}

func schemeLen(text []byte) int {
	for _, scheme := range []string{"http://", "https://", "hxxp://", "hxxps://", "ftp://"} {
		if len(text) > len(scheme) && string(text[:len(scheme)]) == scheme {
			return len(scheme)
		}
	}
	return 0
}

// host takes what has a host name at from, or is an e-mail address.
func (s *scanner) host(start, from int, scheme bool) bool {
	host, end := s.hostName(from)
	if end < len(s.text) && (s.text[end] == '@' || s.text[end] == '#') && !scheme {
		return s.mail(start, end)
	}
	end, host = trimHost(host, end)
	dot := bytes.LastIndexByte(host, '.')
	if dot <= 0 || bytes.Contains(host, []byte("..")) {
		return false
	}
	pathEnd := s.pathEnd(end)
	path := s.text[end:pathEnd]
	www := bytes.HasPrefix(host, []byte("www."))
	if !scheme && !isHost(host, www || len(path) > 1 && path[0] == '/') {
		return false
	}
	kind, value := s.finder.reduce(string(host), string(path))
	s.add(kind, []byte(value), start, pathEnd)
	return true
}

// hostName returns the host name that begins at from, and where it ends. A dot may be written [.],
// (.) or 点.
func (s *scanner) hostName(from int) (host []byte, end int) {
	end = from
	for end < len(s.text) {
		c, size := s.text[end], 1
		if !isAlnum(c) && c != '.' && c != '-' && c != '_' && c != '%' && c != '+' {
			if c, size = '.', s.writtenDot(end); size == 0 || len(host) == 0 {
				break
			}
		}
		host, end = append(host, c), end+size
	}
	return host, end
}

var writtenDots = []string{"[.]", "(.)", "[dot]", "(dot)", " dot ", "点", "。"}

// writtenDot returns the length of a dot that is written in another way, between letters or digits.
func (s *scanner) writtenDot(at int) int {
	for _, dot := range writtenDots {
		if n := len(dot); len(s.text)-at > n && string(s.text[at:at+n]) == dot && isAlnum(s.text[at+n]) {
			return n
		}
	}
	return 0
}

// trimHost leaves out what stands around a host name in a sentence.
func trimHost(host []byte, end int) (int, []byte) {
	trimmed := bytes.TrimRight(host, ".-_%+")
	return end - (len(host) - len(trimmed)), trimmed
}

// isHost reports whether what has no scheme is a host name and no end of a sentence: by its top
// level domain, which must be on the public suffix list, and a common one unless a path or www goes
// with it.
func isHost(host []byte, marked bool) bool {
	if bytes.ContainsAny(host, "_%+") {
		return false
	}
	suffix, icann := publicsuffix.PublicSuffix(string(host))
	if !icann || suffix == string(host) {
		return marked && bytes.HasPrefix(host, []byte("www."))
	}
	top := suffix[strings.LastIndexByte(suffix, '.')+1:]
	return marked || commonTop[top]
}

// commonTop are top level domains that are no words: "great.it was" has no host name.
var commonTop = set("com net org cn info biz xyz vip club cc tv ru uk de fr jp kr tw hk io co mobi " +
	"shop site online store tech app dev link live pro icu asia wiki cloud top edu gov br au ca eu nl " +
	"pl ua sg ph th vn cz su ly")

// pathEnd returns where the path and query of a URL end, the host of which ends at from.
func (s *scanner) pathEnd(from int) int {
	end := from
	if end < len(s.text) && s.text[end] == ':' {
		port := end + 1
		for port < len(s.text) && isDigit(s.text[port]) {
			port++
		}
		if port > end+1 {
			end = port
		}
	}
	if end >= len(s.text) || s.text[end] != '/' && s.text[end] != '?' {
		return end
	}
	for end < len(s.text) && s.text[end] > ' ' && s.text[end] < 0x7f &&
		bytes.IndexByte([]byte("\"'<>`{}|\\^[]"), s.text[end]) < 0 {
		end++
	}
	return end - (len(s.text[from:end]) - len(bytes.TrimRight(s.text[from:end], ".,;:!?)*")))
}

// reduce returns the contact of a URL: the registrable domain, or host and path on a platform.
func (f *Finder) reduce(host, path string) (kind, value string) {
	host = strings.Trim(strings.TrimPrefix(strings.TrimPrefix(host, "www."), "m."), ".")
	domain, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil {
		domain = host
	}
	page := canonicalPage(path)
	switch {
	case !f.ignored.has(kindSite + ":" + domain):
		return kindSite, domain
	case page == "" || momentOf(path):
		return kindSite, domain // ignored
	case domain == "youtu.be":
		return kindURL, "youtube.com/watch?v=" + strings.TrimPrefix(page, "/")
	case nameHosts[domain] && strings.Count(page, "/") == 1 && !strings.Contains(page, "?"):
		name := strings.TrimLeft(page, "/@")
		if strings.Trim(name, "+0123456789") == "" {
			return kindNumber, string(canonicalNumber([]byte(name)))
		}
		return kindName, name
	default:
		return kindURL, host + page
	}
}

// momentOf reports whether a link leads to a moment of a video, as those do that talk about it.
func momentOf(path string) bool {
	_, query, _ := strings.Cut(path, "?")
	for _, mark := range []string{"&t=", "&amp;t=", "&start=", "&time_continue="} {
		if strings.Contains("&"+query, mark) {
			return true
		}
	}
	return strings.Contains(path, "#t=")
}

// nameHosts are platforms where a path of one part is somebody's name or number.
var nameHosts = set("t.me telegram.me wa.me instagram.com twitter.com x.com tiktok.com facebook.com")

// tracking are parameters that say where a link was found, not what it leads to.
var tracking = set("fbclid gclid spm from ref feature source share si igshid t s app scene lang hl " +
	"ab_channel index")

// canonicalPage returns path and query without the tracking, empty for a site's front page.
func canonicalPage(path string) string {
	if i := strings.IndexByte(path, '/'); i > 0 && path[0] == ':' {
		path = path[i:]
	}
	path, query, _ := strings.Cut(path, "?")
	path = strings.TrimRight(path, "/")
	var kept []string
	between := func(r rune) bool { return r == '&' || r == ';' }
	for parameter := range strings.FieldsFuncSeq(query, between) {
		name, _, _ := strings.Cut(parameter, "=")
		if !tracking[name] && !strings.HasPrefix(name, "utm_") {
			kept = append(kept, parameter)
		}
	}
	if len(kept) > 0 {
		slices.Sort(kept)
		path += "?" + strings.Join(kept, "&")
	}
	unescaped, err := url.PathUnescape(path)
	if err != nil || strings.ContainsFunc(unescaped, func(r rune) bool { return r <= ' ' }) {
		return path
	}
	return unescaped
}

// mail takes an e-mail address, the local part of which ends at an at sign.
func (s *scanner) mail(start, at int) bool {
	host, end := s.hostName(at + 1)
	end, host = trimHost(host, end)
	suffix, icann := publicsuffix.PublicSuffix(string(host))
	local, _, _ := strings.Cut(string(s.text[start:at]), "+")
	if len(host) == 0 || !icann && !bytes.ContainsRune(host, '.') || suffix == string(host) ||
		bytes.ContainsAny(host, "_%+") || local == "" {
		return false
	}
	s.add(kindMail, []byte(local+"@"+string(host)), start, end)
	return true
}

func set(words string) map[string]bool {
	all := make(map[string]bool)
	for word := range strings.FieldsSeq(words) {
		all[word] = true
	}
	return all
}
