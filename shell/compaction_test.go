package shell_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// chatty is a model that answers every message with a long line and accounts for
// it.
func chatty() llm.ChatModel {
	return mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		switch {
		case r.NoCalls:
			return telling("hm " + strings.Repeat("let me see ", 40)), nil
		case acts(r) == 0:
			return calling(len(r.Messages), "send_message", `{"text":"`+strings.Repeat("so it is ", 40)+`"}`), nil
		}
		return telling("Responded to Kai about the " + topicOf(r) + ". Told him. Nothing is pending."), nil
	})
}

// topicOf finds the topic of the newest message of a person.
func topicOf(r llm.ModelRequest) string {
	text := ""
	for _, m := range r.Messages {
		if m.Role == llm.User && isInbox(m.Text) {
			text = m.Text
		}
	}
	_, after, _ := strings.Cut(text, "topic-")
	topic, _, _ := strings.Cut(after, " ")
	return "topic-" + topic
}

// converse plays twenty turns with a rest between them and returns what the
// model was asked.
func converse(t *testing.T, set shell.AgentSettings, rest time.Duration, after func(w *world, turn int, asked []llm.ModelRequest)) []llm.ModelRequest {
	t.Helper()
	k := &keeper{ChatModel: chatty()}
	play(t, k, func(w *world) {
		w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings { return set }
		room := w.room("kai", direct)
		w.start()
		for turn := range 20 {
			w.says(room, "Kai", fmt.Sprintf("topic-%d %s", turn, strings.Repeat("tell me more ", 30)))
			w.settle()
			if after != nil {
				after(w, turn, k.asked)
			}
			pass(rest)
		}
	})
	return k.asked
}

// PRD-9-I3, PRD-6.4-A1, -A2, -A4, CON-20, CON-45: in a conversation of twenty
// turns the context is compacted in the pauses, never while the agent thinks; the
// last four turns stay word for word, older ones leave their accounts, and each
// cut is recorded with its cause and what it freed.
func TestTwentyTurnsAreCompactedInThePauses(t *testing.T) {
	converse(t, twoPhases(), 6*time.Minute, func(w *world, turn int, asked []llm.ModelRequest) {
		last := whole(asked[len(asked)-1])
		for back := range min(turn+1, 4) {
			if !strings.Contains(last, fmt.Sprintf("topic-%d tell me", turn-back)) {
				t.Errorf("turn %d is not shown word for word in turn %d", turn-back, turn)
			}
		}
		for old := range turn {
			if !strings.Contains(last, fmt.Sprintf("topic-%d", old)) {
				t.Errorf("turn %d has left no trace in turn %d", old, turn)
			}
		}
		if turn < 19 {
			return
		}
		running := false
		for i, kind := range w.bus.kinds() {
			switch kind {
			case "agent_assigned":
				running = true
			case "mission_stop":
				running = false
			case "context_compacted":
				if running && w.bus.live[i].content != hud.CutFirst {
					t.Errorf("cut because of %s while the agent was at work", w.bus.live[i].content)
				}
			}
		}
		cuts := bodies[spaces.ContextCompacted](w.inner(mind("Ada")))
		if len(cuts) != 4 {
			t.Fatalf("%d cuts, want the first and one after 8, 12 and 16 turns", len(cuts))
		}
		for i, c := range cuts[1:] {
			if c.Cause != hud.CutTurns || c.Cycles != 4 || c.From != int64(4*i+1) || c.To != c.From+3 || c.TokensAfter >= c.TokensBefore || c.Elements == 0 {
				t.Errorf("cut %+v", c)
			}
		}
	})
}

