package storetest

import (
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

var haltTests = map[string]func(*testing.T, *world){
	"HaltedRunIsOnlyClosed":               haltedRun,
	"HaltTakesBackWhatIsNotSent":          haltUnsent,
	"WhatComesBackFromTheWireIsCancelled": haltOnTheWire,
	"HaltOfNothingMeetsNothing":           haltNothing,
	"RunIsStoppedWhereItBegan":            haltOfSpace,
	"RunsOfAThreadAreStopped":             haltHere,
	"ALateStopSparesWhatBeganAfterIt":     haltLate,
	"StopOfAQuestionIsTold":               haltOfQuestion,
	"StopOfAMessageThatWaits":             haltOfWaiting,
	"StopOfAMessageUnderWay":              haltOfMessage,
	"StopReachesTheRunThatGoesOn":         haltOfFollower,
	"StoppedWorkSaysSoOnItsChecklist":     haltOfList,
}

func (w *world) halt(h spaces.StopRequest) spaces.StopResult {
	w.t.Helper()
	h.At = w.now
	done, err := w.s.Shell.Halt(w.t.Context(), h)
	w.ok(err)
	return done
}

// stopped closes a wake as its person wanted it.
func (w *world) stopped(wake *spaces.Wake, n int) {
	w.t.Helper()
	c := w.step(wake, n)
	c.Close = &spaces.CycleClose{Stop: spaces.StopCancelled, Rest: "Stopped."}
	w.commit(c)
}

// PRD-5.2-A5, I5: from the halt on every step is refused whole; only the closing
// as cancelled is taken, and it consumes the rows.
func haltedRun(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "write me a book")
	wake := w.woken(ada, room)
	want := []spaces.StoppedRun{{Run: wake.Cycle.ID, Mind: ada, Space: room}}
	testutil.Same(t, "halted", want, w.halt(spaces.StopRequest{Run: wake.Cycle.ID}).Runs)
	c := w.step(wake, 0)
	c.Effect = []spaces.RoomEffect{w.reply(wake, "chapter one")}
	before := len(w.log(room))
	_, err := w.s.Shell.Commit(t.Context(), c)
	w.is(err, spaces.ErrHalted)
	c.Close = &spaces.CycleClose{Stop: spaces.StopCompleted, Rest: "Wrote a book."}
	_, err = w.s.Shell.Commit(t.Context(), c)
	w.is(err, spaces.ErrHalted)
	if n := len(w.log(room)); n != before {
		t.Errorf("a refused step wrote %d events", n-before)
	}
	w.stopped(wake, 0)
	if more := w.claim(ada, room); more != nil {
		t.Errorf("the stopped message woke again: %+v", more.Rows)
	}
}

// DELIVERY 2.2-7: what is in the outbox of the room is cancelled visibly, and
// the room is told once.
func haltUnsent(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "hello")
	wake := w.woken(ada, room)
	c := w.step(wake, 0)
	c.Effect = []spaces.RoomEffect{w.reply(wake, "hello")}
	w.commit(c)
	h := spaces.StopRequest{Space: room, Unsent: true, Say: "Stopped."}
	if done := w.halt(h); done.Unsent != 1 || len(done.Runs) != 1 {
		t.Errorf("halted %+v, want one run and one message", done)
	}
	w.halt(h)
	if f, ok := w.last(room).Body.(spaces.SendFailed); !ok || f.State != spaces.ActionCancelled {
		t.Errorf("the room was told %+v", w.last(room).Body)
	}
	due, err := w.s.Border.Claim(t.Context(), account, w.now, 10)
	w.ok(err)
	if len(due) != 1 || due[0].Text != "Stopped." {
		t.Errorf("to be sent: %+v, want the notice alone", due)
	}
	w.stopped(wake, 1)
}

