package activity

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/activity/access"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

func TestFiftyStrangersAtOnceKeepTheCap(t *testing.T) {
	// SECURITY S2: race of 50 concurrent requests
	r := newRecord()
	in := enter(r, IngressOptions{})
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			who := adapters.Person{ID: fmt.Sprint(1000 + i), Kind: adapters.Human}
			u := says(adapters.Chat{ID: who.ID, Kind: adapters.Direct}, who, "1", secret)
			if err := in.Accept(t.Context(), adapters.UpdateBatch{Updates: []adapters.Update{u}}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(r.desk.Pending) != access.MaxPending || len(r.notices) != access.MaxPending || r.knowsTheSecret() {
		t.Errorf("got %d pending and %d codes shown, want %d each and no words kept", len(r.desk.Pending), len(r.notices), access.MaxPending)
	}
}

// S2: those whom `allow` lists get a code although strangers have taken all that there
// are for them.
func TestListedPeopleGetACodeBesideManyStrangers(t *testing.T) {
	r := newRecord()
	in := enter(r, IngressOptions{Allow: []access.SenderID{{User: "7"}}})
	ask := func(id string) {
		who := adapters.Person{ID: id, Kind: adapters.Human}
		take(t, in, id, says(adapters.Chat{ID: who.ID, Kind: adapters.Direct}, who, "1", secret))
	}
	for i := range access.MaxPending + 5 {
		ask(fmt.Sprint(1000 + i))
	}
	ask("7")
	if last := r.desk.Pending[len(r.desk.Pending)-1]; len(r.desk.Pending) != access.MaxPending+1 || last.User != "7" {
		t.Errorf("%d pending, the last of %s: a listed person gets no code", len(r.desk.Pending), last.User)
	}
}

func TestAStrangerIsLetInByTheirCode(t *testing.T) {
	// DESIGN 9 admit: pairing
	r := newRecord()
	in := enter(r, IngressOptions{Room: spaces.RoomDefaults{Agents: []spaces.AgentID{"ada"}}})
	take(t, in, "1", says(lobby, kai, "1", secret))
	take(t, in, "2", says(lobby, kai, "1", secret), says(lobby, kai, "2", secret))
	if len(r.notices) != 1 || len(r.desk.Pending) != 1 {
		t.Fatalf("got %d notices and %d pending, want the code shown once", len(r.notices), len(r.desk.Pending))
	}
	code := r.desk.Pending[0].Code
	if !strings.Contains(r.notices[0].Text, code[:4]+"-"+code[4:]) || strings.Contains(r.notices[0].Text, "Kai") {
		t.Errorf("the stranger is told %q", r.notices[0].Text)
	}
	desk := access.ApprovalManager{Pairings: r, Spaces: in.mapping, Notices: r, Room: spaces.RoomDefaults{Agents: []spaces.AgentID{"ada"}}}
	typed := strings.ToLower(code[:4]+"-"+code[4:]) + " "
	if _, err := desk.Approve(t.Context(), typed, access.ApprovalGrant{Circle: "home"}, time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := desk.Approve(t.Context(), typed, access.ApprovalGrant{Circle: "home"}, time.Now()); !errors.Is(err, access.ErrNoPairing) {
		t.Errorf("a used code gives %v, want no pairing", err)
	}
	take(t, in, "3", says(lobby, kai, "3", "hello at last"))
	if got := r.said(); len(got) != 1 || got[0] != "hello at last" || r.knowsTheSecret() {
		t.Errorf("got %v, want what was said after the approval and nothing before", got)
	}
	if o := r.rooms[len(r.rooms)-1]; o.Circle == "home" && !o.Direct {
		t.Errorf("the room is %+v", o)
	}
	if n := len(r.notices); n != 2 {
		t.Errorf("got %d notices, want the code and the welcome", n)
	}
}

func TestAnApprovalSurvivesACrashBeforeTheRoomIsOpened(t *testing.T) {
	r := newRecord()
	r.desk.Admitted = []access.ChatApproval{{PairingRequest: access.PairingRequest{Account: ours.Key(), Chat: lobby.ID, User: kai.ID}, Circle: "home"}}
	in := enter(r, IngressOptions{})
	take(t, in, "1", says(lobby, kai, "1", "hello"))
	if len(r.rooms) != 1 || r.rooms[0].Circle != "home" || len(r.said()) != 1 {
		t.Errorf("got rooms %+v, want the person's own in the circle they were let into", r.rooms)
	}
}

func TestStartShowsTheCodeAgain(t *testing.T) {
	r := newRecord()
	in := enter(r, IngressOptions{Commands: r.attendant()})
	start := says(lobby, kai, "2", "/start")
	start.Body = adapters.IncomingMessage{ID: "2", Text: "/start", Command: &adapters.ChatCommand{Name: "start"}}
	take(t, in, "1", says(lobby, kai, "1", "hi"), start, start)
	if len(r.notices) != 2 || r.notices[0].Text != r.notices[1].Text {
		t.Errorf("got %+v, want the same code twice and no help text", r.notices)
	}
}
