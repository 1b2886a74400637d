package activity

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

func asks(n int) PairingRequest {
	return PairingRequest{Code: fmt.Sprintf("%08d", n), Account: "a", Chat: fmt.Sprint(n), User: fmt.Sprint(n)}
}

func TestCodesAreEvenOverAnAlphabetWithoutLookAlikes(t *testing.T) {
	// SECURITY S2: 8 characters from 32, 40 bits
	if len(pairingAlphabet) != 32 || strings.ContainsAny(pairingAlphabet, "01IO") {
		t.Fatalf("the alphabet is %q", pairingAlphabet)
	}
	count := map[rune]int{}
	const codes = 8000
	for range codes {
		code, err := newCode(rand.Reader)
		if err != nil || len(code) != 8 {
			t.Fatalf("got code %q, error %v", code, err)
		}
		for _, c := range code {
			count[c]++
		}
	}
	for _, c := range pairingAlphabet {
		if want := codes * 8 / 32; count[c] < want*8/10 || count[c] > want*12/10 {
			t.Errorf("%q was drawn %d times, want about %d", c, count[c], want)
		}
	}
}

func TestAMillionGuessesHitNothing(t *testing.T) {
	// SECURITY S2: 0 hits, at most 5 codes looked at for each lock.
	var d PairingState
	at := noon
	looked, locks := 0, 0
	for i := range 1_000_000 {
		if _, err := d.Begin(asks(1), at); err != nil {
			t.Fatal(err)
		}
		_, err := d.Approve(fmt.Sprintf("G%07d", i), AccessGrant{}, at)
		switch {
		case errors.Is(err, ErrNoPairing):
			looked++
			if at.Before(d.Locked) {
				locks++
			}
		case errors.Is(err, ErrDeskLocked):
		default:
			t.Fatalf("guess %d: %v", i, err)
		}
		at = at.Add(time.Second)
	}
	if looked > MaxWrong*(locks+1) || locks < 200 {
		t.Errorf("%d codes were looked at over %d locks, want at most %d a lock", looked, locks, MaxWrong)
	}
}

func TestARightCodeDoesNotOpenALockedDesk(t *testing.T) {
	var d PairingState
	p, _ := d.Begin(asks(1), noon)
	for range MaxWrong {
		if _, err := d.Approve("WRONG", AccessGrant{}, noon); !errors.Is(err, ErrNoPairing) {
			t.Fatal(err)
		}
	}
	if _, err := d.Approve(p.Code, AccessGrant{}, noon.Add(time.Minute)); !errors.Is(err, ErrDeskLocked) {
		t.Errorf("got %v, want locked", err)
	}
	p, _ = d.Begin(asks(1), noon.Add(PairingLock))
	if _, err := d.Approve(p.Code, AccessGrant{}, noon.Add(PairingLock)); err != nil {
		t.Errorf("after the lock got %v, want it to be good", err)
	}
}

func TestTheDeskKeepsItsRules(t *testing.T) {
	// SECURITY S2: single use, 10 minutes, at most 3 pending an account, bound to a person.
	rapid.Check(t, func(t *rapid.T) {
		var d PairingState
		at := noon
		issued := map[string]PairingRequest{}
		used := map[string]bool{}
		next := 0
		t.Repeat(map[string]func(*rapid.T){
			"begin": func(t *rapid.T) {
				next++
				p := PairingRequest{
					Code: fmt.Sprintf("%08d", next), Account: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "account"),
					Chat: rapid.SampledFrom([]string{"1", "2", "3", "4", "5"}).Draw(t, "chat"), User: "u",
				}
				got, err := d.Begin(p, at)
				if err != nil {
					return
				}
				if !got.same(p) || !got.Expires.After(at) {
					t.Fatalf("asked as %+v, got %+v", p, got)
				}
				issued[got.Code] = got
			},
			"approve": func(t *rapid.T) {
				code := fmt.Sprintf("%08d", rapid.IntRange(0, next).Draw(t, "code"))
				a, err := d.Approve(code, AccessGrant{Circle: "home"}, at)
				if err != nil {
					return
				}
				p := issued[code]
				if used[code] || !at.Before(p.Expires) || !a.same(p) || a.Circle != "home" {
					t.Fatalf("code %s let in %+v: used %t, expired %t", code, a, used[code], !at.Before(p.Expires))
				}
				used[code] = true
				if _, ok := d.Admission(p.Account, p.Chat, p.Scope, p.User); !ok {
					t.Fatal("the person is not admitted")
				}
			},
			"wait": func(t *rapid.T) {
				at = at.Add(time.Duration(rapid.IntRange(1, 900).Draw(t, "seconds")) * time.Second)
			},
			"": func(t *rapid.T) {
				pending := map[string]int{}
				for _, p := range d.Pending {
					if at.Before(p.Expires) {
						pending[p.Account]++
					}
				}
				for account, n := range pending {
					if n > MaxPending {
						t.Fatalf("%d pairings are pending for %s", n, account)
					}
				}
				if _, ok := d.Admission("a", "1", "", "somebody else"); ok {
					t.Fatal("an admission is not bound to its person")
				}
			},
		})
	})
}

