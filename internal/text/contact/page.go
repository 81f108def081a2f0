// page.go makes contacts of URLs: the site, or on a platform the page, the name or the number
// that it leads to.

package contact

import (
	"fmt"
	"hash/fnv"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/publicsuffix"
)

// The kinds of contacts.
const (
	Site   = "site"
	URL    = "url"
	Mail   = "mail"
	Number = "number"
	Name   = "name"
	Code   = "code"
)

// pageKinds are these.
var pageKinds = setOf("site url mail number name code")

// longestPage is how many bytes of a port, path and query are looked at.
const longestPage = 2 << 10

// reducePage returns the contact of a URL: the registrable domain, or host and path on a platform,
// of which the site is ignored.
func reducePage(host, path string, ignored func(contact []byte) bool) (kind, value string) {
	host = strings.Trim(strings.TrimPrefix(strings.TrimPrefix(host, "www."), "m."), ".")
	domain, official := siteOf(host)
	path = strings.TrimLeft(path, ":0123456789")
	page := canonicalPage(path)
	switch {
	case !official && !ignored([]byte(Site+":"+domain)):
		return Site, domain
	case page == "" || momentOf(path):
		return Site, "" // ignored
	case domain == "youtube.com" || domain == "youtu.be":
		return URL, video(domain, page)
	case domain == "wa.me":
		if number, _, _ := strings.Cut(page[1:], "?"); isPhone(number) {
			return Number, linkedPhone(number)
		}
	case domain == "whatsapp.com":
		if number := phoneOf(page); number != "" {
			return Number, number
		}
	case nameHosts[domain]:
		if kind, name := nameOf(page); name != "" {
			return kind, name
		}
	}
	return URL, short(host + page)
}

// siteOf returns what a host belongs to: its registrable domain, itself if it is an address or
// has its owner's name before the domain; and whether it is of a government or a university, the
// pages of which are many.
func siteOf(host string) (site string, official bool) {
	if _, err := netip.ParseAddr(host); err == nil {
		return host, false
	}
	suffix, _ := publicsuffix.PublicSuffix(host)
	domain, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil {
		return host, false
	}
	if owner, ok := strings.CutSuffix(host, "."+domain); ok && homeHosts[domain] {
		domain = owner[strings.LastIndexByte(owner, '.')+1:] + "." + domain
	}
	group, _, _ := strings.Cut(suffix, ".")
	return domain, officialGroups[group]
}

var officialGroups = setOf("gov edu mil ac go gob gouv gub govt")

// homeHosts give each of their users a host name of its own, and are not on the public suffix
// list.
var homeHosts = setOf("tumblr.com wordpress.com weebly.com livejournal.com lofter.com " +
	"blogchina.com blogcn.com vicp.net 3322.org 51.net nease.net jimdo.com webs.com ucoz.ru " +
	"bandcamp.com substack.com mystrikingly.com webflow.io 8u8.com")

// nameHosts are platforms where a path of one part is somebody's name or number.
var nameHosts = setOf("t.me telegram.me instagram.com twitter.com x.com tiktok.com " +
	"facebook.com fb.com threads.net snapchat.com")

// nameOf returns the name or the number that a page is the page of, empty if it is another page.
func nameOf(page string) (kind, name string) {
	name = strings.TrimPrefix(page[1:], "@")
	number, plus := strings.CutPrefix(name, "+")
	switch {
	case number != "" && strings.Trim(number, "0123456789") == "":
		if plus {
			return Number, linkedPhone(number)
		}
		return Number, number // of an account
	case len(name) >= 3 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_.") == "" &&
		!strings.HasSuffix(name, ".php"):
		return Name, name
	}
	return URL, ""
}

// phoneOf returns the number that a page of WhatsApp opens a chat with, empty if it has none.
func phoneOf(page string) string {
	_, query, _ := strings.Cut(page, "?")
	for parameter := range strings.SplitSeq(query, "&") {
		if number, ok := strings.CutPrefix(parameter, "phone="); ok {
			if isPhone(number) {
				return linkedPhone(number)
			}
		}
	}
	return ""
}

