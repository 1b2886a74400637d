package discord

import (
	"regexp"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/mentions"
)

// untouched is what in a part is not words: code, addresses and signs.
var untouched = regexp.MustCompile("(?s)```.*?```|``.*?``|`[^`]*`|<[^<>\\s]*>|(?i:https?)://[^\\s<]+")

var emojiRule = regexp.MustCompile(`:(\w{2,32}):`)

// called returns the words of p with @Name made a call of each person given, and
// the names of the server's own emoji made the emoji; and who is called. What
// would make the message too long stays words.
func (c *messageSender) called(p adapters.OutgoingMessage, guild string) (content string, ids []string) {
	names := mentions.Of(p.Mentions, written)
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

// written returns how the name of a person may stand in Discord's Markdown.
func written(who adapters.Person, name string) []string {
	if flake(who.ID) == 0 {
		return nil
	}
	return slices.Compact([]string{escape(name, false), name})
}

// callIn replaces each @name in words as long as there is room.
func callIn(words string, names mentions.NameSet, ids []string, room *int) (string, []string) {
	var b strings.Builder
	for {
		m, found := names.Cut(words)
		b.WriteString(m.Before)
		if !found {
			return b.String(), ids
		}
		words = m.After
		call, plain := "<@"+m.Who.ID+">", "@"+m.Written
		cost := units(call) - units(plain)
		if cost > *room {
			b.WriteString(plain)
			continue
		}
		*room -= max(cost, 0)
		b.WriteString(call)
		if !slices.Contains(ids, m.Who.ID) {
			ids = append(ids, m.Who.ID)
		}
	}
}

// emojiIn replaces the names of the server's own emoji as long as there is room.
func (c *messageSender) emojiIn(words, guild string, room *int) string {
	if guild == "" || !strings.Contains(words, ":") {
		return words
	}
	return emojiRule.ReplaceAllStringFunc(words, func(name string) string {
		e, ok := c.known.customEmoji(guild, strings.Trim(name, ":"))
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
