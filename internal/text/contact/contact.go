// Package contact finds what a text wants one to reach: the contacts by which spam is known
// however its words change. In goes cleaned and folded text, as package text makes it; out come
// contacts, each in one canonical form and with its place in the text:
//
//	site:shop.example               the registrable domain of a URL
//	url:youtube.com/watch?v=x       host and path, where many share the domain
//	mail:somebody@mail.example      an e-mail address
//	number:+8613800138000           a telephone number in E.164
//	number:13800138000              another one, as it is written: of which the country is unknown, a
//	                                QQ number, a short number
//	name:alexis17                   a WeChat, Telegram or other name, a handle, a made-up name
//	code:vip888                     an invitation code
//
// What honest texts share is none: a list of platforms and common names is built in, and a user's
// own is added to it.
package contact

import (
	"iter"
	"slices"
	"strings"

	"github.com/clusterd/clusterd/internal/singlepass"
)

const (
	// MaxPerText is how many contacts a text has at most: the first ones. An honest text with more
	// of them is a directory.
	MaxPerText = singlepass.MaxContacts
	// MaxBytes is how long a contact may be. Of a longer page a hash stands for the rest, and what
	// else is longer is none.
	MaxBytes = singlepass.MaxContactBytes
)

// A Contact is a contact of a text, and where it stands.
type Contact struct {
	// Value is canonical, valid UTF-8 without white space or control characters, and has at most
	// [MaxBytes]. It is empty of what is ignored, and behind the first [MaxPerText] different ones.
	Value      string
	URL        bool // it is written as a URL or a host name
	Start, End int  // bytes of the text
}

// A Finder finds contacts. It is safe for concurrent use.
type Finder struct {
	ignored  *Ignored
	regions  []Region // of telephone numbers without a calling code
	identity string
}

// New returns a Finder that ignores, beside what is built in, the contacts that files list: one a
// line as results name them, where at the end * stands for any rest, and # for any digits. A site
// that is ignored is one of which only pages are contacts. Blank lines and lines that begin with
// '#' are skipped. An error names the path and the line.
//
// Regions are countries, some of [phone.Names]: a telephone number without a calling code is that
// of the first one in which it is possible.
func New(ignored, regions []string) (*Finder, error) {
	i, err := LoadIgnored(ignored)
	if err != nil {
		return nil, err
	}
	f := &Finder{ignored: i, identity: "contacts=" + version + "/" + i.Checksum()}
	if f.regions, err = Regions(regions); len(regions) > 0 {
		f.identity += "/" + strings.Join(regions, "+")
	}
	return f, err
}

// Identity names everything that changes contacts: the version of the finder, and a checksum of
// what it ignores, as in contacts=2/0123abcd, and the regions. It is the same on every machine.
func (f *Finder) Identity() string { return f.identity }

// version is part of [Finder.Identity]. Raise it with every change of what is found;
// testdata/contacts.golden shows when that is so.
const version = "2"

// All hands on the contacts of a text in their order, those that are ignored too. It is linear in
// the length of the text.
func (f *Finder) All(text []byte) iter.Seq[Contact] {
	return func(yield func(Contact) bool) {
		s := scanner{finder: f, text: text}
		for s.next() && yield(s.found) {
		}
	}
}

// A Range is a part of a text, in bytes.
type Range struct{ Start, End int }

// Values returns the first [MaxPerText] different contacts of a text, without those that are
// ignored, in ascending order. Styled are the parts of it, in order and apart, that were written in
// a style before the text was folded, such as 𝐁𝐄𝐓𝐌𝐄𝐍 and A L E X I S: five letters and more of them
// are a name.
func (f *Finder) Values(text []byte, styled ...Range) []string {
	s := scanner{finder: f, text: text, styled: styled}
	for len(s.values) < MaxPerText && s.next() {
	}
	slices.Sort(s.values)
	return s.values
}
