package activity

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

// A translateContext is what an update is translated into: whose account saw it, where
// it goes, and who speaks for the account there.
type translateContext struct {
	account adapters.BotAccount
	place   spaces.ChatPlacement
	agent   spaces.AgentID // a mention of the account is a mention of this agent; empty: of none
	source  string         // identity of the update in the record, see source
	alike   string         // what other accounts know it by, see [spaces.Incoming]
	at      time.Time      // when we learned of it
	ours    []adapters.BotAccount
}

// isOurs reports whether p is another account of ours on the platform. Of two of
// them in one room the first to tell of a message decides what it says.
func (s translateContext) isOurs(p adapters.Person) bool {
	return slices.ContainsFunc(s.ours, func(a adapters.BotAccount) bool {
		return a.Platform == s.account.Platform && (isUs(a, p) || p.ID == "" && p.Handle != "" && strings.EqualFold(p.Handle, a.Handle))
	})
}

// source returns the identity of an update's content in the record: the same in
// every space that the chat is mapped to, and in each of them once.
func source(a adapters.BotAccount, u adapters.Update) string {
	if u.Common {
		return a.Platform + "|" + u.Key
	}
	return a.Key() + "|" + u.Key
}

// alike returns what other accounts of the platform know an update by.
func alike(a adapters.BotAccount, u adapters.Update) string {
	if u.Alike == "" {
		return ""
	}
	return a.Platform + "|" + u.Alike
}

// translate returns the facts that an update holds, in order; none when it says
// nothing new. It is pure and total: what cannot be read becomes
// [spaces.Unreadable]. Changes of the map itself (migrated, linked, unlinked)
// are the directory's to record.
func translate(u adapters.Update, s translateContext) []spaces.IngestItem {
	switch b := u.Body.(type) {
	case adapters.IncomingMessage:
		return s.message(u, b)
	case adapters.MessageEdit:
		return s.about(u, b.New.ID, func(ref spaces.MessageRef) spaces.EventBody {
			edited := spaces.MessageEdited{Ref: ref, Text: spaces.TruncateText(b.New.Text, spaces.MaxTextBytes)}
			if !b.KeepsFiles {
				edited.Attachments = append([]spaces.FileAttachment{}, attachments(b.New.Attachments)...)
			}
			return edited
		})
	case adapters.MessageDeletion:
		return s.deleted(u, b)
	case adapters.ReactionChange:
		return s.reactions(u, b)
	case adapters.ReactionsCleared:
		return s.about(u, b.Message, func(ref spaces.MessageRef) spaces.EventBody {
			return spaces.ReactionRemoved{Ref: ref, Emoji: spaces.TruncateText(b.Emoji, spaces.MaxEmojiBytes), Everybody: true}
		})
	case adapters.PeopleJoined:
		return s.members(u, b.People, u.From, spaces.MemberJoined{})
	case adapters.PeopleLeft:
		by := b.By
		if by.ID == "" {
			by = u.From
		}
		items := s.members(u, b.People, by, spaces.MemberLeft{})
		for i := range items {
			items[i].Present = b.Unseen
		}
		return items
	case adapters.ChatRenamed:
		return s.one(u, spaces.SpaceRenamed{Title: spaces.TruncateText(b.Title, spaces.MaxNameBytes)})
	case adapters.MessagePinned:
		return s.about(u, b.Message, func(ref spaces.MessageRef) spaces.EventBody { return spaces.MessagePinned{Ref: ref} })
	case adapters.MessageUnpinned:
		return s.about(u, b.Message, func(ref spaces.MessageRef) spaces.EventBody { return spaces.MessageUnpinned{Ref: ref} })
	case adapters.UpdateGap:
		return s.one(u, spaces.HistoryGap{From: plausible(b.From, s.at), To: plausible(b.To, s.at), Reason: spaces.TruncateText(b.Reason, spaces.MaxNameBytes)})
	case adapters.UnreadableUpdate:
		return s.unreadable(u, b.Kind, b.Reason)
	case adapters.ChatMigrated, adapters.ChatGained, adapters.ChatLost, adapters.ChoicePicked:
		return nil
	}
	return s.unreadable(u, "", "the update has no body")
}

// one returns the incoming for a fact that is the whole update.
func (s translateContext) one(u adapters.Update, body spaces.EventBody) []spaces.IngestItem {
	return []spaces.IngestItem{{
		Event: spaces.Event{
			Space:  s.place.Space,
			Branch: spaces.Primary,
			Object: cmp.Or(s.place.Object, spaces.ChatObject),
			Thread: spaces.ThreadID(u.Thread.ID),
			At:     plausible(u.At, s.at),
			RecvAt: s.at,
			Source: s.source,
			Body:   body,
		},
		From:        identity(s.account, u.From),
		Chat:        u.Chat.ID,
		ThreadTitle: spaces.TruncateText(u.Thread.Title, spaces.MaxNameBytes),
		Common:      u.Common,
		Alike:       s.alike,
	}}
}

// several returns one incoming a body; all but the first have a source of their own.
func (s translateContext) several(u adapters.Update, bodies []spaces.EventBody) []spaces.IngestItem {
	var out []spaces.IngestItem
	for i, b := range bodies {
		item := s.one(u, b)[0]
		if i > 0 {
			item.Event.Source += "#" + strconv.Itoa(i)
			if item.Alike != "" {
				item.Alike += "#" + strconv.Itoa(i)
			}
		}
		out = append(out, item)
	}
	return out
}

