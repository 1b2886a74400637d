package shell_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// many writes n entries, each with its number.
func many(n int, entry string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(entry, i)
	}
	return "[" + strings.Join(all, ",") + "]"
}

// PRD-6.5-4, PRD-12-8: a proposal holds so much and no more, wishes for what a
// configuration has, and nothing that a person wrote, word for word.
func TestWhatAProposalMayHold(t *testing.T) {
	const fact, note, wish = `"fact %d"`, `{"cron":"0 9 * * %d","note":"look"}`, `{"key":"wake","want":"wish %d"}`
	for args, want := range map[string]string{
		`"facts":` + many(8, fact):                     "",
		`"facts":` + many(9, fact):                     "too_much",
		`"plans":` + many(5, note):                     "",
		`"plans":` + many(6, note):                     "too_much",
		`"wishes":` + many(5, wish):                    "",
		`"wishes":` + many(6, wish):                    "too_much",
		`"wishes":[{"key":"token","want":"mine"}]`:     "bad_wish",
		`"wishes":[{"key":"wake","want":""}]`:          "bad_wish",
		`"facts":["Set up this room: Nova cooks."]`:    "message_text",
		`"facts":["Nova cooks on every trip."]`:        "",
		`"plans":[{"cron":"0 9 * * 1","note":"a\nb"}]`: "bad_note",
	} {
		m := doer(map[string][][2]string{"et up this room": {{"set_up", `{"step":"propose","purpose":"The crew plans its trips",` + args + `}`}}})
		play(t, m, func(w *world) {
			room := w.room("kai", direct)
			w.start()
			w.says(room, "Kai", "set up this room: Nova cooks.")
			w.settle()
			refused := strings.Join(w.codes(mind("Ada")), " ")
			if stands := w.setUpOf(mind("Ada"), room).State == spaces.SetUpProposed; refused != want || stands != (want == "") || len(w.spoken(room)) != map[bool]int{true: 1}[want == ""] {
				t.Errorf("%s: refused %q, want %q; it stands: %t, said %q", args, refused, want, stands, w.spoken(room))
			}
		})
	}
}

// each answers with lists of acts, one list a step, to the newest words it was woken
// with.
func each(does map[string][][]llm.ToolCall) mindful {
	done := map[string]int{}
	return func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		inbox := ""
		for _, m := range r.Messages {
			if m.Role == llm.User && isInbox(m.Text) {
				inbox = m.Text
			}
		}
		for words, steps := range does {
			if n := done[words]; strings.Contains(inbox, words) && n < len(steps) {
				done[words]++
				answer := calling(0, "", "")
				answer.Calls = slices.Clone(steps[n])
				for i := range answer.Calls {
					answer.Calls[i].ID = fmt.Sprint("call-", len(r.Messages), "-", i)
				}
				return answer, nil
			}
		}
		return telling("Responded to Kai about the room. Did it."), nil
	}
}

// PRD-6.5-5: what is approved is put into effect once, also where the agent says so
// twice in one breath; afterwards it is said why not again, and later that nothing
// stands there.
func TestAProposalIsAppliedOnce(t *testing.T) {
	yes := func(n int) llm.ToolCall { // no two are the same: that alone would be refused
		return llm.ToolCall{Name: "set_up", Args: fmt.Sprintf(`{"step":"apply","purpose":"%d"}`, n)}
	}
	m := each(map[string][][]llm.ToolCall{
		"set up this room": {{{Name: "set_up", Args: sailing}}},
		"yes":              {{yes(1), yes(2)}, {yes(3)}},
		"again":            {{yes(4)}},
	})
	play(t, m, func(w *world) {
		set := twoPhases()
		set.Phases, set.MaxRoomActs = shell.PhasesOne, 2
		w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings { return set }
		room := w.room("kai", direct)
		w.start()
		for _, words := range []string{"set up this room", "yes", "and again"} {
			w.says(room, "Kai", words)
			w.settle()
		}
		var why []string
		for _, d := range bodies[spaces.CallDenied](w.inner(mind("Ada"))) {
			why = append(why, d.Denial.Reason)
		}
		const already, none = "This has been set up already.", "No proposal stands in this room."
		if !slices.Equal(why, []string{already, already, none}) {
			t.Errorf("refused because %q", why)
		}
		done := 0
		for _, n := range bodies[spaces.NoteAdded](w.inner(mind("Ada"))) {
			if n.SetUp != nil && n.SetUp.State == spaces.SetUpDone {
				done++
			}
		}
		if done != 1 || len(w.planned(mind("Ada"))) != 1 || len(w.self(mind("Ada")).Memories.All) != 2 {
			t.Errorf("done %d times; planned %q, remembered %v", done, w.planned(mind("Ada")), w.self(mind("Ada")).Memories.All)
		}
	})
}

// PRD-11-12: who asks for a set-up and takes it back in the same breath has none, though
// nothing of it is committed before the agent decides.
func TestASetUpIsDroppedInTheStepThatHearsOfIt(t *testing.T) {
	m := each(map[string][][]llm.ToolCall{"never mind": {{{Name: "set_up", Args: `{"step":"drop"}`}}}})
	play(t, m, func(w *world) {
		set := twoPhases()
		set.Phases = shell.PhasesOne
		w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings { return set }
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "set up this room. No, never mind.")
		w.settle()
		if s := w.setUpOf(mind("Ada"), room); s.State != spaces.SetUpDropped || len(w.codes(mind("Ada"))) != 0 {
			t.Errorf("it stands as %q, refused %v", s.State, w.codes(mind("Ada")))
		}
	})
}

// A model is offered set_up while a room is being set up, and not before and after.
func TestSetUpIsOfferedWhileARoomIsSetUp(t *testing.T) {
	var offered []bool
	steps := each(map[string][][]llm.ToolCall{"never mind": {{{Name: "set_up", Args: `{"step":"drop"}`}}}})
	m := mindful(func(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		offered = append(offered, slices.ContainsFunc(r.Tools, func(s llm.ToolSpec) bool { return s.Name == "set_up" }))
		return steps(ctx, r)
	})
	play(t, m, func(w *world) {
		set := twoPhases()
		set.Phases = shell.PhasesOne
		w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings { return set }
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "hello")
		w.settle()
		testutil.Same(t, "offered before", false, slices.Contains(offered, true))
		offered = nil
		w.says(room, "Kai", "set up this room")
		w.settle()
		testutil.Same(t, "offered while it is set up", false, slices.Contains(offered, false))
		w.says(room, "Kai", "never mind")
		w.settle()
		offered = nil
		w.says(room, "Kai", "hello again")
		w.settle()
		testutil.Same(t, "offered after", false, slices.Contains(offered, true))
	})
}
