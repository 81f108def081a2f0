package article

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// timeFormats names what is taken, for messages.
const timeFormats = "RFC 3339 (2006-01-02T15:04:05Z), RFC 822 as in feeds (Mon, 02 Jan 2006 " +
	"15:04:05 GMT), another common form with the year " +
	"or the month's name, or a Unix time"

// maxTimeBytes is how long a time may be, with a weekday and the name of its zone.
const maxTimeBytes = 100

// parseTime reads a time as programs write it. Without a zone it is taken as UTC, and without a
// time of day as midnight. What may be one day or another, such as 02/03/2026, is no time.
func parseTime(s string) (time.Time, bool) {
	if t, err := time.Parse(time.RFC3339, s); err == nil { // as nearly all are
		return inUTC(t)
	}
	s = strings.TrimSpace(s)
	if len(s) > maxTimeBytes {
		return time.Time{}, false
	}
	if t, ok := databaseTime(s); ok {
		return t, true
	}
	if m := compactPattern.FindStringSubmatch(s); m != nil {
		return compactTime(m)
	}
	if t, ok := unixTime(s); ok {
		return t, true
	}
	return writtenTime(s)
}

// databaseTime reads the form in which data bases write a time without a zone, or with a T. The
// patterns read it, too, in ten times the time.
func databaseTime(s string) (time.Time, bool) {
	if len(s) != len(time.DateTime) || s[4] != '-' || s[7] != '-' || s[13] != ':' || s[16] != ':' {
		return time.Time{}, false
	}
	layout := time.DateTime
	if s[10] == 'T' {
		layout = "2006-01-02T15:04:05"
	}
	t, err := time.Parse(layout, s)
	if err != nil {
		return time.Time{}, false
	}
	return inUTC(t)
}

const (
	zonePattern  = `Z|(?:GMT|UTC|UT)?[+-]\d{1,2}(?::?\d{2})?|GMT|UTC|UT|[ECMP][SD]T`
	yearEarliest = 1900
	yearLatest   = 2100
)

var (
	// compactPattern is that of ISO 8601's basic format: a date, and perhaps a time of day and a zone.
	compactPattern = regexp.MustCompile(
		`^(\d{8})(?:[T ]?(\d{2})(\d{2})(\d{2})?(?:[.,]\d+)?\s*(Z|[+-]\d{2}:?\d{2})?)?$`)
	clockPattern = regexp.MustCompile(`(?i)(?:[T,]\s*|\s+|\b|日)` +
		`(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?(?:\s*([AP])\.?M\.?)?` +
		`(?:\s*(` + zonePattern + `))?(?:\s|,|$)`)
	// yearZone is a zone behind the year, as git writes it, and zoneName a name behind the number of a
	// zone.
	yearZone       = regexp.MustCompile(`\d{4} ([+-]\d{4})$`)
	zoneName       = regexp.MustCompile(`([+-]\d{2}:?\d{2}) [A-Z]{2,5}$`)
	chineseClock   = regexp.MustCompile(`\s*(\d{1,2})[时時点點](\d{1,2})分(?:(\d{1,2})秒)?`)
	weekdayPattern = regexp.MustCompile(
		`(?i)^(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?(?:,\s*|\.?\s+)`)
	commentPattern = regexp.MustCompile(`\s*\([^()]*\)$`)
	zonedDate      = regexp.MustCompile(`^(\d{4}-\d{2}-\d{2})(Z|[+-]\d{2}:\d{2})$`)
	ordinalPattern = regexp.MustCompile(`(?i)\b(\d{1,2})(?:st|nd|rd|th)\b`)
)

// dateLayouts returns the forms of a date, without commas: with the year first, or with the month's
// name.
func dateLayouts() []string {
	return []string{
		"2006-1-2", "2006/1/2", "2006.1.2", "2006年1月2日", "2006 Jan 2", "Jan 2 2006", "January 2 2006",
		"2 Jan 2006", "2 January 2006",
		"2-Jan-2006", "2-Jan-06", "2 Jan 06", "Jan. 2 2006", "2 Jan. 2006",
	}
}

