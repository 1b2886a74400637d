package recall

import (
	"strconv"
	"strings"
	"time"
)

// A dateRange is a time that a query names: from is part of it, to is not.
type dateRange struct{ from, to time.Time }

// Lines about a time are written in it or soon after.
const (
	dateBefore = 24 * time.Hour
	dateAfter  = 4 * 24 * time.Hour
)

// near reports whether a line written at that time may be about the range.
func (s dateRange) near(at time.Time) bool {
	return !s.from.IsZero() && at.After(s.from.Add(-dateBefore)) && at.Before(s.to.Add(dateAfter))
}

var monthNames = []string{"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}

// parseMonth parses the name of a month or its first three letters; 0 is none. A
// lower-case may, and mar, are no months: they are words or names.
func parseMonth(word string) time.Month {
	small := strings.ToLower(word)
	if len(small) < 3 || small == "may" && word != "May" || small == "mar" {
		return 0
	}
	for i, name := range monthNames {
		if small == name || small == name[:3] {
			return time.Month(i + 1)
		}
	}
	return 0
}

// findDates returns the time that a text names, relative to now: a day, a month, a
// year, or words like yesterday and last week. It is zero when the text names none.
func findDates(text string, now time.Time) dateRange {
	var year, day int
	var m time.Month
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n,.;:!?\"'()", r) })
	for i, w := range words {
		if len(w) == len(time.DateOnly) && w[4] == '-' {
			if at, err := time.Parse(time.DateOnly, w); err == nil {
				return dateRange{at, at.AddDate(0, 0, 1)}
			}
		}
		if found := parseMonth(w); found > 0 {
			m = found
			continue
		}
		if w[0] < '0' || w[0] > '9' {
			continue
		}
		number := strings.TrimRight(strings.ToLower(w), "sthndr")
		switch n, err := strconv.Atoi(number); {
		case err != nil:
		case n >= 1900 && n < 2200 && len(number) == 4:
			year = n
		case n >= 1 && n <= 31 && (i > 0 && parseMonth(words[i-1]) > 0 || i+1 < len(words) && (parseMonth(words[i+1]) > 0 || words[i+1] == "of")):
			day = n
		}
	}
	if year == 0 && m == 0 {
		return relativeRange(strings.ToLower(text), now)
	}
	return calendarRange(year, m, day, now)
}

// calendarRange returns a day, month or year; without a year it is the last such
// month before now.
func calendarRange(year int, m time.Month, day int, now time.Time) dateRange {
	switch {
	case m == 0:
		from := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		return dateRange{from, from.AddDate(1, 0, 0)}
	case year == 0:
		if year = now.Year(); m > now.Month() {
			year--
		}
	}
	if day > 0 {
		from := time.Date(year, m, day, 0, 0, 0, 0, time.UTC)
		return dateRange{from, from.AddDate(0, 0, 1)}
	}
	from := time.Date(year, m, 1, 0, 0, 0, 0, time.UTC)
	return dateRange{from, from.AddDate(0, 1, 0)}
}

// relativeRange returns the time that words like yesterday name.
func relativeRange(text string, now time.Time) dateRange {
	today := now.UTC().Truncate(24 * time.Hour)
	for _, r := range []struct {
		words    string
		from, to int // days from today
	}{
		{"today", 0, 1},
		{"this morning", 0, 1},
		{"yesterday", -1, 0},
		{"last night", -1, 0},
		{"this week", -6, 1},
		{"last week", -13, -5},
		{"this month", -30, 1},
		{"last month", -61, -28},
	} {
		if strings.Contains(text, r.words) {
			return dateRange{today.AddDate(0, 0, r.from), today.AddDate(0, 0, r.to)}
		}
	}
	return dateRange{}
}
