package hud

import (
	"strconv"
	"strings"
	"time"
)

// A dateRange is a time that somebody asked about, from its first moment to the first
// after it.
type dateRange struct{ from, to time.Time }

// Lines told about a time are told in it or soon after.
const (
	dateBefore = 24 * time.Hour
	dateAfter  = 4 * 24 * time.Hour
)

// near reports whether what was said at that time may be about the stretch.
func (s dateRange) near(at time.Time) bool {
	return !s.from.IsZero() && at.After(s.from.Add(-dateBefore)) && at.Before(s.to.Add(dateAfter))
}

var monthNames = []string{"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}

// month reads the name of a month, or its first three letters; 0 is none. May is
// left out where it stands in small letters, as a word of its own.
func month(word string) time.Month {
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

// dated finds the time that a text names, seen from now; zero when it names none:
// a day, a month or a year, and a few ways to say when before now.
func dated(text string, now time.Time) dateRange {
	var year, day int
	var m time.Month
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n,.;:!?\"'()", r) })
	for i, w := range words {
		if len(w) == len(time.DateOnly) && w[4] == '-' {
			if at, err := time.Parse(time.DateOnly, w); err == nil {
				return dateRange{at, at.AddDate(0, 0, 1)}
			}
		}
		if found := month(w); found > 0 {
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
		case n >= 1 && n <= 31 && (i > 0 && month(words[i-1]) > 0 || i+1 < len(words) && (month(words[i+1]) > 0 || words[i+1] == "of")):
			day = n
		}
	}
	if year == 0 && m == 0 {
		return ago(strings.ToLower(text), now)
	}
	return calendar(year, m, day, now)
}

// calendar returns a day, month or year; without a year it is the last such month
// before now.
func calendar(year int, m time.Month, day int, now time.Time) dateRange {
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

// ago returns a time told by how long before now it was.
func ago(text string, now time.Time) dateRange {
	today := now.UTC().Truncate(24 * time.Hour)
	for _, way := range []struct {
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
		if strings.Contains(text, way.words) {
			return dateRange{today.AddDate(0, 0, way.from), today.AddDate(0, 0, way.to)}
		}
	}
	return dateRange{}
}