func TestFiftyStrangersAtOnceKeepTheCap(t *testing.T) {
	// SECURITY S2: race of 50 concurrent requests
	r := newRecord()
	in := enter(r, IngressOptions{})
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			who := adapters.Person{ID: fmt.Sprint(1000 + i), Kind: adapters.Human}
			u := says(adapters.Chat{ID: who.ID, Kind: adapters.Direct}, who, "1", secret)
			if err := in.Accept(t.Context(), adapters.Batch{Updates: []adapters.Update{u}}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(r.desk.Pending) != MaxPending || len(r.notices) != MaxPending || r.knowsTheSecret() {
		t.Errorf("got %d pending and %d codes shown, want %d each and no words kept", len(r.desk.Pending), len(r.notices), MaxPending)
	}
}

func TestAStrangerIsLetInByTheirCode(t *testing.T) {
	// DESIGN 9 admit: pairing
	r := newRecord()
	in := enter(r, IngressOptions{Room: RoomDefaults{Agents: []spaces.AgentID{"ada"}}})
	take(t, in, "1", says(lobby, kai, "1", secret))
	take(t, in, "2", says(lobby, kai, "1", secret), says(lobby, kai, "2", secret))
	if len(r.notices) != 1 || len(r.desk.Pending) != 1 {
		t.Fatalf("got %d notices and %d pending, want the code shown once", len(r.notices), len(r.desk.Pending))
	}
	code := r.desk.Pending[0].Code
	if !strings.Contains(r.notices[0].Text, shownCode(code)) || strings.Contains(r.notices[0].Text, "Kai") {
		t.Errorf("the stranger is told %q", r.notices[0].Text)
	}
	desk := AccessManager{Pairings: r, Mapping: in.mapping, Notices: r, Room: RoomDefaults{Agents: []spaces.AgentID{"ada"}}}
	typed := strings.ToLower(shownCode(code)) + " "
	if _, err := desk.Approve(t.Context(), typed, AccessGrant{Circle: "home"}, time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := desk.Approve(t.Context(), typed, AccessGrant{Circle: "home"}, time.Now()); !errors.Is(err, ErrNoPairing) {
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
	r.desk.Admitted = []Approval{{PairingRequest: PairingRequest{Account: ours.Key(), Chat: lobby.ID, User: kai.ID}, Circle: "home"}}
	in := enter(r, IngressOptions{})
	take(t, in, "1", says(lobby, kai, "1", "hello"))
	if len(r.rooms) != 1 || r.rooms[0].Circle != "home" || len(r.said()) != 1 {
		t.Errorf("got rooms %+v, want the person's own in the circle they were let into", r.rooms)
	}
}

func TestStartShowsTheCodeAgain(t *testing.T) {
	r := newRecord()
	in := enter(r, IngressOptions{Attendant: r.attendant()})
	start := says(lobby, kai, "2", "/start")
	start.Body = adapters.Message{ID: "2", Text: "/start", Command: &adapters.Command{Name: "start"}}
	take(t, in, "1", says(lobby, kai, "1", "hi"), start, start)
	if len(r.notices) != 2 || r.notices[0].Text != r.notices[1].Text {
		t.Errorf("got %+v, want the same code twice and no help text", r.notices)
	}
}
