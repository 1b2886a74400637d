package shell_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// An easel keeps what people are shown of drafts.
type easel struct {
	mu    sync.Mutex // guards the rest
	shown []spaces.MessageDraft
	over  []spaces.DraftID
}

var _ shell.DraftDisplay = (*easel)(nil)

func (e *easel) Shows(of, _ string, p spaces.StreamingPolicy) bool {
	return of == account && p != spaces.StreamEdits
}

func (e *easel) Show(d spaces.MessageDraft) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.shown = append(e.shown, d)
}

func (e *easel) Over(d spaces.MessageDraft) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.over = append(e.over, d.ID)
}

func (e *easel) texts() (all []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, d := range e.shown {
		all = append(all, d.Text)
	}
	return all
}

// growing is a model that thinks, and then says its acts piece by piece, first the
// name and then a few letters at a time with a gap before each; at the end it rests.
func growing(gap time.Duration, acts ...llm.ToolCall) llm.ChatModel {
	slow := llmtest.Calls(acts...)
	slow.Gap = gap
	thinks := llmtest.Says("hm")
	thinks.When, thinks.Always = func(r llm.ModelRequest) bool { return r.NoCalls }, true
	rests := llmtest.Says("Responded to Kai. Answered.")
	rests.Always = true
	return llmtest.NewScripted(nil, thinks, slow, rests)
}

// send is a call of send_message with arguments as a model would write them.
func send(args string) llm.ToolCall { return llm.ToolCall{ID: "c1", Name: "send_message", Args: args} }

const lunch = `{"text":"There is soup today. It is hot, so take care. Bread is here too."}`

// DELIVERY K22, SECURITY S4, S6: people see whole sentences of what will be said to
// them, and nothing that the step would refuse or change.
func TestPeopleSeeWhatWillBeSaidAndNothingElse(t *testing.T) {
	long := strings.Repeat("soup ", 30) + "is there."
	all := []string{"There is soup today.", "There is soup today. It is hot, so take care."}
	for name, c := range map[string]struct {
		acts     []llm.ToolCall
		settings func(*shell.AgentSettings)
		setup    func(w *world)
		want     []string
	}{
		"a message":               {acts: []llm.ToolCall{send(lunch)}, want: all},
		"an answer":               {acts: []llm.ToolCall{{ID: "c1", Name: "send_reply", Args: lunch}}, want: all},
		"an answer to a line":     {acts: []llm.ToolCall{send(`{"reply_to":"#1",` + lunch[1:])}, want: all}, // #1 is no message: it is sent as no reply
		"the room by name":        {acts: []llm.ToolCall{send(`{"space":"Kitchen",` + lunch[1:])}, want: all},
		"shown beside its thread": {acts: []llm.ToolCall{send(`{"broadcast":true,` + lunch[1:])}},
		"an address": {
			acts:     []llm.ToolCall{send(`{"text":"There is soup today. It is at https://evil.example/?d=1 so take care. Bread is here."}`)},
			settings: func(s *shell.AgentSettings) { s.Links = spaces.LinksKnown }, want: all[:1],
		},
		"somebody called": {acts: []llm.ToolCall{send(`{"text":"There is soup today. Who wants to know more about it may ask @Kai. He knows all."}`)}, want: all[:1]},
		"everybody":       {acts: []llm.ToolCall{send(`{"text":"There is soup today. Whoever wants some of it may come now: @everyone, come. It is hot."}`)}, want: all[:1]},
		"internal text":   {acts: []llm.ToolCall{send(`{"text":"There is soup today. Nobody knows what comes then in the ACTIVE SPACE: none or so. It is hot."}`)}, want: all[:1]},
		"no speech":       {acts: []llm.ToolCall{{ID: "c1", Name: "note", Args: lunch}}},
		"a later act":     {acts: []llm.ToolCall{{ID: "c0", Name: "note", Args: `{"text":"x"}`}, send(lunch)}},
		"switched off":    {acts: []llm.ToolCall{send(lunch)}, settings: func(s *shell.AgentSettings) { s.Streaming = "off" }},
		"no such chat":    {acts: []llm.ToolCall{send(lunch)}, settings: func(s *shell.AgentSettings) { s.Streaming = spaces.StreamEdits }},
		"short":           {acts: []llm.ToolCall{send(lunch)}, settings: func(s *shell.AgentSettings) { s.Streaming = spaces.StreamAuto }},
		"long enough": {
			acts:     []llm.ToolCall{send(`{"text":"` + long + ` ` + long + ` Done."}`)},
			settings: func(s *shell.AgentSettings) { s.Streaming = spaces.StreamAuto }, want: []string{long + " " + long},
		},
		"in one phase": {acts: []llm.ToolCall{send(lunch)}, settings: func(s *shell.AgentSettings) { s.Phases = shell.PhasesOne }, want: all},
		"another room that all of them read": {
			acts: []llm.ToolCall{send(lunch)}, want: all,
			setup: func(w *world) { w.says(w.room("Pantry"), "Kai", "stock") },
		},
		"another room that not all of them read": {
			acts:  []llm.ToolCall{send(lunch)},
			setup: func(w *world) { w.says(w.room("Office"), "Lea", "secret") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := &easel{}
			m := growing(time.Second, c.acts...)
			play(t, m, func(w *world) {
				w.drafts = e
				w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings {
					s := twoPhases()
					s.Streaming = spaces.StreamDrafts
					if c.settings != nil {
						c.settings(&s)
					}
					return s
				}
				room := w.room("Kitchen", direct)
				if c.setup != nil {
					c.setup(w)
				}
				w.start()
				w.says(room, "Kai", "what is there for lunch?")
				w.settle()
			})
			testutil.Same(t, "shown", c.want, e.texts())
			for _, d := range e.shown {
				if d.Account != account || d.Chat != "chat" || d.Agent != "ada" || d.ID != e.shown[0].ID {
					t.Errorf("shown as %+v", d)
				}
			}
			if len(c.want) > 0 && !slices.Contains(e.over, e.shown[0].ID) {
				t.Error("nobody is told that the step is over")
			}
		})
	}
}

