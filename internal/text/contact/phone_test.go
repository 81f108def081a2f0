package contact

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nyaruka/phonenumbers"

	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/text"
)

// phones are made-up numbers of thirty countries, as they are written there and elsewhere. A space
// stands for what divides groups.
var phones = []struct{ region, international, national string }{
	{"AE", "+971 50 555 0123", "050 555 0123"},
	{"AR", "+54 9 11 5550 0123", "011 15 5550 0123"},
	{"AT", "+43 664 5550123", "0664 5550123"},
	{"AU", "+61 491 570 156", "0491 570 156"},
	{"BE", "+32 470 55 01 23", "0470 55 01 23"},
	{"BR", "+55 11 95550 0123", "11 95550 0123"},
	{"CA", "+1 613 555 0123", "613 555 0123"},
	{"CH", "+41 78 555 01 23", "078 555 01 23"},
	{"CN", "+86 139 1357 2468", "139 1357 2468"},
	{"DE", "+49 1512 3550123", "01512 3550123"},
	{"EG", "+20 100 555 0123", "0100 555 0123"},
	{"ES", "+34 612 35 01 23", "612 35 01 23"},
	{"FR", "+33 6 39 98 01 23", "06 39 98 01 23"},
	{"GB", "+44 7700 900123", "07700 900123"},
	{"HK", "+852 5555 0123", "5555 0123"},
	{"HU", "+36 1 555 0123", "06 1 555 0123"},
	{"ID", "+62 812 5550 0123", "0812 5550 0123"},
	{"IN", "+91 98765 43210", "098765 43210"},
	{"IT", "+39 06 5555 0123", "06 5555 0123"},
	{"JP", "+81 90 5550 0123", "090 5550 0123"},
	{"KR", "+82 10 5550 0123", "010 5550 0123"},
	{"MX", "+52 55 5550 0123", "55 5550 0123"},
	{"NG", "+234 802 555 0123", "0802 555 0123"},
	{"NL", "+31 6 55501234", "06 55501234"},
	{"PL", "+48 512 555 012", "512 555 012"},
	{"RU", "+7 912 555 01 23", "8 912 555 01 23"},
	{"SE", "+46 70 555 01 23", "070 555 01 23"},
	{"TR", "+90 501 555 01 23", "0501 555 01 23"},
	{"US", "+1 202 555 0123", "202 555 0123"},
	{"ZA", "+27 71 555 0123", "071 555 0123"},
}

// spelled returns a number as people write it, as its digits stand between spaces in the table.
func spelled(number string) []string {
	area, rest, _ := strings.Cut(number, " ")
	all := []string{
		number, strings.ReplaceAll(number, " ", "-"), strings.ReplaceAll(number, " ", "."),
		strings.ReplaceAll(number, " ", ""),
	}
	if area[0] != '+' && !strings.HasPrefix(number, "8 ") {
		all = append(all, "("+area+") "+rest)
	}
	return all
}

