package recall

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// A dateRange is a time that a text names: from is part of it, to is not. Either may be
// zero, for no bound; a range without any is no time at all.
type dateRange struct{ from, to time.Time }

// Lines about a time are written in it or soon after.
const (
	dateBefore = 24 * time.Hour
	dateAfter  = 4 * 24 * time.Hour
)

// near reports whether a line written at that time may be about the range.
func (s dateRange) near(at time.Time) bool {
	return s != dateRange{} && (s.from.IsZero() || at.After(s.from.Add(-dateBefore))) && (s.to.IsZero() || at.Before(s.to.Add(dateAfter)))
}

// monthNames are the names of each month, those of English first.
var monthNames = [12][]string{
	{"january", "januar", "janvier", "enero"},
	{"february", "februar", "février", "febrero"},
	{"march", "märz", "mars", "marzo"},
	{"april", "avril", "abril"},
	{"may", "mai", "mayo"},
	{"june", "juni", "juin", "junio"},
	{"july", "juli", "juillet", "julio"},
	{"august", "août", "agosto"},
	{"september", "septembre", "septiembre"},
	{"october", "oktober", "octobre", "octubre"},
	{"november", "novembre", "noviembre"},
	{"december", "dezember", "décembre", "diciembre"},
}

// weekdayNames are the names of each day, Sunday first.
var weekdayNames = [7][]string{
	{"sunday", "sonntag", "dimanche", "domingo"},
	{"monday", "montag", "lundi", "lunes"},
	{"tuesday", "dienstag", "mardi", "martes"},
	{"wednesday", "mittwoch", "mercredi", "miércoles"},
	{"thursday", "donnerstag", "jeudi", "jueves"},
	{"friday", "freitag", "vendredi", "viernes"},
	{"saturday", "samstag", "samedi", "sábado"},
}

// numberWords are the numbers that people write as words.
var numberWords = map[string]int{
	"a": 1, "one": 1, "two": 2, "couple": 2, "three": 3, "few": 4, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "ten": 10, "twelve": 12,
	"einem": 1, "einer": 1, "zwei": 2, "drei": 3, "vier": 4, "paar": 4, "fünf": 5, "sechs": 6, "zehn": 10,
	"deux": 2, "trois": 3, "quatre": 4, "dos": 2, "tres": 3, "cuatro": 4,
}

// dateWords are the words by which a text names times relative to now.
var dateWords = map[string]string{
	"today": "today", "heute": "today", "aujourd'hui": "today", "hoy": "today",
	"todays": "today", "today's": "today", "yesterdays": "yesterday", "yesterday's": "yesterday",
	"yesterday": "yesterday", "gestern": "yesterday", "d'hier": "yesterday", "ayer": "yesterday", "vorgestern": "before yesterday",
	"tonight": "today", "morning": "part", "afternoon": "part", "evening": "part", "night": "part",
	"last": "last", "letzte": "last", "letzten": "last", "letzter": "last", "letztes": "last", "vorige": "last", "vorigen": "last", "dernier": "last", "dernière": "last", "derniers": "last", "dernières": "last", "pasado": "last", "pasada": "last", "últimos": "past", "últimas": "past", "última": "past", "último": "past",
	"previous": "last", "past": "past", "vergangene": "past", "vergangenen": "past", "this": "this", "diese": "this", "diesen": "this", "dieser": "this", "dieses": "this", "diesem": "this", "cette": "this", "ce": "this", "esta": "this", "este": "this",
	"day": "day", "days": "day", "tag": "day", "tage": "day", "tagen": "day", "jour": "day", "jours": "day", "día": "day", "días": "day",
	"week": "week", "weeks": "week", "woche": "week", "wochen": "week", "semaine": "week", "semaines": "week", "semana": "week", "semanas": "week", "fortnight": "fortnight",
	"month": "month", "months": "month", "monat": "month", "monate": "month", "monaten": "month", "mois": "month", "mes": "month", "meses": "month",
	"year": "year", "years": "year", "jahr": "year", "jahre": "year", "jahren": "year", "année": "year", "año": "year",
	"hour": "hour", "hours": "hour", "stunde": "hour", "stunden": "hour", "heures": "hour", "horas": "hour",
	"weekend": "weekend", "wochenende": "weekend",
	"ago": "ago", "vor": "vor",
}

