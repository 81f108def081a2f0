package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/testutil/golden"
)

func rounds(rates ...float64) (m []measurement) {
	for _, rate := range rates {
		m = append(m, measurement{
			Records: 54_000, Seconds: 54_000 / rate, CPUSeconds: 2.7, BrokerCPUSeconds: 0.54,
			PeakBytes: 400 << 20,
		})
	}
	return m
}

// full returns a report with everything in it: a measurement that was over at once, and a broker of
// somebody else, too.
func full() report {
	return report{
		Cores: 2, Go: "go1.26", Method: "simhash", Index: "btree", Partitions: 4, Skip: 0.1,
		Texts: "made up",
		Inputs: []inputReport{
			{Name: "news", Records: 60_000, Bytes: 126_000_000, Roles: []roleReport{
				{"clusterd", rounds(20_000, 10_000, 30_000)},
				{"ceiling", rounds(1_000_000, 100_000, 200_000)},
				{"streams", rounds(40_000, 20_000, 40_000)},
				{"fingerprint", rounds(25_000, 20_000, 50_000)},
			}},
			{Name: "comments", Records: 10, Bytes: 1_000, Roles: []roleReport{
				{"clusterd", []measurement{{PeakBytes: 1 << 20}}},
				{"streams", []measurement{{Records: 9, Seconds: 0.5, CPUSeconds: 0.01, PeakBytes: 1 << 20}}},
			}},
		},
		Latency: []latencyReport{{"clusterd", 1_000, []latency{
			{20_000, 26.1234, 31.5, 40, 55, 1}, {20_000, 26, 30, 40, 55, 1}, {20_000, 29, 33, 60, 70, 2},
		}}},
		Growth: []growthReport{{"content", []pointReport{
			{"50 B", 1_000_000, 130_000_000, rounds(300_000, 200_000)},
			{"100 KB", 1_200, 120_000_000, rounds(400)},
		}}},
	}
}

func TestReport(t *testing.T) {
	golden.Check(t, filepath.Join("testdata", "report.golden.md"), []byte(full().markdown()))
}

func TestReportAsJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.json")
	if err := full().writeJSON(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var read report
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(full(), read); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
}

func TestMiddle(t *testing.T) {
	for _, test := range []struct {
		of   []float64
		want float64
	}{{[]float64{3}, 3}, {[]float64{5, 1}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 9, 2}, 3}} {
		if got := middle(test.of, func(v float64) float64 { return v }); got != test.want {
			t.Errorf("of %v: %v, want %v", test.of, got, test.want)
		}
	}
}

func TestPercentiles(t *testing.T) {
	var thousand []time.Duration
	for i := range 1_000 {
		thousand = append(thousand, time.Duration(i+1)*time.Millisecond)
	}
	for _, test := range []struct {
		of   []time.Duration
		p    float64
		want time.Duration
	}{
		{thousand, 0, time.Millisecond},
		{thousand, 0.5, 500 * time.Millisecond},
		{thousand, 0.99, 990 * time.Millisecond},
		{thousand, 0.999, 999 * time.Millisecond},
		{thousand, 1, 1_000 * time.Millisecond},
		{thousand[:3], 0.5, 2 * time.Millisecond},
		{thousand[:3], 0.99, 3 * time.Millisecond},
		{thousand[:1], 0.5, time.Millisecond},
	} {
		if got := percentile(test.of, test.p); got != test.want {
			t.Errorf("%v of %d: %s, want %s", test.p, len(test.of), got, test.want)
		}
	}
}
