package activity

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/activity/access"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// waiting is an ingress at which a person has asked to be let in.
func waiting(t *testing.T, remember time.Duration, updates ...adapters.Update) (*record, *Ingress) {
	t.Helper()
	r := newRecord()
	in := enter(r, IngressOptions{Room: spaces.RoomDefaults{Agents: []spaces.AgentID{"ada"}}, Remember: remember})
	take(t, in, "1", updates...)
	return r, in
}

// admitKai lets the person in who asked first.
func admitKai(t *testing.T, r *record, in *Ingress) {
	t.Helper()
	desk := access.ApprovalManager{Pairings: r, Spaces: in.mapping, Notices: r, Room: spaces.RoomDefaults{Agents: []spaces.AgentID{"ada"}}}
	_, err := desk.Approve(t.Context(), r.desk.Pending[0].Code, access.ApprovalGrant{Circle: "home"}, time.Now())
	testutil.OK(t, err)
}

// What a person wrote before they were let in is recorded once they are, and not earlier; it
// comes before what they write then.
func TestWordsFromBeforeAnApprovalAreRecordedAfterIt(t *testing.T) {
	r, in := waiting(t, time.Hour, says(lobby, kai, "1", "is the bakery open?"), says(lobby, kai, "2", "on Sunday I mean"))
	testutil.OK(t, in.Unseal(t.Context()))
	if got := r.said(); len(got) != 0 {
		t.Fatalf("recorded before the approval: %q", got)
	}
	admitKai(t, r, in)
	if last := r.notices[len(r.notices)-1].Text; !strings.Contains(last, "I read what you wrote now") {
		t.Errorf("the person is told %q", last)
	}
	take(t, in, "2", says(lobby, kai, "3", "thanks"))
	want := []string{"is the bakery open?", "on Sunday I mean", "thanks"}
	testutil.Same(t, "said", want, r.said())
	testutil.OK(t, in.Unseal(t.Context()))
	testutil.Same(t, "said after all", want, r.said())
	if len(r.desk.Sealed) != 0 {
		t.Errorf("still kept: %+v", r.desk.Sealed)
	}
}

// An edit and a deletion count for what is kept, and only the first messages of a person are.
func TestWhatIsKeptFollowsEditsAndDeletions(t *testing.T) {
	edited := says(lobby, kai, "1", "")
	edited.Body = adapters.MessageEdit{New: adapters.IncomingMessage{ID: "1", Text: "two"}}
	deleted := says(lobby, kai, "2", "")
	deleted.Body = adapters.MessageDeletion{Messages: []string{"2"}}
	updates := []adapters.Update{says(lobby, kai, "1", "one"), says(lobby, kai, "2", secret), edited, deleted}
	for _, id := range []string{"3", "4", "5", "6", "7"} {
		updates = append(updates, says(lobby, kai, id, id))
	}
	r, in := waiting(t, time.Hour, updates...)
	admitKai(t, r, in)
	testutil.OK(t, in.Unseal(t.Context()))
	testutil.Same(t, "said", []string{"two", "3", "4", "5", "6"}, r.said())
}

// What is kept goes with the person who is refused, with its time, and where nothing is to be kept.
func TestWhatIsKeptIsDropped(t *testing.T) {
	r, _ := waiting(t, time.Hour, says(lobby, kai, "1", secret))
	desk := access.ApprovalManager{Pairings: r, Notices: r}
	_, err := desk.Revoke(t.Context(), ours.Key(), kai.ID)
	testutil.OK(t, err)
	if len(r.desk.Sealed) != 0 {
		t.Errorf("the words of a refused person are kept: %+v", r.desk.Sealed)
	}

	r, in := waiting(t, time.Nanosecond, says(lobby, kai, "1", secret))
	admitKai(t, r, in)
	testutil.OK(t, in.Unseal(t.Context()))
	if len(r.said()) != 0 || len(r.desk.Sealed) != 0 {
		t.Errorf("recorded %q, kept %+v; want neither after its time", r.said(), r.desk.Sealed)
	}

	if r, _ = waiting(t, 0, says(lobby, kai, "1", secret)); len(r.desk.Sealed) != 0 {
		t.Errorf("kept %+v where nothing is to be kept", r.desk.Sealed)
	}
}

// Once the bound is reached no further message is kept, and those that are stay.
func TestWhatIsKeptIsBounded(t *testing.T) {
	var d access.PairingState
	long := strings.Repeat("x", access.MaxSealedBytes/4)
	at := time.Now()
	for _, id := range []string{"1", "2", "3", "4", "5", "6"} {
		d.Seal(access.SealedMessage{Account: "a", Until: at.Add(time.Hour), Update: adapters.Update{Chat: adapters.Chat{ID: id}, From: adapters.Person{ID: id}}, Message: adapters.IncomingMessage{ID: id, Text: long}}, at)
	}
	var of []string
	for _, m := range d.Sealed {
		of = append(of, m.Message.ID)
	}
	if want := []string{"1", "2", "3", "4"}; !slices.Equal(of, want) {
		t.Errorf("kept those of %v, want %v", of, want)
	}
	d.Correct("a", adapters.Update{Chat: adapters.Chat{ID: "2"}, From: adapters.Person{ID: "2"}, Body: adapters.MessageEdit{New: adapters.IncomingMessage{ID: "2", Text: long + "x"}}})
	if len(d.Sealed) != 3 || d.Sealed[1].Message.ID != "3" {
		t.Errorf("%d messages are kept after an edit beyond the bound, want 3", len(d.Sealed))
	}
}