func finderIn(t testing.TB, regions ...string) *Finder {
	t.Helper()
	f, err := New(nil, regions)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// An international spelling is the number in E.164, whatever regions are given; a national one is
// with its region.
func TestPhonesOfThirtyCountries(t *testing.T) {
	c, anywhere := folding(t), finderOf(t)
	for _, made := range phones {
		t.Run(made.region, func(t *testing.T) {
			there := finderIn(t, made.region)
			want := "number:+" + phonenumbers.NormalizeDigitsOnly(made.international)
			for _, number := range spelled(made.international) {
				plain := strings.TrimPrefix(number, "+")
				for _, number := range []string{number, "00" + plain, "00 " + plain, "(+" + plain} {
					for _, f := range []*Finder{anywhere, there, finderIn(t, "DE", "US", "CN")} {
						wantIn(t, c, f, "Lost cat! Call "+number+", please", want)
						wantIn(t, c, f, "WhatsApp "+number, want)
					}
				}
			}
			for _, number := range spelled(made.national) {
				wantIn(t, c, there, "Lost cat! Call "+number+", please", want)
				wantIn(t, c, there, "打电话"+number, want)
			}
		})
	}
}

// wantIn holds the contacts of a text alone to what they should be.
func wantIn(t *testing.T, c *text.Cleaner, f *Finder, content, want string) {
	t.Helper()
	if got := valuesOf(c, f, content); got != want {
		t.Errorf("%q has the contacts %q in %v, want %q", content, got, f.Identity(), want)
	}
}

// One digit is another in each number: no spelling of it has a contact of another one, with the
// region and without.
func TestNumbersShareNoContact(t *testing.T) {
	c := folding(t)
	for _, made := range phones {
		for _, f := range []*Finder{finderOf(t), finderIn(t, made.region)} {
			owner := make(map[string]string) // by contact
			for at, digit := range made.national {
				for d := '0'; d <= '9'; d++ {
					national := made.national[:at] + string(d) + made.national[at+1:]
					parsed, err := phonenumbers.Parse(national, made.region)
					if digit == ' ' || err != nil || !phonenumbers.IsPossibleNumber(parsed) {
						continue
					}
					number := phonenumbers.Format(parsed, phonenumbers.E164)
					for _, s := range append(spelled(national), spelled(
						phonenumbers.Format(parsed, phonenumbers.INTERNATIONAL))...) {
						for contact := range strings.FieldsSeq(valuesOf(c, f, "wa "+s+" 24 jam")) {
							if other := owner[contact]; other != "" && other != number {
								t.Errorf("%s: %q has the contact %s of %s", f.Identity(), s, contact, other)
							}
							owner[contact] = number
						}
					}
				}
			}
			if len(owner) < 50 {
				t.Errorf("%s: only %d contacts of %s", f.Identity(), len(owner), made.region)
			}
		}
	}
}

// What this package makes of the national and international spellings of each region's usual
// numbers is what libphonenumber does.
func TestNumbersAreThoseOfLibphonenumber(t *testing.T) {
	for _, name := range RegionNames() {
		f := finderIn(t, name)
		for _, kind := range []phonenumbers.PhoneNumberType{
			phonenumbers.MOBILE, phonenumbers.FIXED_LINE,
		} {
			example := phonenumbers.GetExampleNumberForType(name, kind)
			if example == nil {
				continue
			}
			want := phonenumbers.Format(example, phonenumbers.E164)
			if len(phonenumbers.GetNationalSignificantNumber(example)) < fewestDigits ||
				name == "AR" && kind == phonenumbers.MOBILE {
				continue // of a few islands; that of AR is wrongly formatted, see phones
			}
			for _, form := range []phonenumbers.PhoneNumberFormat{
				phonenumbers.NATIONAL, phonenumbers.INTERNATIONAL, phonenumbers.E164,
			} {
				written := phonenumbers.Format(example, form)
				if got := fmt.Sprint(f.Values([]byte("tel: " + written))); got != "[number:"+want+"]" {
					t.Errorf("%s: %q is %s, want %s", name, written, got, want)
				}
			}
		}
	}
}

// Numbers that are not of the regions stay what they are, and so do those that are no telephone
// number.
func TestRegions(t *testing.T) {
	c := folding(t)
	for content, want := range map[string]string{
		"07700 900123 or 07700900123":              "number:+447700900123",
		"(202) 555-0123, 1-202-555-0123":           "number:+12025550123",
		"ask 447700900123":                         "number:+447700900123",
		"020 7946 0123 / 020 7946 0124":            "number:+442079460123 number:+442079460124",
		"text WIN to 87121 now":                    "number:87121",
		"QQ 2025550123, 2025550123@qq.com":         "number:2025550123",
		"tel07700900123 tel 07700900123now":        "number:+447700900123",
		"+91 98765 43210":                          "number:+919876543210",
		"on 2024-01-05 12:30, 05.01.2024 or 2024":  "",
		"1,260,582 people paid $2025550123":        "",
		"6.00.2900.2180 and 192.168.100.100":       "",
		"3.14159265358 or 126.521 of 21-18 21-15":  "",
		"10 20 30 40 50 and 21-18 21-15 11-17 1-1": "",
		"invitation 邀请码 7319460123":                "code:7319460123",
	} {
		if got := valuesOf(c, finderIn(t, "GB", "US"), content); got != want {
			t.Errorf("%q has the contacts %q, want %q", content, got, want)
		}
	}
	_, err := New(nil, []string{"GB", "UK"})
	check.ErrorHas(t, err, `region "UK"`, "ISO 3166", "GB")
	if one, other := finderIn(t, "GB"), finderIn(t, "US"); one.Identity() == other.Identity() {
		t.Errorf("GB and US have the identity %s", one.Identity())
	}
}
