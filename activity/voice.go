package activity

import (
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

// platforms are the names of platforms as people write them.
var platforms = map[string]string{"telegram": "Telegram", "slack": "Slack", "discord": "Discord", "local": "Trestle"}

// face returns who seems to speak: the person whose words are carried from
// another chat, or the agent.
func (e *Egress) face(a spaces.Action) adapters.Face {
	switch {
	case a.Voice != "":
		return adapters.Face{Name: a.Voice + " (" + platformName(a.Via) + ")"}
	case a.Agent != "" && e.o.Face != nil:
		return e.o.Face(a.Agent)
	}
	return adapters.Face{}
}

// words returns what is sent: people's words from another chat begin with who
// said them and where, unless the chat shows that by a face.
func (e *Egress) words(a spaces.Action) string {
	if a.Voice == "" || e.masquerader != nil && e.masquerader.Masks(a.Chat) {
		return a.Text
	}
	head := "**" + escapeMarkdown(a.Voice) + "** (" + platformName(a.Via) + "):"
	if beginsBlock(a.Text) {
		return head + "\n\n" + a.Text
	}
	return head + " " + a.Text
}

func platformName(platform string) string {
	if name, ok := platforms[platform]; ok {
		return name
	}
	return platform
}

// beginsBlock reports whether a CommonMark text begins with something that must
// stand on a line of its own.
func beginsBlock(text string) bool {
	return strings.HasPrefix(text, "    ") || strings.ContainsAny(text[:min(1, len(text))], "#>-+*|0123456789`~")
}

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
