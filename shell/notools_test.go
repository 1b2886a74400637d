package shell_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// A toolless model is one whose endpoint turns out to take no tools, at its first request.
type toolless struct {
	t       *testing.T
	asked   int
	learned bool
	says    func(r llm.ModelRequest) string
}

func (m *toolless) Generate(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	m.asked++
	if m.learned && len(r.Tools) > 0 {
		m.t.Errorf("request %d offers tools to an endpoint that takes none", m.asked)
	}
	m.learned = true
	return telling(m.says(r)), nil
}

func (m *toolless) Capability(string) llm.ModelCapability {
	if !m.learned {
		return llm.ModelCapability{}
	}
	return llm.ModelCapability{Demands: []string{llm.NoTools}}
}

// Where an endpoint takes no tools, the model's words are its answer, from the first one
// on, and the prompt says so; a word for silence says nothing.
func TestAnEndpointWithoutToolsAnswersInWords(t *testing.T) {
	m := &toolless{t: t}
	m.says = func(r llm.ModelRequest) string {
		if frame := whole(r); strings.Contains(frame[strings.LastIndex(frame, "INBOX"):], "nothing to say") {
			return "[silent]"
		} else if m.asked > 1 && !strings.Contains(frame, "YOUR WORDS") {
			t.Errorf("the prompt of request %d does not say what becomes of words", m.asked)
		}
		return "Forty-two."
	}
	play(t, m, func(w *world) {
		w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings {
			s := shell.DefaultSettings()
			s.Expires = 0
			return s
		}
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "what is six times seven?")
		w.settle()
		testutil.Same(t, "said", []string{"Forty-two."}, w.spoken(room))
		if m.asked != 1 {
			t.Errorf("the model was asked %d times", m.asked)
		}
		w.says(room, "Kai", "and seven times six?")
		w.settle()
		testutil.Same(t, "said", []string{"Forty-two.", "Forty-two."}, w.spoken(room))
		w.says(room, "Kai", "you have nothing to say now")
		w.settle()
		testutil.Same(t, "said", []string{"Forty-two.", "Forty-two."}, w.spoken(room))
	})
}

// A reminder that a person asked for is said even by a model that writes words where it
// was to call a tool.
func TestAReminderIsSaidByAModelThatAnswersInWords(t *testing.T) {
	n := 0
	m := mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		n++
		frame := whole(r)
		switch last := frame[strings.LastIndex(frame, "INBOX"):]; {
		case strings.Contains(last, "REMINDER"):
			return telling("Kai, the tea is ready."), nil
		case acts(r) == 0:
			return calling(n, "remind", `{"in":"5m","note":"tea"}`), nil
		}
		return calling(n, "done", `{}`), nil
	})
	play(t, m, func(w *world) {
		w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings { return shell.DefaultSettings() }
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "remind me of the tea")
		w.settle()
		pass(6 * time.Minute)
		w.settle()
		testutil.Same(t, "said", []string{"Kai, the tea is ready."}, w.spoken(room))
	})
}