// A checklist says that it is paused once a person stopped its work: the newest one of the
// agent in the thread of the run, whose steps are not all done and that was not taken back.
func haltOfList(t *testing.T, w *world) {
	const open, paused = "A cake (0 of 1)\n☐ Stir", "A cake (0 of 1, paused)\n☐ Stir"
	for name, c := range map[string]struct {
		texts []string // of the messages of the run
		edit  string   // of the newest one; empty: none
		gone  bool     // the newest one is deleted
		late  bool     // nothing was sent
		want  string   // the newest edit; empty: none
	}{
		"open":          {texts: []string{open}, want: paused},
		"edited":        {texts: []string{"Cake?"}, edit: open, want: paused},
		"other words":   {texts: []string{open, "I stir."}, want: paused},
		"paused":        {texts: []string{paused}},
		"no list":       {texts: []string{"I stir."}},
		"done":          {texts: []string{open, "A cake (1 of 1)\n☑ Stir"}},
		"done by edit":  {texts: []string{open}, edit: "A cake (1 of 1)\n☑ Stir"},
		"deleted":       {texts: []string{open}, gone: true},
		"sent by none":  {texts: []string{open}, late: true},
		"the older one": {texts: []string{open, "A cup (0 of 1)\n☐ Fill"}, want: "A cup (0 of 1, paused)\n☐ Fill"},
	} {
		for by, whole := range map[string]bool{"its button": false, "a word": true} {
			room := w.open(opening(name+" "+by, "ada"))
			w.say(room, "zoe", "hello")
			wake := w.woken(ada, room)
			k := w.step(wake, 0)
			for _, text := range c.texts {
				k.Effect = append(k.Effect, w.reply(wake, text))
			}
			newest := k.Effect[len(k.Effect)-1]
			change := func(kind spaces.ActionKind, text string) {
				f := w.reply(wake, text)
				f.Kind, f.Target = kind, newest.ID
				k.Effect = append(k.Effect, f)
			}
			if c.edit != "" {
				change(spaces.ActEdit, c.edit)
			}
			if c.gone {
				change(spaces.ActDelete, "")
			}
			w.commit(k)
			h := spaces.StopRequest{Run: wake.Cycle.ID, Unsent: c.late}
			if whole {
				h = spaces.StopRequest{Space: room, Unsent: c.late}
			}
			before := len(w.log(room))
			w.halt(h)
			w.halt(h)
			got := ""
			for _, e := range w.log(room)[before:] {
				if b, ok := e.Body.(spaces.MessageEdited); ok {
					testutil.Same(t, name+": paused once by "+by, "", got)
					testutil.Same(t, name+": the agent's", ada.Agent.Entity(), e.Actor)
					got = b.Text
				}
			}
			testutil.Same(t, name+" by "+by, c.want, got)
			w.stopped(wake, 1)
		}
	}
}

// A send under way cannot be called back; one that the platform did not take is
// not tried again.
func haltOnTheWire(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "hello")
	wake := w.woken(ada, room)
	c := w.step(wake, 0)
	c.Effect = []spaces.RoomEffect{w.reply(wake, "hello")}
	w.commit(c)
	due, err := w.s.Border.Claim(t.Context(), account, w.now, 10)
	w.ok(err)
	if done := w.halt(spaces.StopRequest{Space: room, Unsent: true}); done.Unsent != 0 {
		t.Errorf("%d actions were cancelled on the wire", done.Unsent)
	}
	back := activity.SendResult{Action: due[0].ID, State: spaces.ActionReady, NotBefore: w.now, Code: "not_sent"}
	w.ok(w.s.Border.Settle(t.Context(), w.now, []activity.SendResult{back}))
	if f, ok := w.last(room).Body.(spaces.SendFailed); !ok || f.State != spaces.ActionCancelled {
		t.Errorf("the room was told %+v", w.last(room).Body)
	}
	w.stopped(wake, 1)
}

func haltNothing(t *testing.T, w *world) {
	room := w.family()
	for _, h := range []spaces.StopRequest{{}, {Run: "nobody"}, {Space: room, Unsent: true, Say: "Stopped."}, {Space: "nowhere"}} {
		testutil.Same(t, "halted", spaces.StopResult{}, w.halt(h))
	}
}

// SECURITY S3: a press in one room ends no run of another.
func haltOfSpace(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "hello")
	wake := w.woken(ada, room)
	c := w.step(wake, 0)
	c.Effect = []spaces.RoomEffect{w.reply(wake, "hello")}
	w.commit(c)
	h := spaces.StopRequest{Run: wake.Cycle.ID, Space: "elsewhere", Unsent: true}
	testutil.Same(t, "halted from elsewhere", spaces.StopResult{}, w.halt(h))
	if w.wasStopped(wake.Cycle.ID) || w.wasStopped("nobody") {
		t.Error("a run counts as stopped that was not")
	}
	h.Space = room
	if done := w.halt(h); len(done.Runs) != 1 || done.Unsent != 1 || !w.wasStopped(wake.Cycle.ID) {
		t.Errorf("halted %+v, want the run and its message", done)
	}
	w.stopped(wake, 1)
}

