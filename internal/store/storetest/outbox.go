package storetest

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/activity/access"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

var outboxTests = map[string]func(*testing.T, *world){
	"MessageNamesPeopleOfItsPlatform":     namedPeople,
	"MessageNamesWhoIsKnownOtherwise":     namedKin,
	"LaneKeepsItsOrder":                   laneOrder,
	"ThreadsDoNotWaitForEachOther":        lanesApart,
	"AClockThatWasPutBackDelaysNothing":   clockPutBack,
	"AClockThatIsPutBackKeepsNothing":     clockIsPutBack,
	"WhatLeavesAtOnceIsStoredAsSent":      leavesAtOnce,
	"PartsAreCountedOneByOne":             parts,
	"RetryComesDueAtItsTime":              retry,
	"WaitingForATurnIsNoAttempt":          noAttempt,
	"FailureIsAnEventAndLetsTheNextPass":  failure,
	"ARefusedNoticeBecomesAReaction":      refusedNotice,
	"ExpiredActionIsNeverSent":            expiry,
	"ExpiryIsNotHeldUpInItsLane":          expiryBehind,
	"WhatMayHaveArrivedExpiresAsUnknown":  expiryUnknown,
	"CrashInTheSendWindowFollowsPolicy":   recovery,
	"UnknownOutcomeMayStillBeTold":        unknownTold,
	"AnOperatorSendsAgainOrDrops":         resentByOperator,
	"EchoOfOurOwnMessageIsNoEvent":        echo,
	"OneActionForEachChatOfTheRoom":       everyChat,
	"NoticeIsSentOnceAndBelongsToNoRoom":  notice,
	"NoticesWithButtonsAreClosedOnce":     noticeOfChoices,
	"SettlingTwiceChangesNothing":         settleTwice,
	"PairingsAreAmendedOneAfterTheOther":  pairings,
	"AccountsAreLinkedByACodeThatIsShown": links,
}

// due claims what is due.
func (w *world) due() []spaces.Action {
	w.t.Helper()
	out, err := w.s.Border.Claim(w.t.Context(), account, w.now, 100)
	w.ok(err)
	return out
}

func (w *world) settle(s ...activity.SendResult) {
	w.t.Helper()
	w.ok(w.s.Border.Settle(w.t.Context(), w.now, s))
}

// sent is the settlement of an action's last part.
func (w *world) sent(a spaces.Action) activity.SendResult {
	w.n++
	return activity.SendResult{Action: a.ID, State: spaces.ActionSent, Ref: spaces.MessageRef{Account: a.Account, Chat: a.Chat, Message: "own-" + strconv.Itoa(w.n)}}
}

func (w *world) settleAll(actions []spaces.Action) {
	w.t.Helper()
	for _, a := range actions {
		w.settle(w.sent(a))
	}
}

// speak has the agent say things in one cycle, each in a thread of its own
// choice, and returns their events.
func (w *world) speak(room spaces.SpaceID, effects ...spaces.RoomEffect) []spaces.Event {
	w.t.Helper()
	w.say(room, "zoe", "speak")
	wake := w.woken(ada, room)
	c := w.step(wake, 0)
	for _, f := range effects {
		full := w.reply(wake, f.Text)
		full.Thread = f.Thread
		if f.Policy != "" {
			full.Policy = f.Policy
		}
		c.Effect = append(c.Effect, full)
	}
	done := w.commit(c)
	w.rest(wake, 1)
	return done.Events
}

// DESIGN 2, K15 … K17: an action that the process carries at once is stored as
// being sent by the commit that decides it; not one behind another, nor one that
// a crash must not copy. Recovery leaves alone what is carried.
func leavesAtOnce(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "speak")
	wake := w.woken(ada, room)
	c := w.step(wake, 0)
	first, second, held := w.reply(wake, "first"), w.reply(wake, "second"), w.reply(wake, "held")
	held.Policy, held.Thread = spaces.Hold, "t"
	c.Effect = []spaces.RoomEffect{first, second, held}
	var offered []string
	c.Leaves = func(a spaces.Action) bool { offered = append(offered, a.Text); return true }
	done := w.commit(c)
	w.rest(wake, 1)
	testutil.Same(t, "offered", []string{"first"}, offered)
	if len(done.Leaving) != 1 || done.Leaving[0].State != spaces.ActionSending || done.Leaving[0].Attempts != 1 {
		t.Fatalf("leaving %+v, want the first, under way", done.Leaving)
	}
	testutil.Same(t, "accounts with more", []string{account}, done.Waiting)
	if got := texts(w.due()); !cmp.Equal(got, []string{"held"}) {
		t.Errorf("due %q, want the lane of the first to wait", got)
	}
	carried := func() []spaces.ActionID {
		busy, end := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer end()
		if err := w.s.Border.Amend(busy, func(*access.PairingState) {}); err == nil {
			t.Error("somebody else writes while it is asked what is carried")
		}
		return []spaces.ActionID{done.Leaving[0].ID}
	}
	w.ok(w.s.Border.Recover(t.Context(), account, w.now, carried, time.Time{}))
	if got := w.due(); len(got) != 0 {
		t.Errorf("recovered %q, want what is carried to stay", texts(got))
	}
	w.settle(w.sent(done.Leaving[0]))
	if got := texts(w.due()); !cmp.Equal(got, []string{"second"}) {
		t.Errorf("due %q after the first has arrived", got)
	}
}

