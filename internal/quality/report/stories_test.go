package report

import (
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/quality/eval"
)

// Of stories in two languages the plot has F1 of each, since each has its threshold; of those in
// one it is F1 of all.
func TestStoryFigure(t *testing.T) {
	q := func(f1 float64) *eval.Quality { return &eval.Quality{Precision: .9, Recall: .7, F1: f1} }
	points := []eval.StoryPoint{
		{BCubed: *q(.81), Han: q(.8), Other: q(.82)},
		{Threshold: .1, BCubed: *q(.83), Han: q(.85), Other: q(.75)},
		{Threshold: .2, BCubed: *q(.6), Han: q(.5), Other: q(.7)},
	}
	of := func(points []eval.StoryPoint) Report {
		return Report{eval.Report{Runs: []eval.Run{{Name: "minhash", Stories: points}}}}
	}
	f := storyFigure(&of(points).Runs[0])
	for _, want := range []string{">B3 F1, Chinese<", ">B3 F1, other<", ">B3 precision<", ">B3 F1<"} {
		if !strings.Contains(string(f.SVG), want) {
			t.Errorf("no %s in\n%s", want, f.SVG)
		}
	}
	want := "highest at 0.10, with 0.830; the default thresholds have 0.810"
	if !strings.Contains(f.Description, want) {
		t.Error(f.Description)
	}
	page, err := of(points).HTML(Caption{})
	if err != nil || !strings.Contains(string(page), "Stories over clusters of minhash") ||
		!strings.Contains(string(page), "minhash: stories over the threshold") {
		t.Errorf("%v: no stories in\n%s", err, page)
	}
	for i := range points {
		points[i].Other = nil
	}
	points[0].BCubed = *q(.9)
	f = storyFigure(&of(points).Runs[0])
	if strings.Contains(string(f.SVG), "Chinese") ||
		!strings.Contains(f.Description, "better than the default ones, which have 0.900.") {
		t.Errorf("%s\n%s", f.Description, f.SVG)
	}
	row := strings.Join(storyCells(points[1]), " ")
	if row != "0.10 0 0 0.000 0.900 0.700 0.830 0.850 - - 0.000 0.000" {
		t.Error(row)
	}
}