// Words before a time that make it the beginning or the end of what is asked for; one of
// fromWords does so where a second time follows.
var (
	sinceWords = []string{"since", "after", "starting", "seit", "ab", "nach", "depuis", "desde"}
	fromWords  = []string{"from", "between", "von", "zwischen", "entre", "du", "del"}
	untilWords = []string{"until", "till", "before", "by", "bis", "vor", "avant", "jusqu'à", "hasta", "antes"}
)

// parseMonth parses the name of a month, in English also its first three letters; 0 is
// none. A lower-case may, and mar, are no months: they are words or names. Names that are
// everyday words of another language need one of its words before them.
func parseMonth(word, before string) time.Month {
	small := strings.TrimPrefix(strings.ToLower(word), "d'")
	if len(small) < 3 || small == "may" && word != "May" || small == "mar" {
		return 0
	}
	for i, names := range monthNames {
		if small == names[0] || small == names[0][:3] {
			return time.Month(i + 1)
		}
		if slices.Contains(names[1:], small) && (len(small) > 4 || slices.Contains([]string{"im", "ab", "seit", "bis", "ende", "anfang", "mitte", "en", "de", "du", "depuis", "desde", "letzten", "und"}, before)) {
			return time.Month(i + 1)
		}
	}
	return 0
}

// A datedText is a text whose words are looked through for times.
type datedText struct {
	words []string // as written
	small []string // in lower case
	now   time.Time
}

// findDates returns the time that a text names, in the location of now: a day, a month, a
// year, words like yesterday, last week and the last three days, and what begins or ends
// with one. It is zero when the text names none.
func findDates(text string, now time.Time) dateRange {
	t := datedText{now: now}
	t.words = strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n,.;:!?\"()", r) })
	for i, w := range t.words {
		t.words[i] = strings.TrimSuffix(strings.TrimSuffix(strings.Trim(w, "'"), "'s"), "’s")
		t.small = append(t.small, strings.ToLower(t.words[i]))
	}
	var found, second dateRange
	before := ""
	for i := 0; i < len(t.words); {
		r, n := t.at(i)
		switch {
		case n == 0:
			i++
			continue
		case found == dateRange{}:
			found, before = r, t.lead(i)
		case second == dateRange{}:
			second = r
		}
		i += n
	}
	switch {
	case found == dateRange{}:
	case slices.Contains(sinceWords, before):
		found.to = time.Time{}
	case slices.Contains(fromWords, before) && second.to.After(found.to):
		found.to = second.to
	case slices.Contains(untilWords, before):
		if before == "before" || before == "vor" || before == "avant" || before == "antes" {
			found.to = found.from
		}
		found.from = time.Time{}
	}
	return found
}

// lead returns the word before word i that says how its time is meant.
func (t *datedText) lead(i int) string {
	for i--; i >= 0; i-- {
		switch w := t.small[i]; w {
		case "the", "last", "early", "late", "mid", "end", "beginning", "start", "of", "dem", "der", "den", "ende", "anfang", "mitte", "le", "el", "la", "de", "du":
		default:
			return w
		}
	}
	return ""
}

// word returns word i in lower case, or "".
func (t *datedText) word(i int) string {
	if i < 0 || i >= len(t.small) {
		return ""
	}
	return t.small[i]
}

// at returns the time that the words from i on name, and how many words that takes.
func (t *datedText) at(i int) (dateRange, int) {
	if r, n := t.calendar(i); n > 0 {
		return r, n
	}
	return t.relative(i)
}

// calendar returns the day, month or year that the words from i on name.
func (t *datedText) calendar(i int) (dateRange, int) {
	w := t.words[i]
	if len(w) == len(time.DateOnly) && w[4] == '-' {
		if at, err := time.ParseInLocation(time.DateOnly, w, t.now.Location()); err == nil {
			return dateRange{at, at.AddDate(0, 0, 1)}, 1
		}
	}
	day, n := dayNumber(t.word(i)), 0
	if day > 0 {
		if n = 1; t.word(i+1) == "of" || t.word(i+1) == "de" {
			n = 2
		}
	}
	m := time.Month(0)
	if i+n < len(t.words) {
		m = parseMonth(t.words[i+n], t.word(i+n-1))
	}
	if m == 0 {
		if day > 0 && t.word(i) != strconv.Itoa(day) && t.word(i-1) == "the" {
			return t.dayOfMonth(day), 1
		}
		if y := yearNumber(t.word(i)); y > 0 {
			from := time.Date(y, 1, 1, 0, 0, 0, 0, t.now.Location())
			return dateRange{from, from.AddDate(1, 0, 0)}, 1
		}
		return dateRange{}, 0
	}
	n++
	if day == 0 {
		if day = dayNumber(t.word(i + n)); day > 0 {
			n++
		}
	}
	year := yearNumber(t.word(i + n))
	if year > 0 {
		n++
	} else if year = t.now.Year(); m > t.now.Month() {
		year--
	}
	if day > 0 {
		from := time.Date(year, m, day, 0, 0, 0, 0, t.now.Location())
		return dateRange{from, from.AddDate(0, 0, 1)}, n
	}
	from := time.Date(year, m, 1, 0, 0, 0, 0, t.now.Location())
	return dateRange{from, from.AddDate(0, 1, 0)}, n
}