func texts(actions []spaces.Action) []string {
	var out []string
	for _, a := range actions {
		out = append(out, a.Text)
	}
	return out
}

// I7, SEQ-97
func laneOrder(t *testing.T, w *world) {
	room := w.family()
	events := w.speak(room, spaces.RoomEffect{Text: "one"}, spaces.RoomEffect{Text: "two"}, spaces.RoomEffect{Text: "three"})
	var got []string
	for range 3 {
		due := w.due()
		got = append(got, texts(due)...)
		if again := w.due(); len(again) != 0 {
			t.Errorf("%v is due behind one under way", texts(again))
		}
		if at, waits, err := w.s.Border.Next(t.Context(), account); err != nil || waits != (len(got) < 3) || waits && at.Before(w.now.Add(time.Hour)) {
			t.Errorf("next at %v (%t, %v), want what waits behind one under way in the far future", at, waits, err)
		}
		w.settleAll(due)
	}
	testutil.Same(t, "order", []string{"one", "two", "three"}, got)
	d, ok := w.last(room).Body.(spaces.ActionDelivered)
	if !ok || d.Message != events[2].ID || len(d.Refs) != 1 {
		t.Errorf("last event %+v, want the third delivered", w.last(room).Body)
	}
	if e := w.last(room); e.Cause != events[2].ID || e.Root != events[2].Root {
		t.Errorf("delivered is caused by %s of %s", e.Cause, e.Root)
	}
}

func lanesApart(t *testing.T, w *world) {
	room := w.family()
	w.speak(room, spaces.RoomEffect{Text: "a1", Thread: "a"}, spaces.RoomEffect{Text: "a2", Thread: "a"}, spaces.RoomEffect{Text: "b1", Thread: "b"})
	first := w.due()
	testutil.Same(t, "due", []string{"a1", "b1"}, texts(first))
	w.settle(activity.SendResult{Action: first[0].ID, State: spaces.ActionReady, NotBefore: w.now.Add(time.Minute), Code: "limited"})
	if again := w.due(); len(again) != 0 {
		t.Errorf("%v overtook one that waits", texts(again))
	}
	w.settleAll(first[1:])
	w.now = w.now.Add(time.Minute)
	for range 2 {
		w.settleAll(w.due())
	}
}

// F43: what waits is not held up by as much as the clock was put back while nothing ran.
func clockPutBack(t *testing.T, w *world) {
	room := w.family()
	w.speak(room, spaces.RoomEffect{Text: "one"})
	w.settle(activity.SendResult{Action: w.due()[0].ID, State: spaces.ActionReady, NotBefore: w.now.Add(time.Minute), Code: "limited"})
	for _, back := range []time.Duration{0, 6 * time.Hour} {
		at, want := w.now.Add(-back), []string(nil)
		if back > 0 {
			want = []string{"one"}
		}
		w.ok(w.s.Border.Recover(t.Context(), account, at, nil, time.Time{}))
		due, err := w.s.Border.Claim(t.Context(), account, at, 10)
		w.ok(err)
		if got := texts(due); !cmp.Equal(got, want) {
			t.Errorf("due %q with the clock put back by %s, want %q", got, back, want)
		}
	}
}

