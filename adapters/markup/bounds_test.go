package markup

import (
	"fmt"
	"strings"
	"testing"
)

// SECURITY S20: what is written beside the words, such as the indentation of lines, the
// blanks of a table and the addresses of links, stays in proportion to them.
func TestWhatIsShownStaysInProportion(t *testing.T) {
	for name, md := range map[string]string{
		"lines of a deep quote":  strings.Repeat("> ", 2000) + "a\n" + strings.Repeat("b\n", 2000),
		"rows beside a wide one": "| " + strings.Repeat("a", 4000) + " | b |\n|---|---|\n" + strings.Repeat("|x|y|\n", 600),
		"rows of many columns":   strings.Repeat("|a", 500) + "|\n" + strings.Repeat("|-", 500) + "|\n" + strings.Repeat("|x|\n", 500),
		"one address many times": "[a]: https://example.org/" + strings.Repeat("y", 2000) + "\n\n" + strings.Repeat("[a] ", 1000),
	} {
		for _, o := range []Options{{}, {Tables: true}, native} {
			text := New(o).Read(md)
			if got, most := len(text.Write(0, len(text.Words), tags{})), 4*len(md)+8<<10; got > most {
				t.Errorf("%s: %d bytes became %d, want %d at most", name, len(md), got, most)
			}
			if letters := strings.Count(md, "x"); strings.Count(text.Words, "x") < letters-1 {
				t.Errorf("%s: %d of %d words left", name, strings.Count(text.Words, "x"), letters)
			}
		}
	}
}

// A long cell does not push those of the other rows out of sight.
func TestALongCellWidensNoOther(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("long words ", 20))
	got := New(Options{}).Read(fmt.Sprintf("| a | b | c |\n|---|---|---|\n| 1 | %s | 2 |\n| 3 | short | 4 |", long)).Words
	for line := range strings.SplitSeq(got, "\n") {
		if !strings.Contains(line, long) && len(line) > 60 {
			t.Errorf("a line of %d columns: %q", len(line), line)
		}
	}
	for _, want := range []string{"1 | " + long + " | 2", "3 | short"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
