package storetest

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

var questionTests = map[string]func(*testing.T, *world){
	"QuestionIsAnsweredByOnePress":            questionPressed,
	"QuestionForOneTakesNoOtherPress":         questionForOne,
	"QuestionIsAnsweredByAnOptionInWords":     questionInWords,
	"QuestionSaysThatItsTimeIsOver":           questionExpired,
	"QuestionThatIsStoppedSaysSo":             questionStopped,
	"QuestionThatAStepGivesUpSaysSo":          questionGivenUp,
	"QuestionThatWasDeletedIsNotEdited":       questionDeleted,
	"WhoPressesLowersTheAuthorityOfTheAnswer": questionAuthority,
	"ToolThatAsksForAChoiceGetsIt":            toolChoice,
	"QuestionKeepsNoErasedWordsInItsOptions":  questionRedacted,
}

var days = []string{"Tuesday", "Wednesday"}

// pick has ada ask which day, and returns what was sent for it.
func (w *world) pick(room spaces.SpaceID, who ...spaces.EntityID) (asked spaces.Event, sent spaces.Action) {
	w.t.Helper()
	w.say(room, "zoe", "ask which day")
	asked = w.ask(ada, room, "Which day?"+spaces.OptionList(days), spaces.WaitSpec{Who: who, People: true, Options: days})
	due := w.due()
	if len(due) != 1 || len(due[0].Choices) != 2 || due[0].Choices[1].Label != "Wednesday" {
		w.t.Fatalf("sent %+v, want a question with two buttons", due)
	}
	w.settleAll(due)
	return asked, due[0]
}

// press presses a button below a question of ada.
func (w *world) press(room spaces.SpaceID, run spaces.CycleID, who string, choice int) (*spaces.PendingWait, bool) {
	w.t.Helper()
	by, err := w.s.Shell.EntityOf(w.t.Context(), person(who))
	w.ok(err)
	wait, taken, err := w.s.Shell.AnswerQuestion(w.t.Context(), spaces.QuestionAnswer{Run: run, Spaces: []spaces.SpaceID{room}, Who: by, Choice: choice, At: w.now})
	w.ok(err)
	return wait, taken
}

// edited expects that the question was edited once and says how it ended.
func (w *world) edited(room spaces.SpaceID, asked spaces.Event, want string) {
	w.t.Helper()
	var edits []string
	for _, e := range w.log(room) {
		if b, ok := e.Body.(spaces.MessageEdited); ok && b.Target == asked.ID && e.Actor == ada.Agent.Entity() {
			edits = append(edits, b.Text)
		}
	}
	due := w.due()
	w.settleAll(due)
	due = slices.DeleteFunc(due, func(a spaces.Action) bool { return a.Kind != spaces.ActEdit })
	if want == "" {
		if len(edits)+len(due) > 0 {
			w.t.Errorf("edits %q, sent %+v, want none", edits, due)
		}
		return
	}
	testutil.Same(w.t, "edits", []string{"Which day?\n\n" + want}, edits)
	if len(due) != 1 || due[0].Text != edits[0] || due[0].Target != asked.ID || len(due[0].Choices) > 0 {
		w.t.Errorf("sent %+v, want the edit of the question", due)
	}
}

// TOOLS 4: of presses at once one counts, over a restart, and it wakes with the call that
// asked.
func questionPressed(t *testing.T, w *world) {
	room := w.family()
	asked, sent := w.pick(room)
	wait := w.lasting(ada)[0]
	testutil.Same(t, "options", days, wait.Options)
	if want := "ask " + string(wait.Cycle) + " 2"; sent.Choices[1].Value != want {
		t.Errorf("value %q, want %q", sent.Choices[1].Value, want)
	}
	w.s = w.s.Restart(t, false)
	by, err := w.s.Shell.EntityOf(t.Context(), person("kai"))
	w.ok(err)
	var all sync.WaitGroup
	var counted atomic.Int32
	for i := range 20 {
		all.Go(func() {
			a := spaces.QuestionAnswer{Run: wait.Cycle, Spaces: []spaces.SpaceID{"other", room}, Who: by, Choice: i%2 + 1, At: w.now}
			if _, taken, err := w.s.Shell.AnswerQuestion(t.Context(), a); err != nil {
				t.Error(err)
			} else if taken {
				counted.Add(1)
			}
		})
	}
	all.Wait()
	if n := counted.Load(); n != 1 {
		t.Errorf("%d presses counted", n)
	}
	wake := w.ended(ada, room, spaces.WaitReplied)
	got := wake.Waits[0]
	if len(got.Answers) != 1 || got.Answers[0].Who != by || got.Answers[0].Choice == 0 || len(wake.Rows) != 0 || got.Call == "" {
		t.Fatalf("woken by %+v and rows %+v", got, wake.Rows)
	}
	w.edited(room, asked, "kai chose: "+days[got.Answers[0].Choice-1])
	w.over(wake, 0)
	if late, taken := w.press(room, wait.Cycle, "kai", 1); taken || late == nil || late.Outcome != spaces.WaitReplied {
		t.Errorf("a press after the answer: %v, %+v", taken, late)
	}
	for name, a := range map[string]spaces.QuestionAnswer{
		"of another space": {Run: wait.Cycle, Spaces: []spaces.SpaceID{"other"}, Choice: 1},
		"of no question":   {Run: "none", Spaces: []spaces.SpaceID{room}, Choice: 1},
		"of no option":     {Run: wait.Cycle, Spaces: []spaces.SpaceID{room}, Choice: 3},
	} {
		if found, taken, err := w.s.Shell.AnswerQuestion(t.Context(), a); found != nil || taken || err != nil {
			t.Errorf("a press %s: %+v, %v, %v", name, found, taken, err)
		}
	}
}

