package discord

import (
	"regexp"
	"strconv"
	"time"

	"github.com/trestle-bridge/trestle/adapters/markup"
)

// mentionNames look up the names of ids in a text. A nil function, or an empty result,
// means that the name is not known.
type mentionNames struct {
	user, role, channel func(id string) string
}

// named returns what f knows of id, behind its sign.
func named(sign string, f func(string) string, id, otherwise string) string {
	if f != nil {
		if name := f(id); name != "" {
			return sign + name
		}
	}
	return sign + otherwise
}

var (
	signRule = regexp.MustCompile(`<(?:@(?P<who>[!&]?)(?P<id>\d+)|#(?P<channel>\d+)|a?:(?P<emoji>\w+):\d+|t:(?P<time>-?\d{1,13})(?::[a-zA-Z])?|/(?P<command>[^:<>\n]+):\d+|id:(?P<page>\w+))>`)
	// autoRule is an address in angle brackets, which keeps Discord from showing a preview.
	autoRule = regexp.MustCompile(`^<((?i:https?)://[^\s<>]+)>`)
)

// sign reads what is in angle brackets.
func (r *parseState) sign(s string) int {
	if m := autoRule.FindStringSubmatch(s); m != nil {
		r.look(markup.Address, "", func() { r.words.WriteString(m[1]) })
		return len(m[0])
	}
	if at := signRule.FindStringSubmatchIndex(s); at != nil && at[0] == 0 {
		r.words.WriteString(r.meant(signRule.FindStringSubmatch(s)))
		return at[1]
	}
	return 0
}

// signs puts in what the signs of a long text mean.
func (r *parseState) signs(text string) string {
	return signRule.ReplaceAllStringFunc(text, func(sign string) string { return r.meant(signRule.FindStringSubmatch(sign)) })
}

// meant returns what a match of signRule means, as a reader sees it.
func (r *parseState) meant(m []string) string {
	who, id, channel, emoji, at, command, page := m[1], m[2], m[3], m[4], m[5], m[6], m[7]
	switch {
	case id != "" && who == "&":
		return named("@", r.names.role, id, "unknown-role")
	case id != "":
		return named("@", r.names.user, id, "unknown-user")
	case channel != "":
		return named("#", r.names.channel, channel, "unknown")
	case emoji != "":
		return ":" + emoji + ":"
	case command != "":
		return "/" + command
	case page != "":
		return "#" + page
	default:
		n, _ := strconv.ParseInt(at, 10, 64) // at most 13 digits, by the rule
		return time.Unix(n, 0).UTC().Format("2006-01-02 15:04 UTC")
	}
}