// A run that ended to wait for a tool goes on as the run that its result wakes: a press on
// the line of the first ends that one, as do the platform's Stop and a command, and no later
// one.
func haltOfFollower(t *testing.T, w *world) {
	room := w.family()
	for name, press := range map[string]func(first spaces.CycleID) spaces.StopRequest{
		"its line":            func(first spaces.CycleID) spaces.StopRequest { return spaces.StopRequest{Run: first} },
		"the platform's Stop": func(spaces.CycleID) spaces.StopRequest { return spaces.StopRequest{Here: &spaces.StopPlace{}} },
		"a command":           func(spaces.CycleID) spaces.StopRequest { return spaces.StopRequest{} },
	} {
		run := "run " + name
		first := w.callsFor(room, spaces.ToolRun{ID: run, Tool: "order", Risk: spaces.RiskWriteOutside, State: spaces.ToolReady})
		w.begin(run, holder)
		w.rest(first, 1)
		w.end(spaces.ToolRunEnd{ID: run, Holder: holder, State: spaces.ToolDone, Result: "ordered"})
		fired := w.fire()
		if len(fired) != 1 {
			t.Fatalf("%s: fired %+v, want the run that goes on", name, fired)
		}
		w.texts()
		h := press(first.Cycle.ID)
		h.Space, h.Unsent, h.Say = room, true, "Stopped by Zoe."
		want := []spaces.StoppedRun{{Run: fired[0].Cycle.ID, Mind: ada}}
		testutil.Same(t, name+" ends", want, w.halt(h).Runs)
		if !w.wasStopped(fired[0].Cycle.ID) {
			t.Errorf("%s: the run that goes on is not stopped", name)
		}
		testutil.Same(t, name+" tells", []string{"Stopped by Zoe."}, w.texts())
		w.stopped(&fired[0], 0)
		if h.Run != "" {
			w.say(room, "zoe", "and now?")
			next := w.woken(ada, room)
			testutil.Same(t, name+" ends later", 0, len(w.halt(h).Runs))
			w.rest(next, 0)
		}
	}
}

func (w *world) wasStopped(run spaces.CycleID) bool {
	w.t.Helper()
	stopped, err := w.s.Border.Stopped(w.t.Context(), run)
	w.ok(err)
	return stopped
}

// A press of a platform's Stop that is delivered again ends no run that began after it.
func haltLate(t *testing.T, w *world) {
	room := w.family()
	said := w.message(room, "zoe", "hello")
	said.Event.Thread = "7"
	w.record(said)
	w.woken(ada, room)
	here := spaces.StopPlace{Thread: "7", Pressed: said.Event.At.Add(-time.Second)}
	done := w.halt(spaces.StopRequest{Space: room, Here: &here})
	testutil.Same(t, "ended, gone on", []int{0, 1}, []int{len(done.Runs), done.Later})
	here.Pressed = said.Event.At
	done = w.halt(spaces.StopRequest{Space: room, Here: &here})
	testutil.Same(t, "ended, gone on", []int{1, 0}, []int{len(done.Runs), done.Later})
}

// PLATFORMS: Slack's Stop names a thread, or the message on which it hangs; Telegram's
// names a topic, or none.
func haltHere(t *testing.T, w *world) {
	room := w.family()
	for _, c := range []struct {
		thread spaces.ThreadID // of the message
		place  func(spaces.MessageRef) spaces.StopPlace
		met    int
	}{
		{"", func(spaces.MessageRef) spaces.StopPlace { return spaces.StopPlace{} }, 1},
		{"", func(spaces.MessageRef) spaces.StopPlace { return spaces.StopPlace{Thread: "7"} }, 0},
		{"", func(m spaces.MessageRef) spaces.StopPlace { return spaces.StopPlace{Thread: "7", Message: m} }, 1},
		{"7", func(spaces.MessageRef) spaces.StopPlace { return spaces.StopPlace{Thread: "7"} }, 1},
		{"7", func(spaces.MessageRef) spaces.StopPlace { return spaces.StopPlace{} }, 0},
	} {
		said := w.message(room, "zoe", "hello")
		said.Event.Thread = c.thread
		w.record(said)
		wake := w.woken(ada, room)
		place := c.place(said.Ref)
		if done := w.halt(spaces.StopRequest{Space: room, Here: &place, Unsent: true}); len(done.Runs) != c.met {
			t.Errorf("a stop at %+v of a run that began in thread %q ends %d runs, want %d", place, c.thread, len(done.Runs), c.met)
		}
		if c.met == 0 {
			w.rest(wake, 0)
			continue
		}
		w.stopped(wake, 0)
	}
}

