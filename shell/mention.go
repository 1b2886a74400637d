package shell

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trestle-bridge/trestle/spaces"
)

// ParseMentions returns the members a text names with an @, in order of
// appearance, each once: the longest display name first, then handles, letters
// of either case (BLU-11). What stands in code is quoted and names nobody.
func ParseMentions(text string, members []spaces.Member) []spaces.EntityID {
	type label struct {
		text string
		id   spaces.EntityID
	}
	var labels []label
	for _, m := range members {
		if m.Name != "" {
			labels = append(labels, label{m.Name, m.ID})
		}
		if m.Handle != "" {
			labels = append(labels, label{m.Handle, m.ID})
		}
	}
	slices.SortStableFunc(labels, func(a, b label) int { return cmp.Compare(len(b.text), len(a.text)) })

	text = withoutCode(text)
	var found []spaces.EntityID
	for i := strings.IndexByte(text, '@'); i >= 0; {
		rest := text[i+1:]
		if before, _ := utf8.DecodeLastRuneInString(text[:i]); i == 0 || !isWord(before) {
			for _, l := range labels {
				if namesAt(rest, l.text) {
					if !slices.Contains(found, l.id) {
						found = append(found, l.id)
					}
					break
				}
			}
		}
		next := strings.IndexByte(rest, '@')
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return found
}

// namesAt reports whether s begins with name as a whole word.
func namesAt(s, name string) bool {
	if len(s) < len(name) || !strings.EqualFold(s[:len(name)], name) {
		return false
	}
	after, _ := utf8.DecodeRuneInString(s[len(name):])
	return len(s) == len(name) || !isWord(after)
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

var code = regexp.MustCompile("(?s)```.*?(?:```|$)|`[^`\n]*`")

// withoutCode blanks out fenced and inline code.
func withoutCode(text string) string {
	if !strings.Contains(text, "`") {
		return text
	}
	return code.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat(" ", len(s)) })
}
