package telegram

import (
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/mentions"
)

// linkMentions makes @Name in markup notify the people given, and no others. A person
// with a username is mentioned by it, the others by a link to their id. Code and links
// stay as they are.
func linkMentions(markup string, people []adapters.Person) string {
	names := mentions.Of(people, written)
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

// written returns how the name of a person is in markup, if they can be called.
func written(who adapters.Person, name string) []string {
	if who.Handle == "" && !isNumber(who.ID) {
		return nil
	}
	return []string{escapeHTML(name)}
}

// isNumber reports whether id is one of Telegram's.
func isNumber(id string) bool {
	return id != "" && strings.Trim(id, "0123456789") == ""
}

// linkNames replaces each @name in words.
func linkNames(words string, names mentions.NameSet, roomy bool) string {
	var b strings.Builder
	for {
		m, found := names.Cut(words)
		b.WriteString(m.Before)
		if !found {
			return b.String()
		}
		b.WriteString(linkTo(m.Who, m.Written, roomy))
		words = m.After
	}
}

// linkTo returns what calls the person whose name was written so. In a message
// that is nearly full a handle longer than the name could be too much; the id
// link then serves, which shows the name as it was written.
func linkTo(who adapters.Person, written string, roomy bool) string {
	if who.Handle != "" && (roomy || len(who.Handle) <= len(written) || !isNumber(who.ID)) {
		return "@" + who.Handle
	}
	return `<a href="tg://user?id=` + who.ID + `">@` + written + `</a>`
}
