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

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	sectionHead = "SETTING UP THIS ROOM:"
	offerHead   = "NEW ROOM:"
	sailing     = `{"step":"propose","purpose":"The crew plans its trips here","facts":["Nova keeps the spare key in the galley"],"plans":[{"cron":"0 9 * * 1","note":"ask who takes the spare key"}],"wishes":[{"key":"wake","want":"hear of every spare key"}]}`
	apply       = `{"step":"apply"}`
)

// A doer does what is written beside the newest words it was woken with, act by act.
func doer(does map[string][][2]string) mindful {
	return func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		if r.NoCalls {
			return telling("hm"), nil
		}
		inbox := ""
		for _, m := range r.Messages {
			if m.Role == llm.User && isInbox(m.Text) {
				inbox = m.Text
			}
		}
		for words, list := range does {
			if n := acts(r); strings.Contains(inbox, words) && n < len(list) {
				return calling(len(r.Messages), list[n][0], list[n][1]), nil
			}
		}
		return telling("Responded to Kai about the room. Did it."), nil
	}
}

// crew is a conversation that sets up a room.
var crew = map[string][][2]string{
	"set up this room": {{"set_up", sailing}},
	"yes":              {{"set_up", apply}, {"send_message", `{"text":"Done. A tour?"}`}},
}

// setUpOf is a room's set-up as the record has it.
func (w *world) setUpOf(m spaces.Mind, room spaces.SpaceID) spaces.RoomOnboarding {
	w.t.Helper()
	return w.self(m).SetUps.In(room)
}

// self is what a mind's log folds to.
func (w *world) self(m spaces.Mind) *spaces.InnerState {
	w.t.Helper()
	events, err := w.store.Shell().Self(w.t.Context(), m)
	w.ok(err)
	var self spaces.InnerState
	for _, e := range events {
		self.Apply(e)
	}
	return &self
}

// codes are those of what the mind was refused, in order.
func (w *world) codes(m spaces.Mind) []string {
	w.t.Helper()
	var all []string
	for _, d := range bodies[spaces.CallDenied](w.inner(m)) {
		all = append(all, d.Denial.Code)
	}
	return all
}

// planned are the notes of what the mind has planned.
func (w *world) planned(m spaces.Mind) []string {
	w.t.Helper()
	plans, err := w.store.Shell().Plans(w.t.Context(), m, 100)
	w.ok(err)
	var notes []string
	for _, p := range plans {
		notes = append(notes, p.Note)
	}
	return notes
}

// PRD-6.5-5, PRD-6.5-A6, I5, DELIVERY 2.3: wherever the process is killed while a room
// is set up, what comes of it is what comes of it in a life without a crash: one
// proposal a commit, then the plan and the memories with the end of the set-up.
func TestASetUpIsTheSameWhereverTheProcessDies(t *testing.T) {
	live := func(n int) (got life, passed int) {
		synctest.Test(t, func(t *testing.T) {
			r := &reaper{at: n}
			w := newWorld(t, doer(crew))
			w.ports = func(s sqlstore.AgentStore) ports { return mortal{s, r} }
			r.kill = func() { w.cancel() }
			room := w.room("kai", direct)
			w.start()
			for _, words := range []string{"set up this room", "yes"} {
				w.says(room, "Kai", words)
				synctest.Wait()
				if len(r.passed) == n && n > 0 {
					w.crash()
					*r = reaper{kill: r.kill}
					w.start()
				}
				w.settle()
			}
			w.stop()
			got, passed = w.life(room), len(r.passed)
			got.Sends = append(got.Sends, w.planned(mind("Ada"))...)
			for _, m := range w.self(mind("Ada")).Memories.All {
				got.Sends = append(got.Sends, m.Fact)
			}
			for i, f := range got.Frames {
				got.Frames[i], _, _ = strings.Cut(f, `"plans":[{"id"`) // the rest has an id
			}
			w.sound()
		})
		return got, passed
	}
	want, points := live(0)
	if len(want.Sends) != 4 || points < 18 {
		t.Fatalf("%d points; sent first, planned and remembered are %q", points, want.Sends)
	}
	for n := 1; n <= points; n++ {
		got, _ := live(n)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("killed at point %d (-want +got):\n%s", n, diff)
		}
	}
}

