package audit

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"

	"github.com/clusterd/clusterd/internal/singlepass"
)

// start is the event time of the first article.
const start = 1_700_000_000_000

// An item is an input record, as the tests want it to come out.
type item struct {
	partition   int32
	fingerprint uint64
	minute      int64  // event time, from start on
	kind        string // clustered when empty, else undated, unclustered or the class of a dead letter
}

// bad are the values of records of a class.
var bad = map[string]string{
	"bad_json":  "{",
	"bad_field": `{"title":7}`,
	"empty":     `{"author":"x"}`,
	"too_deep":  strings.Repeat("[", 100),
}

// spelled is a method of which articles say their fingerprints themselves.
type spelled struct{ distance int }

func (spelled) ThresholdSettings() string          { return "" }
func (spelled) Check(singlepass.Fingerprint) error { return nil }
func (spelled) Identity() string                   { return "method=spelled" }

func (spelled) NewFingerprinter() func(title, content string) (singlepass.Fingerprint, bool) {
	return func(_, content string) (f singlepass.Fingerprint, ok bool) {
		_, err := fmt.Sscanf(content, "%x", &f.Hash)
		return f, err == nil
	}
}

func (spelled) Distance(a, b singlepass.Fingerprint) float64 {
	return float64(bits.OnesCount64(a.Hash ^ b.Hash))
}
func (m spelled) Threshold() float64 { return float64(m.distance) }

func (spelled) NewIndex(
	float64,
) (singlepass.Index, error) {
	panic("the audit has a model of its own")
}

// story has two clusters that are 4 bits apart, an article between them, a third cluster, one dead
// letter and one article without a word. Offsets without gaps make the addresses in the tests:
// article i is articles/(i mod 2)/(i div 2).
var story = []item{
	{0, 0x00, 0, ""},            // new
	{1, 0x0f, 1, ""},            // new
	{0, 0x03, 2, ""},            // as near to both: joins the older
	{1, 0, 3, "bad_json"},       //
	{0, 0x1f, 4, ""},            // joins the second
	{1, 0, 5, "unclustered"},    //
	{0, 0xffff0000, 6, ""},      // new
	{1, 0xffff0001, 7, ""},      // joins it
	{0, 0x1e, 8, ""},            // joins the second
	{1, 0xff000000ff00, 9, ""},  // new
	{0, 0xff000000ff00, 10, ""}, // joins it
	{1, 0x01, 11, ""},           // joins the first
}

// long returns n articles a minute apart, many of them near one another.
func long(n int) []item {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	items := make([]item, n)
	for i := range items {
		items[i] = item{
			int32(r.IntN(2)), uint64(r.IntN(40))*0x9e3779b97f4a7c15 ^ 1<<r.IntN(64), int64(i), "",
		}
		switch r.IntN(20) {
		case 0:
			items[i].kind = "unclustered"
		case 1:
			items[i].kind = "bad_field"
		case 2:
			items[i].minute = max(0, int64(i)-30) // late
		case 3:
			items[i].kind = "undated"
		}
	}
	return items
}