// dayOfMonth returns the newest day of that number that has begun.
func (t *datedText) dayOfMonth(day int) dateRange {
	for back := 0; ; back++ {
		first := time.Date(t.now.Year(), t.now.Month()-time.Month(back), 1, 0, 0, 0, 0, t.now.Location())
		if from := first.AddDate(0, 0, day-1); from.Month() == first.Month() && !from.After(t.now) {
			return dateRange{from, from.AddDate(0, 0, 1)}
		}
	}
}

// dayNumber parses the day of a month, as in 3 and 3rd; 0 is none.
func dayNumber(w string) int {
	n, err := strconv.Atoi(strings.TrimRight(w, "sthndr"))
	if err != nil || n < 1 || n > 31 {
		return 0
	}
	return n
}

// yearNumber parses a year; 0 is none.
func yearNumber(w string) int {
	n, err := strconv.Atoi(w)
	if err != nil || len(w) != 4 || n < 1900 || n >= 2200 {
		return 0
	}
	return n
}

// relative returns the time that the words from i on name relative to now.
func (t *datedText) relative(i int) (dateRange, int) {
	today := time.Date(t.now.Year(), t.now.Month(), t.now.Day(), 0, 0, 0, 0, t.now.Location())
	days := func(from, to int) dateRange { return dateRange{today.AddDate(0, 0, from), today.AddDate(0, 0, to)} }
	switch dateWords[t.word(i)] {
	case "today":
		return days(0, 1), 1
	case "yesterday":
		return days(-1, 0), 1
	case "before yesterday":
		return days(-2, -1), 1
	case "weekend":
		return weekend(today), 1
	case "this":
		return t.within(today, dateWords[t.word(i+1)])
	case "last", "past":
		return t.lastOf(i, today)
	case "vor": // vor drei Tagen
		if n := t.number(i + 1); n > 0 {
			return before(today, n, dateWords[t.word(i+2)], 3)
		}
	case "week", "month", "year": // French and Spanish: la semaine dernière, el mes pasado
		if is := dateWords[t.word(i+1)]; is == "last" && i+1 < len(t.words) {
			return calendarUnit(today, dateWords[t.word(i)], -1), 2
		}
	}
	if n := t.number(i); n > 0 && dateWords[t.word(i+2)] == "ago" {
		return before(today, n, dateWords[t.word(i+1)], 3)
	}
	for d, names := range weekdayNames {
		if w := t.word(i); slices.Contains(names, w) || slices.Contains(names, strings.TrimSuffix(strings.TrimSuffix(w, "s"), "'")) {
			return lastWeekday(today, time.Weekday(d), false), 1
		}
	}
	return dateRange{}, 0
}

// within returns the day, week, month or year that now is in.
func (t *datedText) within(today time.Time, unit string) (dateRange, int) {
	switch unit {
	case "part":
		return dateRange{today, today.AddDate(0, 0, 1)}, 2
	case "weekend":
		return weekend(today), 2
	case "day", "week", "month", "year":
		return calendarUnit(today, unit, 0), 2
	}
	return dateRange{}, 0
}