// SECURITY S14, DESIGN 2: when a message of the conversation is deleted, the proposal
// that it led to is gone from all that the mind has and is shown, before and after it
// was approved and after a restart. Nothing can be approved that is gone.
func TestADeletedMessageTakesItsProposalAlong(t *testing.T) {
	for n := range 8 {
		first, approved, restart := n&1 != 0, n&2 != 0, n&4 != 0
		t.Run(fmt.Sprintf("the first %v, approved %v, restart %v", first, approved, restart), func(t *testing.T) {
			k := &keeper{ChatModel: doer(map[string][][2]string{
				"help me get started": {},
				"the key":             {{"set_up", sailing}},
				"yes":                 {{"set_up", apply}},
				"well":                {{"use", `{"object":"memories"}`}, {"use", `{"object":"plans"}`}, {"set_up", apply}},
			})}
			play(t, k, func(w *world) {
				room := w.room("kai", direct)
				w.start()
				asked := w.says(room, "Kai", "help me get started, will you, I know not how")
				w.settle()
				told := w.says(room, "Kai", "Nova has the key, they say")
				w.settle()
				if approved {
					w.says(room, "Kai", "yes")
					w.settle()
				}
				if s := w.setUpOf(mind("Ada"), room); (s.State == spaces.SetUpDone) != approved || (s.Plan == nil) != approved {
					t.Fatalf("before the delete it stands at %+v", s)
				}
				w.does(room, "Kai", spaces.MessageDeleted{Ref: map[bool]spaces.MessageRef{true: asked, false: told}[first]})
				w.settle()
				if restart {
					w.crash()
					w.start()
				}
				before := k.times()
				w.says(room, "Kai", "well?")
				w.settle()
				if k.times() < before+4 {
					t.Fatalf("asked %d times", k.times()-before)
				}
				for _, r := range k.asked[before:] {
					tail := r.Messages[len(r.Messages)-1].Text
					if strings.Contains(tail, "spare key") || strings.Contains(tail, sectionHead) == approved {
						t.Fatalf("the tail is\n%s", tail)
					}
				}
				if s := w.setUpOf(mind("Ada"), room); s.Plan != nil || len(w.self(mind("Ada")).Memories.All) != 0 {
					t.Errorf("left are %+v and %+v", s, w.self(mind("Ada")).Memories.All)
				}
				if codes := w.codes(mind("Ada")); !slices.Equal(codes, []string{"not_proposed"}) {
					t.Errorf("refused was %v", codes)
				}
				for _, note := range w.planned(mind("Ada")) {
					if strings.Contains(note, "spare key") {
						t.Errorf("it still plans %q", note)
					}
				}
				w.keptNowhere("in the galley")
				w.keptNowhere("who takes the spare")
			})
		})
	}
}

// PRD-6.5-5: the plans of a proposal fit beside the others all together, or nothing of
// it happens; what is known and planned already is passed over (PRD-12-8).
func TestAProposalIsAppliedWhole(t *testing.T) {
	two := strings.Replace(sailing, `"plans":[`, `"plans":[{"at":"2000-01-03 08:00","note":"wake them"},`, 1)
	does := map[string][][2]string{
		"set up this room":  {{"set_up", two}},
		"yes":               {{"set_up", apply}},
		"call off the last": {},
	}
	for n := range 49 {
		does["plan a lot"] = append(does["plan a lot"], [2]string{"timer", fmt.Sprintf(`{"seconds":%d,"note":"look again"}`, 360000+n)})
	}
	play(t, doer(does), func(w *world) {
		set := twoPhases()
		set.MaxSteps = 60
		w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings { return set }
		room := w.room("kai", direct)
		w.start()
		for _, words := range []string{"plan a lot", "set up this room", "yes"} {
			w.says(room, "Kai", words)
			w.settle()
		}
		if got := len(w.planned(mind("Ada"))); got != 49 || len(w.self(mind("Ada")).Memories.All) != 0 || !slices.Equal(w.codes(mind("Ada")), []string{"too_many_plans"}) {
			t.Fatalf("%d plans, %d memories, refused %v", got, len(w.self(mind("Ada")).Memories.All), w.codes(mind("Ada")))
		}
		if s := w.setUpOf(mind("Ada"), room); s.State != spaces.SetUpProposed {
			t.Errorf("it stands as %s", s.State)
		}
		plans, err := w.store.Shell().Plans(w.t.Context(), mind("Ada"), 1)
		w.ok(err)
		if had, err := w.shell.Forget(w.t.Context(), mind("Ada"), plans[0].ID); err != nil || !had {
			t.Fatal(had, err)
		}
		for _, words := range []string{"yes", "set up this room once more", "yes"} {
			w.says(room, "Kai", words)
			w.settle()
		}
		if got := len(w.planned(mind("Ada"))); got != 50 || len(w.self(mind("Ada")).Memories.All) != 2 {
			t.Errorf("%d plans, %d memories after it was done twice", got, len(w.self(mind("Ada")).Memories.All))
		}
		if s := w.setUpOf(mind("Ada"), room); s.State != spaces.SetUpDone {
			t.Errorf("in the end it stands as %s", s.State)
		}
	})
}

