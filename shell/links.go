package shell

import (
	"strings"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

// linkNotes hold which addresses of the words that are about to be said are shown as code,
// until the effect that says them is decided.
type linkNotes struct {
	settings func(spaces.SpaceID) AgentSettings // of the agent, in each room
	asCode   []string
	why      string
}

// guard returns words as they may be said in the room.
func (n *linkNotes) guard(v *hud.MindView, room *hud.SharedRoom, text string) string {
	there := n.settings(room.ID())
	rule := hud.NewLinkRule(v, room, there.Links, there.LinkHosts)
	text, asCode := rule.Guard(text)
	if len(asCode) > 0 {
		n.asCode, n.why = append(n.asCode, asCode...), rule.Why
	}
	return text
}

// maxLinkNote bounds what a run says of addresses, in bytes.
const maxLinkNote = 300

// add says in the result of an act, and in the run, which addresses are shown as code and
// why.
func (n *linkNotes) add(out *toolResult) {
	if len(n.asCode) == 0 {
		return
	}
	out.note = textformat.ClipBytes("links as code, because "+n.why+": "+strings.Join(n.asCode, ", "), maxLinkNote)
	out.body["links"] = "shown as code, not as links, because " + n.why
	n.asCode = nil
}
