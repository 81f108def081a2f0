package paper

import "fmt"

// Documents is how many the published figure of memory is for.
const Documents = 250_000_000

// A Claim is a published figure as something that can be met: at least or at most as much.
type Claim struct {
	Figure float64 `json:"figure"`
	Most   bool    `json:"at_most"` // else at least
}

// Met reports whether a figure is as good as the published one.
func (c Claim) Met(figure float64) bool {
	if c.Most {
		return figure <= c.Figure
	}
	return figure >= c.Figure
}

// Units of figures.
const (
	Milliseconds = "ms"
	Gigabytes    = "GB"    // of 10⁹ bytes
	Share        = "share" // of the articles, 0 to 1
)

// An experiment is a way to edit articles, and what share of them the paper recognised then.
type experiment struct {
	name    string
	edit    edit
	simhash *Claim   // what the paper has for SimHash; nil: no figure
	shingle *float64 // what it has for Shingle; nil: no figure
}

// experiments returns what the paper did. The published figures are those of the paper "SimHash +
// Single-Pass" that the design follows: SDBM hashes, term frequencies, distance 3, beside Shingle
// with a Jaccard similarity above .95; on an i5-3210M.
func experiments() []experiment {
	fivePercent := &Claim{Figure: .70}
	shingleReordered := .061
	all := []experiment{
		{name: "5 % added, word by word", edit: adding(.05), simhash: fivePercent},
		{name: "5 % added, one passage", edit: addingPassage(.05), simhash: fivePercent},
		{name: "5 % deleted, word by word", edit: deleting(.05), simhash: fivePercent},
		{name: "5 % deleted, one passage", edit: deletingPassage(.05), simhash: fivePercent},
		{
			name: "sentences reordered", edit: reordering, simhash: &Claim{Figure: .861},
			shingle: &shingleReordered,
		},
	}
	for _, percent := range []float64{1, 2, 3, 5, 7, 10, 15, 20} {
		all = append(all, experiment{
			name: fmt.Sprintf("%.0f %% changed", percent),
			edit: changing(percent / 100),
		})
	}
	return all
}
