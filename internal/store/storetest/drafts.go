package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/spaces"
)

var draftTests = map[string]func(*testing.T, *world){
	"DraftIsTakenOverByItsStepsMessage": draftTaken,
	"DraftOfAnUndecidedStepOutlivesIt":  draftResumed,
	"DraftThatNobodySaysIsLeft":         draftLeft,
	"DraftThatIsLostIsTold":             draftLost,
	"DraftElsewhereIsNotTakenOver":      draftElsewhere,
	"TakingOverMayBeRepeated":           draftRepeated,
}

// sketched stores the draft of a wake's first step, which was posted as a message.
func (w *world) sketched(wake *spaces.Wake, change ...func(*spaces.MessageDraft)) spaces.MessageDraft {
	w.t.Helper()
	d := spaces.MessageDraft{
		ID: spaces.DraftOf(wake.Cycle.ID, 0), Cycle: wake.Cycle.ID, Agent: wake.Cycle.Mind.Agent, Space: wake.Cycle.Space,
		Account: account, Chat: chat, Text: "There is",
	}
	for _, f := range change {
		f(&d)
	}
	_, state, err := w.s.Border.Draft(w.t.Context(), d, w.now)
	w.ok(err)
	if state != activity.DraftNew {
		w.t.Fatalf("the draft is %s, want it new", state)
	}
	w.ok(w.s.Border.MarkPosted(w.t.Context(), d.ID, "draft-"+string(d.ID)))
	return d
}

// drawn lists the stored drafts: where they stand, and whether they are left.
func (w *world) drawn() (all []string) {
	w.t.Helper()
	found, err := w.s.Border.Drafts(w.t.Context(), account)
	w.ok(err)
	for _, d := range found {
		line := d.Text + " in " + d.Message
		if d.Left {
			line += ", left"
		}
		all = append(all, line)
	}
	return all
}

// decides commits a step with one message that may take over a draft, and returns its
// action.
func (w *world) decides(wake *spaces.Wake, d spaces.MessageDraft, change ...func(*spaces.RoomEffect)) spaces.Action {
	w.t.Helper()
	c := w.step(wake, d.Step)
	f := w.reply(wake, "There is soup.")
	for _, g := range change {
		g(&f)
	}
	c.Effect, c.Draft = []spaces.RoomEffect{f}, d.ID
	w.commit(c)
	due := w.due()
	if len(due) != 1 {
		w.t.Fatalf("%d actions are due, want one", len(due))
	}
	return due[0]
}

// K22: the action that says the step's message has its draft, and the receipt lets
// go of it.
func draftTaken(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "is there soup?")
	wake := w.woken(ada, room)
	d := w.sketched(wake)
	a := w.decides(wake, d)
	if a.Draft != d.ID {
		t.Errorf("the action has draft %q, want %q", a.Draft, d.ID)
	}
	if diff := cmp.Diff([]string{"There is in draft-" + string(d.ID)}, w.drawn()); diff != "" {
		t.Errorf("drafts before the receipt (-want +got):\n%s", diff)
	}
	if _, state, err := w.s.Border.Draft(t.Context(), spaces.MessageDraft{ID: "other", Cycle: d.Cycle, Account: account}, w.now); err != nil || state != activity.DraftRefused {
		t.Errorf("a draft of a decided step is %s (%v)", state, err)
	}
	w.settle(w.sent(a))
	if got := w.drawn(); got != nil {
		t.Errorf("drafts after the receipt: %q", got)
	}
	w.rest(wake, 1)
}

// K22: the step is thought again after a crash; what an earlier process has shown of
// it is known.
func draftResumed(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "is there soup?")
	wake := w.woken(ada, room)
	d := w.sketched(wake)
	w.now = w.now.Add(2 * ttl)
	wake = w.woken(ada, room)
	if diff := cmp.Diff([]string{"There is in draft-" + string(d.ID)}, w.drawn()); diff != "" || !wake.Resumed {
		t.Errorf("drafts of an open step (-want +got):\n%s", diff)
	}
	again := d
	again.Text = "Soup is"
	was, state, err := w.s.Border.Draft(t.Context(), again, w.now)
	if err != nil || state != activity.DraftKnown || was.Text != d.Text || was.Message == "" {
		t.Errorf("the draft is %s, %+v (%v); want what was stored", state, was, err)
	}
	a := w.decides(wake, d)
	w.settle(w.sent(a))
	w.rest(wake, 1)
}