// PRD-11-12: who goes away finds nothing made, and a proposal of a week ago cannot be
// approved by chance. What it said is there when a person asks again.
func TestASetUpThatNobodyDecidesOnIsOver(t *testing.T) {
	k := &keeper{ChatModel: doer(map[string][][2]string{"set up this room": {{"set_up", sailing}}, "yes": {{"set_up", apply}}})}
	play(t, k, func(w *world) {
		w.poll = time.Hour // a week is not looked at second by second
		room := w.room("kai", direct)
		w.start()
		for n, c := range []struct {
			after time.Duration
			words string
			shown bool
		}{
			{0, "set up this room", true},
			{7*24*time.Hour - time.Hour, "hm", true},
			{2 * time.Hour, "hello", false},
			{0, "yes", false},
			{0, "Mission Zero", true},
		} {
			pass(c.after)
			before := k.times()
			w.says(room, "Kai", c.words)
			w.settle()
			for _, r := range k.asked[before:] {
				if got := strings.Contains(whole(r), sectionHead); got != c.shown {
					t.Errorf("message %d: the section is shown: %v", n, got)
				}
			}
		}
		if codes := w.codes(mind("Ada")); !slices.Equal(codes, []string{"not_proposed"}) || len(w.planned(mind("Ada"))) != 0 || len(w.self(mind("Ada")).Memories.All) != 0 {
			t.Errorf("refused %v, planned %v, remembered %v", codes, w.planned(mind("Ada")), w.self(mind("Ada")).Memories.All)
		}
		if last := k.frame(); !strings.Contains(last, "PROPOSED before, and nobody decided") || !strings.Contains(last, `- fact "Nova keeps the spare key in the galley"`) {
			t.Errorf("what was said before is not shown:\n%s", last)
		}
	})
}

// PRD-6.5-A8, PRD-11-10: where a set-up may take no tokens, or the act is taken, none is
// offered, opened or done.
func TestASetUpCanBeTurnedOff(t *testing.T) {
	for code, change := range map[string]func(*shell.AgentSettings){
		"setup_off":   func(s *shell.AgentSettings) { s.Onboarding = 0 },
		"tier_policy": func(s *shell.AgentSettings) { s.Without = []string{"set_up"} },
	} {
		k := &keeper{ChatModel: doer(crew)}
		play(t, k, func(w *world) {
			set := twoPhases()
			change(&set)
			w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings { return set }
			room := w.room("kai", func(o *spaces.OpenRequest) { o.Key, o.Wake = "", spaces.WakeAll })
			w.start()
			w.says(room, "Kai", "hello")
			w.says(room, "Kai", "set up this room")
			w.settle()
			for _, r := range k.asked {
				if text := r.Messages[len(r.Messages)-1].Text; strings.Contains(text, sectionHead) || strings.Contains(text, offerHead) {
					t.Errorf("shown is\n%s", text)
				}
			}
			if codes := w.codes(mind("Ada")); !slices.Contains(codes, code) || len(w.spoken(room)) != 0 {
				t.Errorf("refused %v, said %q", codes, w.spoken(room))
			}
		})
	}
}

// DESIGN 4: what is proposed and approved in a rehearsal is neither.
func TestARehearsedSetUpLeavesNothing(t *testing.T) {
	m := doer(map[string][][2]string{
		"set up this room": {{"set_up", sailing}},
		"yes":              {{"fork", `{"reason":"try"}`}, {"set_up", apply}, {"set_up", strings.Replace(sailing, "Nova", "Max", 1)}},
	})
	play(t, m, func(w *world) {
		room := w.room("kai", direct)
		w.start()
		for _, words := range []string{"set up this room", "yes"} {
			w.says(room, "Kai", words)
			w.settle()
		}
		s := w.setUpOf(mind("Ada"), room)
		if len(w.codes(mind("Ada"))) != 0 || s.State != spaces.SetUpProposed || !strings.Contains(s.Plan.Facts[0], "Nova") {
			t.Errorf("refused %v; it stands at %+v", w.codes(mind("Ada")), s)
		}
		if len(w.planned(mind("Ada")))+len(w.self(mind("Ada")).Memories.All) != 0 || len(w.spoken(room)) != 1 {
			t.Errorf("planned %v, remembered %v, said %q", w.planned(mind("Ada")), w.self(mind("Ada")).Memories.All, w.spoken(room))
		}
	})
}

