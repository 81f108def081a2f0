package paper

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/golden"
)

func lengthVariants(bounds ...float64) []Variant {
	m := byLength{16}
	var variants []Variant
	for _, b := range bounds {
		variants = append(variants, Variant{Name: "length", Method: m, Threshold: b})
	}
	return variants
}

// A method that tells lengths recognises what is reordered, but not what is longer or shorter; at a
// threshold without end it recognises all, and takes all for the same.
func TestRecognised(t *testing.T) {
	check.OneGoroutine(t)
	r, err := Run(t.Context(), made(t, 50), lengthVariants(2, math.Inf(1)),
		Options{Seed: 1, Centres: 10})
	if err != nil {
		t.Fatal(err)
	}
	shares := make(map[string][]float64)
	for _, row := range r.Rows {
		if row.Unit == Share {
			shares[row.What] = []float64{*row.Figures[0], *row.Figures[1]}
		}
	}
	for what, want := range map[string][]float64{
		"5 % added, word by word": {0, 1}, "5 % added, one passage": {0, 1},
		"5 % deleted, word by word": {0, 1}, "5 % deleted, one passage": {0, 1},
		"sentences reordered": {1, 1},
	} {
		if !reflect.DeepEqual(shares[what], want) {
			t.Errorf("%s: %v, want %v", what, shares[what], want)
		}
	}
	if m := shares["mistaken"]; m[0] == 0 || m[0] == 1 || m[1] != 1 {
		t.Errorf("mistaken: %v", m)
	}
}

// The same seed gives the same figures, however many cores share the work; another gives others.
func TestRunFollowsFromTheSeed(t *testing.T) {
	run := func(seed uint64) []Row {
		t.Helper()
		r, err := Run(t.Context(), made(t, 30), lengthVariants(2, 20), Options{Seed: seed, Centres: 10})
		if err != nil {
			t.Fatal(err)
		}
		var rows []Row
		for _, row := range r.Rows {
			if row.Unit == Share {
				rows = append(rows, row)
			}
		}
		return rows
	}
	if one := run(1); !reflect.DeepEqual(run(1), one) || reflect.DeepEqual(run(2), one) {
		t.Error("figures do not follow from the seed")
	}
}

// Memory is that of the index, for 250 million centres.
func TestMemory(t *testing.T) {
	v := lengthVariants(0)
	v[0].OtherIndex = func() (singlepass.Index, error) { return &heavyIndex{bytes: 4096}, nil }
	v[0].Method = byLength{1024}
	b := newBench(made(t, 2), v, Options{Centres: 4000})
	rows, err := b.memory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, bytes := range []float64{1024, 4096} {
		// A slice header, and what the slice of them has free, come on top.
		if got := *rows[i].Figures[0] * 1e9 / Documents; got < bytes || got > bytes+150 {
			t.Errorf("%s: %.0f bytes a centre, want about %.0f", rows[i].What, got, bytes)
		}
	}
}

func TestProgress(t *testing.T) {
	var steps, of int
	variants := append(lengthVariants(1, 2), Variant{Name: "other", Method: byLength{8}})
	_, err := Run(t.Context(), made(t, 2), variants,
		Options{Centres: 10, Progress: func(done, all int) {
			if steps++; done != steps {
				t.Errorf("step %d is called %d", steps, done)
			}
			of = all
		}})
	if err != nil || steps != of {
		t.Errorf("%d steps of %d, %v", steps, of, err)
	}
}

func TestRunErrors(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	two := made(t, 2)
	if _, err := Run(cancelled, two, lengthVariants(1), Options{Centres: 1}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := Run(t.Context(), two[:1], lengthVariants(1), Options{}); err == nil ||
		!strings.Contains(err.Error(), "two articles are needed") {
		t.Errorf("one article: %v", err)
	}
	if _, err := Run(t.Context(), two, lengthVariants(-1), Options{}); err == nil ||
		err.Error() != "length: less than nothing" {
		t.Errorf("a threshold that is not allowed: %v", err)
	}
}

func TestClaim(t *testing.T) {
	for _, tt := range []struct {
		claim  Claim
		figure float64
		want   bool
	}{
		{Claim{Figure: .7}, .7, true},
		{Claim{Figure: .7}, .8, true},
		{Claim{Figure: .7}, .69, false},
		{Claim{Figure: 4, Most: true}, 4, true},
		{Claim{Figure: 4, Most: true}, 3, true},
		{Claim{Figure: 4, Most: true}, 5, false},
	} {
		if got := tt.claim.Met(tt.figure); got != tt.want {
			t.Errorf("%+v met by %v: %v", tt.claim, tt.figure, got)
		}
	}
}

func TestSample(t *testing.T) {
	articles := append(made(t, 30), Article{Text: strings.Repeat("-", 500)}, Article{Text: "short"})
	got := Sample(articles, 10, 200, 1)
	if len(got) != 10 || !reflect.DeepEqual(got, Sample(articles, 10, 200, 1)) {
		t.Fatalf("%d articles, or others the second time", len(got))
	}
	if reflect.DeepEqual(got, Sample(articles, 10, 200, 2)) {
		t.Error("another seed draws the same")
	}
	at := 0
	for _, a := range got {
		for at < 30 && articles[at] != a {
			at++
		}
	}
	if at == 30 {
		t.Error("not in their order, or without a word")
	}
	if all := Sample(articles, 100, 200, 1); len(all) != 30 {
		t.Errorf("%d of 30 are long enough and have words", len(all))
	}
}

func TestWrite(t *testing.T) {
	figure := func(f float64) *float64 { return &f }
	r := Report{
		Seed: 1, Articles: 200, Characters: 1234.5,
		Variants: []string{"simhash", "simhash,fingerprint.weight=tf", "exact"},
		Rows: []Row{
			{
				What: "time a document", Unit: Milliseconds, Published: &Claim{22.5, true},
				Figures: []*float64{figure(.0765), figure(22.5), figure(100)},
			},
			{
				What: "memory", Unit: Gigabytes, Published: &Claim{4, true},
				Figures: []*float64{figure(18.24), nil, figure(4)},
			},
			{
				What: "sentences reordered", Unit: Share, Published: &Claim{Figure: .861},
				Shingle: figure(.061), Figures: []*float64{figure(1), figure(.861), figure(.8609)},
			},
			{What: "1 % changed", Unit: Share, Figures: []*float64{figure(.5), figure(0), figure(1)}},
		},
	}
	var table bytes.Buffer
	object, err := json.Marshal(r)
	if err := errors.Join(err, r.WriteTable(&table)); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/table.txt", table.Bytes())
	var back Report
	if err := json.Unmarshal(object, &back); err != nil || !reflect.DeepEqual(back, r) {
		t.Errorf("%v: as JSON it is\n%s", err, object)
	}
}