func questionForOne(t *testing.T, w *world) {
	room := w.family()
	zoe := w.say(room, "zoe", "hello").Actor
	w.rest(w.woken(ada, room), 0)
	asked, _ := w.pick(room, zoe)
	run := w.lasting(ada)[0].Cycle
	if wait, taken := w.press(room, run, "kai", 1); taken || wait == nil || wait.Outcome != "" {
		t.Errorf("the press of another: %v, %+v", taken, wait)
	}
	w.say(room, "kai", "Tuesday")
	w.rest(w.woken(ada, room), 0)
	if len(w.lasting(ada)) != 1 {
		t.Error("the words of another answered")
	}
	if _, taken := w.press(room, run, "zoe", 2); !taken {
		t.Error("the press of who was asked did not count")
	}
	w.edited(room, asked, "zoe chose: Wednesday")
	w.over(w.ended(ada, room, spaces.WaitReplied), 0)
}

func questionInWords(t *testing.T, w *world) {
	room := w.family()
	asked, _ := w.pick(room)
	run := w.lasting(ada)[0].Cycle
	answer := w.say(room, "tom", "what?")
	w.rest(w.woken(ada, room), 0)
	w.record(w.message(room, "tom", "wednesday!"))
	wake := w.ended(ada, room, spaces.WaitReplied)
	a := wake.Waits[0].Answers[0]
	if a.Who != answer.Actor || a.Choice != 2 || len(wake.Rows) != 1 || a.Event != wake.Rows[0].Event {
		t.Errorf("answer %+v of rows %+v", a, wake.Rows)
	}
	w.edited(room, asked, "tom chose: Wednesday")
	if _, taken := w.press(room, run, "zoe", 1); taken {
		t.Error("a press after the words counted")
	}
	w.over(wake, 0)

	asked, _ = w.pick(room)
	reply := w.message(room, "tom", "rather on Monday")
	reply.Event.ReplyTo = asked.ID
	w.record(reply)
	wake = w.ended(ada, room, spaces.WaitReplied)
	if a := wake.Waits[0].Answers[0]; a.Choice != 0 || a.Event == "" {
		t.Errorf("answer %+v, want words without an option", a)
	}
	w.edited(room, asked, "tom answered in words.")
	w.over(wake, 0)
}

func questionExpired(t *testing.T, w *world) {
	room := w.family()
	asked, _ := w.pick(room)
	run := w.lasting(ada)[0].Cycle
	w.now = w.now.Add(time.Hour)
	if wait, taken := w.press(room, run, "zoe", 1); taken || wait == nil || wait.Outcome != spaces.WaitTimeout {
		t.Errorf("a late press: %v, %+v", taken, wait)
	}
	wake := w.ended(ada, room, spaces.WaitTimeout)
	w.edited(room, asked, "No one answered in time.")
	w.over(wake, 0)
}

func questionStopped(t *testing.T, w *world) {
	room := w.family()
	for _, run := range []bool{false, true} {
		asked, _ := w.pick(room)
		h := spaces.StopRequest{Space: room}
		if run {
			h = spaces.StopRequest{Run: w.lasting(ada)[0].Cycle}
		}
		if done := w.halt(h); done.Waits != 1 {
			t.Errorf("halted %+v, want one wait", done)
		}
		w.edited(room, asked, "Given up.")
	}
}

func questionGivenUp(t *testing.T, w *world) {
	room := w.family()
	asked, _ := w.pick(room)
	w.say(room, "tom", "by the way")
	wake := w.woken(ada, room)
	c := w.step(wake, 0)
	c.GivenUp = []spaces.EventID{"unknown", asked.ID}
	w.commit(c)
	if left := w.lasting(ada); len(left) != 0 {
		t.Errorf("still waits for %+v", left)
	}
	w.edited(room, asked, "Given up.")
	w.rest(wake, 1)
}

func questionDeleted(t *testing.T, w *world) {
	room := w.family()
	asked, _ := w.pick(room)
	w.record(w.fact(room, "zoe", spaces.MessageDeleted{Target: asked.ID}))
	w.halt(spaces.StopRequest{Space: room})
	w.edited(room, asked, "")
}

