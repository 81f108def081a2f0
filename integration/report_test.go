//go:build integration

package integration

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/cli/demo/sample"
)

// A browser without a network shows the report of clusterd eval: every plot is drawn, in the
// colours of the light and of the dark scheme, and the browser has nothing to complain of.
func TestReportInABrowser(t *testing.T) {
	t.Parallel()
	page := evalReport(t)
	dom, complaints := browse(t, page, "--dump-dom")
	// Two of all runs, three of spam, two of each run that has more than one threshold, and one of
	// the other.
	if plots := strings.Count(dom, "<svg "); plots != 8 {
		t.Errorf("%d plots", plots)
	}
	if !strings.Contains(dom, `id="words"`) {
		t.Errorf("the page breaks off: %.2000s", dom)
	}
	if strings.Contains(complaints, "CONSOLE") {
		t.Errorf("the browser complains:\n%s", complaints)
	}
	for scheme, colours := range map[string][]color.RGBA{
		"preferredColorScheme=1": {
			{0xff, 0xff, 0xff, 255},
			{0x1c, 0x24, 0x30, 255},
			{0x00, 0x63, 0xa6, 255},
			{0xb3, 0x47, 0x00, 255},
		},
		"preferredColorScheme=0": {
			{0x14, 0x18, 0x1e, 255},
			{0xe4, 0xe8, 0xee, 255},
			{0x5b, 0xb2, 0xf0, 255},
			{0xff, 0x9c, 0x57, 255},
		},
	} {
		shown := screenshot(t, page, "--blink-settings="+scheme)
		for _, c := range colours { // the ground, the ink, the first two series
			if n := pixels(shown, c); n < 300 {
				t.Errorf("%s: only %d pixels are of %v", scheme, n, c)
			}
		}
	}
}

// evalReport measures a made-up feed.
func evalReport(t *testing.T) (page string) {
	t.Helper()
	dir := t.TempDir()
	g := sample.New(1, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	var articles, clusters bytes.Buffer
	for range 500 {
		a := g.Next()
		fmt.Fprintf(&articles, "%s,\"label\":%q}\n",
			bytes.TrimSuffix(bytes.TrimSpace(a.JSON()), []byte("}")), a.Kind)
		origin := a.ID
		if a.Origin != "" {
			origin = a.Origin
		}
		fmt.Fprintf(&clusters, "%s\tof %s\n", a.ID, origin)
	}
	for name, data := range map[string]*bytes.Buffer{
		"articles.jsonl": &articles,
		"clusters.tsv":   &clusters,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	page = filepath.Join(dir, "report.html")
	out, err := exec.CommandContext(t.Context(), binary, "eval", filepath.Join(dir, "articles.jsonl"),
		"--clusters", filepath.Join(dir, "clusters.tsv"), "--run", "minhash", "--run", "exact",
		"--positive", "spam", "--html", page).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return page
}

// browse opens the page in a headless Chromium that reaches no host.
func browse(t *testing.T, page string, flags ...string) (out, errs string) {
	t.Helper()
	args := append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--user-data-dir=" +
			t.TempDir(), "--enable-logging=stderr",
		"--hide-scrollbars", "--host-resolver-rules=MAP * ~NOTFOUND", "--proxy-server=http://127.0.0.1:1",
		"--window-size=1200,3000",
	}, flags...)
	var o, e bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "chromium", append(args, "file://"+page)...)
	cmd.Stdout, cmd.Stderr = &o, &e
	if err := cmd.Run(); err != nil {
		t.Fatalf("chromium: %v\n%s", err, e.String())
	}
	return o.String(), e.String()
}

func screenshot(t *testing.T, page string, flags ...string) image.Image {
	t.Helper()
	path := filepath.Join(t.TempDir(), "screenshot.png")
	browse(t, page, append(flags, "--screenshot="+path)...)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	shown, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return shown
}

func pixels(shown image.Image, c color.RGBA) (n int) {
	b := shown.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if color.RGBAModel.Convert(shown.At(x, y)) == c {
				n++
			}
		}
	}
	return n
}
