// Package contact finds what a text wants one to reach: the contacts by which spam is known
// however its words change. In goes cleaned and folded text, as package text makes it; out come
// contacts, each in one canonical form and with its place in the text:
//
//	site:shop.example               the registrable domain of a URL
//	url:youtube.com/watch?v=x       host and path, where many share the domain
//	mail:somebody@mail.example      an e-mail address
//	number:13800138000              a telephone, QQ, WhatsApp or short number
//	name:alexis17                   a WeChat, Telegram or other name, a handle, a made-up name
//	code:vip888                     an invitation code
//
// What honest texts share is none: a list of platforms and common names is built in, and a user's
// own is added to it.
package contact

import (
	"iter"
	"slices"

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
	ignored  ignored
	identity string
}

// New returns a Finder that ignores, beside what is built in, the contacts that files list: one a
// line as results name them, where at the end * stands for any rest, and # for any digits. A site
// that is ignored is one of which only pages are contacts. Blank lines and lines that begin with
// '#' are skipped. An error names the path and the line.
func New(ignore []string) (*Finder, error) {
	i, err := loadIgnored(ignore)
	if err != nil {
		return nil, err
	}
	return &Finder{i, "contacts=" + version + "/" + i.checksum()}, nil
}

// Identity names everything that changes contacts: the version of the finder, and a checksum of
// what it ignores, as in contacts=1/0123abcd. It is the same on every machine.
func (f *Finder) Identity() string { return f.identity }

// version is part of [Finder.Identity]. Raise it with every change of what is found;
// testdata/contacts.golden shows when that is so.
const version = "1"

// All hands on the contacts of a text in their order, those that are ignored too. It is linear in
// the length of the text.
func (f *Finder) All(text []byte) iter.Seq[Contact] {
	return func(yield func(Contact) bool) {
		s := scanner{finder: f, text: text}
		for s.next() && yield(s.found) {
		}
	}
}

// Values returns the first [MaxPerText] different contacts of a text, without those that are
// ignored, in ascending order.
func (f *Finder) Values(text []byte) []string {
	s := scanner{finder: f, text: text}
	for len(s.values) < MaxPerText && s.next() {
	}
	slices.Sort(s.values)
	return s.values
}