func questionAuthority(t *testing.T, w *world) {
	room := w.family()
	w.ok(w.s.Border.Appoint(t.Context(), "telegram", []spaces.RoleGrant{{Who: person("zoe"), Role: spaces.OfOwner}, {Who: person("kai"), Role: spaces.OfAdmin}}))
	for who, want := range map[string]spaces.AuthorityLevel{"zoe": spaces.OfOwner, "kai": spaces.OfAdmin, "tom": spaces.OfMember} {
		asked, _ := w.pick(room)
		w.press(room, w.lasting(ada)[0].Cycle, who, 1)
		wake := w.ended(ada, room, spaces.WaitReplied)
		if got := wake.Cycle.Authority; got != want {
			t.Errorf("after a choice of %s the run has the authority of an %s, want %s", who, got, want)
		}
		w.edited(room, asked, who+" chose: Tuesday")
		w.over(wake, 0)
	}
}

func questionRedacted(t *testing.T, w *world) {
	room := w.family()
	const words = "after my appointment with the heart doctor in Bern"
	secret := w.say(room, "zoe", words)
	wake := w.woken(ada, room)
	c := w.step(wake, 0)
	f := w.reply(wake, "Which day?")
	f.Wait = &spaces.WaitSpec{Call: "c", People: true, Options: []string{"Tuesday", words}, Due: w.now.Add(time.Hour)}
	c.Effect, c.Turns, c.Upto = []spaces.RoomEffect{f}, saw(secret, words), secret.Seq
	c.Close = &spaces.CycleClose{Stop: spaces.StopWaitingReply, Rest: "Asked."}
	w.commit(c)
	w.erase(secret, time.Time{}, words)
	if got := w.lasting(ada)[0].Options; len(got) != 2 || got[0] != "Tuesday" || got[1] == words {
		t.Errorf("options %q", got)
	}
}

// A run whose tool asks for a choice waits for it, and is ready with it.
func toolChoice(t *testing.T, w *world) {
	room := w.family()
	said := w.say(room, "zoe", "order a shirt")
	wake := w.woken(ada, room)
	c := w.step(wake, 0)
	c.Upto = said.Seq
	c.Runs = []spaces.ToolRun{{ID: "r1", Cycle: wake.Cycle.ID, Call: "c", Mind: ada, Space: room, Asker: said.Actor, Tool: "order", Args: "{}", State: spaces.ToolReady, Proposed: w.now}}
	w.commit(c)
	run, err := w.s.Shell.StartRun(t.Context(), "r1", holder, ttl, false, w.now)
	w.ok(err)
	run.Input = spaces.ToolInput{Question: "Which?", Options: days, State: "s"}
	held, err := w.s.Shell.EndRun(t.Context(), spaces.ToolRunEnd{
		ID: "r1", Holder: holder, State: spaces.ToolAsked, Input: run.Input, At: w.now,
		ToolApproval: spaces.ToolApproval{Code: "K7QDX", Approvers: []string{spaces.ApproverRequester}, Expires: w.now.Add(time.Hour)},
		Notice:       spaces.RoomNotice{Room: room, Key: run.RequestKey(), Text: "Which?\nWrite it.", Choices: []spaces.ChoiceButton{{Label: "Tuesday", Value: "choose K7QDX 1"}}},
	})
	w.ok(err)
	due := w.due()
	if !held || len(due) != 1 || len(due[0].Choices) != 1 {
		t.Fatalf("held %v, sent %+v", held, due)
	}
	w.settleAll(due)
	w.s = w.s.Restart(t, false)
	for _, choice := range []int{0, 3, 2, 1} { // a plain yes and what is no option change nothing
		got, decided, err := w.s.Shell.DecideRun(t.Context(), spaces.ToolDecision{Code: "K7QDX", By: said.Actor, Allow: true, Choice: choice, Outcome: "Chosen.", At: w.now})
		w.ok(err)
		if decided != (choice == 2) || got == nil {
			t.Errorf("option %d: %v, %+v", choice, decided, got)
		}
	}
	due = w.due()
	w.settleAll(due)
	if len(due) != 1 || due[0].Text != "Which?\nChosen." {
		t.Errorf("sent %+v, want the end of the request", due)
	}
	run, err = w.s.Shell.StartRun(t.Context(), "r1", holder, ttl, false, w.now)
	w.ok(err)
	testutil.Same(t, "input", spaces.ToolInput{Question: "Which?", Options: days, State: "s", Choice: 2}, run.Input)
	if run.State != spaces.ToolRunning || run.Attempt != 2 || run.DecidedBy != said.Actor {
		t.Errorf("begun again: %+v", run)
	}
	_, err = w.s.Shell.EndRun(t.Context(), spaces.ToolRunEnd{ID: run.ID, Holder: holder, State: spaces.ToolDone, Result: "done", At: w.now})
	w.ok(err)
	w.rest(wake, 1)
}
