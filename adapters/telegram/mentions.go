package telegram

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trestle-bridge/trestle/adapters"
)

// callName is a way to name somebody after @ and the markup that calls them.
type callName struct {
	name string // as it stands in markup
	who  adapters.Person
}

// linkMentions makes @Name in markup call the people given, and nobody else. Who
// has a handle is called by it, the others by a link to their id. Code and links
// stay as they are.
func linkMentions(markup string, people []adapters.Person) string {
	names := callNames(people)
	if len(names) == 0 || !strings.Contains(markup, "@") {
		return markup
	}
	var b strings.Builder
	inside := 0
	roomy := len(markup) < maxUnits/2
	for piece, isTag := range pieces(markup) {
		switch {
		case isTag:
			inside += depth(piece)
		case inside == 0:
			piece = linkNames(piece, names, roomy)
		}
		b.WriteString(piece)
	}
	return b.String()
}

// depth returns 1 for a tag that opens what must stay as it is, -1 for one that
// closes it, else 0.
func depth(tag string) int {
	name, _, _ := strings.Cut(strings.Trim(tag, "<>/"), " ")
	switch {
	case name != "a" && name != "code" && name != "pre":
		return 0
	case strings.HasPrefix(tag, "</"):
		return -1
	default:
		return 1
	}
}

// callNames returns every name of the people who can be called, the longest
// first, so that "Ann Lee" is not taken for "Ann".
func callNames(people []adapters.Person) []callName {
	var names []callName
	for _, p := range people {
		if p.Handle == "" && !isNumber(p.ID) {
			continue
		}
		for _, name := range []string{p.Name, p.Handle} {
			if name != "" {
				names = append(names, callName{name: escapeHTML(name), who: p})
			}
		}
	}
	slices.SortStableFunc(names, func(a, b callName) int { return len(b.name) - len(a.name) })
	return names
}

// isNumber reports whether id is one of Telegram's.
func isNumber(id string) bool {
	return id != "" && strings.Trim(id, "0123456789") == ""
}

// linkNames replaces each @name in words.
func linkNames(words string, names []callName, roomy bool) string {
	var b strings.Builder
	for {
		at := strings.IndexByte(words, '@')
		if at < 0 {
			b.WriteString(words)
			return b.String()
		}
		before, _ := utf8.DecodeLastRuneInString(words[:at])
		b.WriteString(words[:at])
		words = words[at+1:]
		found := named(words, names)
		if found == nil || (at > 0 && inWord(before)) {
			b.WriteByte('@')
			continue
		}
		b.WriteString(found.markup(words[:len(found.name)], roomy))
		words = words[len(found.name):]
	}
}

// named returns the first of names that words begin with.
func named(words string, names []callName) *callName {
	for i, n := range names {
		if len(words) < len(n.name) || !strings.EqualFold(words[:len(n.name)], n.name) {
			continue
		}
		if after, _ := utf8.DecodeRuneInString(words[len(n.name):]); len(words) > len(n.name) && inWord(after) {
			continue
		}
		return &names[i]
	}
	return nil
}

// inWord reports whether r is part of a name.
func inWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// markup returns what calls the person whose name was written so. In a message
// that is nearly full a handle longer than the name could be too much; the id
// link then serves, which shows the name as it was written.
func (n *callName) markup(written string, roomy bool) string {
	if n.who.Handle != "" && (roomy || len(n.who.Handle) <= len(written) || !isNumber(n.who.ID)) {
		return "@" + n.who.Handle
	}
	return `<a href="tg://user?id=` + n.who.ID + `">@` + written + `</a>`
}
