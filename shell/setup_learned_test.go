package shell_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// heard returns the message of a room that has those words.
func (w *world) heard(room spaces.SpaceID, words string) spaces.Event {
	w.t.Helper()
	for _, e := range w.log(room) {
		if said, ok := e.Body.(spaces.MessagePosted); ok && said.Text == words {
			return e
		}
	}
	w.t.Fatalf("nobody said %q", words)
	return spaces.Event{}
}

// SECURITY S5, S14: who comes while a room is set up is no reader of what was said
// before; what is remembered of a proposal follows from everything that led to it, up to
// all that the agent was looking at when a person approved.
func TestWhoComesLaterIsNoReaderOfASetUp(t *testing.T) {
	m := doer(map[string][][2]string{"the key": {{"set_up", sailing}}, "yes": {{"set_up", apply}}})
	play(t, m, func(w *world) {
		room := w.room("crew", func(o *spaces.OpenRequest) { o.Wake = spaces.WakeAll })
		w.start()
		w.says(room, "Kai", "set up this room")
		w.settle()
		w.says(room, "Nova", "about the key")
		w.settle()
		asked, told := w.heard(room, "set up this room"), w.heard(room, "about the key")
		want := spaces.OnboardingNote{State: spaces.SetUpProposed, Seen: told.Seq, Sources: []spaces.EventID{asked.ID, told.ID}}
		want.Readers = []spaces.EntityID{spaces.AgentID("ada").Entity(), asked.Actor}
		slices.Sort(want.Readers)
		got := w.setUpOf(mind("Ada"), room).OnboardingNote
		got.Space, got.Message, got.Plan = "", "", nil
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the proposal (-want +got):\n%s", diff)
		}
		bell := w.update(room, "Bell", spaces.MessagePosted{Text: "ten to nine"})
		bell.From.Kind = spaces.Bot
		w.record(bell, w.update(room, "Zoe", spaces.MessagePosted{Text: "yes"}))
		w.settle()
		kept := w.self(mind("Ada")).Memories.All
		if len(kept) != 2 {
			t.Fatalf("remembered are %+v", kept)
		}
		sources := []spaces.EventID{asked.ID, told.ID, w.heard(room, "yes").ID, w.heard(room, "ten to nine").ID}
		for _, k := range kept {
			if !slices.Equal(k.Readers, want.Readers) || !slices.Equal(k.Sources, sources) {
				t.Errorf("%q has readers %q, want %q; sources %q, want %q", k.Fact, k.Readers, want.Readers, k.Sources, sources)
			}
		}
	})
}

// PRD-6.5-4, SECURITY S14: a proposal that nobody asked for follows from what woke the
// agent.
func TestAProposalNobodyAskedForFollowsFromWhatWoke(t *testing.T) {
	play(t, doer(map[string][][2]string{"the key": {{"set_up", sailing}}}), func(w *world) {
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "about the key")
		w.settle()
		woke := w.heard(room, "about the key")
		if s := w.setUpOf(mind("Ada"), room); s.State != spaces.SetUpProposed || s.Seen != woke.Seq || !slices.Equal(s.Sources, []spaces.EventID{woke.ID}) {
			t.Errorf("it stands at %+v, want it to follow from %s, event %d", s, woke.ID, woke.Seq)
		}
	})
}

// PRD-6.5-5: what people cannot read in the room any more, or never could, nobody
// approves.
func TestAProposalThatIsNotThereIsNotApproved(t *testing.T) {
	for name, lose := range map[string]func(w *world, room spaces.SpaceID, said spaces.EventID){
		"deleted": func(w *world, room spaces.SpaceID, said spaces.EventID) {
			w.deliver()
			w.does(room, "Kai", spaces.MessageDeleted{Target: said})
		},
		"not delivered": func(w *world, _ spaces.SpaceID, _ spaces.EventID) {
			due, err := w.store.Border().Claim(w.t.Context(), account, time.Now(), 1)
			w.ok(err)
			w.ok(w.store.Border().Settle(w.t.Context(), time.Now(), []activity.SendResult{{Action: due[0].ID, State: spaces.ActionFailed, Code: "rejected", Reason: "no"}}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, doer(crew), func(w *world) {
				room := w.room("kai", direct)
				w.start()
				w.says(room, "Kai", "set up this room")
				w.settle()
				lose(w, room, w.setUpOf(mind("Ada"), room).Message)
				w.settle()
				w.says(room, "Kai", "yes")
				w.settle()
				if codes := w.codes(mind("Ada")); !slices.Equal(codes, []string{"not_proposed"}) || len(w.planned(mind("Ada")))+len(w.self(mind("Ada")).Memories.All) != 0 {
					t.Errorf("refused %v, planned %v, remembered %v", codes, w.planned(mind("Ada")), w.self(mind("Ada")).Memories.All)
				}
			})
		})
	}
}

