package activity

import (
	"context"
	"fmt"
	"testing"

	"github.com/trestle-bridge/trestle/activity/access"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// secret is what an unauthorised sender writes; it may turn up nowhere.
const secret = "the canary sings at midnight"

var owner = adapters.Person{ID: "1", Kind: adapters.Human, Name: "Olivia", Handle: "olivia"}

func TestWordsWithoutAChatAreNobodysAndNotKept(t *testing.T) {
	r := newRecord()
	in := enter(r, IngressOptions{})
	u := says(adapters.Chat{}, kai, "1", secret)
	u.Raw = []byte(secret)
	take(t, in, "1", u)
	if len(r.events) != 1 || r.events[0].Event.Body.Kind() != spaces.KindUnreadable || r.knowsTheSecret() {
		t.Errorf("got %+v, want the bare fact in the account's own room", r.events)
	}
}

func TestTheOwnerIsHeardInTheirOwnChatOnly(t *testing.T) {
	// SECURITY S1: an approval in a direct chat gives no right in a group.
	r := newRecord()
	r.desk.Admitted = []access.ChatApproval{{PairingRequest: access.PairingRequest{Account: ours.Key(), Chat: "1", User: "1"}}}
	in := enter(r, IngressOptions{})
	take(t, in, "1",
		says(adapters.Chat{ID: "1", Kind: adapters.Direct}, owner, "1", "at home"),
		says(adapters.Chat{ID: "-900", Kind: adapters.Group}, owner, "2", "abroad"))
	if got := r.said(); len(got) != 1 || got[0] != "at home" {
		t.Errorf("got %v, want only what was said at home", got)
	}
}

func TestModesDoNotMerge(t *testing.T) {
	// OpenClaw #22599: what one mode let in is not let in by another.
	r := newRecord()
	open := enter(r, IngressOptions{Admit: access.AdmitOpen})
	take(t, open, "1", says(lobby, kai, "1", "while open"))
	for i, m := range []access.AdmissionMode{access.AdmitPairing, access.AdmitDeny} {
		in := enter(r, IngressOptions{Admit: m})
		take(t, in, "2", says(lobby, kai, fmt.Sprint(i+2), secret))
	}
	paired := newRecord()
	paired.desk.Admitted = []access.ChatApproval{{PairingRequest: access.PairingRequest{Account: ours.Key(), Chat: lobby.ID, User: kai.ID}}}
	take(t, enter(paired, IngressOptions{Admit: access.AdmitDeny}), "3", says(lobby, kai, "9", secret))
	if len(r.said()) != 1 || len(paired.said()) != 0 || r.knowsTheSecret() || paired.knowsTheSecret() {
		t.Errorf("got %v and %v, want only what was said while open", r.said(), paired.said())
	}
}

func TestAnOpenChatGetsARoomOfItsOwn(t *testing.T) {
	// DESIGN 5 and 9
	r := newRecord()
	in := enter(r, IngressOptions{Admit: access.AdmitOpen, Room: spaces.RoomDefaults{Agents: []spaces.AgentID{"ada"}}})
	take(t, in, "1", says(lobby, kai, "1", "hi"), says(adapters.Chat{ID: "-5", Kind: adapters.Channel, Title: "News"}, kai, "1", "hi"))
	want := []struct {
		name   string
		direct bool
	}{{"Kai", true}, {"News", false}}
	for i, o := range r.rooms {
		if o.Name != want[i].name || o.Direct != want[i].direct || o.Closed != want[i].direct || o.Circle != "" || o.Key != "" ||
			len(o.Agents) != 1 || o.Agents[0] != "ada" {
			t.Errorf("got %+v, want %+v with a circle of its own and the default agents", o, want[i])
		}
	}
}

// An update that a person no longer sees a chat concerns known members alone: it opens
// no room, and is not counted as a refusal.
func TestAChatHiddenFromSomebodyIsNoReasonForARoom(t *testing.T) {
	hidden := adapters.Update{
		ID: "2", Key: "unseen:c1", Chat: adapters.Chat{ID: "c1", Kind: adapters.Channel, Group: "112233"},
		Body: adapters.PeopleLeft{People: []adapters.Person{kai}, Unseen: true},
	}
	for name, o := range map[string]IngressOptions{
		"open": {Admit: access.AdmitOpen}, "deny": {Admit: access.AdmitDeny}, "named server": {Servers: map[string]spaces.RoomDefaults{"112233": {}}},
	} {
		r := newRecord()
		in := enter(r, o)
		take(t, in, "1", hidden)
		if n := in.Stats().Refused; len(r.rooms) != 0 || n != 0 {
			t.Errorf("%s: %d rooms opened, %d refused, want none", name, len(r.rooms), n)
		}
		if o.Admit == access.AdmitDeny {
			continue
		}
		take(t, in, "2", says(hidden.Chat, kai, "1", "hi"), hidden)
		if len(r.events) != 2 || r.events[1].Event.Body.Kind() != spaces.KindLeft {
			t.Errorf("%s: got %+v, want what was said, and that somebody left", name, r.events)
		}
	}
}

func TestAChatOfANamedServerIsARoomLikeTheServers(t *testing.T) {
	r := newRecord()
	server := spaces.RoomDefaults{Circle: "acme", Wake: spaces.WakeMention, Agents: []spaces.AgentID{"max"}}
	in := enter(r, IngressOptions{Admit: access.AdmitDeny, Servers: map[string]spaces.RoomDefaults{"112233": server}})
	for i, c := range []adapters.Chat{{ID: "c1", Kind: adapters.Channel, Group: "112233"}, {ID: "c2", Kind: adapters.Channel, Group: "999"}, {ID: "c3", Kind: adapters.Channel}} {
		u := says(c, kai, fmt.Sprint(i), "hello")
		u.Body = adapters.IncomingMessage{ID: "1", Text: c.ID, Mentions: []adapters.Person{{ID: ours.ID}}}
		take(t, in, "1", u)
	}
	if got := r.said(); len(got) != 1 || got[0] != "c1" {
		t.Fatalf("got %v, want only the named server's channel", got)
	}
	if o := r.rooms[0]; o.Circle != "acme" || o.Wake != spaces.WakeMention {
		t.Errorf("got %+v, want the server's form", o)
	}
	var told []string
	again := enter(r, IngressOptions{Admit: access.AdmitDeny, Servers: map[string]spaces.RoomDefaults{"112233": server}, OfServer: func(_ context.Context, group string, s spaces.SpaceID) error {
		told = append(told, group+" "+string(s))
		return nil
	}})
	take(t, again, "2", says(adapters.Chat{ID: "c1", Kind: adapters.Channel, Group: "112233"}, kai, "9", "hello again"))
	testutil.Same(t, "after a restart it is told whose room it is", []string{"112233 space-1"}, told)
	if said, _ := r.events[0].Event.Body.(spaces.MessagePosted); len(said.Mentions) != 1 || said.Mentions[0] != "agent:max" {
		t.Errorf("the account speaks there for %v, want max", said.Mentions)
	}
}

// SECURITY S1: history admits no sender whom live messages would not: no bots that are
// not listed, and no messages without a sender.
func TestHistoryBringsInNobodyWhoIsNotHeard(t *testing.T) {
	r := newRecord()
	bot := adapters.Person{ID: "55", Kind: adapters.Bot, Name: "Hook"}
	listed := adapters.Person{ID: "56", Kind: adapters.Bot, Name: "Feed"}
	chat := adapters.Person{ID: hub.ID, Kind: adapters.Service, Name: "Hub"}
	in := enter(r, IngressOptions{Allow: []access.SenderID{{User: listed.ID}}})
	var page []adapters.Update
	for i, who := range []adapters.Person{kai, bot, listed, chat, {}, {ID: ours.ID, Kind: adapters.Bot}} {
		page = append(page, says(hub, who, fmt.Sprint(i), "words"))
	}
	got, err := in.ImportHistory(t.Context(), page)
	if want := (HistoryImportCount{New: 4, Skipped: 2}); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	for _, e := range r.events {
		if e.From.User == bot.ID || e.Event.Actor == "" && e.From.User == "" {
			t.Errorf("kept %+v", e.Event.Body)
		}
	}
}

// A guest answers those alone who are let in, wherever they were, in a room
// of its own circle; others are told once a day, for everybody to read.
func TestAGuestAnswersWhoIsLetIn(t *testing.T) {
	approved := access.ChatApproval{PairingRequest: access.PairingRequest{Account: ours.Key(), Chat: kai.ID, User: kai.ID}, Circle: "family"}
	listed := []access.SenderID{{User: kai.ID}}
	query := func(n int, who adapters.Person) adapters.Update {
		chat := adapters.Chat{ID: fmt.Sprintf("guest:%d", n), Kind: adapters.Group, Title: "guest in Party", Guest: true}
		u := says(chat, who, fmt.Sprint(n), fmt.Sprintf("%s asks", who.Name))
		body := u.Body.(adapters.IncomingMessage)
		body.ToUs = true
		u.Body = body
		return u
	}
	for mode, o := range map[access.AdmissionMode]struct{ heard, told int }{
		access.AdmitPairing: {1, 1}, access.AdmitAllowlist: {1, 1}, access.AdmitOpen: {3, 0}, access.AdmitDeny: {0, 0},
	} {
		t.Run(string(mode), func(t *testing.T) {
			r := newRecord()
			r.desk.Admitted = []access.ChatApproval{approved}
			in := enter(r, IngressOptions{Admit: mode, Allow: listed, Room: spaces.RoomDefaults{Circle: "home"}})
			take(t, in, "1", query(1, kai), query(2, owner), query(3, owner))
			if len(r.said()) != o.heard || len(r.notices) != o.told {
				t.Errorf("heard %q and told %+v, want %d and %d", r.said(), r.notices, o.heard, o.told)
			}
			for _, room := range r.rooms {
				if !room.Guest || room.Circle != "" || room.Closed || room.Direct {
					t.Errorf("got the room %+v, want one of a guest and of no circle", room)
				}
			}
			for _, n := range r.notices {
				if n.To != "" || n.Chat != "guest:2" {
					t.Errorf("told %+v, want everybody there, once", n)
				}
			}
		})
	}
}
