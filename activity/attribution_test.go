package activity

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// A masked is a platform on which posts in the chats whose names begin with "m"
// can have faces.
type masked struct {
	*platform
	posts []adapters.OutgoingMessage
}

var _ adapters.PersonaSender = (*masked)(nil)

func (*masked) SupportsPersona(chat string) bool { return strings.HasPrefix(chat, "m") }

func (m *masked) Send(ctx context.Context, p adapters.OutgoingMessage) (adapters.Receipt, error) {
	r, err := m.platform.Send(ctx, p)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.posts = append(m.posts, p)
	return r, err
}

func (m *masked) EditAs(ctx context.Context, r adapters.MessageRef, text, unmasked string) error {
	return m.Edit(ctx, r, text+" | "+unmasked)
}

// carries runs an egress over p until the actions are sent.
func carries(t *testing.T, p adapters.Adapter, actions ...spaces.Action) {
	t.Helper()
	carriesFrom(t, newRecord(), p, actions...)
}

func carriesFrom(t *testing.T, r *record, p adapters.Adapter, actions ...spaces.Action) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	for _, a := range actions {
		r.put(a)
	}
	e := NewEgress(ours, p, r, NewSpaceMapping(r, r), EgressOptions{Persona: func(a spaces.AgentID) adapters.AgentPersona { return adapters.AgentPersona{Name: string(a)} }})
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }() // waited for below
	after(time.Minute)
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// SEQ-96: whose words are carried shows by a face where the platform has faces,
// else by a head; and the parts behind the first are the same either way, so that
// a chat may change in the middle.
func TestAFaceStandsInPlaceOfTheHead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &masked{platform: &platform{}}
		said := spaces.Action{Kind: spaces.ActSend, Text: "hello\n---\nthere", Voice: "Zoe *", Via: "slack"}
		bare, faced, agent, block := said, said, said, said
		bare.ID, bare.Chat = "1", "c"
		faced.ID, faced.Chat, faced.Created = "2", "m", time.Now()
		agent.ID, agent.Chat, agent.Voice, agent.Agent, agent.Text = "3", "m2", "", "ada", "mine"
		block.ID, block.Chat, block.Text = "4", "m3", "- one"
		carries(t, p, bare, faced, agent, block)
		got := map[string][]adapters.OutgoingMessage{}
		for _, post := range p.posts {
			if post.Key == "" {
				t.Error("a part without a key")
			}
			post.Key = ""
			got[post.Chat] = append(got[post.Chat], post)
		}
		zoe := adapters.AgentPersona{Name: "Zoe * (Slack)"}
		want := map[string][]adapters.OutgoingMessage{
			"c": {
				{Chat: "c", Text: `**Zoe \*** (Slack): hello`, Face: zoe},
				{Chat: "c", Text: "there", Face: zoe},
			},
			"m": {
				{Chat: "m", Text: "hello", Unmasked: `**Zoe \*** (Slack): hello`, Face: zoe, Decided: faced.Created},
				{Chat: "m", Text: "there", Face: zoe, Decided: faced.Created},
			},
			"m2": {{Chat: "m2", Text: "mine", Face: adapters.AgentPersona{Name: "ada"}}},
			"m3": {{Chat: "m3", Text: "- one", Unmasked: "**Zoe \\*** (Slack):\n\n- one", Face: zoe}},
		}
		testutil.Same(t, "posts", want, got)
	})
}

// SEQ-96: an edit of carried words keeps who said them, on both kinds of chat.
func TestAnEditKeepsWhoSpoke(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &masked{platform: &platform{}}
		r := newRecord()
		e := NewEgress(ours, p, r, NewSpaceMapping(r, r), EgressOptions{})
		for chat, want := range map[string]string{"c": "**Zoe** (Slack): new", "m": "new | **Zoe** (Slack): new"} {
			a := spaces.Action{ID: "1", Kind: spaces.ActEdit, Chat: chat, Account: ours.Key(), Target: "e1", Text: "new", Voice: "Zoe", Via: "slack"}
			r.where["e1"] = []spaces.MessageRef{{Account: a.Account, Chat: chat, Message: "77"}}
			steps, err := e.steps(t.Context(), a)
			if err != nil || len(steps) != 1 {
				t.Fatalf("%s: %d steps, %v", chat, len(steps), err)
			}
			if _, err := steps[0].do(t.Context()); err != nil {
				t.Fatal(err)
			}
			if all := p.accepted(); all[len(all)-1].Text != want {
				t.Errorf("%s is edited to %q, want %q", chat, all[len(all)-1].Text, want)
			}
		}
	})
}

// A head that would push words into another part is cut off the first part, so
// that no word is lost or said twice whatever the chat shows.
func TestAHeadThatMovesThePartsLosesNoWord(t *testing.T) {
	e := NewEgress(ours, &masked{platform: &platform{}}, newRecord(), nil, EgressOptions{})
	e.adapter = short{e.adapter}
	for _, text := range []string{"one two three four", "# one two three four", "a"} {
		a := spaces.Action{Kind: spaces.ActSend, Chat: "m", Text: text, Voice: "Z", Via: "x"}
		faced, unmasked := e.parts(a)
		a.Chat = "c"
		bare, _ := e.parts(a)
		if len(faced) != len(bare) || unmasked != bare[0] || !cmp.Equal(faced[1:], bare[1:]) {
			t.Errorf("%q: %q beside %q (%q)", text, faced, bare, unmasked)
		}
		if got := strings.Join(faced, ""); got != text {
			t.Errorf("%q is said as %q", text, got)
		}
	}
}

// short splits after 16 bytes.
type short struct{ adapters.Adapter }

func (short) Split(text string) (parts []string) {
	for ; len(text) > 16; text = text[16:] {
		parts = append(parts, text[:16])
	}
	return append(parts, text)
}

// A loud is a platform on which answers in the threads of chats whose names begin
// with "m" can be shown beside them.
type loud struct{ *masked }

var _ adapters.ThreadBroadcaster = loud{}

func (loud) Broadcasts(chat string) bool { return strings.HasPrefix(chat, "m") }

// PLATFORMS 2.4: an agent's answer in a thread is shown in the room as well when it
// asks for that, its first part alone, and only where there is a thread and a
// platform that can.
func TestAnAnswerIsShownBesideItsThread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := loud{&masked{platform: &platform{}}}
		r := newRecord()
		r.broadcast = true
		said := spaces.Action{Kind: spaces.ActSend, Agent: "ada", Event: "e", Text: "hello, @kai\n---\nthere"}
		var all []spaces.Action
		for _, where := range []struct{ chat, thread string }{{"m1", "t"}, {"m2", ""}, {"c", "t"}} {
			a := said
			a.ID, a.Chat, a.Thread = spaces.ActionID(where.chat), where.chat, spaces.ThreadID(where.thread)
			all = append(all, a)
		}
		carriesFrom(t, r, p, all...)
		got := map[string][]bool{}
		for _, post := range p.posts {
			got[post.Chat] = append(got[post.Chat], post.Broadcast)
		}
		want := map[string][]bool{"m1": {true, false}, "m2": {false, false}, "c": {false, false}}
		testutil.Same(t, "shown beside the thread, by parts", want, got)
	})
}
