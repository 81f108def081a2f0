package api

import "strings"

// HiddenText stands for text that is hidden.
const HiddenText = "hidden"

// HideContact returns the kind of a contact without the contact. While texts are hidden, every
// answer that names a contact calls it: contacts are telephone numbers, mail addresses and names.
func HideContact(contact string) string {
	kind, _, found := strings.Cut(contact, ":")
	if !found {
		return contact
	}
	return kind + ":" + HiddenText
}
