package contact

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nyaruka/phonenumbers"

	"github.com/clusterd/clusterd/internal/testutil/golden"
)

// regions.txt has what this package needs of libphonenumber's metadata: 12 KB instead of 2.6 MB.
func TestRowsAreThoseOfLibphonenumber(t *testing.T) {
	all, err := phonenumbers.MetadataCollection()
	if err != nil {
		t.Fatal(err)
	}
	regions := all.GetMetadata()
	slices.SortStableFunc(regions, func(a, b *phonenumbers.PhoneMetadata) int {
		rank := func(m *phonenumbers.PhoneMetadata) string {
			first := "1"
			if m.GetMainCountryForCode() {
				first = "0" // its national prefix holds for its calling code
			}
			return fmt.Sprintf("%03d%s%s", m.GetCountryCode(), first, m.GetId())
		}
		return strings.Compare(rank(a), rank(b))
	})
	var rows strings.Builder
	for _, m := range regions {
		possible := m.GetGeneralDesc().GetPossibleLength()
		usual := slices.Concat(lengthsOf(m.GetMobile(), possible), lengthsOf(m.GetFixedLine(), possible))
		pattern := strings.Join(strings.Fields(m.GetNationalPrefixForParsing()), "")
		mobile, fixed := nationalOf(m, phonenumbers.MOBILE), nationalOf(m, phonenumbers.FIXED_LINE)
		var habits []string
		if beginsWith(mobile, m.GetNationalPrefix()) && beginsWith(fixed, m.GetNationalPrefix()) {
			habits = append(habits, "always")
		}
		if isInPairs(mobile) || isInPairs(fixed) {
			habits = append(habits, "pairs")
		}
		row := []string{
			m.GetId(), fmt.Sprint(m.GetCountryCode()), listOf(usual), listOf(possible),
			strings.Join(habits, ","), m.GetNationalPrefix(), pattern, templateOf(m),
		}
		for i := range row {
			if row[i] == "" {
				row[i] = "-"
			}
		}
		fmt.Fprintln(&rows, strings.Join(row, " "))
	}
	golden.Check(t, "regions.txt", []byte(rows.String()))
}

// lengthsOf returns how many digits the numbers of a kind have: as all numbers of the region if the
// kind says nothing of that.
func lengthsOf(kind *phonenumbers.PhoneNumberDesc, all []int32) []int32 {
	if own := kind.GetPossibleLength(); len(own) > 0 {
		return slices.DeleteFunc(slices.Clone(own), func(n int32) bool { return n < 0 })
	}
	return all
}

func listOf(lengths []int32) string {
	slices.Sort(lengths)
	var list []string
	for _, n := range slices.Compact(lengths) {
		list = append(list, fmt.Sprint(n))
	}
	return strings.Join(list, ",")
}

// templateOf returns what becomes of a national prefix, with braces around the numbers of groups.
func templateOf(m *phonenumbers.PhoneMetadata) string {
	template := m.GetNationalPrefixTransformRule()
	for n := range 5 {
		template = strings.ReplaceAll(template, fmt.Sprintf("$%d", n), fmt.Sprintf("${%d}", n))
	}
	return template
}

// nationalOf returns how a usual number of a region is written there.
func nationalOf(m *phonenumbers.PhoneMetadata, kind phonenumbers.PhoneNumberType) string {
	example := phonenumbers.GetExampleNumberForType(m.GetId(), kind)
	if example == nil {
		return ""
	}
	return phonenumbers.Format(example, phonenumbers.NATIONAL)
}

func beginsWith(number, prefix string) bool {
	return prefix != "" && strings.HasPrefix(phonenumbers.NormalizeDigitsOnly(number), prefix)
}

// isInPairs reports whether a number has three and more groups, each of at most two digits.
func isInPairs(number string) bool {
	groups := strings.FieldsFunc(number, func(r rune) bool { return r < '0' || r > '9' })
	return len(groups) >= 3 && !slices.ContainsFunc(groups, func(g string) bool { return len(g) > 2 })
}