// lastOf returns the time that last week, the last week, the last three days and last
// Monday are. Without an article it is the one of the calendar that is over.
func (t *datedText) lastOf(i int, today time.Time) (dateRange, int) {
	unit, n, count := dateWords[t.word(i+1)], 2, 1
	rolling := dateWords[t.word(i)] == "past" || slices.Contains([]string{"the", "den", "der", "die", "les", "las", "los"}, t.word(i-1))
	if c := t.number(i + 1); c > 0 {
		count, rolling = c, true
		if unit, n = dateWords[t.word(i+2)], 3; t.word(i+2) == "of" {
			unit, n = dateWords[t.word(i+3)], 4
		}
	}
	for d, names := range weekdayNames {
		if slices.Contains(names, t.word(i+1)) {
			return lastWeekday(today, time.Weekday(d), true), 2
		}
	}
	if m := parseMonth(t.words[min(i+1, len(t.words)-1)], t.word(i)); m > 0 {
		year := today.Year()
		if m >= today.Month() {
			year--
		}
		from := time.Date(year, m, 1, 0, 0, 0, 0, today.Location())
		return dateRange{from, from.AddDate(0, 1, 0)}, 2
	}
	tomorrow := today.AddDate(0, 0, 1)
	switch {
	case unit == "part":
		return dateRange{today.Add(-8 * time.Hour), today.Add(6 * time.Hour)}, 2
	case unit == "weekend":
		return weekend(today), 2
	case unit == "hour":
		return dateRange{t.now.Add(-time.Duration(min(count, 1000)) * time.Hour), tomorrow}, n
	case rolling && unit != "":
		if r, ok := unitBefore(today, count, unit); ok > 0 {
			return dateRange{r, tomorrow}, n
		}
	case unit == "week" || unit == "month" || unit == "year":
		return calendarUnit(today, unit, -1), n
	}
	return dateRange{}, 0
}

// number parses a small number, in digits or as a word; 0 is none.
func (t *datedText) number(i int) int {
	if n := numberWords[t.word(i)]; n > 0 {
		return n
	}
	n, err := strconv.Atoi(t.word(i))
	if err != nil || n < 1 || n > 1000 {
		return 0
	}
	return n
}

// unitBefore returns the day that is a number of units before today; ok is 0 where the
// unit is none.
func unitBefore(today time.Time, n int, unit string) (at time.Time, ok int) {
	switch unit {
	case "day":
		return today.AddDate(0, 0, -n), 1
	case "week":
		return today.AddDate(0, 0, -7*n), 1
	case "fortnight":
		return today.AddDate(0, 0, -14*n), 1
	case "month":
		return today.AddDate(0, -n, 0), 1
	case "year":
		return today.AddDate(-n, 0, 0), 1
	}
	return today, 0
}

// before returns the day, week, month or year that was a number of units ago.
func before(today time.Time, n int, unit string, words int) (dateRange, int) {
	at, ok := unitBefore(today, n, unit)
	if ok == 0 {
		return dateRange{}, 0
	}
	if unit == "day" {
		return dateRange{at, at.AddDate(0, 0, 1)}, words
	}
	return calendarUnit(at, unit, 0), words
}

// calendarUnit returns the day, week, month or year of the calendar that a day is in, or
// one that many before or after it. A week begins on Monday.
func calendarUnit(day time.Time, unit string, by int) dateRange {
	switch unit {
	case "week", "fortnight":
		monday := day.AddDate(0, 0, -(int(day.Weekday())+6)%7+7*by)
		return dateRange{monday, monday.AddDate(0, 0, 7)}
	case "month":
		first := time.Date(day.Year(), day.Month()+time.Month(by), 1, 0, 0, 0, 0, day.Location())
		return dateRange{first, first.AddDate(0, 1, 0)}
	case "year":
		first := time.Date(day.Year()+by, 1, 1, 0, 0, 0, 0, day.Location())
		return dateRange{first, first.AddDate(1, 0, 0)}
	}
	day = day.AddDate(0, 0, by)
	return dateRange{day, day.AddDate(0, 0, 1)}
}

// lastWeekday returns the newest such day up to today; one that is over, where over says so.
func lastWeekday(today time.Time, d time.Weekday, over bool) dateRange {
	back := (int(today.Weekday()) - int(d) + 7) % 7
	if over && back == 0 {
		back = 7
	}
	day := today.AddDate(0, 0, -back)
	return dateRange{day, day.AddDate(0, 0, 1)}
}

// weekend returns the newest Saturday and Sunday of which one has begun.
func weekend(today time.Time) dateRange {
	saturday := lastWeekday(today, time.Saturday, false).from
	return dateRange{saturday, saturday.AddDate(0, 0, 2)}
}
