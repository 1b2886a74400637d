package activity

import (
	"regexp"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

// platforms are the names of platforms as people write them.
var platforms = map[string]string{"telegram": "Telegram", "slack": "Slack", "discord": "Discord", "local": "Trestle", "hook": "a program"}

// persona returns who seems to speak: the person whose words are carried from
// another chat, or the agent.
func (e *stepBuilder) persona(a spaces.Action) adapters.AgentPersona {
	switch {
	case a.Voice != "":
		return adapters.AgentPersona{Name: a.Voice + " (" + platformName(a.Via) + ")", Avatar: a.Portrait}
	case a.Agent != "" && e.o.Persona != nil:
		return e.o.Persona(a.Agent)
	}
	return adapters.AgentPersona{}
}

// parts returns the parts of what is sent. People's words from another chat begin
// with who said them and where; a chat that shows that by a face needs it only in
// unmasked, the first part as it is sent where the face cannot be shown. How many
// parts there are and what is in the others does not depend on that.
func (e *stepBuilder) parts(a spaces.Action) (parts []string, unmasked string) {
	if a.Voice == "" {
		return e.adapter.Split(a.Text), ""
	}
	head := e.head(a)
	parts = e.adapter.Split(head + a.Text)
	if e.personaSender == nil || !e.personaSender.SupportsPersona(a.Chat) || len(parts) == 0 {
		return parts, ""
	}
	unmasked = parts[0]
	if faced := e.adapter.Split(a.Text); len(faced) == len(parts) && slices.Equal(faced[1:], parts[1:]) {
		return faced, unmasked
	}
	// The head moved where the parts begin: it is cut off the first, if it can be.
	if lead := e.adapter.Split(head); len(lead) == 1 {
		if rest := strings.TrimLeft(strings.TrimPrefix(unmasked, lead[0]), " \n"); rest != "" {
			parts[0] = rest
		}
	}
	return parts, unmasked
}

// head names who said the words of an action and where, as CommonMark.
func (*stepBuilder) head(a spaces.Action) string {
	head := "**" + escapeMarkdown(a.Voice) + "** (" + platformName(a.Via) + "):"
	if blockStart.MatchString(a.Text) {
		return head + "\n\n"
	}
	return head + " "
}

func platformName(platform string) string {
	if name, ok := platforms[platform]; ok {
		return name
	}
	return platform
}

// blockStart is what a CommonMark text begins with that must stand on a line of its
// own.
var blockStart = regexp.MustCompile("^(?:    |[#>+*|`~-]|[0-9]{1,9}[.)])")

// escapeMarkdown makes a name mean itself in CommonMark, on one line.
func escapeMarkdown(name string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(name), " ") {
		if strings.ContainsRune("\\`*_{}[]()<>#+-.!|~&@", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
