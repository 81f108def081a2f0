package method

import "github.com/clusterd/clusterd/internal/secret/redacted"

// Settings are what a configuration says of how articles are compared. Each method uses some of
// them; its [Spec] says which.
type Settings struct {
	Text        TextSettings
	Fingerprint FingerprintSettings
	Threshold   ThresholdSettings
	Contacts    ContactSettings
}

// TextSettings say how text becomes tokens. The file names are absolute.
type TextSettings struct {
	Dictionaries []string
	StopWords    []string
	HTML         string   // auto, always or never
	Extract      string   // all or article
	Fold         int      // the version of folding, 0 for none: look-alikes are the same
	Mask         []string // of [contact.Masks]: what does not count
}

// FingerprintSettings say by which method articles are compared, and how it makes fingerprints.
type FingerprintSettings struct {
	Method    string
	Secret    redacted.Text // with which hashes are keyed, at least 16 bytes; empty is none
	Hash      string        // sdbm, sdbm-raw or xxh3
	Weight    string        // log, tf, set or tfidf
	Features  Features
	IDF       string // absolute file name, or empty
	Shingle   ShingleSettings
	Titles    string // plain or weighed
	Signature string // fast, permutation or functions
	Hashes    int    // components of a signature, 16 to 1024
	Sentences int    // at least 1
	Pinyin    PinyinSettings
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
	Of   ShingleUnit
	Size int // of these, 1 to 64
}

// The values of the settings fingerprint.titles and cluster.numbers.
const (
	PlainTitles = "plain"
	Weighed     = "weighed" // titles
	AnyNumbers  = "any"
	Differ      = "differ" // numbers
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
	Window     int     // characters, 8 to 10,000
	Overlap    float64 // share of a window, 0 to .9
	Levels     int     // of a letter's frequency, 2 to 10
	Boundaries string  // content or fixed
}

// ContactSettings say whether labels mark contacts.
type ContactSettings struct {
	Join    bool
	Ignore  []string // absolute file names
	Regions []string // of telephone numbers without a calling code, as ISO 3166 codes
	Limit   int      // ignored: an earlier version had it
}

// ThresholdSettings say how near two articles must be to be the same, and how an index finds them.
type ThresholdSettings struct {
	Distance         int     // simhash: bits of 64 that may differ, 0 to 6
	VerifiedDistance int     // simhash+verify: the same, 0 to 10
	Similarity       float64 // of methods that have one: the minimum, .01 to 1; 0 is the method's own
	Recall           float64 // minhash: .5 to 1
	Index            string  // btree, mih or auto
	Containment      float64 // minhash, shingle: the minimum, 0 to 1; 0 is off
	LongSimilarity   float64 // minhash, shingle: the minimum of two long texts, 0 to 1; 0 is off
	Numbers          string  // any or differ
}
