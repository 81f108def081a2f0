package jaccard

import "fmt"

// What else must hold of two articles the one of which contains the other. With a lower Jaccard
// index, and in shorter texts, what they have in common is too often a form that both fill in:
// docs/quality.md has the figures.
const (
	leastContainedJaccard = .5
	leastContainedSize    = 100 // distinct elements, such as shingles
)

// leastLongSize is from how many distinct elements, such as shingles, on an article is long. Two
// long texts of one language have many short shingles in common by chance. From 100 on, text
// messages would be held to more and lose copies; from 200 on, more news items join wrongly.
const leastLongSize = 150

// rounding is the tolerance for products and differences that floats make too large or too small,
// so that 90 of 100 are .9.
const rounding = 1e-9

// A Rule says what decides that articles are the same, beside the threshold of their Jaccard
// distance. The zero value leaves it to the threshold.
type Rule struct {
	// Containment, above 0 and up to 1, also takes articles as the same of which the one holds most
	// of the other: it is the minimum of their containment (Broder, "On the Resemblance and
	// Containment of Documents", 1997), where their Jaccard index is at least .5, the smaller of the
	// two sets has at least 100 elements, and no more than one of them quotes another: two answers to
	// the same message have that in common, and are not the same. The containment of two sets is
	//
	//	|A ∩ B| / min(|A|, |B|)
	//
	// At 0 no article is the same by it.
	Containment float64
	// LongSimilarity, above 0 and up to 1, is the minimum of the Jaccard index of two long articles,
	// both of at least 150 elements, where that of the threshold is lower. At 0 there is none. It
	// does not hold for what is the same by Containment.
	LongSimilarity float64
}

// A Size is what a rule has to know of a set beside the Jaccard index.
type Size struct {
	Elements int
	Quotes   bool // the article quotes another
}

// Check returns an error of a minimum that is not allowed.
func (r Rule) Check() error {
	for _, minimum := range []struct {
		name  string
		value float64
	}{{"containment", r.Containment}, {"long similarity", r.LongSimilarity}} {
		if !(minimum.value >= 0 && minimum.value <= 1) {
			return fmt.Errorf("%s %v: allowed is 0 to 1, and 0 is off", minimum.name, minimum.value)
		}
	}
	return nil
}

// Settings names what is on, to be put behind other settings; it is empty where nothing is.
func (r Rule) Settings() (settings string) {
	if r.Containment > 0 {
		settings = fmt.Sprintf(",containment=%v", r.Containment)
	}
	if r.LongSimilarity > 0 {
		settings += fmt.Sprintf(",long_similarity=%v", r.LongSimilarity)
	}
	return settings
}

// Counts reports whether the rule has to know how many elements a set has.
func (r Rule) Counts() bool { return r != Rule{} }

// Reach returns how far articles may be apart that are the same where the threshold is this.
func (r Rule) Reach(threshold float64) float64 {
	if r.Containment == 0 {
		return threshold
	}
	return max(threshold, 1-leastContainedJaccard)
}

// Joins reports whether two articles at this Jaccard distance are the same, where the threshold is
// this: they are similar, or the one contains the other.
func (r Rule) Joins(distance, threshold float64, a, b Size) bool {
	return r.similar(distance, threshold, a, b) || r.contained(distance, a, b)
}

func (r Rule) similar(distance, threshold float64, a, b Size) bool {
	if distance > threshold {
		return false
	}
	return r.LongSimilarity == 0 || min(a.Elements, b.Elements) < leastLongSize ||
		distance <= 1-r.LongSimilarity+rounding
}

func (r Rule) contained(distance float64, a, b Size) bool {
	return r.Containment > 0 && distance <= r.Reach(0) && !(a.Quotes && b.Quotes) &&
		min(a.Elements, b.Elements) >= leastContainedSize &&
		containmentOf(distance, a.Elements, b.Elements) >= r.Containment
}

// containmentOf returns the containment of two sets of so many elements at this Jaccard distance:
// with an index of J they have J/(1+J)·(|A|+|B|) in common. Where the distance or a size is an
// estimate, it may exceed 1.
func containmentOf(distance float64, a, b int) float64 {
	index := 1 - distance
	return index/(1+index)*float64(a+b)/float64(min(a, b)) + rounding
}