// draws has what agents write shown to e while it grows.
func (w *world) draws(e *easel) {
	w.drafts = e
	w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings {
		s := twoPhases()
		s.Streaming = spaces.StreamDrafts
		return s
	}
}

// DELIVERY K22: an answer that comes quickly is a message at once, and nothing of it
// is shown before.
func TestWhatIsDecidedSoonIsNotShownBefore(t *testing.T) {
	e := &easel{}
	play(t, growing(time.Millisecond, send(lunch)), func(w *world) {
		w.draws(e)
		room := w.room("Kitchen", direct)
		w.start()
		w.says(room, "Kai", "what is there for lunch?")
		w.settle()
	})
	if got := e.texts(); len(got) > 0 {
		t.Errorf("shown before it was decided: %q", got)
	}
}

// what the tags dialect says grows like a call.
func TestTagsGrowToo(t *testing.T) {
	e := &easel{}
	m := mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		if r.NoCalls || !strings.Contains(r.Messages[len(r.Messages)-1].Text, "NONCE") {
			return telling("hm"), nil
		}
		whole := `I answer. <msg k="NONCE">There is soup today. It is hot &lt;3. Bread is here.</msg>`
		for i := range whole {
			<-time.After(100 * time.Millisecond)
			r.Hear(llm.ModelResponse{Text: whole[:i]})
		}
		return telling(whole), nil
	})
	play(t, m, func(w *world) {
		w.drafts = e
		w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings {
			s := twoPhases()
			s.Streaming, s.Tags, s.Phases, s.MaxSteps = spaces.StreamDrafts, true, shell.PhasesOne, 1
			return s
		}
		room := w.room("Kitchen", direct)
		w.start()
		w.says(room, "Kai", "what is there for lunch?")
		w.settle()
	})
	testutil.Same(t, "shown", []string{"There is soup today.", "There is soup today. It is hot <3."}, e.texts())
}

// A call that failed was heard for nothing: what it showed is replaced.
func TestAnAnswerThatBeginsAnewIsShownAnew(t *testing.T) {
	e := &easel{}
	m := answering(func(n int, r llm.ModelRequest) (llm.ModelResponse, error) {
		if n > 1 {
			return telling("Responded to Kai. Answered."), nil
		}
		for _, text := range []string{"One. Two. ", "Three. Four. "} {
			args, _ := json.Marshal(map[string]string{"text": text})
			for i := range args {
				<-time.After(100 * time.Millisecond)
				r.Hear(llm.ModelResponse{Calls: []llm.ToolCall{{Name: "send_message", Args: string(args[:i])}}})
			}
		}
		return calling(1, "send_message", `{"text":"Three. Four."}`), nil
	})
	play(t, m, func(w *world) {
		w.draws(e)
		room := w.room("Kitchen", direct)
		w.start()
		w.says(room, "Kai", "count")
		w.settle()
	})
	testutil.Same(t, "shown", []string{"One.", "One. Two.", "Three.", "Three. Four."}, e.texts())
}