// about returns the incoming for a fact about one message.
func (s translateContext) about(u adapters.Update, message string, body func(spaces.MessageRef) spaces.EventBody) []spaces.IngestItem {
	if message == "" || u.Chat.ID == "" {
		return s.unreadable(u, "", "it is about a message and does not say which")
	}
	return s.one(u, body(s.ref(u, message)))
}

func (s translateContext) ref(u adapters.Update, message string) spaces.MessageRef {
	return spaces.MessageRef{Account: s.account.Key(), Chat: u.Chat.ID, Message: message}
}

func (s translateContext) message(u adapters.Update, m adapters.IncomingMessage) []spaces.IngestItem {
	if m.ID == "" || u.Chat.ID == "" {
		return s.unreadable(u, "message", "it has no id or no chat")
	}
	said := spaces.MessagePosted{
		Text:        spaces.TruncateText(m.Text, spaces.MaxTextBytes),
		Ref:         s.ref(u, m.ID),
		ToUs:        m.ToUs,
		Attachments: attachments(m.Attachments),
		Forwarded:   spaces.TruncateText(m.Forwarded, spaces.MaxNameBytes),
		Viewing:     spaces.TruncateText(m.Viewing, spaces.MaxNameBytes),
		ThreadTitle: spaces.TruncateText(u.Thread.Title, spaces.MaxNameBytes),
		Broadcast:   m.Broadcast,
	}
	if m.ReplyTo != "" {
		said.ReplyRef = s.ref(u, m.ReplyTo)
	}
	if m.Command != nil {
		said.Command, said.Args = spaces.TruncateText(m.Command.Name, spaces.MaxNameBytes), spaces.TruncateText(m.Command.Args, spaces.MaxTextBytes)
	}
	people := spaces.TruncateList(m.Mentions)
	for _, p := range people {
		if (isUs(s.account, p) || s.isOurs(p)) && s.agent != "" {
			said.Mentions = []spaces.EntityID{s.agent.Entity()}
			said.ToUs = true
		}
	}
	item := s.one(u, said)[0]
	item.Mentions = others(s.account, people)
	item.Ref, item.ReplyRef, item.ByReply = said.Ref, said.ReplyRef, m.ByReply
	if s.alike != "" {
		item.ReplyFrom, item.ReplyAt = identity(s.account, m.ReplyFrom), m.ReplyAt
	}
	return []spaces.IngestItem{item}
}

func attachments(seen []adapters.IncomingFile) []spaces.FileAttachment {
	var out []spaces.FileAttachment
	for _, a := range spaces.TruncateList(seen) {
		out = append(out, spaces.FileAttachment{
			Kind: spaces.TruncateText(a.Kind, spaces.MaxNameBytes),
			ID:   a.ID,
			Name: spaces.TruncateText(a.Name, spaces.MaxNameBytes),
			MIME: spaces.TruncateText(a.MIME, spaces.MaxNameBytes),
			Size: max(a.Size, 0),
		})
	}
	return out
}

func (s translateContext) deleted(u adapters.Update, d adapters.MessageDeletion) []spaces.IngestItem {
	var bodies []spaces.EventBody
	for _, m := range d.Messages {
		if m != "" && u.Chat.ID != "" {
			bodies = append(bodies, spaces.MessageDeleted{Ref: s.ref(u, m)})
		}
	}
	if len(bodies) == 0 {
		return s.unreadable(u, "delete", "it does not say which messages")
	}
	return s.several(u, bodies)
}

// reactions returns what changed between the sets of emoji before and after.
func (s translateContext) reactions(u adapters.Update, r adapters.ReactionChange) []spaces.IngestItem {
	if r.Message == "" || u.Chat.ID == "" {
		return s.unreadable(u, "reaction", "it does not say on which message")
	}
	ref := s.ref(u, r.Message)
	var bodies []spaces.EventBody
	for _, emoji := range missing(r.Old, r.New) {
		bodies = append(bodies, spaces.ReactionRemoved{Ref: ref, Emoji: emoji})
	}
	for _, emoji := range missing(r.New, r.Old) {
		bodies = append(bodies, spaces.ReactionAdded{Ref: ref, Emoji: emoji})
	}
	return s.several(u, bodies)
}

// missing returns the emoji of from that are not in other, each once.
func missing(from, other []string) []string {
	seen := map[string]bool{"": true}
	for _, emoji := range other {
		seen[spaces.TruncateText(emoji, spaces.MaxEmojiBytes)] = true
	}
	var out []string
	for _, emoji := range spaces.TruncateList(from) {
		emoji = spaces.TruncateText(emoji, spaces.MaxEmojiBytes)
		if !seen[emoji] {
			seen[emoji] = true
			out = append(out, emoji)
		}
	}
	return out
}

// members returns the incoming for people who came or went. That we came or
// went ourselves is told by linked and unlinked.
func (s translateContext) members(u adapters.Update, people []adapters.Person, by adapters.Person, body spaces.EventBody) []spaces.IngestItem {
	who := others(s.account, people)
	if len(who) == 0 {
		return nil
	}
	item := s.one(u, body)[0]
	item.From, item.Who = identity(s.account, by), who
	return []spaces.IngestItem{item}
}

func (s translateContext) unreadable(u adapters.Update, what, reason string) []spaces.IngestItem {
	return s.one(u, spaces.UnreadableUpdate{
		What:   spaces.TruncateText(what, spaces.MaxNameBytes),
		Reason: spaces.TruncateText(reason, spaces.MaxNameBytes),
		Raw:    u.Raw[:min(len(u.Raw), spaces.MaxRawBytes)],
	})
}

// plausible returns t, or at when t is no time that can be stored.
func plausible(t, at time.Time) time.Time {
	if t.IsZero() || t.Year() < 1970 || t.Year() > 9999 {
		return at
	}
	return t
}
