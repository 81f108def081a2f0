package text

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/testutil/golden"
	"github.com/clusterd/clusterd/internal/text/fold"
)

// What the first version of folding makes of texts never changes: clusters are kept by it that were
// made before there was a second one. The golden file was written by the last program that had the
// first version alone.
func TestFirstFolding(t *testing.T) {
	c, err := NewCleaner(CleanOptions{Fold: fold.First})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintln(&b, c.Identity())
	for _, s := range firstFolding {
		fmt.Fprintf(&b, "%+q\n  %+q\n", s, c.AppendClean(nil, "A t1tle", s)[len("a t1tle\n"):])
	}
	golden.Check(t, "testdata/fold_first.golden", []byte(b.String()))
}

// firstFolding are made-up texts, of each kind that some version of folding changes.
var firstFolding = []string{
	"Buy V1AGRA and cas1n0 b0nus at p0rn h0tel, 5G, mp3, COVID-19, iPhone5s",
	"Вig ★ bónus tоdaу, ask A L E X I S 1 7 or A L 3 X I S",
	"F-R-E-E c a s 1 n 0, V.1.A.G.R.A now",
	"s\u064b\u064c\u064d\u064eale д\u0483\u0484\u0485\u0486а 台\u093f\u0941\u0943风 " +
		"a\u0335\u0336\u0337\u0338b",
	"ก\u0e34\u0e48\u0e49\u0e4a ב\u05b0\u05bc\u05bd\u05c1 हिन्दी が か\u3099",
	"v\u202ei\u202cagra \u2066v\u2067i\u2068a\u2069 v\u061ci\u200ea",
	"𝐛𝓸𝔫𝕦𝖘 🅱🅾🅽🆄🆂 ⓑⓞⓝⓤⓢ ❶❷❸ ❿ ⓴ 🇧🇴🇳🇺🇸",
	"加 微 信 加★微★信 wx12ab34, t.me/cas1n0 v1agra.com #b0nus @h3llo x_1y2z_a3b",
	"<p>W1n a pr1ze</p> &amp; a <a href=\"https://example.com/v1agra\">l1nk</a>",
	"a\xffb 1a2b3c4d abc1def2ghi 1st 2nd h3ll0 w0rld l33t sp34k",
	"", "7", "a 1 b 2 c 3 d", "x1 2 3 4 5x ALEXIS 1 7 1",
}