// F43: while a process runs, what waits is due after as long as was asked for, though
// the clock was put back. Another clock than the process's
// was not.
func clockIsPutBack(t *testing.T, w *world) {
	const half = 30 * time.Minute
	room := w.family()
	w.speak(room, spaces.RoomEffect{Text: "one"})
	w.settle(activity.SendResult{Action: w.due()[0].ID, State: spaces.ActionReady, NotBefore: w.now.Add(half), Code: "limited"})
	for _, back := range []time.Duration{time.Minute, 20 * time.Minute} {
		w.now = w.now.Add(-back)
		w.ok(w.s.Border.ShiftDue(t.Context(), other, back, w.now))
		w.ok(w.s.Border.ShiftDue(t.Context(), account, back, w.now))
		next, _, err := w.s.Border.Next(t.Context(), account)
		w.ok(err)
		if got := next.Sub(w.now); !w.s.Shared && got != half || w.s.Shared && got <= half {
			t.Errorf("put back by %s it waits for another %s", back, got)
		}
	}
	w.ok(w.s.Border.ShiftDue(t.Context(), account, 24*time.Hour, w.now))
	if n := len(w.due()); n == 0 != w.s.Shared {
		t.Errorf("put back by more than the wait, %d are due", n)
	}
}

// K19
func parts(t *testing.T, w *world) {
	room := w.family()
	event := w.speak(room, spaces.RoomEffect{Text: "long"})[0]
	a := w.due()[0]
	for n := range 2 {
		part := activity.SendResult{Action: a.ID, State: spaces.ActionSending, Part: n + 1, Ref: ref("p" + strconv.Itoa(n))}
		w.settle(part)
		w.settle(part) // its caller did not learn of the first
	}
	w.s = w.s.Restart(t, false)
	w.ok(w.s.Border.Recover(t.Context(), account, w.now, nil, time.Time{}))
	again := w.due()
	if len(again) != 1 || again[0].Part != 2 || !again[0].Resent {
		t.Fatalf("recovered as %+v, want to go on with the third part", again)
	}
	w.settle(activity.SendResult{Action: a.ID, State: spaces.ActionReady, NotBefore: w.now, Code: "limited"})
	if again = w.due(); len(again) != 1 || !again[0].Resent {
		t.Fatalf("put back it is due as %+v, want it to be one that may be there", again)
	}
	w.settle(activity.SendResult{Action: a.ID, State: spaces.ActionSending, Part: 3, Ref: ref("p2")})
	w.settle(activity.SendResult{Action: a.ID, State: spaces.ActionReady, NotBefore: w.now, Code: "limited"})
	if again = w.due(); len(again) != 1 || again[0].Part != 3 || again[0].Resent || again[0].Attempts != 2 {
		t.Fatalf("the last part is due as %+v, want its second attempt, and nothing of it to be there", again)
	}
	w.settle(activity.SendResult{Action: a.ID, State: spaces.ActionSent, Part: 4, Ref: ref("p3")})
	want := []spaces.MessageRef{ref("p0"), ref("p1"), ref("p2"), ref("p3")}
	if d := w.last(room).Body.(spaces.ActionDelivered); !cmp.Equal(d.Refs, want) || d.Message != event.ID {
		t.Errorf("delivered %+v, want all four parts", d)
	}
	where, _, err := w.s.Border.MessageRefs(t.Context(), account, chat, event.ID)
	w.ok(err)
	testutil.Same(t, "where", want, where)
	reply := w.message(room, "zoe", "to the second part")
	reply.ReplyRef = ref("p1")
	w.record(reply)
	if got := w.last(room).ReplyTo; got != event.ID {
		t.Errorf("a reply to a part answers %q, want %q", got, event.ID)
	}
}

// F45
func retry(t *testing.T, w *world) {
	w.speak(w.family(), spaces.RoomEffect{Text: "x"})
	a := w.due()[0]
	at := w.now.Add(30 * time.Second)
	w.settle(activity.SendResult{Action: a.ID, State: spaces.ActionReady, NotBefore: at, Code: "limited", Reason: "wait"})
	next, waits, err := w.s.Border.Next(t.Context(), account)
	w.ok(err)
	if !waits || !next.Equal(at) {
		t.Errorf("next %v %t, want %v", next, waits, at)
	}
	w.now = at.Add(-time.Millisecond)
	if got := w.due(); len(got) != 0 {
		t.Error("due before its time")
	}
	w.now = at
	again := w.due()
	if len(again) != 1 || again[0].Attempts != 2 {
		t.Fatalf("due %+v, want the second attempt", again)
	}
	w.settleAll(again)
}

