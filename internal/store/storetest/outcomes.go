package storetest

import (
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// SEQ-99, F46
func failure(t *testing.T, w *world) {
	room := w.family()
	events := w.speak(room, spaces.RoomEffect{Text: "bad"}, spaces.RoomEffect{Text: "good"})
	a := w.due()[0]
	w.settle(activity.SendResult{Action: a.ID, State: spaces.ActionFailed, Code: "invalid", Reason: "Too long."})
	want := spaces.SendFailed{Message: events[0].ID, Action: a.ID, State: spaces.ActionFailed, Code: "invalid", Reason: "Too long."}
	testutil.Same(t, "last event", spaces.EventBody(want), w.last(room).Body)
	failed, err := w.s.Shell.Failures(t.Context(), ada, morning)
	w.ok(err)
	testutil.Same(t, "failures", []spaces.SendFailed{want}, failed)
	if later, err := w.s.Shell.Failures(t.Context(), ada, w.now.Add(time.Second)); err != nil || len(later) != 0 {
		t.Errorf("failures since later %+v, %v", later, err)
	}
	next := w.due()
	testutil.Same(t, "due", []string{"good"}, texts(next))
	w.settleAll(next)
}

// I9
func expiry(t *testing.T, w *world) {
	room := w.family()
	w.speak(room, spaces.RoomEffect{Text: "old news"})
	w.now = w.now.Add(time.Hour)
	if got := w.due(); len(got) != 0 {
		t.Errorf("due %v after the expiry", texts(got))
	}
	if f, ok := w.last(room).Body.(spaces.SendFailed); !ok || f.State != spaces.ActionExpired || f.Reason == "" || f.Problem != "TRS-O01" {
		t.Errorf("last event %+v, want expired", w.last(room).Body)
	}
	if _, waits, err := w.s.Border.Next(t.Context(), account); err != nil || waits {
		t.Errorf("an expired action waits (%v)", err)
	}
}

// I6, I9: what was sent again, expires and may have arrived by the first attempt ends as
// unknown, and is told so.
func expiryUnknown(t *testing.T, w *world) {
	room := w.family()
	w.speak(room, spaces.RoomEffect{Text: "perhaps there"})
	w.settle(activity.SendResult{Action: w.due()[0].ID, State: spaces.ActionReady, Resent: true, NotBefore: w.now.Add(2 * time.Hour), Code: "unknown"})
	w.now = w.now.Add(3 * time.Hour)
	if got := w.due(); len(got) != 0 {
		t.Errorf("due %v after the expiry", texts(got))
	}
	if f, ok := w.last(room).Body.(spaces.SendFailed); !ok || f.State != spaces.ActionUnknown || f.Reason != spaces.ReasonLateUnknown || f.Problem != "TRS-O02" {
		t.Errorf("last event %+v, want unknown", w.last(room).Body)
	}
}

// I6: what expires behind one that waits longer is ended at its time.
func expiryBehind(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "speak")
	wake := w.woken(ada, room)
	c := w.step(wake, 0)
	c.Effect = []spaces.RoomEffect{w.reply(wake, "lasts"), w.reply(wake, "passes")}
	c.Effect[0].Expires = time.Time{}
	w.commit(c)
	w.rest(wake, 1)
	w.settle(activity.SendResult{Action: w.due()[0].ID, State: spaces.ActionReady, NotBefore: w.now.Add(2 * time.Hour), Code: "limited"})
	next, waits, err := w.s.Border.Next(t.Context(), account)
	if w.ok(err); !waits || !next.Equal(c.Effect[1].Expires) {
		t.Errorf("next at %v (%t), want the expiry at %v", next, waits, c.Effect[1].Expires)
	}
	w.now = c.Effect[1].Expires
	if got := w.due(); len(got) != 0 {
		t.Errorf("due %v", texts(got))
	}
	if f, ok := w.last(room).Body.(spaces.SendFailed); !ok || f.State != spaces.ActionExpired {
		t.Errorf("last event %+v, want expired", w.last(room).Body)
	}
}

