package method

import (
	"fmt"

	"github.com/clusterd/clusterd/internal/method/shingling"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/text"
	"github.com/clusterd/clusterd/internal/text/contact"
	"github.com/clusterd/clusterd/internal/text/fold"
)

// A ContactFinder finds the contacts of articles. It looks for them in the text with its
// look-alikes folded and the targets of its links, whatever a method compares. It is safe for
// concurrent use.
type ContactFinder struct {
	finder  *contact.Finder
	cleaner *text.Cleaner
}

// NewContactFinder returns a ContactFinder that ignores what the settings say. The error names a
// file and the line.
func NewContactFinder(s Settings) (*ContactFinder, error) {
	finder, err := contact.New(s.Contacts.Ignore, s.Contacts.Regions)
	if err != nil {
		return nil, fmt.Errorf("loading the contacts to ignore: %w", err)
	}
	cleaner, err := text.NewCleaner(
		text.CleanOptions{HTML: s.Text.HTML, Fold: fold.Latest, Links: true})
	return &ContactFinder{finder, cleaner}, err
}

// Find returns the contacts of an article. The cleaned text goes into buffer, which is returned to
// be used again.
func (f *ContactFinder) Find(
	buffer []byte, title, content string,
) (contacts singlepass.Contacts, clean []byte) {
	clean, styled := f.cleaner.AppendStyled(buffer[:0], title, content)
	var parts []contact.Range
	for _, part := range styled {
		parts = append(parts, contact.Range(part))
	}
	return singlepass.NewContacts(f.finder.Values(clean, parts...)), clean
}

// A contactMethod adds to fingerprints the contacts of articles.
type contactMethod struct {
	Method
	*ContactFinder
}

func withContacts(m Method, s Settings) (Method, error) {
	finder, err := NewContactFinder(s)
	if err != nil {
		return nil, err
	}
	return contactMethod{m, finder}, nil
}

func (m contactMethod) unwrap() Method { return m.Method }

// ContactsIdentity says how a method finds contacts; empty where it does not. It is no part of the
// method's identity: articles are compared without their contacts.
func ContactsIdentity(m Method) string {
	if c, ok := m.(contactMethod); ok {
		return c.finder.Identity()
	}
	return ""
}

// Check also returns what is wrong with the contacts.
func (m contactMethod) Check(f singlepass.Fingerprint) error {
	if err := f.Contacts.Check(); err != nil {
		return err
	}
	return m.Method.Check(f)
}

// NewFingerprinter returns a function that also finds contacts.
func (m contactMethod) NewFingerprinter() func(title, content string) (singlepass.Fingerprint,
	bool) {
	fingerprint := m.Method.NewFingerprinter()
	var clean []byte
	return func(title, content string) (singlepass.Fingerprint, bool) {
		f, ok := fingerprint(title, content)
		f.Contacts, clean = m.Find(shingling.Reuse(clean), title, content)
		return f, ok
	}
}
