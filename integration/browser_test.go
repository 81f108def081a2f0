//go:build integration

package integration

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// A browser is a real Chromium that shows pages of an instance.
type browser struct {
	*testing.T
	ctx     context.Context
	address string
	mu      sync.Mutex
	wrong   []string // what its console and its policies complained of
	allowed string   // what it may complain of; empty: of nothing
	axe     string   // the script that finds what keeps people out; empty: nobody asks it
}

// browse opens a Chromium, or skips the test where there is none.
func (i *instance) browse() *browser {
	i.Helper()
	program := chromium(i.T)
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.UserDataDir(i.TempDir()),
		chromedp.Flag("lang", "en"))
	allocated, cancel := chromedp.NewExecAllocator(i.Context(), options...)
	i.Cleanup(cancel)
	ctx, cancelTab := chromedp.NewContext(allocated)
	i.Cleanup(cancelTab)
	b := &browser{T: i.T, ctx: ctx, address: "http://" + i.listen}
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		i.Fatal(err)
	}
	return b
}

// chromium returns the program, or skips the test where there is none.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("there is no Chromium")
	return ""
}

// hear notes what is wrong with a page.
func (b *browser) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.wrong = append(b.wrong, fmt.Sprintf("%+v", e.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		b.wrong = append(b.wrong, fmt.Sprintf("console.%s", e.Type))
	case *cdplog.EventEntryAdded:
		if b.allowed == "" || !strings.Contains(e.Entry.Text, b.allowed) {
			b.wrong = append(b.wrong, e.Entry.Text+" "+e.Entry.URL)
		}
	case *page.EventJavascriptDialogOpening:
		b.wrong = append(b.wrong, "a script of others runs: "+e.Message)
	}
}

// do acts in the browser.
func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

// open opens a page.
func (b *browser) open(path string) {
	b.Helper()
	b.do(chromedp.Navigate(b.address+path), chromedp.WaitReady(chromedp.CSS("#main")))
}

// goes does what leads to another page, and waits for that page.
func (b *browser) goes(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	if _, err := chromedp.RunResponse(ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

// until waits until a script says true.
func (b *browser) until(what, script string) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.Poll[chromedp.Void](script)); err != nil {
		b.Fatalf("%s: %v", what, err)
	}
}

// value returns what a script says.
func value[T any](b *browser, script string) T {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatalf("%s: %v", script, err)
	}
	return v
}

// fits fails where a page is wider than the window, or wrong in any way.
func (b *browser) fits(path string) {
	b.Helper()
	if by := value[int](b, "document.documentElement.scrollWidth - innerWidth"); by > 0 {
		b.Errorf("%s is %d pixels wider than the window", path, by)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.wrong) > 0 {
		b.Errorf("%s: %q", path, b.wrong)
	}
	b.wrong = nil
}

// look sets the size of the window, and light or dark.
func (b *browser) look(width int64, scheme string) {
	b.Helper()
	size := emulation.SetDeviceMetricsOverrideParams{
		Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 600,
	}
	if _, err := chromedp.Call(b.ctx, emulation.SetDeviceMetricsOverride, size); err != nil {
		b.Fatal(err)
	}
	media := emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, media); err != nil {
		b.Fatal(err)
	}
}