// A run that waits for a person has ended; that somebody gave the question up is told once.
func haltOfQuestion(t *testing.T, w *world) {
	room := w.family()
	w.pick(room)
	due, err := w.s.Border.Claim(t.Context(), account, w.now, 10)
	w.ok(err)
	for _, a := range due {
		w.ok(w.s.Border.Settle(t.Context(), w.now, []activity.SendResult{{Action: a.ID, State: spaces.ActionSent, Ref: ref("asked")}}))
	}
	for range 2 {
		w.halt(spaces.StopRequest{Space: room, Here: &spaces.StopPlace{}, Unsent: true, Say: "Stopped by Kai."})
	}
	if left := w.lasting(ada); len(left) != 0 {
		t.Errorf("still waits for %+v", left)
	}
	told := 0
	for range 5 {
		due, err := w.s.Border.Claim(t.Context(), account, w.now, 10)
		w.ok(err)
		for _, a := range due {
			if a.Text == "Stopped by Kai." {
				told++
			}
			w.ok(w.s.Border.Settle(t.Context(), w.now, []activity.SendResult{{Action: a.ID, State: spaces.ActionSent}}))
		}
	}
	if told != 1 {
		t.Errorf("the stop was told %d times, want once", told)
	}
}

// A message whose agent waits for its model wakes that agent no more, and what people were
// told of the wait is taken back; the other agent answers.
func haltOfWaiting(t *testing.T, w *world) {
	bob := spaces.Mind{Agent: "bob", Circle: "home"}
	room := w.family("ada", "bob")
	said := w.say(room, "zoe", "hello")
	wake := w.woken(ada, room)
	c := w.step(wake, 0)
	notice := spaces.RoomNotice{Room: room, Key: spaces.WaitingKey("ada", room, said.ID), Text: "My model is down.", Stop: spaces.StopMessageButton(said.ID, "ada"), At: w.now}
	c.Close = &spaces.CycleClose{Stop: spaces.StopModelError, Back: true, RetryAt: w.now.Add(time.Minute), Notices: []spaces.RoomNotice{notice}}
	w.commit(c)
	posted := w.due()
	if len(posted) != 1 || len(posted[0].Choices) != 1 {
		t.Fatalf("posted %+v, want the notice with a button", posted)
	}
	w.settle(w.sent(posted[0]))
	h, ok := spaces.ParseStop(posted[0].Choices[0].Value)
	if !ok {
		t.Fatalf("%q is no stop", posted[0].Choices[0].Value)
	}
	h.Space, h.Unsent, h.Say = "elsewhere", true, "Stopped by Kai."
	testutil.Same(t, "halted from elsewhere", spaces.StopResult{}, w.halt(h))
	h.Space = room
	testutil.Same(t, "first press", spaces.StopResult{Waiting: 1}, w.halt(h))
	testutil.Same(t, "second press", spaces.StopResult{}, w.halt(h))
	var got []string
	for due := w.due(); len(due) > 0; due = w.due() {
		for _, a := range due {
			got = append(got, string(a.Kind)+" "+a.Text)
			w.settle(w.sent(a))
		}
	}
	testutil.Same(t, "sent", []string{"delete My model is down.", "send Stopped by Kai."}, got)
	w.now = w.now.Add(time.Hour)
	if more := w.claim(ada, room); more != nil {
		t.Errorf("the stopped message woke again: %+v", more.Rows)
	}
	if w.claim(bob, room) == nil {
		t.Error("the other agent was stopped too")
	}
}

// A stop of a message ends the run that was woken by it.
func haltOfMessage(t *testing.T, w *world) {
	bob := spaces.Mind{Agent: "bob", Circle: "home"}
	room := w.family("ada", "bob")
	said := w.say(room, "zoe", "hello")
	wake := w.woken(ada, room)
	other := w.woken(bob, room)
	done := w.halt(spaces.StopRequest{Event: said.ID, Agent: "ada", Space: room, Unsent: true, Say: "Stopped by Kai."})
	if len(done.Runs) != 1 || done.Runs[0].Run != wake.Cycle.ID || done.Waiting != 0 {
		t.Errorf("halted %+v, want the run of ada", done)
	}
	w.stopped(wake, 0)
	w.rest(other, 0)
}
