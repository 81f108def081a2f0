package text

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/testutil/check"
)

// Looking for the article in a page allocates in proportion to the page, and goes through a
// bounded tree in a bounded number of steps. A tree that is too large, or too dear to look
// through, is not given to the library.
func TestHostilePages(t *testing.T) {
	check.OneGoroutine(t)
	const maxAllocated = 256 << 20 // in all
	sizes := []int{1 << 14}
	if check.Long {
		sizes = append(sizes, 1<<17, 1<<20)
	}
	for _, size := range sizes {
		pages := hostilePages(size)
		for _, name := range slices.Sorted(maps.Keys(pages)) {
			t.Run(fmt.Sprintf("%s/%d", name, size), func(t *testing.T) {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				article, ok := mainText(pages[name])
				runtime.ReadMemStats(&after)
				if allocated := after.TotalAlloc - before.TotalAlloc; allocated > maxAllocated {
					t.Errorf("%d bytes are allocated for a page of %d, %d are allowed", allocated,
						len(pages[name]), maxAllocated)
				}
				if !utf8.ValidString(article) && utf8.ValidString(pages[name]) {
					t.Errorf("got %q, which is no UTF-8", article)
				}
				root, err := parseTree(pages[name])
				if err == nil {
					checkBounds(t, root)
				}
				if ok && (err != nil || work(root) > maxWork) {
					t.Errorf("a page is extracted although it costs too much")
				}
			})
		}
	}
}
