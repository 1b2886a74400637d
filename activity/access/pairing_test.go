package access

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// noon is the time at which tests begin.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func asks(n int) PairingRequest {
	return PairingRequest{Code: fmt.Sprintf("%08d", n), Account: "a", Chat: fmt.Sprint(n), User: fmt.Sprint(n)}
}

func TestCodesAreEvenOverAnAlphabetWithoutLookAlikes(t *testing.T) {
	// 8 characters from 32, 40 bits
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
	// 0 hits, at most 5 codes looked at for each lock.
	var d PairingState
	at := noon
	looked, locks := 0, 0
	for i := range 1_000_000 {
		if _, err := d.Begin(asks(1), at); err != nil {
			t.Fatal(err)
		}
		_, err := d.Approve(fmt.Sprintf("G%07d", i), ApprovalGrant{}, at)
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
		if _, err := d.Approve("WRONG", ApprovalGrant{}, noon); !errors.Is(err, ErrNoPairing) {
			t.Fatal(err)
		}
	}
	if _, err := d.Approve(p.Code, ApprovalGrant{}, noon.Add(time.Minute)); !errors.Is(err, ErrDeskLocked) {
		t.Errorf("got %v, want locked", err)
	}
	p, _ = d.Begin(asks(1), noon.Add(PairingLock))
	if _, err := d.Approve(p.Code, ApprovalGrant{}, noon.Add(PairingLock)); err != nil {
		t.Errorf("after the lock got %v, want it to be good", err)
	}
}

func TestTheDeskKeepsItsRules(t *testing.T) {
	// Single use, 10 minutes, at most 3 pending an account, bound to a person.
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
				a, err := d.Approve(code, ApprovalGrant{Circle: "home"}, at)
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

// Who is refused while they wait cannot be let in by the code they were shown; another can.
func TestARefusedCodeIsVoid(t *testing.T) {
	at := time.Unix(1_800_000_000, 0)
	d := PairingState{}
	for n := range 2 {
		if _, err := d.Begin(asks(n), at); err != nil {
			t.Fatal(err)
		}
	}
	gone := d.Revoke(func(a ChatApproval) bool { return a.User == asks(0).User })
	if len(gone) != 1 || gone[0].User != asks(0).User || gone[0].Code != "" {
		t.Errorf("refused are %+v", gone)
	}
	if _, err := d.Approve(asks(0).Code, ApprovalGrant{}, at); !errors.Is(err, ErrNoPairing) {
		t.Errorf("the refused one's code: %v", err)
	}
	if _, err := d.Approve(asks(1).Code, ApprovalGrant{}, at); err != nil {
		t.Errorf("the other's code: %v", err)
	}
}
