package hud

import (
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/adapters/markup"
	"github.com/trestle-bridge/trestle/spaces"
)

// A LinkRule says which addresses stay links in what a mind writes in a room (SECURITY S6).
type LinkRule struct {
	Policy spaces.LinkPolicy // never empty
	// Why says in a few words why the policy is not that of an empty setting in a room of
	// its own; empty: it is.
	Why string

	view  *MindView
	room  *SharedRoom
	hosts []string
}

// NewLinkRule returns the rule for what the mind of v writes in a room. An empty policy is [spaces.LinksOpen] where the frame
// held nothing but what all readers of the room may read, so that no address can carry
// anything out, else [spaces.LinksKnown]. Web pages of the hosts stay links under both. The
// rule is valid as long as the view is.
func NewLinkRule(v *MindView, r *SharedRoom, policy spaces.LinkPolicy, hosts []string) LinkRule {
	rule := LinkRule{Policy: policy, view: v, room: r, hosts: hosts}
	switch {
	case policy != "":
		rule.Why = "links is set to " + string(policy)
	case tooled(v):
		rule.Policy, rule.Why = spaces.LinksKnown, "the frame held a tool's result"
	case knowsMore(v, r):
		rule.Policy, rule.Why = spaces.LinksKnown, "the frame held what not all readers of this room may read"
	default:
		rule.Policy = spaces.LinksOpen
	}
	return rule
}

// Guard returns Markdown as it may leave, and the addresses in it that are shown as code
// from now on.
func (l LinkRule) Guard(md string) (guarded string, asCode []string) {
	return markup.Guard(md, l.allows)
}

func (l LinkRule) allows(address string) bool {
	switch l.Policy {
	case spaces.LinksOpen:
		return true
	case spaces.LinksNone:
		return false
	case spaces.LinksKnown:
	}
	a := markup.ParseAddress(address)
	return slices.ContainsFunc(l.hosts, a.OnHost) || l.room.saidBy(people, a) || inResults(l.view, a)
}

// tooled reports whether the frame has the result of a tool that looks something up.
func tooled(v *MindView) bool {
	for t := range v.turns() {
		if lookup(t) {
			return true
		}
	}
	return false
}

// lookup reports whether a turn is the result of a tool that shows something. Other results
// are objects that say how a call went.
func lookup(t *spaces.TranscriptTurn) bool {
	return t.Role == spaces.RoleTool && !strings.HasPrefix(t.Text, "{") || t.Role == spaces.RoleUser && strings.Contains(t.Text, ToolResultHead)
}

// inResults reports whether a result of a tool in the open cycle has the address.
func inResults(v *MindView, a markup.ParsedAddress) bool {
	return slices.ContainsFunc(v.Current, func(t spaces.TranscriptTurn) bool { return lookup(&t) && mentions(t.Text, a) })
}

// knowsMore reports whether the mind knows something that a reader of the room may not read:
// a line of a room that not all of them are in. In a room that is not closed there are
// readers who have never written.
func knowsMore(v *MindView, r *SharedRoom) bool {
	allIn := func(readers func(spaces.EntityID) bool) bool {
		return r.Space().Closed && !slices.ContainsFunc(r.Members(), func(m spaces.SpaceMember) bool { return !readers(m.ID) })
	}
	for i := range v.Seats {
		other := v.Seats[i].Room
		if other == r || len(other.Chat.Messages) == 0 {
			continue
		}
		if !allIn(func(who spaces.EntityID) bool {
			return slices.ContainsFunc(other.Members(), func(m spaces.SpaceMember) bool { return m.ID == who })
		}) {
			return true
		}
	}
	for i := range v.Beyond {
		if audience := v.Beyond[i].audience; !allIn(func(who spaces.EntityID) bool { return who == v.me() || audience.Has(who) }) {
			return true
		}
	}
	return false
}

// people reports whether words are those of a person, a service or a bot of others.
func people(who spaces.EntityID) bool {
	_, agent := who.IsAgent()
	return who != "" && !agent
}

// saidBy reports whether a message of the room by one of those has the address, as it is or
// with more behind it.
func (r *SharedRoom) saidBy(who func(spaces.EntityID) bool, a markup.ParsedAddress) bool {
	for i := len(r.Chat.Messages) - 1; i >= 0; i-- {
		m := &r.Chat.Messages[i]
		if !m.Deleted && who(m.Sender) && mentions(m.Text, a) {
			return true
		}
	}
	return false
}

// mentions reports whether Markdown has the address, as it is or with more behind it.
func mentions(md string, a markup.ParsedAddress) bool {
	if !strings.Contains(md, ".") && !strings.Contains(md, ":") && !strings.Contains(md, "&") {
		return false
	}
	if name, _, _ := strings.Cut(a.Host, "."); name != "" && !strings.Contains(strings.ToLower(md), name) && !strings.Contains(md, "&") {
		return false // a quick look, before the words are read
	}
	return slices.ContainsFunc(strings.Split(markup.Visible(md), "\n"), func(line string) bool {
		return slices.ContainsFunc(markup.Addresses(line), func(said string) bool { return a.Within(markup.ParseAddress(said)) })
	})
}

// KnowsMore reports whether the mind knows something that a reader of the room may not read.
func KnowsMore(v *MindView, r *SharedRoom) bool { return knowsMore(v, r) }

// SaidHere reports whether a person wrote the address in the room, or a tool's result in the
// open cycle has it.
func SaidHere(v *MindView, r *SharedRoom, address string) bool {
	a := markup.ParseAddress(address)
	return a.Host != "" && (r.saidBy(people, a) || inResults(v, a))
}
