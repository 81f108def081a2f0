package config

import (
	"github.com/clusterd/clusterd/internal/config/table"
	"github.com/clusterd/clusterd/internal/config/value"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/text/contact"
	"github.com/clusterd/clusterd/internal/text/fold"
)

func textKeys(c *method.TextSettings) []table.Key {
	return []table.Key{
		{
			Path: "text.dictionaries", Value: value.List(&c.Dictionaries, 0, value.RequiredFile()),
			Doc: "Files of words to add to the built-in dictionary, such as names and terms of your field.",
		},
		{
			Path: "text.stop_words", Value: value.List(&c.StopWords, 0, value.RequiredFile()),
			Doc: "Files of words to leave out beside the built-in ones, such as your sites' boilerplate.",
		},
		{
			Path: "text.html", Value: value.Scalar(&c.HTML, value.OneOf("auto", "always", "never"), "auto"),
			Doc: "Whether to strip mark-up; auto does where the text looks like HTML.",
		},
		{
			Path: "text.extract", Value: value.Scalar(&c.Extract, value.OneOf("all", "article"), "all"),
			Doc: "What of a whole HTML page is compared: all its text, or what looks like the article, " +
				"without menus and adverts.",
		},
		{
			Path: "text.fold", Value: value.Scalar(&c.Fold, value.Version(fold.Latest), 0),
			Doc: "Whether what spam varies is the same: letters that look alike, accents, emoji, letters " +
				"spaced out, digits for letters; 1 is without the last, and keeps clusters of the version " +
				"before.",
		},
		{
			Path: "text.mask", Value: value.List(&c.Mask, 0, value.OneOf(contact.Masks...)),
			Doc: "What does not count, since a template fills it in; numerals are Chinese numbers; masks " +
				"belong beside contacts.join, and merge what differs in them alone.",
		},
	}
}
