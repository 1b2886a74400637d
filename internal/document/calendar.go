package document

import (
	"context"
	"strings"
	"time"
)

// calendarFields are shown of an event or a task, in this order.
var calendarFields = []struct{ property, words string }{
	{"DTSTART", "starts"},
	{"DTEND", "ends"},
	{"DUE", "due"},
	{"DURATION", "lasts"},
	{"RRULE", "repeats"},
	{"LOCATION", "where"},
	{"STATUS", "status"},
	{"ORGANIZER", "organizer"},
	{"ATTENDEE", "attendees"},
	{"URL", "link"},
	{"DESCRIPTION", "about"},
}

// extractCalendar reads the events and tasks of a calendar (RFC 5545).
func extractCalendar(ctx context.Context, src FileSource, out *textWriter) error {
	text, err := decodeText(src.Data, declaredCharset(src.MediaType), 4*out.limits.Output)
	if err != nil {
		return err
	}
	text = strings.NewReplacer("\r\n ", "", "\r\n\t", "", "\n ", "", "\n\t", "").Replace(text) // folded lines
	item := map[string][]string(nil)
	inner := 0 // an alarm within an event
	for line := range strings.Lines(text) {
		if err := ctx.Err(); err != nil {
			return err
		}
		name, params, value := splitProperty(strings.TrimRight(line, "\r\n"))
		component := strings.ToUpper(value)
		shown := component == "VEVENT" || component == "VTODO" || component == "VJOURNAL"
		switch {
		case name == "BEGIN" && shown:
			item, inner = map[string][]string{}, 0
		case name == "BEGIN" && item != nil:
			inner++
		case name == "END" && shown && item != nil:
			writeCalendarItem(item, out)
			item = nil
		case name == "END" && inner > 0:
			inner--
		case item != nil && inner == 0 && len(item[name]) < 200:
			item[name] = append(item[name], propertyText(name, params, value))
		case name == "X-WR-CALNAME":
			out.setTitle(value)
		}
		if out.full() {
			return nil
		}
	}
	return nil
}

// splitProperty splits a content line into its name, its parameters and its value.
// A colon may stand within a quoted parameter.
func splitProperty(line string) (name, params, value string) {
	quoted := false
	for i, c := range line {
		if c == '"' {
			quoted = !quoted
		}
		if c == ':' && !quoted {
			name, params, _ = strings.Cut(line[:i], ";")
			return strings.ToUpper(name), params, line[i+1:]
		}
	}
	return "", "", ""
}

// propertyText returns the value of a property in words.
func propertyText(name, params, value string) string {
	value = strings.NewReplacer(`\n`, "\n", `\N`, "\n", `\,`, ",", `\;`, ";", `\\`, `\`).Replace(value)
	switch name {
	case "DTSTART", "DTEND", "DUE":
		zone := ""
		for p := range strings.SplitSeq(params, ";") {
			if id, ok := strings.CutPrefix(p, "TZID="); ok {
				zone = " " + strings.Trim(id, `"`)
			}
		}
		for _, f := range []struct{ in, out string }{
			{"20060102T150405Z", "Mon 2006-01-02 15:04 UTC"}, {"20060102T150405", "Mon 2006-01-02 15:04"}, {"20060102", "Mon 2006-01-02"},
		} {
			if at, err := time.Parse(f.in, value); err == nil {
				return at.Format(f.out) + zone
			}
		}
	case "ORGANIZER", "ATTENDEE":
		value = strings.TrimPrefix(strings.TrimPrefix(value, "mailto:"), "MAILTO:")
		for p := range strings.SplitSeq(params, ";") {
			if cn, ok := strings.CutPrefix(p, "CN="); ok {
				value = strings.Trim(cn, `"`) + " <" + value + ">"
			}
		}
	}
	return value
}

// writeCalendarItem writes an event or a task.
func writeCalendarItem(item map[string][]string, out *textWriter) {
	title := strings.Join(item["SUMMARY"], " ")
	if title == "" {
		title = "without a title"
	}
	out.writeBlock("## " + strings.Join(strings.Fields(title), " "))
	for _, f := range calendarFields {
		if values := item[f.property]; len(values) > 0 {
			out.writeLine("- " + f.words + ": " + strings.Join(values, ", "))
		}
	}
}