// K16 … K18, M9
func recovery(t *testing.T, w *world) {
	room := w.family()
	w.speak(room, spaces.RoomEffect{Text: "again"}, spaces.RoomEffect{Text: "held", Thread: "t", Policy: spaces.Hold})
	if got := w.due(); len(got) != 2 {
		t.Fatalf("due %v", texts(got))
	}
	w.s = w.s.Restart(t, false)
	look := w.now.Add(time.Minute) // a platform that can be asked: both may go on, once it has been
	w.ok(w.s.Border.Recover(t.Context(), account, w.now, nil, look))
	if got := w.due(); len(got) != 0 {
		t.Errorf("due %v before the platform could be asked", texts(got))
	}
	w.now = look
	if got := w.due(); len(got) != 2 || !got[0].Resent || !got[1].Resent {
		t.Fatalf("due %+v, want both, to be looked for", got)
	}
	w.s = w.s.Restart(t, false)
	w.ok(w.s.Border.Recover(t.Context(), account, w.now, nil, time.Time{}))
	got := w.due()
	if len(got) != 1 || got[0].Text != "again" || !got[0].Resent {
		t.Fatalf("recovered %+v, want the one whose policy allows it", got)
	}
	if f, ok := w.last(room).Body.(spaces.SendFailed); !ok || f.State != spaces.ActionUnknown || f.Reason == "" {
		t.Errorf("last event %+v, want unknown", w.last(room).Body)
	}
	copies := 2
	for range 4 {
		w.ok(w.s.Border.Recover(t.Context(), account, w.now, nil, time.Time{}))
		copies += len(w.due())
	}
	if copies != 5 {
		t.Errorf("crashes cost %d copies, want 5", copies)
	}
}

func unknownTold(t *testing.T, w *world) {
	room := w.family()
	w.speak(room, spaces.RoomEffect{Text: "did it arrive?"}, spaces.RoomEffect{Text: "next"})
	a := w.due()[0]
	w.settle(activity.SendResult{Action: a.ID, State: spaces.ActionUnknown, Code: "unknown", Reason: "Nobody knows."})
	w.settleAll(w.due())
	w.settle(w.sent(a))
	if d, ok := w.last(room).Body.(spaces.ActionDelivered); !ok || d.Action != a.ID {
		t.Errorf("last event %+v, want it delivered after all", w.last(room).Body)
	}
}

// An operator has a message sent again that failed, from the part it had reached, or drops one that waits.
func resentByOperator(t *testing.T, w *world) {
	room := w.family()
	w.speak(room, spaces.RoomEffect{Text: "long"}, spaces.RoomEffect{Text: "perhaps there", Thread: "t"})
	all := w.due()
	long, perhaps := all[0], all[1]
	resend := func(id spaces.ActionID, want string) {
		t.Helper()
		got, err := w.s.Border.ResendAction(t.Context(), id, w.now, w.now.Add(time.Hour))
		w.ok(err)
		testutil.Same(t, "account", want, got)
	}
	resend(long.ID, "") // it is being sent
	w.settle(activity.SendResult{Action: long.ID, State: spaces.ActionSending, Part: 1, Ref: ref("p0")}, activity.SendResult{Action: long.ID, State: spaces.ActionFailed, Code: "forbidden", Reason: "We may not."},
		activity.SendResult{Action: perhaps.ID, State: spaces.ActionUnknown, Code: "unknown", Reason: "Nobody knows."})
	w.now = w.now.Add(2 * time.Hour) // both would have expired
	resend(long.ID, account)
	resend(long.ID, "") // once
	resend(perhaps.ID, account)
	again := w.due()
	if len(again) != 2 || again[0].Part != 1 || again[0].Attempts != 1 || again[0].Resent || again[0].Code != "" || !again[1].Resent || !again[1].Expires.Equal(w.now.Add(time.Hour)) {
		t.Fatalf("due %+v, want the second part of one, and one that may be there", again)
	}
	w.settle(activity.SendResult{Action: long.ID, State: spaces.ActionSent, Part: 2, Ref: ref("p1")})
	if d, ok := w.last(room).Body.(spaces.ActionDelivered); !ok || len(d.Refs) != 2 {
		t.Errorf("last event %+v, want it delivered after all", w.last(room).Body)
	}
	run, err := w.s.Run(t.Context(), string(long.Cycle))
	w.ok(err)
	testutil.Same(t, "settled", []time.Time{w.now, {}}, run.Settled)
	resend(long.ID, "")
	resend("nothing", "")
	drop := func(want bool) {
		t.Helper()
		got, err := w.s.Border.DropAction(t.Context(), perhaps.ID, w.now)
		w.ok(err)
		testutil.Same(t, "dropped", want, got)
	}
	drop(false) // it is being sent
	w.settle(activity.SendResult{Action: perhaps.ID, State: spaces.ActionReady, NotBefore: w.now.Add(time.Minute), Code: "limited"})
	drop(true)
	drop(false)
	if f, ok := w.last(room).Body.(spaces.SendFailed); !ok || f.State != spaces.ActionCancelled {
		t.Errorf("last event %+v, want cancelled", w.last(room).Body)
	}
	resend(perhaps.ID, "")
	w.now = w.now.Add(time.Hour)
	if got := w.due(); len(got) != 0 {
		t.Errorf("due %v", texts(got))
	}
}

