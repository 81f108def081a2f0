package jaccard

import "fmt"

// What else must hold of two articles the one of which contains the other. With a lower Jaccard
// index, and in shorter texts, what they have in common is too often a form that both fill in:
// docs/quality.md has the figures.
const (
	leastContainedJaccard = .5
	leastContainedSize    = 100 // distinct elements, such as shingles
)

// A Containment is the rule by which an article that holds most of another, or the other way round,
// is the same as it: the minimum of their containment (Broder, "On the Resemblance and Containment
// of Documents", 1997), where their Jaccard index is at least .5, the smaller of the two sets has
// at least 100 elements, and no more than one of them quotes another: two answers to the same
// message have that in common, and are not the same. The containment of two sets is
//
//	|A ∩ B| / min(|A|, |B|)
//
// At 0, the zero value, no article is the same by this rule.
type Containment float64

// A Size is what the rule has to know of a set beside the Jaccard index.
type Size struct {
	Elements int
	Quotes   bool // the article quotes another
}

// Check returns an error of a minimum that is not allowed.
func (c Containment) Check() error {
	if !(c >= 0 && c <= 1) {
		return fmt.Errorf("containment %v: allowed is 0 to 1, and 0 is off", float64(c))
	}
	return nil
}

// Setting returns what names the rule behind other settings; it is empty where the rule is off.
func (c Containment) Setting() string {
	if c == 0 {
		return ""
	}
	return fmt.Sprintf(",containment=%v", float64(c))
}

// Holds reports whether two sets at this Jaccard distance are the same by the rule.
func (c Containment) Holds(distance float64, a, b Size) bool {
	return c > 0 && distance <= c.Reach(0) && !(a.Quotes && b.Quotes) &&
		min(a.Elements, b.Elements) >= leastContainedSize &&
		containmentOf(distance, a.Elements, b.Elements) >= float64(c)
}

// Reach returns how far articles may be apart that are the same by this rule or by a distance up to
// the threshold.
func (c Containment) Reach(threshold float64) float64 {
	if c == 0 {
		return threshold
	}
	return max(threshold, 1-leastContainedJaccard)
}

// containmentOf returns the containment of two sets of so many elements at this Jaccard distance:
// with an index of J they have J/(1+J)·(|A|+|B|) in common. Where the distance or a size is an
// estimate, it may exceed 1.
func containmentOf(distance float64, a, b int) float64 {
	const rounding = 1e-9 // so that 90 of 100 are .9
	index := 1 - distance
	return index/(1+index)*float64(a+b)/float64(min(a, b)) + rounding
}