// K22: a draft is left when its step is decided without it, when its run was
// stopped, and when the message that took it over was taken back.
func draftLeft(t *testing.T, w *world) {
	room := w.family()
	for name, end := range map[string]func(*spaces.Wake, spaces.MessageDraft){
		"silence": func(wake *spaces.Wake, _ spaces.MessageDraft) { w.commit(w.step(wake, 0)); w.rest(wake, 1) },
		"a stop": func(wake *spaces.Wake, _ spaces.MessageDraft) {
			w.halt(spaces.StopRequest{Run: wake.Cycle.ID})
			if got := w.drawn(); len(got) != 1 || got[0] != "There is in draft-"+string(wake.Cycle.ID)+"/0, left" {
				t.Errorf("drafts of a stopped run: %q", got)
			}
			w.stopped(wake, 0)
		},
		"an end": func(wake *spaces.Wake, _ spaces.MessageDraft) { w.rest(wake, 0) },
		"a failure": func(wake *spaces.Wake, d spaces.MessageDraft) {
			a := w.decides(wake, d)
			w.settle(activity.SendResult{Action: a.ID, State: spaces.ActionFailed, Code: "forbidden", Reason: "no"})
			w.rest(wake, 1)
		},
	} {
		w.say(room, "zoe", name)
		wake := w.woken(ada, room)
		d := w.sketched(wake)
		end(wake, d)
		if diff := cmp.Diff([]string{"There is in draft-" + string(d.ID) + ", left"}, w.drawn()); diff != "" {
			t.Errorf("after %s (-want +got):\n%s", name, diff)
		}
		w.ok(w.s.Border.Forget(t.Context(), d.ID))
		w.ok(w.s.Border.Forget(t.Context(), d.ID))
		if got := w.drawn(); got != nil {
			t.Errorf("rubbed and kept: %q", got)
		}
	}
}

// K22: of a draft that cannot be looked for the run shows where it may be, whether its
// message was decided before or after that, or never; it is no draft any more. One that
// was found is not lost.
func draftLost(t *testing.T, w *world) {
	room := w.family()
	for name, c := range map[string]struct {
		decided, before, stands bool
	}{"decided": {decided: true}, "lost before it was decided": {decided: true, before: true}, "never decided": {}, "it stands": {stands: true}} {
		w.say(room, "zoe", name)
		wake := w.woken(ada, room)
		d := w.sketched(wake)
		if !c.stands {
			w.ok(w.s.Border.MarkPosted(t.Context(), d.ID, ""))
		}
		if c.before {
			w.ok(w.s.Border.MarkLost(t.Context(), d.ID))
		}
		var a spaces.Action
		if c.decided {
			if a = w.decides(wake, d); c.before == (a.Draft != "") {
				t.Errorf("%s: the action takes over %q", name, a.Draft)
			}
		}
		w.ok(w.s.Border.MarkLost(t.Context(), d.ID))
		if c.decided {
			w.settle(w.sent(a))
			w.rest(wake, 1)
		} else {
			w.rest(wake, 0)
		}
		want := []spaces.MessageRef{{Account: account, Chat: chat}}
		if c.stands {
			want = nil
			w.ok(w.s.Border.Forget(t.Context(), d.ID))
		}
		run, err := w.s.Run(t.Context(), string(wake.Cycle.ID))
		w.ok(err)
		if diff := cmp.Diff(want, run.Lost); diff != "" || len(w.drawn()) > 0 {
			t.Errorf("%s: lost (-want +got):\n%s, drafts %q", name, diff, w.drawn())
		}
	}
}

// K22: a message replaces only a draft in the chat and thread of its own, and not when
// it notifies a person or is also shown beside its thread: an edit does neither.
func draftElsewhere(t *testing.T, w *world) {
	room := w.family()
	for name, c := range map[string]struct {
		draft  func(*spaces.MessageDraft)
		effect func(*spaces.RoomEffect)
	}{
		"another thread":  {func(d *spaces.MessageDraft) { d.Thread = "t" }, func(*spaces.RoomEffect) {}},
		"another chat":    {func(d *spaces.MessageDraft) { d.Chat = "other" }, func(*spaces.RoomEffect) {}},
		"another account": {func(d *spaces.MessageDraft) { d.Account = "telegram:9" }, func(*spaces.RoomEffect) {}},
		"another target":  {func(d *spaces.MessageDraft) { d.Target = "e" }, func(*spaces.RoomEffect) {}},
		"a call":          {func(*spaces.MessageDraft) {}, func(f *spaces.RoomEffect) { f.Mention = []spaces.EntityID{"zoe"} }},
		"a broadcast":     {func(*spaces.MessageDraft) {}, func(f *spaces.RoomEffect) { f.Broadcast = true }},
	} {
		w.say(room, "zoe", name)
		wake := w.woken(ada, room)
		d := w.sketched(wake, c.draft)
		a := w.decides(wake, d, c.effect)
		if a.Draft != "" {
			t.Errorf("%s: the action takes over %q", name, a.Draft)
		}
		w.settle(w.sent(a))
		w.rest(wake, 1)
		w.ok(w.s.Border.Forget(t.Context(), d.ID))
	}
}

// K18: an edit of a posted draft is repeated after a crash, whatever the policy; where
// it is not known whether the draft was posted, the policy holds.
func draftRepeated(t *testing.T, w *world) {
	room := w.family()
	for _, stands := range []bool{true, false} {
		w.say(room, "zoe", "is there soup?")
		wake := w.woken(ada, room)
		d := w.sketched(wake)
		if !stands {
			w.ok(w.s.Border.MarkPosted(t.Context(), d.ID, ""))
		}
		w.decides(wake, d, func(f *spaces.RoomEffect) { f.Policy = spaces.Hold })
		w.rest(wake, 1)
		w.ok(w.s.Border.Recover(t.Context(), account, w.now, nil, time.Time{}))
		again := w.due()
		if stands != (len(again) == 1) {
			t.Errorf("the draft stands: %t; recovered %q", stands, texts(again))
		}
		w.settleAll(again)
		w.ok(w.s.Border.Forget(t.Context(), d.ID))
	}
}
