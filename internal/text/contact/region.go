// region.go knows how telephone numbers are spelled in each country. In go digits; out comes
// the number in E.164, if it may be one.

package contact

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// regionsTxt has a line for each region that has telephone numbers of its own:
//
//	its ISO code, or 001 for numbers that belong to no region
//	its calling code
//	how many digits the numbers of telephones and mobile phones have, without the calling code and
//	the national prefix, "-" if it has none
//	how many digits any of its numbers has
//	how national spellings look, else "-": they begin with the national prefix ("always"), they may
//	have groups of one and two digits only ("pairs")
//	the national prefix, else "-"
//	what may stand before a national number, as a regular expression, else "-"
//	what becomes of that, as a template of package regexp, else "-"
//
// The test makes it from the metadata of libphonenumber, which this package does not need at run
// time.
//
//go:generate go test -run TestRowsAreThoseOfLibphonenumber -update
//go:embed regions.txt
var regionsTxt string

// A Region says how telephone numbers are spelled within a country.
type Region struct {
	name     string
	code     string // calling code
	lengths  lengths
	Always   bool           // national spellings begin with the trunk
	Pairs    bool           // they may have groups of one and two digits only
	trunk    string         // the national prefix
	pattern  string         // of all that may stand before a number, if that is not only the trunk
	template string         // what becomes of that; empty: nothing
	prefix   *regexp.Regexp // of pattern, in the regions of a finder
}

// lengths are the numbers of digits that numbers have: a bit for each.
type lengths struct{ usual, possible uint32 }

// A Fit says how well a number's length goes with a region.
type Fit int

// How well it goes.
const (
	Impossible Fit = iota
	Possible
	Usual // a telephone or a mobile phone has such a number
)

func (l lengths) fit(n int) Fit {
	switch bit := uint32(1) << min(n, 31); {
	case l.usual&bit != 0:
		return Usual
	case l.possible&bit != 0:
		return Possible
	}
	return Impossible
}

// A country is what the regions of a calling code have in common.
type country struct {
	lengths lengths // of all of them
	trunk   string  // of the first one
}

var (
	rows = sync.OnceValue(readRows)
	// countries are by calling code, of one to three digits.
	countries = sync.OnceValue(func() *[1000]country {
		all := new([1000]country)
		for _, r := range rows() {
			code, _ := strconv.Atoi(r.code)
			c := &all[code]
			if c.lengths.possible == 0 {
				c.trunk = r.trunk
			}
			c.lengths.usual |= r.lengths.usual
			c.lengths.possible |= r.lengths.possible
		}
		return all
	})
)

func readRows() []Region {
	var all []Region
	for line := range strings.Lines(regionsTxt) {
		f := strings.Fields(line)
		for i := range f {
			if f[i] == "-" {
				f[i] = ""
			}
		}
		all = append(all, Region{
			name: f[0], code: f[1], lengths: lengths{bitsOf(f[2]), bitsOf(f[3])},
			Always: strings.Contains(f[4], "always"), Pairs: strings.Contains(f[4], "pairs"),
			trunk: f[5], pattern: f[6], template: f[7],
		})
	}
	return all
}

// bitsOf returns a bit for each number of a list.
func bitsOf(list string) (bits uint32) {
	for n := range strings.SplitSeq(list, ",") {
		if digits, err := strconv.Atoi(n); err == nil {
			bits |= 1 << digits
		}
	}
	return bits
}

// RegionNames returns the regions in which national telephone numbers can be understood, by their
// ISO 3166 codes in ascending order.
func RegionNames() []string {
	var names []string
	for _, r := range rows() {
		if r.name != "001" {
			names = append(names, r.name)
		}
	}
	slices.Sort(names)
	return names
}

// Regions returns the regions of these names in their order.
func Regions(names []string) ([]Region, error) {
	var all []Region
	for _, name := range names {
		i := slices.IndexFunc(rows(), func(r Region) bool { return r.name == name })
		if i < 0 || name == "001" {
			return nil, fmt.Errorf("region %q is unknown: want an ISO 3166 code of two letters, such as GB",
				name)
		}
		r := rows()[i]
		if r.pattern != r.trunk {
			r.prefix = regexp.MustCompile("^(?:" + r.pattern + ")")
		}
		all = append(all, r)
	}
	return all, nil
}

// recomposed returns a national number as its region's pattern makes it, and whether that applies:
// a carrier's code is left out, or what marks a mobile phone stands elsewhere.
func (r *Region) recomposed(number string) (digits string, ok bool) {
	if r.prefix == nil {
		return "", false
	}
	match := r.prefix.FindStringSubmatchIndex(number)
	if match == nil || match[1] == 0 {
		return "", false
	}
	rest := number[match[1]:]
	if last := len(match) - 2; r.template != "" && match[last] >= 0 {
		return string(r.prefix.ExpandString(nil, r.template, number, match)) + rest, true
	}
	return rest, true
}

// A Spelling is a way to write a number without a plus sign.
type Spelling int

// The spellings, the most usual one first.
const (
	AsWritten     Spelling = iota // as people of the region write it
	WithCode                      // with the calling code
	WithoutPrefix                 // without the national prefix, where that is usual
	Spellings                     // how many there are
)

// E164 returns the digits of a number in E.164, with its calling code, and how well it goes with
// the region in this spelling.
func (r *Region) E164(number string, as Spelling) (digits string, how Fit) {
	consider := func(rest string, ok bool) {
		if better := r.lengths.fit(len(rest)); ok && better > how {
			digits, how = r.code+rest, better
		}
	}
	if as == WithCode {
		consider(strings.CutPrefix(number, r.code))
		return digits, how
	}
	if r.trunk != "" {
		consider(strings.CutPrefix(number, r.trunk))
	}
	consider(number, as == WithoutPrefix || !r.Always)
	consider(r.recomposed(number))
	return digits, how
}

// international returns the digits of a number that begins with a calling code, and whether it is
// one of E.164. A national prefix goes where the number is not possible with it.
func international(number string) (digits string, how Fit) {
	for n := 1; n <= min(3, len(number)); n++ {
		c := countryOf(number[:n])
		if c == nil {
			continue
		}
		if how = c.lengths.fit(len(number) - n); how > Impossible {
			return number, how
		}
		rest, ok := strings.CutPrefix(number[n:], c.trunk)
		if ok && c.trunk != "" && c.trunk != number[:n] { // +1 1… is a vote, and another number
			return number[:n] + rest, c.lengths.fit(len(rest))
		}
		break
	}
	return number, Impossible
}

// countryOf returns the country of a calling code, nil if there is none.
func countryOf(code string) *country {
	n, err := strconv.Atoi(code)
	if err != nil || len(code) > 3 || code[0] == '0' || countries()[n].lengths.possible == 0 {
		return nil
	}
	return &countries()[n]
}
