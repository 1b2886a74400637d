package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/spaces"
)

var ackTests = map[string]func(*testing.T, *world){
	"AcknowledgementIsLeftWhenItsRunIsOver":        ackLeft,
	"AcknowledgementStaysUntilItsMessageIsHandled": ackRetried,
	"AcknowledgementWaitsForWhatIsStillToBeSent":   ackUnsent,
	"AcknowledgementGivesWayToAnAgentsReaction":    ackReacted,
	"AcknowledgementsOfAMessageAreForgottenByRun":  ackForgotten,
}

// acks lists the stored acknowledgements: of which run, and whether they are left.
func (w *world) acks() (all []string) {
	w.t.Helper()
	found, err := w.s.Border.Acks(w.t.Context(), account)
	w.ok(err)
	for _, k := range found {
		line := k.Emoji + " by " + string(k.Run) + " on " + k.Message.Message + " in " + string(k.Thread)
		if k.Left {
			line += ", left"
		}
		if k.At.UnixMilli() != w.now.UnixMilli() || k.Message.Account != account || k.Message.Chat != chat || k.Event == "" {
			line += ", changed"
		}
		all = append(all, line)
	}
	return all
}

// ackOf is the acknowledgement of the message that woke a run.
func ackOf(wake *spaces.Wake) spaces.AckReaction {
	return spaces.AckReaction{
		Run: wake.Cycle.ID, Event: wake.Events[0].ID, Thread: "t", Emoji: "👀",
		Message: spaces.MessageRef{Account: account, Chat: chat, Message: "m"},
	}
}

// acknowledge stores an acknowledgement, or checks that it is refused.
func (w *world) acknowledge(k spaces.AckReaction, want bool) {
	w.t.Helper()
	got, err := w.s.Border.Acknowledge(w.t.Context(), k, w.now)
	w.ok(err)
	if got != want {
		w.t.Errorf("acknowledged: %t, want %t", got, want)
	}
}

// NEWS: a reaction that shows work is left when its run is over, however it ends, and can be
// set for none that is.
func ackLeft(t *testing.T, w *world) {
	room := w.family()
	for name, end := range map[string]func(*spaces.Wake){
		"an end": func(wake *spaces.Wake) { w.rest(wake, 0) },
		"a stop": func(wake *spaces.Wake) {
			w.halt(spaces.StopRequest{Run: wake.Cycle.ID})
			w.acknowledge(ackOf(wake), false)
			w.stopped(wake, 0)
		},
	} {
		w.say(room, "zoe", name)
		wake := w.woken(ada, room)
		k := ackOf(wake)
		w.acknowledge(k, true)
		w.acknowledge(k, false)
		line := "👀 by " + string(k.Run) + " on m in t"
		if diff := cmp.Diff([]string{line}, w.acks()); diff != "" {
			t.Errorf("before %s (-want +got):\n%s", name, diff)
		}
		end(wake)
		if diff := cmp.Diff([]string{line + ", left"}, w.acks()); diff != "" {
			t.Errorf("after %s (-want +got):\n%s", name, diff)
		}
		w.ok(w.s.Border.ForgetAcks(t.Context(), k.Message, k.Run))
		w.acknowledge(k, false)
		if got := w.acks(); got != nil {
			t.Errorf("after it was forgotten: %q", got)
		}
	}
}

// NEWS: the reaction stays between the runs of a message whose model failed.
func ackRetried(t *testing.T, w *world) {
	room := w.family()
	asked := w.say(room, "zoe", "is there soup?")
	wake := w.woken(ada, room)
	k := ackOf(wake)
	w.acknowledge(k, true)
	c := w.step(wake, 0)
	c.Upto = asked.Seq
	c.Close = &spaces.CycleClose{Stop: spaces.StopModelError, Back: true}
	w.commit(c)
	line := "👀 by " + string(k.Run) + " on m in t"
	if diff := cmp.Diff([]string{line}, w.acks()); diff != "" {
		t.Errorf("before the next run (-want +got):\n%s", diff)
	}
	wake = w.woken(ada, room)
	if diff := cmp.Diff([]string{line}, w.acks()); diff != "" {
		t.Errorf("while it is under way (-want +got):\n%s", diff)
	}
	w.rest(wake, 0)
	if diff := cmp.Diff([]string{line + ", left"}, w.acks()); diff != "" {
		t.Errorf("after it (-want +got):\n%s", diff)
	}
}

// NEWS: the reaction stays until what the run decided for the chat is sent.
func ackUnsent(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "is there soup?")
	wake := w.woken(ada, room)
	k := ackOf(wake)
	w.acknowledge(k, true)
	c := w.step(wake, 0)
	c.Effect = []spaces.RoomEffect{w.reply(wake, "There is soup.")}
	w.commit(c)
	w.rest(wake, 1)
	line := "👀 by " + string(k.Run) + " on m in t"
	if diff := cmp.Diff([]string{line}, w.acks()); diff != "" {
		t.Errorf("before it is sent (-want +got):\n%s", diff)
	}
	w.settleAll(w.due())
	if diff := cmp.Diff([]string{line + ", left"}, w.acks()); diff != "" {
		t.Errorf("after it (-want +got):\n%s", diff)
	}
}

// NEWS: where an agent has reacted to the message, no reaction shows work.
func ackReacted(t *testing.T, w *world) {
	room := w.family()
	asked := w.say(room, "zoe", "is there soup?")
	wake := w.woken(ada, room)
	w.acknowledge(ackOf(wake), true)
	c, f := w.step(wake, 0), w.reply(wake, "👍")
	f.Kind, f.Target = spaces.ActReact, asked.ID
	c.Effect = []spaces.RoomEffect{f}
	w.commit(c)
	w.ok(w.s.Border.ForgetAcks(t.Context(), ackOf(wake).Message, ""))
	for range 2 {
		w.acknowledge(ackOf(wake), false)
		w.settleAll(w.due())
	}
	other := ackOf(wake)
	other.Event, other.Message.Message = "another", "n"
	w.acknowledge(other, true)
}

// NEWS: two runs may work on one message, which has one reaction for both; an agent's takes its
// place.
func ackForgotten(t *testing.T, w *world) {
	room := w.family("ada", "bea")
	w.say(room, "zoe", "is there soup?")
	first := ackOf(w.woken(ada, room))
	second := ackOf(w.woken(bea, room))
	w.acknowledge(first, true)
	w.acknowledge(second, false)
	w.ok(w.s.Border.ForgetAcks(t.Context(), first.Message, first.Run))
	if diff := cmp.Diff([]string{"👀 by " + string(second.Run) + " on m in t"}, w.acks()); diff != "" {
		t.Errorf("after one was forgotten (-want +got):\n%s", diff)
	}
	w.acknowledge(first, false)
	w.ok(w.s.Border.ForgetAcks(t.Context(), first.Message, ""))
	if got := w.acks(); got != nil {
		t.Errorf("after all were: %q", got)
	}
}