func isPhone(number string) bool {
	number = strings.TrimPrefix(number, "+")
	return len(number) >= 7 && strings.Trim(number, "0123456789") == ""
}

// linkedPhone returns the number of a link that opens a chat, in E.164: there it begins with the
// calling code, with or without a plus sign before it.
func linkedPhone(number string) string {
	digits, _ := international(strings.TrimPrefix(number, "+"))
	return "+" + digits
}

// video returns the page of a video in one form, or another page of YouTube.
func video(domain, page string) string {
	path, query, _ := strings.Cut(page, "?")
	id := ""
	if domain == "youtu.be" {
		id = path[1:]
	}
	for _, start := range []string{"/shorts/", "/embed/", "/v/", "/live/"} {
		if rest, ok := strings.CutPrefix(path, start); ok {
			id = rest
		}
	}
	for parameter := range strings.SplitSeq(query, "&") {
		if v, ok := strings.CutPrefix(parameter, "v="); ok && path == "/watch" {
			id = v
		}
	}
	if id == "" {
		return short("youtube.com" + page)
	}
	return short("youtube.com/watch?v=" + id)
}

// momentOf reports whether a link leads to a moment of a video, as those do that talk about it.
func momentOf(path string) bool {
	_, query, _ := strings.Cut(path, "?")
	for _, mark := range []string{"&t=", ";t=", "&start=", "&time_continue=", "#t="} {
		if strings.Contains("&"+query, mark) {
			return true
		}
	}
	return strings.Contains(path, "#t=")
}

// tracking are parameters that say where a link was found, not what it leads to.
var tracking = setOf("fbclid gclid msclkid mc_cid mc_eid spm from ref ref_src feature source src " +
	"share si igsh igshid t s app scene lang hl ab_channel index " +
	"isappinstalled vd_source share_source")

// frontPages are the names that front pages have on many sites.
var frontPages = setOf("/index.html /index.htm /index.php /index.asp /index.aspx /index.jsp " +
	"/default.html /default.htm /default.asp /default.aspx /home")

// canonicalPage returns path and query without the tracking, and without a place within the page.
// It is empty for a site's front page.
func canonicalPage(path string) string {
	path = strings.ReplaceAll(path, "\\", "/")
	if place := strings.IndexByte(path, '#'); place >= 0 && !strings.HasPrefix(path[place:], "#!") {
		path = path[:place]
	}
	path, query, _ := strings.Cut(path, "?")
	path = "/" + strings.Trim(path, "/")
	if path == "/" || frontPages[path] {
		path = ""
	}
	var kept []string
	between := func(r rune) bool { return r == '&' || r == ';' }
	for parameter := range strings.FieldsFuncSeq(query, between) {
		name, _, _ := strings.Cut(parameter, "=")
		if !tracking[name] && !strings.HasPrefix(name, "utm_") && name != "amp" {
			kept = append(kept, parameter)
		}
	}
	if len(kept) > 0 {
		slices.Sort(kept)
		path = strings.TrimSuffix(path, "/") + "?" + strings.Join(kept, "&")
		if path[0] == '?' {
			path = "/" + path
		}
	}
	unescaped, err := url.PathUnescape(path)
	if err != nil || !isPrintable(unescaped) {
		return path
	}
	return unescaped
}

// isPrintable reports whether a value has neither white space nor control characters.
func isPrintable(value string) bool {
	return utf8.ValidString(value) && !strings.ContainsFunc(value, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	})
}

// short returns the value of a page, at most as long as a contact of a page may be. Where it is
// longer, a hash takes the place of its end.
func short(value string) string {
	const most, hash = MaxBytes - len(URL+":"), len("~01234567")
	if len(value) <= most {
		return value
	}
	h := fnv.New32a()
	h.Write([]byte(value)) // never fails
	end := most - hash
	for !utf8.RuneStart(value[end]) {
		end--
	}
	return fmt.Sprintf("%s~%08x", value[:end], h.Sum32())
}

// setOf returns the words of a text as a set.
func setOf(words string) map[string]bool {
	all := make(map[string]bool)
	for word := range strings.FieldsSeq(words) {
		all[word] = true
	}
	return all
}
