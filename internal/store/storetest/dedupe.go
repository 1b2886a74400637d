package storetest

import (
	"strconv"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// second is another account in the chat of the first.
const second = "telegram:43"

// heardBy records messages of an account with message numbers of its own: a person who
// posts the same text again and again.
func (w *world) heardBy(who string, space spaces.SpaceID, numbers ...int) spaces.IngestResult {
	w.t.Helper()
	in := spaces.IngestBatch{Account: who, At: w.now}
	for _, n := range numbers {
		m := w.message(space, "zoe", "ok")
		m.Ref = spaces.MessageRef{Account: who, Chat: chat, Message: strconv.Itoa(n)}
		m.Event.Source, m.Alike = who+"|message:"+m.Ref.Message, "telegram|zoe says ok"
		in.Items = append(in.Items, m)
	}
	done, err := w.s.Border.Record(w.t.Context(), in)
	w.ok(err)
	return done
}

// Issue 3: accounts that number messages each for itself record one message once, in
// any order, after a restart and when delivered again; equal texts stay as many as were
// posted.
func alikePair(t *testing.T, w *world) {
	o := opening("family", "ada")
	o.Chats = append(o.Chats, spaces.ChatMapping{Account: second, Chat: chat, Title: "Family", Live: true})
	room := w.open(o)
	got := []int{w.heardBy(account, room, 1, 2).New, w.heardBy(second, room, 71, 72, 73).New}
	w.s = w.s.Restart(t, false)
	got = append(got, w.heardBy(account, room, 2, 3).New, w.heardBy(second, room, 73, 74).New, w.heardBy(account, room, 4).New)
	testutil.Same(t, "new messages of each telling", []int{2, 1, 0, 1, 0}, got)
	var said []spaces.EventID
	for _, e := range w.log(room) {
		if e.Body.Kind() == spaces.KindSaid {
			said = append(said, e.ID)
		}
	}
	reply := w.message(room, "zoe", "I meant this one")
	reply.ReplyRef = spaces.MessageRef{Account: second, Chat: chat, Message: "72"}
	w.record(reply)
	if len(said) != 4 || w.last(room).ReplyTo != said[1] {
		t.Errorf("%d messages; a reply to the second one by its other name answers %q of %q", len(said), w.last(room).ReplyTo, said)
	}
	w.now = w.now.Add(9 * 24 * time.Hour)
	if n := w.heardBy(second, room, 75).New; n != 0 {
		// What was told of is forgotten after a week; then the same words of the same
		// second are those of the first account, by their name in the record.
		t.Errorf("%d new messages long after", n)
	}
}