// PRD-6.4-A5, PRD-6.4-A3: a long conversation takes fewer tokens when it is
// compacted; one that never pauses is cut at the high-water mark alone.
func TestCompactionSavesTokens(t *testing.T) {
	total := func(rest time.Duration, after int) (bytes int) {
		set := twoPhases()
		set.CompactAfter = after
		for _, r := range converse(t, set, rest, nil) {
			for _, m := range r.Messages[1:] {
				bytes += len(m.Text)
			}
		}
		return bytes
	}
	whole, compacted, hot := total(6*time.Minute, 1000), total(6*time.Minute, 8), total(time.Second, 8)
	if compacted*100 > whole*85 {
		t.Errorf("%d bytes are sent with compaction, %d without", compacted, whole)
	}
	if hot < whole*95/100 {
		t.Errorf("%d bytes are sent without pauses, %d without compaction: a hot prefix was cut", hot, whole)
	}
}

// CONTEXT 2: a process that starts after the mind has rested finds the cut still
// to be made, and makes it before the first frame.
func TestARestedMindIsCutAfterARestart(t *testing.T) {
	k := &keeper{ChatModel: chatty()}
	play(t, k, func(w *world) {
		room := w.room("kai", direct)
		w.start()
		for turn := range 9 {
			w.says(room, "Kai", fmt.Sprintf("topic-%d tell me more", turn))
			w.settle()
		}
		w.stop()
		pass(time.Hour)
		w.start()
		w.says(room, "Kai", "topic-9 tell me more")
		w.settle()
		causes := []string{}
		for _, c := range bodies[spaces.ContextCompacted](w.inner(mind("Ada"))) {
			causes = append(causes, c.Cause)
		}
		if !slices.Equal(causes, []string{hud.CutFirst, hud.CutTurns}) {
			t.Errorf("cuts %v", causes)
		}
	})
}

// CONTEXT 2: by a person's word the context is compacted at once: the last four turns stay
// word for word, and of the others their accounts. A second time there is nothing to do.
func TestAPersonHasTheContextCompacted(t *testing.T) {
	k := &keeper{ChatModel: chatty()}
	play(t, k, func(w *world) {
		room := w.room("kai", direct)
		w.start()
		compact := func() spaces.ContextCompacted {
			t.Helper()
			done, err := w.shell.Compact(w.t.Context(), "ada", room)
			if err != nil {
				t.Fatal(err)
			}
			return done
		}
		for turn := range 7 {
			w.says(room, "Kai", fmt.Sprintf("topic-%d %s", turn, strings.Repeat("tell me more ", 30)))
			w.settle()
			if turn == 3 {
				if done := compact(); done.Cycles != 0 {
					t.Errorf("of four turns %+v", done)
				}
			}
		}
		done := compact()
		if done.Cause != hud.CutAsked || done.Cycles != 3 || done.TokensAfter >= done.TokensBefore || done.TokensAfter == 0 {
			t.Errorf("compacted: %+v", done)
		}
		if again := compact(); again.Cycles != 0 {
			t.Errorf("a second time: %+v", again)
		}
		cuts := bodies[spaces.ContextCompacted](w.inner(mind("Ada")))
		if len(cuts) != 2 || !cmp.Equal(cuts[1], done) {
			t.Errorf("recorded: %+v", cuts)
		}
		w.says(room, "Kai", "topic-7 and now?")
		w.settle()
		last := whole(k.asked[len(k.asked)-1])
		for turn := range 7 {
			said := fmt.Sprintf("topic-%d", turn)
			account := strings.Contains(last, "Responded to Kai about the "+said+".")
			if verbatim := strings.Contains(last, said+" tell me"); !verbatim && !account || turn >= 3 && !verbatim {
				t.Errorf("turn %d is shown verbatim: %t, by its account: %t", turn, verbatim, account)
			}
		}
		if _, err := w.shell.Compact(w.t.Context(), "nobody", room); !errors.Is(err, shell.ErrNotHere) {
			t.Errorf("an agent that is not here: %v", err)
		}
		if _, err := w.shell.Compact(w.t.Context(), "ada", "nowhere"); err == nil || errors.Is(err, shell.ErrNotHere) {
			t.Errorf("in a room that is not there: %v", err)
		}
	})
}
