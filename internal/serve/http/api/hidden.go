package api

import "strings"

// HiddenText stands for what is not told.
const HiddenText = "hidden"

// HideContact leaves what kind of contact it is. Whatever tells a contact while texts are hidden
// calls it: contacts are telephone numbers, mail addresses and names.
func HideContact(contact string) string {
	kind, _, found := strings.Cut(contact, ":")
	if !found {
		return contact
	}
	return kind + ":" + HiddenText
}
