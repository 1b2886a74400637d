package shell

import (
	"cmp"
	"strings"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/spaces"
)

// maxSpeech is the longest text an agent may say at once, in bytes.
const maxSpeech = 32 << 10

type sendMessage struct {
	Text string `json:"text,omitempty" jsonschema:"what to say, as Markdown"`
	// Instruction has the words made by a call that sees the two rooms alone (GTS-04).
	Instruction string `json:"instruction,omitempty" jsonschema:"for another space, instead of text: what to say there"`
	Space       string `json:"space,omitempty" jsonschema:"id of a space; default: the active one"`
	ReplyTo     string `json:"reply_to,omitempty" jsonschema:"id of a message, such as #a7"`
	Thread      string `json:"thread,omitempty" jsonschema:"default: that of the message that woke you"`
	Broadcast   bool   `json:"broadcast,omitempty" jsonschema:"in a thread: show it in the room, too"`
	Wait        bool   `json:"wait,omitempty" jsonschema:"until those named with @, or anybody, have answered"`
	Answers     string `json:"answers,omitempty" jsonschema:"waits for so many of them: any, a number, or all (default)"`
	Why         string `json:"why,omitempty" jsonschema:"for another space: what led to this"`
	Account     string `json:"account,omitempty" jsonschema:"your line about this wake"`
	More        bool   `json:"more,omitempty" jsonschema:"something is left to do after this"`
}

func (a sendMessage) perform(s *stepContext) toolResult {
	room, out := s.room(a.Space)
	if room == nil {
		return out
	}
	need, out := a.needed(s)
	if need < 0 {
		return out
	}
	text, out := a.words(s, room)
	if text == "" {
		return out
	}
	e := s.effect(spaces.ActSend, room)
	e.Text = text
	dropped := s.places(&e, room, a.ReplyTo, a.Thread)
	e.Broadcast = a.Broadcast
	s.account, s.more = cmp.Or(strings.TrimSpace(a.Account), s.account), s.more || a.More
	s.speaks(&e, room, a.Why)
	switch all := strings.EqualFold(strings.TrimSpace(a.Answers), answersAll); {
	case all && len(e.Mention) == 0:
		return s.deny("names_no_one", `answers "all" counts those whom the text names, and it names no member.`, `Name them with @, or write "any" or a number.`)
	case a.Wait || a.Answers != "":
		out = s.await(e, room, spaces.WaitSpec{Who: e.Mention, Need: need, Due: s.now.Add(s.settings.WaitTimeout)})
	default:
		out = s.do(e)
	}
	if out.ok && a.composes() {
		out.body["said"] = text // its own log has the instruction alone
	}
	if out.ok && dropped != "" {
		out.body["note"] = dropped
	}
	return out
}

// places puts a message where the agent wants it: behind the message it answers, in a
// thread. What is not in the room is dropped, and the message goes without it; the note
// says so.
func (s *stepContext) places(e *spaces.RoomEffect, room *hud.SharedRoom, replyTo, thread string) (note string) {
	if replyTo != "" {
		if m := s.message(room, replyTo); m != nil {
			e.Target, e.Thread = m.ID, m.Thread
		} else {
			note = "There is no message " + hud.Quote(replyTo) + " here: sent as no reply. "
		}
	}
	if thread != "" {
		if t, ok := room.FindThread(thread); ok {
			e.Thread = t
		} else {
			note += "There is no thread " + hud.Quote(thread) + " here: sent without it."
		}
	}
	return strings.TrimSpace(note)
}

// speaks adds whom the words of an effect call and what led to them and, in another
// room than the active one, why they are said there.
func (s *stepContext) speaks(e *spaces.RoomEffect, room *hud.SharedRoom, why string) {
	if room.ID() != s.active {
		e.Policy = spaces.Hold
		e.Origin = &spaces.SendOrigin{Space: s.wake.Cycle.Space, Event: s.newest(), Cycle: s.wake.Cycle.ID, Why: why}
	}
	e.Mention = ParseMentions(e.Text, room.Members())
	e.Chain = spaces.NextChain(s.wake.Consumed, e.Target, e.ID)
}