// writtenTime reads a date with a time of day before or after its year, or without one.
func writtenTime(s string) (time.Time, bool) {
	s = commentPattern.ReplaceAllString(weekdayPattern.ReplaceAllString(s, ""), "")
	s = zoneName.ReplaceAllString(s, "$1")
	zone := ""
	if m := yearZone.FindStringSubmatch(s); m != nil {
		s, zone = strings.TrimSuffix(s, " "+m[1]), m[1]
	}
	var clock time.Duration
	offset := 0
	if m := zonedDate.FindStringSubmatch(s); m != nil {
		s = m[1]
		var ok bool
		if offset, ok = zoneOffset(m[2]); !ok {
			return time.Time{}, false
		}
	} else if at := clockPattern.FindStringSubmatchIndex(s); at != nil {
		m := clockPattern.FindStringSubmatch(s)
		var ok, zoneOK bool
		clock, ok = clockOf(m[1], m[2], m[3], m[4], m[5])
		offset, zoneOK = zoneOffset(zone + m[6])
		if !ok || !zoneOK || zone != "" && m[6] != "" {
			return time.Time{}, false
		}
		// With the year behind it, as Java and date(1) write it, CST is China's as often as America's: 14
		// hours apart.
		if strings.EqualFold(m[6], "CST") && strings.TrimSpace(s[at[1]:]) != "" {
			return time.Time{}, false
		}
		zone = ""
		before := s[:at[2]] // the hour
		s = strings.TrimRight(before, "Tt, ") + " " + s[at[1]:]
	} else if at := chineseClock.FindStringSubmatchIndex(s); at != nil {
		m := chineseClock.FindStringSubmatch(s)
		var ok bool
		if clock, ok = clockOf(m[1], m[2], m[3], "", ""); !ok {
			return time.Time{}, false
		}
		s = s[:at[0]] + s[at[1]:]
	}
	s = strings.ReplaceAll(ordinalPattern.ReplaceAllString(s, "$1"), "Sept ", "Sep ")
	s = strings.Join(strings.Fields(strings.ReplaceAll(s, ",", " ")), " ")
	if zone != "" {
		return time.Time{}, false // of no time of day
	}
	for _, layout := range dateLayouts() {
		if date, err := time.Parse(layout, s); err == nil {
			return inUTC(date.Add(clock - time.Duration(offset)*time.Second))
		}
	}
	return time.Time{}, false
}

// clockOf returns a time of day; half is a or p on a clock of twelve hours.
func clockOf(hour, minute, second, fraction, half string) (time.Duration, bool) {
	h, m, s := number(hour), number(minute), number(second)
	if half != "" {
		if h < 1 || h > 12 {
			return 0, false
		}
		if h %= 12; strings.EqualFold(half, "p") {
			h += 12
		}
	}
	nanoseconds := number((fraction + "000000000")[:9])
	whole := time.Duration(h)*time.Hour + time.Duration(m)*time.Minute + time.Duration(s)*time.Second
	return whole + time.Duration(nanoseconds),
		h <= 23 && m <= 59 && s <= 60 // a leap second
}

// number returns that of some digits, or 0 of none.
func number(digits string) int {
	n, _ := strconv.Atoi(digits) // the pattern has matched digits
	return n
}

// zoneOffset returns how many seconds a zone is ahead of UTC: a number of hours and minutes, or a
// name that RFC 822 knows.
func zoneOffset(zone string) (seconds int, ok bool) {
	zone = strings.ToUpper(zone)
	switch zone {
	case "", "Z", "UT", "UTC", "GMT":
		return 0, true
	}
	if hours := strings.Index("EDT CDT MDT PDT", zone); hours >= 0 {
		return -(4 + hours/4) * 3600, true
	}
	if hours := strings.Index("EST CST MST PST", zone); hours >= 0 {
		return -(5 + hours/4) * 3600, true
	}
	zone = strings.TrimLeft(zone, "GMTUC")
	digits := strings.ReplaceAll(zone[1:], ":", "")
	if len(digits) <= 2 {
		digits += "00"
	}
	hours, minutes := number(digits[:len(digits)-2]), number(digits[len(digits)-2:])
	seconds = hours*3600 + minutes*60
	if zone[0] == '-' {
		seconds = -seconds
	}
	return seconds, hours <= 23 && minutes <= 59
}

// compactTime reads what compactPattern has matched. Digits that do not begin with a year of our
// centuries may be a Unix time.
func compactTime(m []string) (time.Time, bool) {
	if year := number(m[1][:4]); year < yearEarliest || year >= yearLatest {
		return unixTime(m[0])
	}
	date, err := time.Parse("20060102", m[1])
	clock, ok := clockOf(m[2], m[3], m[4], "", "")
	offset, zoneOK := zoneOffset(m[5])
	if err != nil || !ok || !zoneOK {
		return time.Time{}, false
	}
	return inUTC(date.Add(clock - time.Duration(offset)*time.Second))
}

// unixTime reads a number of seconds since 1970, or of milliseconds, microseconds or nanoseconds:
// each from where the one before would be past the year 5138.
func unixTime(s string) (time.Time, bool) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && n != math.MinInt64 {
		switch size := max(n, -n); {
		case size < 1e11:
			return inUTC(time.Unix(n, 0))
		case size < 1e14:
			return inUTC(time.UnixMilli(n))
		case size < 1e17:
			return inUTC(time.UnixMicro(n))
		default:
			return inUTC(time.Unix(n/1e9, n%1e9))
		}
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(n) || math.Abs(n) >= 1e20 {
		return time.Time{}, false
	}
	for limit := 1e11; math.Abs(n) >= limit; {
		n /= 1000
	}
	return inUTC(time.UnixMilli(int64(math.Round(n * 1000))))
}

// inUTC holds times to the years that RFC 3339 can write.
func inUTC(t time.Time) (time.Time, bool) {
	t = t.UTC()
	return t, t.Year() >= 1 && t.Year() <= 9999
}
