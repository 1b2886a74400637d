package storetest

import (
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

var placedTests = map[string]func(*testing.T, *world){
	"PartMoreOfAnEditBelongsToTheMessage": editGrows,
	"PartLessOfAnEditIsNoneOfTheMessage":  editShrinks,
	"FirstThatWakesIsTheReason":           firstReason,
	"GivenUpPlaceIsTakenWithANewEpoch":    epochAfterGivenUp,
	"ChainOfWhatGoesBackIsShown":          tallyAgain,
}

// An edit may make a message longer than it was: the part that comes is one of the
// message's, which a reply to it finds.
func editGrows(t *testing.T, w *world) {
	room := w.family()
	message := w.speak(room, spaces.RoomEffect{Text: "short"})[0]
	w.settleAll(w.due())
	w.say(room, "zoe", "say more")
	wake := w.woken(ada, room)
	c := w.step(wake, 0)
	e := w.reply(wake, "much longer")
	e.Kind, e.Target, e.Strict = spaces.ActEdit, message.ID, false
	c.Effect = []spaces.RoomEffect{e}
	c.Close = &spaces.CycleClose{Stop: spaces.StopCompleted}
	w.commit(c)
	due := w.due()
	if len(due) != 1 || due[0].Kind != spaces.ActEdit {
		t.Fatalf("due are %+v", due)
	}
	more := activity.SendResult{Action: due[0].ID, State: spaces.ActionSent, Ref: ref("more")}
	w.settle(more)
	reply := w.message(room, "zoe", "to the new part")
	reply.ReplyRef = more.Ref
	w.record(reply)
	if got := w.last(room).ReplyTo; got != message.ID {
		t.Errorf("a reply to the new part answers %q, want %q", got, message.ID)
	}
}

// An edit may make a message shorter than it was: a part that is deleted is none of the
// message's any more, and the next edit does not look for it.
func editShrinks(t *testing.T, w *world) {
	room := w.family()
	message := w.speak(room, spaces.RoomEffect{Text: "long"})[0]
	due := w.due()
	w.settle(activity.SendResult{Action: due[0].ID, State: spaces.ActionSending, Part: 1, Ref: ref("first")})
	w.settle(activity.SendResult{Action: due[0].ID, State: spaces.ActionSent, Part: 2, Ref: ref("second")})
	w.say(room, "zoe", "say less")
	wake := w.woken(ada, room)
	c := w.step(wake, 0)
	e := w.reply(wake, "short")
	e.Kind, e.Target, e.Strict = spaces.ActEdit, message.ID, false
	c.Effect = []spaces.RoomEffect{e}
	c.Close = &spaces.CycleClose{Stop: spaces.StopCompleted}
	w.commit(c)
	edit := w.due()[0]
	w.settle(activity.SendResult{Action: edit.ID, State: spaces.ActionSending, Part: 1})
	w.settle(activity.SendResult{Action: edit.ID, State: spaces.ActionSent, Part: 2, Gone: []spaces.MessageRef{ref("second")}})
	words, _, err := w.s.Border.MessageRefs(t.Context(), edit.Account, edit.Chat, message.ID)
	testutil.OK(t, err)
	testutil.Same(t, "it stands at", []spaces.MessageRef{ref("first")}, words)
}

// PRD-5.7: what wakes first says why.
func firstReason(t *testing.T, w *world) {
	room := w.family()
	for _, text := range []string{"one", "two", "three"} {
		w.say(room, "zoe", text)
	}
	wake := w.claimAs(holder, ada, room, func(j spaces.GateInput) []spaces.GateDecision {
		all := wakeAll(j)
		all[0].Wake, all[0].Reason, all[1].Reason, all[2].Reason = false, "none", "mention", "reply"
		return all
	})
	if wake == nil || wake.Cycle.Wake != "mention" {
		t.Fatalf("woken by %+v, want the mention", wake)
	}
	w.rest(wake, 0)
}

// DELIVERY 2: every lease of a place has a higher epoch than the one before, also the
// one that is taken at once when what was open there is given up: what the old holder
// still writes is refused.
func epochAfterGivenUp(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "poison")
	last := w.woken(ada, room).Lease.Epoch
	for range 9 {
		w.s = w.s.Restart(t, false)
		w.say(room, "zoe", "more")
		wake := w.claim(ada, room)
		if wake == nil {
			continue
		}
		if wake.Lease.Epoch <= last {
			t.Fatalf("epoch %d comes after %d", wake.Lease.Epoch, last)
		}
		if last = wake.Lease.Epoch; !wake.Resumed {
			w.rest(wake, 0)
			return
		}
	}
	t.Error("the first cycle was never given up")
}

// S13: what a chain has used is shown again with a row that goes back: its first attempt
// was not free.
func tallyAgain(t *testing.T, w *world) {
	room := w.family()
	e := w.say(room, "zoe", "hello")
	wake := w.woken(ada, room)
	c := w.step(wake, 0)
	c.Upto = e.Seq
	c.Close = &spaces.CycleClose{Stop: spaces.StopModelError, Back: true, RetryAt: w.now.Add(time.Minute)}
	w.commit(c)
	w.now = w.now.Add(time.Minute)
	var got spaces.GateInput
	w.claimAs(holder, ada, room, func(j spaces.GateInput) []spaces.GateDecision { got = j; return wakeNone(j) })
	if len(got.Rows) != 1 || got.Rows[0].Attempts != 1 {
		t.Fatalf("judged are %+v", got.Rows)
	}
	testutil.Same(t, "the chain", map[spaces.EventID]spaces.ChainUsage{e.ID: {Tokens: 120, Cost: stepCost}}, got.Roots)
}