// PRD-6.5-5, DESIGN 2: an approval that is said in a step which others have overtaken
// put nothing into effect: neither plans nor memories are left of it, and the proposal
// stands.
func TestAnOvertakenApprovalLeavesNothing(t *testing.T) {
	var w *world
	var room spaces.SpaceID
	n := 0
	m := mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		if n++; n == 1 {
			return calling(n, "set_up", sailing), nil
		}
		if n == 2 {
			w.says(room, "Kai", "no, wait")
			return llm.ModelResponse{Calls: []llm.ToolCall{{ID: "a", Name: "set_up", Args: apply}, {ID: "b", Name: "send_message", Args: `{"text":"Done."}`}}}, nil
		}
		return telling("Responded to Kai. Waited."), nil
	})
	play(t, m, func(v *world) {
		set := twoPhases()
		set.Phases, set.MaxRoomActs = shell.PhasesOne, 2
		v.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings { return set }
		w, room = v, v.room("kai", direct)
		w.start()
		for _, words := range []string{"set up this room", "yes"} {
			w.says(room, "Kai", words)
			w.settle()
		}
		if n < 3 || len(w.spoken(room)) != 1 {
			t.Fatalf("asked %d times, said %q", n, w.spoken(room))
		}
		if s := w.setUpOf(mind("Ada"), room); s.State != spaces.SetUpProposed {
			t.Errorf("it stands as %s", s.State)
		}
		if len(w.planned(mind("Ada")))+len(w.self(mind("Ada")).Memories.All) != 0 {
			t.Errorf("planned %v, remembered %v", w.planned(mind("Ada")), w.self(mind("Ada")).Memories.All)
		}
	})
}

// PRD-6.5-3: what people say while the agent is at it counts as well, each message once,
// also where another process goes on.
func TestWhatIsSaidMeanwhileIsHeardOnce(t *testing.T) {
	for _, restart := range []bool{false, true} {
		var w *world
		var room spaces.SpaceID
		n := 0
		m := mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
			switch n++; n {
			case 1:
				w.says(room, "Kai", "set up this room")
			case 2:
				w.says(room, "Kai", "for sailing")
			case 4:
				if restart {
					w.cancel()
					return llm.ModelResponse{}, errKilled
				}
			}
			if n < 6 {
				return calling(n, "note", fmt.Sprintf(`{"text":"step %d"}`, n)), nil
			}
			return telling("Responded to Kai. Listened."), nil
		})
		play(t, m, func(v *world) {
			set := twoPhases()
			set.Phases = shell.PhasesOne
			v.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings { return set }
			w, room = v, v.room("kai", direct)
			w.start()
			w.says(room, "Kai", "hello")
			if restart {
				synctest.Wait()
				w.crash()
				w.start()
			}
			w.settle()
			var got []string
			for _, b := range bodies[spaces.NoteAdded](w.inner(mind("Ada"))) {
				if b.SetUp == nil {
					continue
				}
				line := []string{string(b.SetUp.State)}
				for _, id := range b.SetUp.Sources {
					for _, e := range w.log(room) {
						if e.ID == id {
							line = append(line, e.Body.(spaces.MessagePosted).Text)
						}
					}
				}
				got = append(got, strings.Join(line, ": "))
			}
			if diff := cmp.Diff([]string{"opened: set up this room", "heard: for sailing"}, got); diff != "" {
				t.Errorf("restarted %v (-want +got):\n%s", restart, diff)
			}
		})
	}
}
