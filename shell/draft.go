package shell

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/spaces"
)

// DraftDisplay show people what an agent is about to say, in the chat of whom it answers.
// None of its methods blocks, and their failures are ignored.
type DraftDisplay interface {
	// Shows reports whether a chat has something to show drafts with as the policy wants it.
	Shows(account, chat string, p spaces.StreamingPolicy) bool
	// Show has a draft shown in place of what was shown of it before. Words that come
	// faster than the chat takes them are left out.
	Show(d spaces.MessageDraft)
	// Over tells that a draft will not be shown further: its step is decided, or given
	// up. The record says whether a message took it over.
	Over(d spaces.MessageDraft)
}

// draftAfter is how long an act must have been coming before people are shown
// anything of it.
const draftAfter = 700 * time.Millisecond

// shortAnswer is how many bytes of an answer [spaces.StreamAuto] waits for before it shows
// them: a shorter one is read at a glance when it is whole.
const shortAnswer = 200

// A draftStream follows the answer of one step while it comes, and has people shown the
// words of its first act when those are a message into the room that woke the
// cycle.
type draftStream struct {
	cycle *cycle
	draft spaces.MessageDraft // as it was last shown
	began time.Time           // when the first act began to come; zero: it has not
	over  bool                // nothing more is shown until the step is decided
}

// sketch returns what follows the next answer; nil when nothing may be shown
// anything of it.
func (c *cycle) sketch() *draftStream {
	n := len(c.wake.Events)
	if c.shell.Drafts == nil || !c.settings.Streaming.Shows() || c.phase != spaces.Engagement || c.branch != "" || n == 0 || c.active != c.wake.Cycle.Space {
		return nil
	}
	e := c.wake.Events[n-1]
	said, ok := e.Body.(spaces.MessagePosted)
	if !ok || !c.shell.Drafts.Shows(said.Ref.Account, said.Ref.Chat, c.settings.Streaming) || !c.amongUs(e.Thread != "") {
		return nil
	}
	return &draftStream{cycle: c, draft: spaces.MessageDraft{
		ID: spaces.DraftOf(c.wake.Cycle.ID, c.step), Cycle: c.wake.Cycle.ID, Step: c.step, Agent: c.mind.id.Agent, Space: e.Space,
		Account: said.Ref.Account, Chat: said.Ref.Chat, Show: c.settings.Streaming,
	}}
}

// amongUs reports whether everybody in the room that woke the cycle is in every
// room that the agent sees: only then can undecided words tell no one
// what they may not know. A thread is found by its name where the room has one chat.
func (c *cycle) amongUs(thread bool) bool {
	m := c.mind
	m.mu.Lock()
	defer m.mu.Unlock()
	seat := m.seat(c.wake.Cycle.Space)
	if seat == nil || !seat.Uplink.Live || thread && !seat.Room.OneChat() {
		return false
	}
	var rooms []spaces.SpaceID
	for i := range m.seats {
		rooms = append(rooms, m.seats[i].Uplink.Space)
	}
	readers := readersOf(m.seats, rooms)
	return !slices.ContainsFunc(seat.Room.Members(), func(x spaces.SpaceMember) bool { return !slices.Contains(readers, x.ID) })
}

// hear shows what is new of the message, whole sentences at a time. It stops for
// good where the step would refuse or change the words.
func (k *draftStream) hear(soFar llm.ModelResponse) {
	if k.over || !k.due(soFar) {
		return
	}
	b, ok := begun(soFar, k.cycle.settings.Tags, k.cycle.nonce)
	if !ok {
		return
	}
	words := sentences(b.text)
	first := k.draft.Text == ""
	if strings.HasPrefix(k.draft.Text, words) || first && k.draft.Show == spaces.StreamAuto && len(words) < shortAnswer {
		return
	}
	f, ok := k.cycle.rehearsed(b, words)
	if !ok || !first && (f.Thread != k.draft.Thread || f.Target != k.draft.Target) {
		k.over = true
		return
	}
	k.draft.Text, k.draft.Thread, k.draft.Target = words, f.Thread, f.Target
	k.cycle.shell.Drafts.Show(k.draft)
}

// due reports whether the first act takes a while. Before, its words are not even
// judged: mostly the step is decided by then.
func (k *draftStream) due(soFar llm.ModelResponse) bool {
	if k.began.IsZero() {
		tagged := k.cycle.settings.Tags && strings.Contains(soFar.Text, k.cycle.nonce)
		if len(soFar.Calls) == 0 && !tagged {
			return false
		}
		k.began = time.Now()
	}
	return time.Since(k.began) >= draftAfter
}

// rehearsed returns what the step would do if these were all of the act's words,
// and false when that is not to say just them, in the room that woke the cycle. Who
// is called by name is called by the message: of one that mentions a person nothing
// more is shown (an edit notifies no one).
func (c *cycle) rehearsed(b partialCall, words string) (spaces.RoomEffect, bool) {
	if s := c.tools.find(b.name); s == nil || s.name != "send_message" && s.name != "send_reply" {
		return spaces.RoomEffect{}, false
	}
	b.other["text"] = words
	args, err := json.Marshal(b.other)
	if err != nil {
		return spaces.RoomEffect{}, false
	}
	a := c.tools.read(ToolCall{Name: b.name, Args: string(args)})
	st := c.stage()
	st.newID = func() string { return "" } // nothing of it happens
	c.mind.mu.Lock()
	defer c.mind.mu.Unlock()
	if _, ok := c.admit(st, a); !ok || !a.deed.perform(st).ok || len(st.effects) != 1 {
		return spaces.RoomEffect{}, false
	}
	f := st.effects[0]
	return f, f.Space == c.wake.Cycle.Space && f.Text == words && len(f.Mention) == 0 && !f.Broadcast
}

// hush ends the showing of a step that is decided or given up.
func (k *draftStream) hush() {
	if k != nil && k.draft.Text != "" {
		k.cycle.shell.Drafts.Over(k.draft)
	}
}