type sendReply struct {
	Text    string `json:"text" jsonschema:"what to answer to the message that woke you, as Markdown"`
	Wait    bool   `json:"wait,omitempty" jsonschema:"as in send_message"`
	Answers string `json:"answers,omitempty" jsonschema:"as in send_message"`
	More    bool   `json:"more,omitempty" jsonschema:"as in send_message"`
}

func (a sendReply) perform(s *stepContext) toolResult {
	trigger := s.newest()
	if trigger == "" {
		return s.deny("no_trigger", "There is no message to answer in this wake.", "Use send_message.")
	}
	room, out := s.room("")
	if room == nil {
		return out
	}
	m := room.Chat.Find(trigger)
	if m == nil {
		return s.deny("no_trigger", "The message that woke you is in another space.", "enter_space first, or use send_message with space.")
	}
	return sendMessage{Text: a.Text, ReplyTo: hud.ShortID(m.Seq), Wait: a.Wait, Answers: a.Answers, More: a.More}.perform(s)
}

type react struct {
	Message string `json:"message" jsonschema:"id of the message, such as #a7"`
	Emoji   string `json:"emoji" jsonschema:"one emoji; empty takes yours back"`
}

func (a react) perform(s *stepContext) toolResult {
	return s.upon(spaces.ActReact, a.Message, strings.TrimSpace(a.Emoji), false)
}

type editMessage struct {
	Message string `json:"message" jsonschema:"id of your own message"`
	Text    string `json:"text" jsonschema:"the whole new text"`
}

func (a editMessage) perform(s *stepContext) toolResult {
	room, out := s.room("")
	if room == nil {
		return out
	}
	text, out := s.speech(room, a.Text)
	if text == "" {
		return out
	}
	return s.upon(spaces.ActEdit, a.Message, text, true)
}

type deleteMessage struct {
	Message string `json:"message" jsonschema:"id of your own message"`
}

func (a deleteMessage) perform(s *stepContext) toolResult {
	return s.upon(spaces.ActDelete, a.Message, "", true)
}

// upon is an effect on a message of the active space; own asks that the agent
// wrote it.
func (s *stepContext) upon(kind spaces.ActionKind, id, text string, own bool) toolResult {
	room, out := s.room("")
	if room == nil {
		return out
	}
	m := s.message(room, id)
	if m == nil {
		return s.noMessage(id)
	}
	if own && m.Sender != s.self() {
		return s.deny("not_yours", "That message is not yours.", "You can change only what you said yourself.")
	}
	e := s.effect(kind, room)
	e.Target, e.Thread, e.Text = m.ID, m.Thread, text
	e.Chain = spaces.NextChain(s.wake.Consumed, m.ID, e.ID)
	return s.do(e)
}

// speech returns the text as it may go out, or a denial (SECURITY S4, S6). The next effect
// says which of its addresses are shown as code.
func (s *stepContext) speech(room *hud.SharedRoom, text string) (string, toolResult) {
	text, out := s.judged(text)
	if text == "" {
		return "", out
	}
	return s.links.guard(s.view, room, text), toolResult{}
}

// judged returns the text if it says something, not too much, and nothing internal; or a
// denial.
func (s *stepContext) judged(text string) (string, toolResult) {
	text = strings.TrimSpace(withoutThinking(text))
	switch {
	case text == "":
		return "", s.deny("empty_text", "The text is empty.", "Say something, or end without an act: silence is fine.")
	case len(text) > maxSpeech:
		return "", s.deny("too_long", "The text is longer than 32 KB.", "Say it shorter.")
	}
	if reason, leaks := s.guard.Leak(text); leaks {
		return "", s.deny("internal_text", "The text repeats internal text: "+reason+".", "Say it in your own words.")
	}
	return text, toolResult{}
}
