package shell

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trestle-bridge/trestle/spaces"
)

// mostNames is how many signs of a text are looked at that may name a member: a room
// may have thousands of members, and a message thousands of signs.
const mostNames = 64

// ParseMentions returns the members a text names with an @, in order of
// appearance, each once: the longest display name first, then handles, letters
// of either case (BLU-11). What is in code is quoted and names no member, and an @ of
// a web address is a sign of that.
func ParseMentions(text string, members []spaces.SpaceMember) []spaces.EntityID {
	if !strings.Contains(text, "@") {
		return nil
	}
	text = withoutAddresses(withoutCode(text))
	var found []spaces.EntityID
	for i, looked := 0, 0; i < len(text) && looked < mostNames; i++ {
		if before, _ := utf8.DecodeLastRuneInString(text[:i]); text[i] != '@' || i > 0 && isWord(before) {
			continue
		}
		looked++
		if id := namedAt(text[i+1:], members); id != "" && !slices.Contains(found, id) {
			found = append(found, id)
		}
	}
	return found
}

// namedAt returns the member whose name or handle s begins with; of several, the one
// whose is the longest.
func namedAt(s string, members []spaces.SpaceMember) (id spaces.EntityID) {
	longest := 0
	for i := range members {
		for _, name := range [...]string{members[i].Name, members[i].Handle} {
			if len(name) > longest && namesAt(s, name) {
				longest, id = len(name), members[i].ID
			}
		}
	}
	return id
}

// namesAt reports whether s begins with name as a whole word.
func namesAt(s, name string) bool {
	if len(s) < len(name) || !strings.EqualFold(s[:len(name)], name) {
		return false
	}
	after, _ := utf8.DecodeRuneInString(s[len(name):])
	return len(s) == len(name) || !isWord(after)
}

// isWord reports whether r may be part of a name. In many scripts marks and joiners are.
func isWord(r rune) bool {
	switch {
	case unicode.Is(unicode.Variation_Selector, r):
		return false // it ends an emoji
	case unicode.In(r, unicode.L, unicode.Nd, unicode.Mn, unicode.Mc):
		return true
	}
	return r == '_' || r == '\u200c' || r == '\u200d'
}

var code = regexp.MustCompile("(?s)```.*?(?:```|$)|`[^`\n]*`")

// withoutCode blanks out fenced and inline code.
func withoutCode(text string) string {
	if !strings.Contains(text, "`") {
		return text
	}
	return code.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat(" ", len(s)) })
}

// An address goes on to a blank, a bracket, or a letter that is not of ASCII.
var address = regexp.MustCompile(`(?:[A-Za-z]+://|\w[\w.-]*\.\w{2,}/)[!#-'*-;=?-Z\\^-z|~]*`)

// withoutAddresses blanks out web addresses, with their scheme or without.
func withoutAddresses(text string) string {
	if !strings.Contains(text, "/") {
		return text
	}
	return address.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat(" ", len(s)) })
}
