package minhash

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/clusterd/clusterd/internal/testutil/check"
)

func TestRecall(t *testing.T) {
	for _, test := range []struct {
		p           float64
		bands, rows int
		want        float64
	}{
		{0.4, 100, 3, 0.9986585},
		{0.8, 20, 5, 0.9996439},
		{0.2, 20, 5, 0.0063806},
		{0, 10, 2, 0},
		{1, 1, 128, 1},
	} {
		if got := Recall(test.p, test.bands, test.rows); math.Abs(got-test.want) > 5e-8 {
			t.Errorf("Recall(%v, %d, %d) = %.7f, want %.7f", test.p, test.bands, test.rows, got, test.want)
		}
	}
}

func TestBands(t *testing.T) {
	for _, test := range []struct {
		hashes            int
		threshold, recall float64
		bands, rows       int
	}{
		{128, 0.77, 0.999, 22, 5},
		{128, 0.75, 0.999, 19, 4},
		{128, 0.8, 0.999, 17, 5},
		{128, 0.7, 0.999, 25, 4},
		{128, 0.5, 0.999, 25, 2},
		{128, 0.9, 0.999, 13, 9}, // 12 may differ: in 13 bands one agrees
		{128, 0.77, 1, 30, 4},
		{128, 0.77, 0.5, 9, 10},
		{128, 1, 0.999, 1, 128},
		{128, 0.01, 1, 127, 1},
		{100, 0.8, 1, 21, 4}, // 80 agree in floats too
		{16, 0.75, 0.9, 5, 3},
		{1, 0.5, 1, 1, 1},
	} {
		if bands, rows := Bands(test.hashes, test.threshold, test.recall); bands != test.bands ||
			rows != test.rows {
			t.Errorf("Bands(%d, %v, %v) = %d of %d, want %d of %d",
				test.hashes, test.threshold, test.recall, bands, rows, test.bands, test.rows)
		}
	}
}

// Bands fit into a signature, do what they must, and no others with more rows or as many, but fewer
// bands, do.
func TestBandsAreTheFewest(t *testing.T) {
	check.OneGoroutine(t)
	r := rand.New(rand.NewPCG(8, 8))
	for range 300 {
		hashes, threshold, recall := 1+r.IntN(200), 0.01+0.99*r.Float64(), 0.5+0.4999*r.Float64()
		differ := mayDiffer(hashes, threshold)
		fulfils := func(bands, rows int) bool {
			p := 1 - float64(differ)/float64(hashes)
			return bands*rows <= hashes && (bands == differ+1 || Recall(p, bands, rows) >= recall)
		}
		bands, rows := Bands(hashes, threshold, recall)
		if !fulfils(bands, rows) || bands > differ+1 {
			t.Fatalf("Bands(%d, %v, %v) = %d of %d do not do", hashes, threshold, recall, bands, rows)
		}
		for more := rows; more <= hashes; more++ {
			for b := 1; b <= differ+1 && (more > rows || b < bands); b++ {
				if fulfils(b, more) {
					t.Fatalf("Bands(%d, %v, %v) = %d of %d, but %d of %d do", hashes, threshold, recall, bands,
						rows, b, more)
				}
			}
		}
	}
}

// Signatures that are just similar enough are found about as often as is asked for. The formula is
// of components that agree independently of one another; with just so many that do, recall is
// mostly higher.
func TestRecallOfPairs(t *testing.T) {
	check.OneGoroutine(t)
	const trials = 5000
	for _, test := range []struct{ threshold, recall float64 }{
		{0.77, 0.999}, {0.75, 0.999}, {0.8, 0.999}, {0.6, 0.9}, {0.77, 0.5}, {0.77, 1}, {0.9, 1},
	} {
		r := rand.New(rand.NewPCG(9, 9))
		bands, rows := Bands(128, test.threshold, test.recall)
		differ := mayDiffer(128, test.threshold)
		found := 0
		for range trials {
			agree := make([]bool, 128)
			for i, component := range r.Perm(128) {
				agree[component] = i >= differ
			}
			if anyBand(agree, bands, rows) {
				found++
			}
		}
		got := float64(found) / trials
		if got < test.recall-0.005 || test.recall == 1 && got < 1 {
			t.Errorf("threshold %v: recall %v in %d bands of %d, want about %v", test.threshold, got, bands,
				rows, test.recall)
		}
		t.Logf("threshold %v, recall %v: %d bands of %d find %v", test.threshold, test.recall, bands,
			rows, got)
	}
}

func anyBand(agree []bool, bands, rows int) bool {
	for b := range bands {
		all := true
		for _, a := range agree[b*rows : (b+1)*rows] {
			all = all && a
		}
		if all {
			return true
		}
	}
	return false
}