func noAttempt(t *testing.T, w *world) {
	w.speak(w.family(), spaces.RoomEffect{Text: "x"})
	for range 3 {
		a := w.due()[0]
		if a.Attempts != 1 {
			t.Errorf("attempt %d, want the first", a.Attempts)
		}
		w.settle(activity.SendResult{Action: a.ID, State: spaces.ActionReady, NotBefore: w.now})
	}
	w.settleAll(w.due())
}

// SEQ-96
func everyChat(t *testing.T, w *world) {
	o := opening("family", "ada")
	o.Chats = append(o.Chats, spaces.ChatMapping{Account: account, Chat: other, Live: true})
	room := w.open(o)
	event := w.speak(room, spaces.RoomEffect{Text: "to all"})[0]
	due := w.due()
	if len(due) != 2 || due[0].Chat != chat || due[1].Chat != other || due[1].Ordinal != 1 || due[1].Event != event.ID {
		t.Fatalf("due %+v, want one a chat", due)
	}
	w.settleAll(due)
	where, _, err := w.s.Border.MessageRefs(t.Context(), account, other, event.ID)
	w.ok(err)
	if len(where) != 1 || where[0].Chat != other {
		t.Errorf("where %+v", where)
	}
}

func notice(t *testing.T, w *world) {
	room := w.family()
	before := len(w.log(room))
	n := spaces.ProcessNotice{Key: "pairing|X", Account: account, Chat: "777", Thread: "t", To: "21", Text: "Your code", At: w.now, Expires: w.now.Add(time.Minute)}
	w.ok(w.s.Border.Post(t.Context(), n))
	w.ok(w.s.Border.Post(t.Context(), n))
	due := w.due()
	if len(due) != 1 || due[0].Chat != "777" || due[0].Text != "Your code" || due[0].Recipient != "21" || due[0].Space != "" || due[0].Kind != spaces.ActSend {
		t.Fatalf("due %+v, want the notice once", due)
	}
	w.settleAll(due)
	n.Key = "pairing|Y"
	w.ok(w.s.Border.Post(t.Context(), n))
	w.now = w.now.Add(2 * time.Minute)
	if got := w.due(); len(got) != 0 {
		t.Errorf("due %+v after the expiry", got)
	}
	if got := len(w.log(room)); got != before {
		t.Errorf("a notice wrote %d events into a room", got-before)
	}
}

// A notice may have buttons. Its outcome then replaces its last line and the buttons, once,
// and notices of another key stay.
func noticeOfChoices(t *testing.T, w *world) {
	n := spaces.ProcessNotice{
		Key: "letin|X|777", Account: account, Chat: "777", Text: "Let them in?\nWrite it.", At: w.now, Expires: w.now.Add(time.Minute),
		Choices: []spaces.ChoiceButton{{Label: "Let in", Value: "letin X"}},
	}
	w.ok(w.s.Border.Post(t.Context(), n))
	n.Key, n.Chat = "letin|Y|778", "778"
	w.ok(w.s.Border.Post(t.Context(), n))
	asked := w.due()
	if len(asked) != 2 || len(asked[0].Choices) != 1 || asked[0].Choices[0] != n.Choices[0] {
		t.Fatalf("due %+v, want two notices with a button", asked)
	}
	w.settleAll(asked)
	for range 2 {
		w.ok(w.s.Border.CloseChoices(t.Context(), "letin|X", "Let in.", w.now))
	}
	due := w.due()
	if len(due) != 1 || due[0].Kind != spaces.ActEdit || due[0].Chat != "777" || due[0].Text != "Let them in?\nLet in." || len(due[0].Choices) != 0 {
		t.Errorf("due %+v, want one edit without buttons", due)
	}
}

// S2
func pairings(t *testing.T, w *world) {
	if d, err := w.s.Border.Load(t.Context()); err != nil || len(d.Pending) != 0 {
		t.Fatalf("first desk %+v, %v", d, err)
	}
	for n := range 3 {
		w.ok(w.s.Border.Amend(t.Context(), func(d *access.PairingState) {
			_, err := d.Begin(access.PairingRequest{Code: "CODE" + strconv.Itoa(n), Account: account, Chat: strconv.Itoa(n), User: "u"}, w.now)
			w.ok(err)
		}))
	}
	w.s = w.s.Restart(t, false)
	d, err := w.s.Border.Load(t.Context())
	w.ok(err)
	if len(d.Pending) != 3 || d.Pending[2].Code != "CODE2" {
		t.Errorf("desk %+v, want three pending", d)
	}
}
