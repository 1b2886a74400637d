package discord

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trestle-bridge/trestle/adapters"
)

// callName is a way to name somebody after @, as it stands in Discord's Markdown.
type callName struct {
	name string
	id   string
}

// untouched is what in a part is not words: code, addresses and signs.
var untouched = regexp.MustCompile("(?s)```.*?```|``.*?``|`[^`]*`|<[^<>\\s]*>|(?i:https?)://[^\\s<]+")

// emojiRule is an emoji by its name.
var emojiRule = regexp.MustCompile(`:(\w{2,32}):`)

// called returns the words of p with @Name made a call of each person given, and
// the names of the server's own emoji made the emoji; and who is called. What
// would make the message too long stays words.
func (c *Client) called(p adapters.Post, guild string) (content string, ids []string) {
	names := callNames(p.Mentions)
	room := maxUnits - units(p.Text)
	var b strings.Builder
	words := func(s string) {
		s, ids = callIn(s, names, ids, &room)
		b.WriteString(c.emojiIn(s, guild, &room))
	}
	at := 0
	for _, skip := range untouched.FindAllStringIndex(p.Text, -1) {
		words(p.Text[at:skip[0]])
		b.WriteString(p.Text[skip[0]:skip[1]])
		at = skip[1]
	}
	words(p.Text[at:])
	return b.String(), ids
}

// callNames returns every name of the people, the longest first, so that "Ann
// Lee" is not taken for "Ann".
func callNames(people []adapters.Person) []callName {
	var all []callName
	for _, p := range people {
		if flake(p.ID) == 0 {
			continue
		}
		for _, name := range []string{p.Name, p.Handle} {
			if name == "" {
				continue
			}
			all = append(all, callName{escape(name, false), p.ID})
			if escape(name, false) != name {
				all = append(all, callName{name, p.ID})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b callName) int { return len(b.name) - len(a.name) })
	return all
}

// callIn replaces each @name in words as long as there is room.
func callIn(words string, names []callName, ids []string, room *int) (string, []string) {
	var b strings.Builder
	for {
		at := strings.IndexByte(words, '@')
		if at < 0 || len(names) == 0 {
			b.WriteString(words)
			return b.String(), ids
		}
		before, _ := utf8.DecodeLastRuneInString(words[:at])
		b.WriteString(words[:at])
		words = words[at:]
		found := nameAt(words[1:], names)
		cost := 0
		if found != nil {
			cost = units("<@"+found.id+">") - units(words[:1+len(found.name)])
		}
		if found == nil || at > 0 && inName(before) || cost > *room {
			b.WriteByte('@')
			words = words[1:]
			continue
		}
		*room -= max(cost, 0)
		b.WriteString("<@" + found.id + ">")
		words = words[1+len(found.name):]
		if !slices.Contains(ids, found.id) {
			ids = append(ids, found.id)
		}
	}
}

// nameAt returns the first of names that words begin with.
func nameAt(words string, names []callName) *callName {
	for i, n := range names {
		if len(words) < len(n.name) || !strings.EqualFold(words[:len(n.name)], n.name) {
			continue
		}
		if after, _ := utf8.DecodeRuneInString(words[len(n.name):]); len(words) > len(n.name) && inName(after) {
			continue
		}
		return &names[i]
	}
	return nil
}

// inName reports whether r is part of a name.
func inName(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// emojiIn replaces the names of the server's own emoji as long as there is room.
func (c *Client) emojiIn(words, guild string, room *int) string {
	if guild == "" || !strings.Contains(words, ":") {
		return words
	}
	return emojiRule.ReplaceAllStringFunc(words, func(name string) string {
		e, ok := c.known.emoji(guild, strings.Trim(name, ":"))
		sign := "<:" + e.Name + ":" + e.ID + ">"
		if e.Animated {
			sign = "<a" + sign[1:]
		}
		cost := len(sign) - len(name)
		if !ok || cost > *room {
			return name
		}
		*room -= cost
		return sign
	})
}
