package method

import (
	"slices"
	"strings"

	"github.com/clusterd/clusterd/internal/simhash/keyedhash"
)

// A Spec is the specification of a method: what a user may set, and what the rest of the program
// has to know of it without knowing the method.
type Spec struct {
	Name string
	// Thresholds are the configuration keys that decide whether two articles are the same. The
	// first is the one that Distance is held to; there is none where articles are equal or not.
	Thresholds []Threshold
	// Keys are the other configuration keys that the method uses, of those that not all methods
	// use. A section stands for all keys in it.
	Keys []string
	// HashIsAll reports that fingerprints have no sketch and differ by the Hamming distance of
	// their 64 bits. So who has results alone can compare them, and an audit can find the nearest.
	HashIsAll bool

	newMethod func(Settings, *keyedhash.Key) (Method, error)
}

// A Threshold is a configuration key and what it is measured in.
type Threshold struct {
	Key  string
	Unit Unit
}

// A Unit is what a threshold is measured in.
type Unit int

// The units of thresholds.
const (
	Similarity Unit = iota // the minimum of a similarity, 0 to 1; a distance is 1 less it
	Bits                   // the maximum of a Hamming distance
)

const similarityKey = "cluster.similarity"

// Specs lists the methods, the default first. A method is added by a package and an entry here.
func Specs() []Spec {
	similarity := Threshold{similarityKey, Similarity}
	weighed := []string{
		"fingerprint.hash", "fingerprint.weight", "fingerprint.features", "fingerprint.idf",
	}
	return []Spec{
		{
			Name:       "simhash",
			Thresholds: []Threshold{{"cluster.distance", Bits}},
			Keys:       append(weighed, "cluster.index"),
			HashIsAll:  true,
			newMethod:  newSimHash,
		},
		{
			Name:       "simhash+verify",
			Thresholds: []Threshold{{"cluster.verified_distance", Bits}, similarity},
			Keys:       weighed,
			newMethod:  newVerified,
		},
		{
			Name:       "minhash",
			Thresholds: []Threshold{similarity},
			Keys: []string{
				"fingerprint.shingle", "fingerprint.titles", "fingerprint.signature",
				"fingerprint.hashes", "cluster.recall", "cluster.containment",
				"cluster.long_similarity", "cluster.numbers",
			},
			newMethod: newMinHash,
		},
		{
			Name:       "shingle",
			Thresholds: []Threshold{similarity},
			Keys: []string{
				"fingerprint.shingle", "fingerprint.titles", "cluster.containment",
				"cluster.long_similarity", "cluster.numbers",
			},
			newMethod: newShingle,
		},
		{
			Name:      "ksentence",
			Keys:      []string{"fingerprint.sentences"},
			newMethod: newKSentence,
		},
		{
			Name:       "pinyin",
			Thresholds: []Threshold{similarity},
			Keys:       []string{"fingerprint.pinyin"},
			newMethod:  newPinyin,
		},
		{
			Name:      "exact",
			newMethod: newExact,
		},
	}
}

// SpecOf returns the specification of a method; ok is false of a name that is none.
func SpecOf(name string) (s Spec, ok bool) {
	for _, s := range Specs() {
		if s.Name == name {
			return s, true
		}
	}
	return Spec{}, false
}

// Names lists the methods, the default first.
func Names() []string {
	var names []string
	for _, s := range Specs() {
		names = append(names, s.Name)
	}
	return names
}

// Using lists the methods that use a configuration key, of those that not all methods use. It
// is empty where all do.
func Using(key string) []string {
	var names []string
	for _, s := range Specs() {
		if s.uses(key) {
			names = append(names, s.Name)
		}
	}
	return names
}

// MeasuredIn lists the methods whose distances are in this unit.
func MeasuredIn(unit Unit) []string {
	var names []string
	for _, s := range Specs() {
		if s.Measure().Unit == unit {
			names = append(names, s.Name)
		}
	}
	return names
}

// Measure returns the threshold that distances are held to. Of a method without one it is the
// similarity, which is 1 of equal articles and else 0.
func (s Spec) Measure() Threshold {
	if len(s.Thresholds) == 0 {
		return Threshold{similarityKey, Similarity}
	}
	return s.Thresholds[0]
}

func (s Spec) uses(key string) bool {
	within := func(of string) bool { return key == of || strings.HasPrefix(key, of+".") }
	return slices.ContainsFunc(s.Keys, within) ||
		slices.ContainsFunc(s.Thresholds, func(t Threshold) bool { return t.Key == key })
}