// PRD-6.5-3, PRD-6.5-A1: a set-up is opened by what a person says in their own words,
// by nothing that a program says or that a person passes on; a room that an agent was
// in before it was asked is new to it once.
func TestOnlyAPersonsOwnWordsOpenASetUp(t *testing.T) {
	const words = "set up this room"
	for name, c := range map[string]struct {
		kind spaces.EntityKind
		said spaces.MessagePosted
		want spaces.OnboardingState
	}{
		"a person":               {spaces.Human, spaces.MessagePosted{Text: words}, spaces.SetUpOpened},
		"a bot":                  {spaces.Bot, spaces.MessagePosted{Text: words}, spaces.SetUpOffered},
		"a channel":              {spaces.Service, spaces.MessagePosted{Text: words}, spaces.SetUpOffered},
		"passed on":              {spaces.Human, spaces.MessagePosted{Text: words, Forwarded: "Zoe"}, spaces.SetUpOffered},
		"a person without words": {spaces.Human, spaces.MessagePosted{Text: "hello"}, spaces.SetUpOffered},
	} {
		t.Run(name, func(t *testing.T) {
			k := &keeper{ChatModel: doer(nil)}
			play(t, k, func(w *world) {
				room := w.room("club", func(o *spaces.OpenRequest) { o.Key, o.Wake = "", spaces.WakeAll })
				w.start()
				in := w.update(room, "Kai", c.said)
				in.From.Kind = c.kind
				w.record(in)
				w.settle()
				if s := w.setUpOf(mind("Ada"), room); s.State != c.want {
					t.Errorf("it stands as %q, want %q", s.State, c.want)
				}
				before := k.times()
				w.says(room, "Nova", "and now?")
				w.settle()
				for n, r := range k.asked {
					tail := r.Messages[len(r.Messages)-1].Text
					if got, want := strings.Contains(tail, offerHead), c.want == spaces.SetUpOffered && n < before; got != want {
						t.Errorf("call %d is told that the room is new: %v", n, got)
					}
				}
			})
		})
	}
}

// SECURITY S5: a set-up is known in its circle and shown in its room: in another room,
// or in a person's own chat, no frame has it.
func TestASetUpStaysInItsRoom(t *testing.T) {
	k := &keeper{ChatModel: doer(map[string][][2]string{"set up this room": {{"set_up", sailing}}})}
	play(t, k, func(w *world) {
		group := w.room("group", circle("studio"))
		beside := w.room("beside", circle("studio"))
		own := w.room("kai", direct, circle(""))
		w.start()
		w.says(group, "Kai", "@Ada set up this room")
		w.settle()
		before := k.times()
		w.says(beside, "Nova", "@Ada hello")
		w.says(own, "Kai", "hello")
		w.settle()
		w.says(group, "Kai", "@Ada hello")
		w.settle()
		shown := 0
		for _, r := range k.asked[before:] {
			tail := r.Messages[len(r.Messages)-1].Text
			if !strings.Contains(tail, sectionHead) {
				continue
			}
			if shown++; !strings.Contains(tail, `ACTIVE SPACE: "group"`) {
				t.Errorf("it is shown elsewhere:\n%s", tail)
			}
		}
		if shown != 2 {
			t.Errorf("it is shown in %d frames, want the two in its room", shown)
		}
	})
}

// DESIGN 2: a proposal that others have overtaken was not made: nobody can approve it.
func TestAnOvertakenProposalDoesNotStand(t *testing.T) {
	var w *world
	var room spaces.SpaceID
	n := 0
	m := mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		if r.NoCalls {
			return telling("hm"), nil
		}
		switch n++; n {
		case 1:
			w.says(room, "Kai", "wait")
			return calling(n, "set_up", sailing), nil
		case 2:
			return calling(n, "set_up", apply), nil
		}
		return telling("Responded to Kai. Waited."), nil
	})
	play(t, m, func(v *world) {
		w, room = v, v.room("kai", direct)
		w.start()
		w.says(room, "Kai", "set up this room")
		w.settle()
		if s := w.setUpOf(mind("Ada"), room); s.State != spaces.SetUpOpened || s.Plan != nil || len(w.spoken(room)) != 0 {
			t.Errorf("it stands at %+v, said %q", s, w.spoken(room))
		}
		if codes := w.codes(mind("Ada")); !slices.Equal(codes, []string{"not_proposed"}) {
			t.Errorf("refused %v", codes)
		}
	})
}
