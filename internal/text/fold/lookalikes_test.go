package fold

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.mau.fi/util/confusable"
	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/unicode/runenames"

	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/golden"
	"github.com/clusterd/clusterd/internal/testutil/runes"
)

// What names of characters say that they are.
var (
	namedLetter = regexp.MustCompile(`^(?:LATIN (?:SMALL|CAPITAL) LETTER (?:SCRIPT |DOTLESS |OPEN )?` +
		`|LATIN LETTER SMALL CAPITAL |(?:NEGATIVE |CROSSED NEGATIVE )?(?:CIRCLED|SQUARED) ` +
		`LATIN CAPITAL LETTER |REGIONAL INDICATOR SYMBOL LETTER )([A-Z])(?: WITH .+)?$`)
	namedNumber = regexp.MustCompile(`^(?:DINGBAT )?(?:NEGATIVE |DOUBLE )?CIRCLED ` +
		`(?:SANS-SERIF )?(?:DIGIT|NUMBER) ([A-Z]+)(?: ON BLACK SQUARE)?$`)
	decimal = regexp.MustCompile(`\bDIGIT ([A-Z]+)$`)
)

var numbers = func() map[string]string {
	all := make(map[string]string)
	for i, name := range strings.Fields("ZERO ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT NINE TEN " +
		"ELEVEN TWELVE THIRTEEN FOURTEEN FIFTEEN SIXTEEN SEVENTEEN EIGHTEEN NINETEEN") {
		all[name] = strconv.Itoa(i)
	}
	for i, name := range strings.Fields("TWENTY THIRTY FORTY FIFTY SIXTY SEVENTY EIGHTY") {
		all[name] = strconv.Itoa(10*i + 20)
	}
	return all
}()

// named returns the letter or number that a character is by its name.
func named(r rune) string {
	name := runenames.Name(r)
	if m := namedLetter.FindStringSubmatch(name); m != nil {
		return strings.ToLower(m[1])
	}
	if m := namedNumber.FindStringSubmatch(name); m != nil {
		return numbers[m[1]]
	}
	if m := decimal.FindStringSubmatch(name); m != nil && unicode.Is(unicode.Nd, r) {
		return numbers[m[1]]
	}
	return ""
}

func isLetterOrNumber(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// lookOf returns what a character looks like, in its own case.
func lookOf(r rune) string {
	if r == '〇' { // it looks like an O, and is a zero
		return "0"
	}
	if like := named(r); like != "" {
		return like
	}
	if !isLetterOrNumber(r) {
		return ""
	}
	prototype := confusable.GetReplacement(r)
	if prototype == "" {
		prototype = string(r)
	}
	base := []rune(strings.Map(func(r rune) rune {
		if unicode.Is(Combining, r) {
			return -1
		}
		return r
	}, norm.NFD.String(prototype)))
	switch {
	case len(base) != 1:
		return ""
	case base[0] < utf8.RuneSelf && isLetterOrNumber(base[0]):
		return strings.ToLower(string(base))
	case strings.Contains(runenames.Name(base[0]), " WITH "):
		return "" // not so much alike: ε is like c with bar
	}
	return named(base[0])
}

// likeOf returns what a character becomes, or nothing.
func likeOf(r rune) string {
	like, other := lookOf(r), ""
	for _, r2 := range []rune{unicode.ToLower(r), unicode.ToUpper(r)} {
		if r2 != r && (unicode.ToLower(r2) == r || unicode.ToUpper(r2) == r) {
			other = lookOf(r2)
		}
	}
	isDigit := like != "" && like[0] <= '9'
	switch {
	case like == "", like == "l" && other == "i" && unicode.IsUpper(r):
		return other
	case isDigit && other != "" && other[0] > '9':
		return other
	}
	return like
}

// The file is what UTS #39 and the names of characters say.
func TestLookalikes(t *testing.T) {
	check.OneGoroutine(t)
	likes := make(map[string][]rune)
	runes.All(func(r rune) {
		_, marked := withoutMarks(r)
		if r < utf8.RuneSelf || marked || norm.NFKC.String(string(r)) != string(r) {
			return
		}
		if like := likeOf(r); like != "" {
			likes[like] = append(likes[like], r)
		}
	})
	var b strings.Builder
	for _, like := range slices.Sorted(maps.Keys(likes)) {
		b.WriteString(like + " " + string(likes[like]) + "\n")
	}
	golden.Check(t, "lookalikes.txt", []byte(b.String()))
}

func TestReadLookalikesRefuses(t *testing.T) {
	for _, rows := range []string{"", "a", "é e", "a b", "A é", "a é\n\n"} {
		if likes, err := readLookalikes(rows); err == nil {
			t.Errorf("%q gives %v, want an error", rows, likes)
		}
	}
	want := map[rune]string{'é': "e", 'è': "e", '❿': "10"}
	got, err := readLookalikes("e éè\n10 ❿")
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v; %s", err, diff)
	}
}
