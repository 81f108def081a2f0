package method

import "github.com/clusterd/clusterd/internal/secret/redacted"

// Settings are what a configuration says of how articles are compared. Each method uses some of
// them; its [Spec] says which. Each field below is a key of the configuration. Package config reads
// its comment and its tag.
type Settings struct {
	Text        TextSettings
	Fingerprint FingerprintSettings
	Threshold   ThresholdSettings
	Guard       GuardSettings
	Contacts    ContactSettings
}

// TextSettings say how text becomes tokens. The file names are absolute.
type TextSettings struct {
	// Files of words to add to the built-in dictionary, such as names and terms of your field.
	Dictionaries []string `kind:"needed_file"`
	// Files of words to leave out beside the built-in ones, such as your sites' boilerplate.
	StopWords []string `key:"stop_words" kind:"needed_file"`
	// Whether to strip mark-up; auto does where the text looks like HTML.
	HTML string `kind:"word auto always never" default:"auto"`
	// What of a whole HTML page is compared: all its text, or what looks like the article, without
	// menus and adverts.
	Extract string `kind:"word all article" default:"all"`
	// Whether what spam varies is the same: letters that look alike, accents, emoji, letters spaced
	// out, digits for letters; 1 is without the last, and keeps clusters of the version before.
	Fold int `kind:"fold"`
	// What does not count, since a template fills it in; numerals are Chinese numbers; masks belong
	// beside contacts.join, and merge what differs in them alone.
	Mask []string `kind:"mask"`
}

// FingerprintSettings say by which method articles are compared, and how it makes fingerprints.
type FingerprintSettings struct {
	// How articles are compared; docs/quality.md says which method is for what.
	Method string `kind:"method" default:"simhash"`
	// Secret of 16 bytes or more, made at random, so that nobody can make articles for a cluster;
	// file:PATH. Another one starts anew.
	Secret redacted.Text `kind:"hash_secret"`
	// simhash without a secret: hash of a token; sdbm-raw only to match old fingerprints, since it
	// merges unrelated articles.
	Hash string `kind:"word sdbm sdbm-raw xxh3" default:"sdbm"`
	// simhash: weight of a token: logarithm of its count, the count, 1, or logarithm times rarity; tf
	// lets frequent words rule.
	Weight string `kind:"word log tf set tfidf" default:"log"`
	// simhash: what is weighed: words, or also each pair of neighbours, which tells order and is
	// stricter.
	Features Features `kind:"word words pairs" default:"words"`
	// simhash with weight tfidf: table of how rare words are, as 'clusterd idf' writes it; empty
	// takes the built-in one.
	IDF     string `kind:"file"`
	Shingle ShingleSettings
	// fast similarity sketching, one permutation with densification, or a hash function for each
	// place (slow).
	Signature string `kind:"word fast permutation functions" default:"fast"`
	// places of a signature, a byte each; more tells more and costs more.
	Hashes int `kind:"integer 16 1024" default:"128"`
	// how many of the longest sentences must be the same.
	Sentences int `kind:"integer 1 1000" default:"3"`
	// weighed keeps articles apart that have unlike titles over a short body, such as a notice of
	// copyright.
	Titles string `kind:"word plain weighed" default:"plain"`
	Pinyin PinyinSettings
}

// Features are what a SimHash is made of.
type Features string

// The features of a SimHash.
const (
	Words Features = "words"
	Pairs Features = "pairs" // words, and each pair of neighbours
)

// ShingleSettings say what a shingle is.
type ShingleSettings struct {
	// what a shingle is a run of; characters need no dictionary.
	Of ShingleUnit `kind:"word characters words" default:"characters"`
	// how many of them a shingle has; more is stricter.
	Size int `kind:"integer 1 64" default:"5"`
}

// Values of fingerprint.titles and cluster.numbers.
const (
	Weighed = "weighed" // titles
	Differ  = "differ"  // numbers
)

// A ShingleUnit is what shingles are runs of.
type ShingleUnit string

// The units of shingles.
const (
	OfCharacters ShingleUnit = "characters"
	OfWords      ShingleUnit = "words"
)

// PinyinSettings say how windows of pinyin initials are made and told apart.
type PinyinSettings struct {
	// characters in a window; larger ones tolerate more and match less.
	Window int `kind:"integer 8 10000" default:"24"`
	// share of a window that the next one has too.
	Overlap float64 `kind:"share 0 0.9" default:"0.5"`
	// how finely the frequency of a letter is told; finer is stricter.
	Levels int `kind:"integer 2 10" default:"2"`
	// whether windows begin where the content says so, or at the first character, as published.
	Boundaries string `kind:"word content fixed" default:"content"`
}

// ContactSettings say whether labels mark contacts.
type ContactSettings struct {
	// Whether a label on a cluster marks the contacts of its founder, so that texts in other words
	// get it too: a site, page, address, number, name or code; not for news.
	Join bool
	// Files of contacts that honest texts share, one a line as results name them, beside the built-in
	// platforms and names.
	Ignore []string `kind:"needed_file"`
	// Countries, as [GB, US]: a telephone number without a calling code is that of the first one in
	// which it is possible, and so the same contact as with the code.
	Regions []string `kind:"region"`
	// Ignored, and to be removed: no article joins a cluster by a contact any more. What a label
	// reaches by a contact follows from the clicks.
	Limit int `kind:"integer 0 1000000"`
}

// ThresholdSettings say how near two articles must be to be the same, and how an index finds them.
type ThresholdSettings struct {
	// how many of the 64 bits may differ from the centre; more finds more and errs more.
	Distance int `kind:"integer 0 6" default:"3"`
	// how many of the 64 bits may differ where the sketches are similar.
	VerifiedDistance int `key:"verified_distance" kind:"integer 0 10" default:"10"`
	// least similarity to the centre; auto is what docs/quality.md measured for the method.
	Similarity float64 `kind:"share_or_auto 0.01 1"`
	// probability that a centre of the least similarity is found; 1 finds all, for more memory.
	Recall float64 `kind:"share 0.5 1" default:"0.999"`
	// how centres within the distance are found; the results are the same.
	Index string `kind:"word btree mih auto" default:"btree"`
}

// GuardSettings say what beside similarity decides that two articles are the same.
type GuardSettings struct {
	// least share of the shorter text that is in the longer one, such as 0.9, so that cut and wrapped
	// copies join; 0 is off.
	Containment float64 `kind:"share 0 1"`
	// least similarity of two texts with at least 150 different shingles each, which share more by
	// chance; 0 is cluster.similarity.
	LongSimilarity float64 `key:"long_similarity" kind:"share 0 1"`
	// differ keeps texts apart whose numbers are not all the same, such as daily reports; for a
	// similarity of 0.65 or more.
	Numbers string `kind:"word any differ" default:"any"`
}
