package shell_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// processNotices returns what the process has posted, and what it has taken back, in the order of
// the outbox.
func (w *world) processNotices() (posted, back []string) {
	w.t.Helper()
	for {
		due, err := w.store.Border().Claim(w.t.Context(), account, time.Now(), 100)
		w.ok(err)
		if len(due) == 0 {
			return posted, back
		}
		for _, a := range due {
			switch {
			case a.Cycle == "" && a.Kind == spaces.ActSend:
				posted = append(posted, a.Text)
			case a.Cycle == "" && a.Kind == spaces.ActDelete:
				words, _, err := w.store.Border().MessageRefs(w.t.Context(), a.Account, a.Chat, a.Target)
				w.ok(err)
				if len(words) != 1 {
					w.t.Errorf("the notice taken back is at %v", words)
				}
				back = append(back, a.Text)
			}
		}
		w.settleAll(due)
	}
}

// People who wait for an answer while the model is down are told once, however many
// attempts fail, and the notice goes with the answer. People who wait for nothing are not
// told.
func TestPeopleAreToldOnceThatTheModelIsDown(t *testing.T) {
	var down atomic.Bool
	down.Store(true)
	n := 0
	m := mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		n++
		if down.Load() {
			return llm.ModelResponse{}, &llm.Error{Kind: llm.Unavailable, Err: errors.New("connection refused")}
		}
		if acts(r) == 0 {
			return calling(n, "send_message", `{"text":"Here I am."}`), nil
		}
		return calling(n, "done", `{}`), nil
	})
	play(t, m, func(w *world) {
		w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings { return shell.DefaultSettings() }
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "are you there?")
		pass(10 * time.Minute)
		posted, back := w.processNotices()
		if len(posted) != 1 || !strings.HasPrefix(posted[0], "My model cannot be reached") || len(back) > 0 {
			t.Errorf("in the outage people are told %q, and %q is taken back", posted, back)
		}
		down.Store(false)
		pass(30 * time.Minute)
		w.settle()
		posted, back = w.processNotices()
		if len(posted) != 0 || len(back) != 1 {
			t.Errorf("with the answer people are told %q, and %q is taken back", posted, back)
		}
		if said := w.spoken(room); len(said) != 1 {
			t.Errorf("said %q", said)
		}
	})
}

// A model that does not answer for a minute is told of while it is waited for, and the
// notice goes with its answer.
func TestPeopleAreToldThatTheModelIsSlow(t *testing.T) {
	n := 0
	m := slow(90*time.Second, mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		n++
		if acts(r) == 0 {
			return calling(n, "send_message", `{"text":"Here I am."}`), nil
		}
		return calling(n, "done", `{}`), nil
	}))
	play(t, m, func(w *world) {
		w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings { return shell.DefaultSettings() }
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "are you there?")
		pass(55 * time.Second)
		if posted, _ := w.processNotices(); len(posted) > 0 {
			t.Errorf("told too early: %q", posted)
		}
		pass(10 * time.Second)
		if posted, back := w.processNotices(); len(posted) != 1 || !strings.HasPrefix(posted[0], "This takes longer") || len(back) > 0 {
			t.Errorf("told %q, taken back %q", posted, back)
		}
		pass(5 * time.Minute)
		w.settle()
		if posted, back := w.processNotices(); len(posted) != 0 || len(back) != 1 {
			t.Errorf("with the answer told %q, taken back %q", posted, back)
		}
	})
}