// K20, SEQ-98
func echo(t *testing.T, w *world) {
	room := w.family()
	w.speak(room, spaces.RoomEffect{Text: "mine"})
	a := w.due()[0]
	s := w.sent(a)
	w.settle(s)
	copied := w.message(room, "ada", "mine")
	copied.Ref = s.Ref
	if got := w.record(copied); got.New != 0 || got.Duplicates != 1 {
		t.Errorf("recorded %+v, want the echo to change nothing", got)
	}
}

func settleTwice(t *testing.T, w *world) {
	room := w.family()
	w.speak(room, spaces.RoomEffect{Text: "x"})
	s := w.sent(w.due()[0])
	w.settle(s)
	before := len(w.log(room))
	w.settle(s)
	w.settle(activity.SendResult{Action: s.Action, State: spaces.ActionFailed, Code: "late"})
	if got := len(w.log(room)); got != before {
		t.Errorf("settling again wrote %d events", got-before)
	}
}

// A notice about a message that the platform refuses becomes a reaction to the message. It
// is taken back with the notice, unless the agent's own reaction has replaced it, and there
// is none for a notice that was taken back before.
func refusedNotice(t *testing.T, w *world) {
	room := w.family()
	refuse := func(a spaces.Action) {
		w.settle(activity.SendResult{Action: a.ID, State: spaces.ActionFailed, Code: "forbidden", Reason: "No rights."})
	}
	for _, c := range []struct {
		name      string
		withdrawn bool // before it is refused
		reacts    bool
		want      []string
	}{
		{"refused", false, false, []string{"react 👀", "react "}},
		{"refused, and the agent reacts itself", false, true, []string{"react 👀", "react 👍"}},
		{"refused when it is not needed any more", true, false, []string{"delete waiting"}},
	} {
		asked := w.say(room, "zoe", "hello")
		wake := w.woken(ada, room)
		key := "waiting|" + c.name
		w.ok(w.s.Shell.Announce(t.Context(), spaces.RoomNotice{Room: room, Key: key, Text: "waiting", About: asked.ID, At: w.now}))
		notice := w.due()[0]
		var got []string
		settle := func() {
			for _, a := range w.due() {
				if a.Kind == spaces.ActReact && a.Target != asked.ID {
					t.Errorf("%s: it reacts to %s", c.name, a.Target)
				}
				got = append(got, string(a.Kind)+" "+a.Text)
				w.settle(w.sent(a))
			}
		}
		if !c.withdrawn {
			refuse(notice)
			settle()
		}
		n := 0
		if c.reacts {
			s := w.step(wake, n)
			s.Effect = []spaces.RoomEffect{{Kind: spaces.ActReact, Space: room, Target: asked.ID, Text: "👍", Chain: spaces.NextChain(wake.Consumed, "", "")}}
			w.commit(s)
			settle()
			n++
		}
		s := w.step(wake, n)
		s.Upto = wake.Rows[0].Seq
		s.Close = &spaces.CycleClose{Stop: spaces.StopCompleted, Rest: "Responded.", Withdraw: []spaces.RoomNotice{{Room: room, Key: key}}}
		w.commit(s)
		if c.withdrawn {
			refuse(notice)
		}
		settle()
		testutil.Same(t, c.name, c.want, got)
	}
}
