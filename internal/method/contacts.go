package method

import (
	"fmt"

	"github.com/clusterd/clusterd/internal/contact"
	"github.com/clusterd/clusterd/internal/method/shingling"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/text"
)

// A contactMethod adds to fingerprints the contacts of articles.
type contactMethod struct {
	Method
	identity string
	finder   *contact.Finder
	cleaner  *text.Cleaner
	limit    int
}

func withContacts(m Method, s Settings) (Method, error) {
	finder, err := contact.New(s.Contacts.Ignore)
	if err != nil {
		return nil, fmt.Errorf("loading the contacts to ignore: %w", err)
	}
	cleaner, err := text.NewCleaner(text.CleanOptions{HTML: s.Text.HTML, Fold: true, Links: true})
	if err != nil {
		return nil, err
	}
	return contactMethod{
		m, m.Identity() + "," + finder.Identity(), finder, cleaner, s.Contacts.Limit,
	}, nil
}

func (m contactMethod) unwrap() Method { return m.Method }

// Identity also names how contacts are found.
func (m contactMethod) Identity() string { return m.identity }

// ThresholdSettings also names how many articles may join by contacts.
func (m contactMethod) ThresholdSettings() string {
	limit := fmt.Sprintf("contacts.limit=%d", m.limit)
	if settings := m.Method.ThresholdSettings(); settings != "" {
		return settings + "," + limit
	}
	return limit
}

// Check also returns what is wrong with the contacts.
func (m contactMethod) Check(f singlepass.Fingerprint) error {
	if err := f.Contacts.Check(); err != nil {
		return err
	}
	return m.Method.Check(f)
}

// NewFingerprinter returns a function that also finds contacts. It looks for them in the text with
// its look-alikes folded and the targets of its links, whatever the method compares.
func (m contactMethod) NewFingerprinter() func(title, content string) (singlepass.Fingerprint,
	bool) {
	fingerprint := m.Method.NewFingerprinter()
	var clean []byte
	return func(title, content string) (singlepass.Fingerprint, bool) {
		f, ok := fingerprint(title, content)
		clean = m.cleaner.AppendClean(shingling.Reuse(clean), title, content)
		f.Contacts = singlepass.NewContacts(m.finder.Values(clean))
		return f, ok
	}
}
